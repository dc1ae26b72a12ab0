package read

import (
	"context"
	"errors"
	"sync"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// Places are shared by the nodes of an installation.
type Places interface {
	// Take waits for a place of a key. The caller calls release once, after its work. The error is that of the context.
	Take(ctx context.Context, key string) (release func(), err error)
}

// OrgSlots bounds the statements of one organization that run at once: one full dashboard does not hold up other organizations.
// It is safe for concurrent use.
type OrgSlots struct {
	each   int
	shared Places
	mu     sync.Mutex
	orgs   map[principal.OrgID]*orgSlots
}

type orgSlots struct {
	slots chan struct{}
	users int // running or waiting
}

// NewOrgSlots returns slots, so many for each organization. Shared has as many places on all nodes together; nil means one node.
func NewOrgSlots(each int, shared Places) *OrgSlots {
	return &OrgSlots{each: each, shared: shared, orgs: map[principal.OrgID]*orgSlots{}}
}

// Acquire waits for a slot. The caller calls release once, after the statement.
func (s *OrgSlots) Acquire(ctx context.Context, org principal.OrgID) (release func(), err error) {
	s.mu.Lock()
	o := s.orgs[org]
	if o == nil {
		o = &orgSlots{slots: make(chan struct{}, s.each)}
		s.orgs[org] = o
	}
	if o.users >= s.each+limits.WaitingReads {
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
	case <-ctx.Done():
		leave()
		return nil, waited(ctx)
	}
	giveBackOwn := func() { <-o.slots; leave() }
	if s.shared == nil {
		return giveBackOwn, nil
	}
	// A caller waits for a shared place only while it holds a slot of this node. So few callers of a node ask Redis at once.
	giveBack, err := s.shared.Take(ctx, string(org))
	if err != nil {
		giveBackOwn()
		return nil, waited(ctx)
	}
	return func() { giveBack(); giveBackOwn() }, nil
}

// Idle reports whether no statement runs or waits.
func (s *OrgSlots) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.orgs) == 0
}

// waited is the error of a caller who waited until the end of the context.
func waited(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return apierr.New(
			apierr.QueryEngineTimeout,
			"The query waited too long for other queries of this organization. Send fewer at once, or narrow their time ranges.",
		)
	}
	return ctx.Err()
}
