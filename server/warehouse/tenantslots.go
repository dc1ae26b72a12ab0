package warehouse

import (
	"context"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// How many statements of tenants run at once: of one organization, and of all. Others wait for a while. The embedded engine counts them
// again: there they last until they have ended, here until their callers have an answer.
const (
	tenantAtOnce   = chdb.ConfinedOfTenant
	tenantsAtOnce  = chdb.ConfinedAtOnce
	tenantPatience = 5 * time.Second
)

// tenantSlots bounds the statements of each organization, so that one cannot take the engine from all.
type tenantSlots struct {
	all chan struct{}
	mu  sync.Mutex
	of  map[principal.OrgID]*orgSlots
}

type orgSlots struct {
	slots chan struct{}
	users int // that hold or wait for a slot
}

func newTenantSlots() *tenantSlots {
	return &tenantSlots{all: make(chan struct{}, tenantsAtOnce), of: map[principal.OrgID]*orgSlots{}}
}

// take waits for a place. The returned function gives it back.
func (s *tenantSlots) take(ctx context.Context, org principal.OrgID) (func(), error) {
	s.mu.Lock()
	o := s.of[org]
	if o == nil {
		o = &orgSlots{slots: make(chan struct{}, tenantAtOnce)}
		s.of[org] = o
	}
	o.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if o.users--; o.users == 0 {
			delete(s.of, org)
		}
	}
	timeout := time.NewTimer(tenantPatience)
	defer timeout.Stop()
	for _, slots := range []chan struct{}{o.slots, s.all} { // one's own first: who waits there takes no place from others
		select {
		case slots <- struct{}{}:
			continue
		case <-ctx.Done():
		case <-timeout.C:
		}
		if slots == s.all {
			<-o.slots
		}
		leave()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, ErrTenantBusy
	}
	return func() {
		<-s.all
		<-o.slots
		leave()
	}, nil
}
