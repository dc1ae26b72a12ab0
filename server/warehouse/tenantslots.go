package warehouse

import (
	"context"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// TenantPatience is how long a statement of an organization waits for other statements. Then it fails with ErrTenantBusy.
const TenantPatience = limits.SQLWait

// Bounds on the concurrent statements of tenants: for one organization, and for all together. Here a statement counts until its
// caller has an answer. The embedded engine counts statements again, until they have ended.
const (
	tenantAtOnce  = limits.SQLStatementsOfOrganization
	tenantsAtOnce = limits.SQLStatements
)

// tenantSlots bounds the statements of each organization, so that one organization cannot block the engine for all.
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

// take waits for a slot, so long at most. The returned function releases it.
func (s *tenantSlots) take(ctx context.Context, org principal.OrgID, patience time.Duration) (func(), error) {
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
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for _, slots := range []chan struct{}{o.slots, s.all} { // first the organization's slot: a waiting statement takes no slot from others
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
