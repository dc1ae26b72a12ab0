package read

import (
	"context"
	"errors"
	"sync"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// maxWaiting is how many statements of one organization may wait for others of it.
const maxWaiting = 200

// Shares bounds how many statements of one organization run at once, so that one full dashboard does not hold up the others. It is safe for
// concurrent use.
type OrgSlots struct {
	each int
	mu   sync.Mutex
	orgs map[principal.OrgID]*share
}

type share struct {
	slots chan struct{}
	users int // running or waiting
}

// NewOrgSlots lets so many statements of each organization run at once.
func NewOrgSlots(each int) *OrgSlots {
	return &OrgSlots{each: each, orgs: map[principal.OrgID]*share{}}
}

// Acquire waits for a slot. The caller calls release once, when the statement is done.
func (s *OrgSlots) Acquire(ctx context.Context, org principal.OrgID) (release func(), err error) {
	s.mu.Lock()
	o := s.orgs[org]
	if o == nil {
		o = &share{slots: make(chan struct{}, s.each)}
		s.orgs[org] = o
	}
	if o.users >= s.each+maxWaiting {
		s.mu.Unlock()
		return nil, apierr.New(apierr.WarehouseQuotaExceeded, "Too many queries of this organization are waiting. Send fewer at once.")
	}
	o.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		if o.users--; o.users == 0 {
			delete(s.orgs, org)
		}
		s.mu.Unlock()
	}
	select {
	case o.slots <- struct{}{}:
		return func() { <-o.slots; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, waited(ctx)
	}
}

// Idle reports whether no statement runs or waits.
func (s *OrgSlots) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.orgs) == 0
}

// waited is the error of whoever waited until the end of the context.
func waited(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return apierr.New(apierr.QueryEngineTimeout, "The query waited too long for other queries of this organization. Send fewer at once, or narrow their time ranges.")
	}
	return ctx.Err()
}
