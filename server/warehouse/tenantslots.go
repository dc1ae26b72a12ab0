package warehouse

import (
	"context"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// TenantPatience is how long SQL of an organization waits for other statements. Then it fails with ErrTenantBusy.
const TenantPatience = 5 * time.Second

// Bounds on the statements of tenants that run at once: of one organization, and of all. The embedded engine counts statements again, until
// they have ended. Here a statement counts until its caller has an answer.
const (
	tenantAtOnce  = chdb.ConfinedOfTenant
	tenantsAtOnce = chdb.ConfinedAtOnce
)

// tenantSlots bounds the statements of each organization, so that one cannot take the engine from all.
type tenantSlots struct {
	all chan struct{}
	mu  sync.Mutex
	of  map[principal.OrgID]*orgSlots
}

type orgSlots struct {
	slots chan struct{}
	users int // statements that hold a slot or wait for one
}

func newTenantSlots() *tenantSlots {
	return &tenantSlots{all: make(chan struct{}, tenantsAtOnce), of: map[principal.OrgID]*orgSlots{}}
}

// take waits for a slot. The returned function gives it back.
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
	timeout := time.NewTimer(TenantPatience)
	defer timeout.Stop()
	for _, slots := range []chan struct{}{o.slots, s.all} { // the slot of the organization first: a statement that waits for it keeps no slot from others
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
