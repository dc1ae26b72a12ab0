package ingest

import (
	"sync"

	"github.com/svc-observability/svc/server/apierr"
)

// budget bounds the memory of bodies. An organization may hold as many bytes as it leaves free: half of the budget if it is
// alone, a third if two organizations take all they can, and so on. Some memory therefore stays free for others, however many
// organizations flood. The public keys of an organization count as an organization of their own.
type budget struct {
	limit int

	mu    sync.Mutex
	total int
	used  map[share]int
}

func newBudget(limit int) *budget {
	return &budget{limit: limit, used: map[share]int{}}
}

type budgetOutcome int

const (
	budgetTaken budgetOutcome = iota
	// budgetShare means that the organization has used its share. budgetAll means that too little is left even for an
	// organization that holds nothing.
	budgetShare
	budgetAll
)

// take counts n bytes for a share, or returns the reason for a refusal. It never waits, because a waiting request itself
// holds memory.
func (b *budget) take(s share, n int) budgetOutcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	used, total := b.used[s]+n, b.total+n
	if total > b.limit || used > b.limit-total && used > b.floor() {
		if used > n {
			return budgetShare
		}
		return budgetAll // other organizations hold the memory
	}
	b.used[s], b.total = used, total
	return budgetTaken
}

// floor is the memory that an organization gets as long as any is left. Small requests thus pass while others send large ones.
func (b *budget) floor() int { return b.limit / 64 }

func (b *budget) give(s share, n int) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total -= n
	if b.used[s] -= n; b.used[s] == 0 {
		delete(b.used, s)
	}
}

func (b *budget) inUse() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}

// charge counts n more bytes of a buffer against Limits.Buffered.
func (g *Gateway) charge(buf *buffer, n int) *apierr.Error {
	switch g.budget.take(buf.share, n) {
	case budgetShare:
		return apierr.New(
			apierr.IngestRateLimited,
			"The open requests of this organization hold as much memory as one organization may have. Nothing was stored; wait for answers before "+
				"you send more.",
		)
	case budgetAll:
		return apierr.New(
			apierr.IngestServiceUnavailable,
			"The gateway has no memory left for further requests. Nothing was stored; send the request again.",
		)
	default:
		buf.charged += n
		return nil
	}
}
