package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
)

// maxWaiting is how many statements of one organization may wait for others of it.
const maxWaiting = 200

// shares bounds how many statements of one organization run at once, so that one full dashboard does not hold up the others.
type shares struct {
	each int
	mu   sync.Mutex
	orgs map[principal.OrgID]*share
}

type share struct {
	slots chan struct{}
	users int // running or waiting
}

func newShares(each int) *shares { return &shares{each: each, orgs: map[principal.OrgID]*share{}} }

// acquire waits for a slot. The caller calls release when the statement is done.
func (s *shares) acquire(ctx context.Context, org principal.OrgID) (release func(), err error) {
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
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, apierr.New(apierr.QueryEngineTimeout, "The query waited too long for other queries of this organization. Send fewer at once, or narrow their time ranges.")
		}
		return nil, ctx.Err()
	}
}

// inQuery adds the place of a query to what its plan says is wrong with it.
func inQuery(r *query.Request, i int, err error) error {
	var bad *query.Invalid
	if errors.As(err, &bad) && len(r.Queries) > 0 {
		return &query.Invalid{Field: fmt.Sprintf("queries[%d].%s", i, bad.Field), Message: bad.Message}
	}
	return err
}
