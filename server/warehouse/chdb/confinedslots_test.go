package chdb

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestConfinedSlots: a tenant gets its share of slots and no more, waits for its own statements to end, and leaves the other
// slots to other tenants.
func TestConfinedSlots(t *testing.T) {
	s := newConfinedSlots()
	var give []func()
	for range ConfinedOfTenant {
		f, err := s.take(t.Context(), "a", time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		give = append(give, f)
	}
	var e *Exception
	if _, err := s.take(t.Context(), "a", time.Millisecond); !errors.As(err, &e) || e.Code != codeTooManyStatements {
		t.Errorf("one too many of a tenant: %v", err)
	}
	if f, err := s.take(t.Context(), "b", time.Millisecond); err != nil {
		t.Errorf("another tenant: %v", err)
	} else {
		f()
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.take(left, "a", time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	waits := make(chan error)
	go func() {
		f, err := s.take(t.Context(), "a", time.Minute)
		if err == nil {
			f()
		}
		waits <- err
	}()
	give[0]()
	if err := <-waits; err != nil {
		t.Errorf("after one has ended: %v", err)
	}
	for _, f := range give[1:] {
		f()
	}
	for _, tenant := range []string{"a", "b", "c", "d"} {
		for range ConfinedOfTenant {
			if _, err := s.take(t.Context(), tenant, time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.take(t.Context(), "e", time.Millisecond); !errors.As(err, &e) || e.Code != codeTooManyStatements {
		t.Errorf("one too many of all: %v", err)
	}
	if len(s.of) != 4 || s.all != ConfinedAtOnce {
		t.Errorf("%d tenants, %d statements", len(s.of), s.all)
	}
}
