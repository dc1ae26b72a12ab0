package chdb

import (
	"context"
	"sync"
	"time"
)

// Bounds on the concurrent confined statements: for one tenant, and for all together. The engine counts them in addition to the
// server that sends them. A function that works on a block does not notice that its statement was cancelled, so a statement can
// outlive its caller.
const (
	ConfinedOfTenant = 3
	ConfinedAtOnce   = 12
	// confinedPatience is how long a statement waits for another one to end, such as one that was cancelled.
	confinedPatience = 3 * time.Second
)

const codeTooManyStatements = 202

// confinedSlots counts the confined statements that run in the engine.
type confinedSlots struct {
	mu      sync.Mutex
	all     int
	of      map[string]int
	changed chan struct{} // closed when a statement ends
}

func newConfinedSlots() *confinedSlots {
	return &confinedSlots{of: map[string]int{}, changed: make(chan struct{})}
}

// take waits for a slot. The returned function releases it.
func (s *confinedSlots) take(ctx context.Context, tenant string, patience time.Duration) (func(), error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		s.mu.Lock()
		if s.all < ConfinedAtOnce && s.of[tenant] < ConfinedOfTenant {
			s.all++
			s.of[tenant]++
			s.mu.Unlock()
			return func() { s.give(tenant) }, nil
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			return nil, exceptionf(codeTooManyStatements,
				"Too many confined statements are running. Try again when one of them has ended. (TOO_MANY_SIMULTANEOUS_QUERIES)")
		}
	}
}

func (s *confinedSlots) give(tenant string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[tenant]--; s.of[tenant] == 0 {
		delete(s.of, tenant)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}
