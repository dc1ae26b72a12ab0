package auth

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestHangingDatabase checks the waiting time when the database does not answer. A known credential waits a moment the first
// time, and then not at all. An unknown credential waits for the answer.
func TestHangingDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := time.Now()
		hang := make(chan struct{})
		hanging := false
		l := newLookup(func(ctx context.Context, _ string) (string, error) {
			if hanging {
				select {
				case <-hang:
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}
			return "known", nil
		}, func() time.Time { return clock }, time.Second, time.Hour)
		if e, err := l.get(t.Context(), "a"); err != nil || e.value != "known" {
			t.Fatalf("%v, %v", e, err)
		}
		hanging = true
		clock = clock.Add(time.Minute)
		for i, most := range []time.Duration{staleWait, 0} {
			started := time.Now()
			if e, err := l.get(t.Context(), "a"); err != nil || e.value != "known" {
				t.Fatalf("call %d: %v, %v", i, e, err)
			}
			if took := time.Since(started); took != most {
				t.Errorf("call %d took %s, want %s", i, took, most)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if e, err := l.get(ctx, "b"); err == nil {
			t.Errorf("a credential that nobody knows: %v", e)
		}
		close(hang)
	})
}
