package ingest

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/principal"
)

// backoff remembers until when the queue asked organizations to wait. An organization that sends earlier, and would be refused again, is
// refused before its body is decompressed: refusing a flood must cost less than serving it. Only senders that ignore Retry-After get this
// answer before the checks of the body.
type backoff struct {
	orgs *cache.Cache[principal.OrgID, struct{}]
}

// maxBackoffs bounds the memory. An organization that is dropped before its time costs the work of one refusal more.
const maxBackoffs = 1000

func newBackoff(now func() time.Time) backoff {
	return backoff{cache.New[principal.OrgID, struct{}](maxBackoffs, now)}
}

func (b backoff) add(org principal.OrgID, d time.Duration) { b.orgs.Put(org, struct{}{}, 1, d) }

func (b backoff) holds(org principal.OrgID) bool {
	_, ok := b.orgs.Get(org)
	return ok
}

// early refuses a request of an organization that should still wait, if the queue would refuse it now.
func (g *Gateway) early(ctx context.Context, of share, size int) *apierr.Error {
	if !g.backoff.holds(of.org) {
		return nil
	}
	err := g.queue.Admits(string(of.org), of.public, size)
	if err == nil {
		return nil
	}
	g.metrics.early.Inc()
	return g.notQueued(ctx, err)
}
