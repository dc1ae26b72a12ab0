package ingest

import (
	"sync"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// budget bounds the memory of bodies. An organization may take as much as is still free after it has: half of the budget when it is alone, a
// third when two want all they can get, and so on. However many floods there are, something is always left for the others.
type budget struct {
	limit int

	mu    sync.Mutex
	total int
	used  map[principal.OrgID]int
}

func newBudget(limit int) *budget {
	return &budget{limit: limit, used: map[principal.OrgID]int{}}
}

type budgetOutcome int

const (
	budgetTaken budgetOutcome = iota
	// budgetShare says that the organization has its share, budgetAll that there is not enough left for one that has nothing yet.
	budgetShare
	budgetAll
)

// take counts n bytes for an organization, or says why not. It never waits: a request that waits for memory holds memory.
func (b *budget) take(org principal.OrgID, n int) budgetOutcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	used, total := b.used[org]+n, b.total+n
	if total > b.limit || used > b.limit-total && used > b.floor() {
		if used > n {
			return budgetShare
		}
		return budgetAll // it is others that have taken it
	}
	b.used[org], b.total = used, total
	return budgetTaken
}

// floor is what an organization may have as long as anything is left: small requests pass while others have large ones.
func (b *budget) floor() int { return b.limit / 64 }

func (b *budget) give(org principal.OrgID, n int) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total -= n
	if b.used[org] -= n; b.used[org] == 0 {
		delete(b.used, org)
	}
}

func (b *budget) inUse() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}

// charge counts n more bytes of a buffer against Limits.Buffered.
func (g *Gateway) charge(buf *buffer, n int) *apierr.Error {
	switch g.budget.take(buf.org, n) {
	case budgetShare:
		return apierr.New(apierr.IngestRateLimited,
			"The requests of this organization that are in flight hold as much memory as one organization may. Nothing was stored; wait for answers before you send more.")
	case budgetAll:
		return apierr.New(apierr.IngestServiceUnavailable, "The gateway holds as many unfinished requests as it has memory for. Nothing was stored; send the request again.")
	default:
		buf.charged += n
		return nil
	}
}
