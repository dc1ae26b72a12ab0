package ingest

import (
	"context"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// backoff remembers until when the queue asked organizations to wait. An organization that sends earlier, and would be refused again, is
// refused before its body is decompressed: refusing a flood must cost less than serving it. Only senders that ignore Retry-After get this
// answer before the checks of the body.
type backoff struct {
	mu    sync.Mutex
	until map[principal.OrgID]time.Time
}

// maxBackoffs bounds the memory. Entries whose time is over make room.
const maxBackoffs = 1000

func (b *backoff) add(org principal.OrgID, now time.Time, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.until) >= maxBackoffs {
		for o, t := range b.until {
			if now.After(t) {
				delete(b.until, o)
			}
		}
		if len(b.until) >= maxBackoffs {
			return
		}
	}
	if b.until == nil {
		b.until = map[principal.OrgID]time.Time{}
	}
	b.until[org] = now.Add(d)
}

func (b *backoff) holds(org principal.OrgID, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.until[org]
	if ok && now.After(t) {
		delete(b.until, org)
		return false
	}
	return ok
}

// early refuses a request of an organization that should still wait, if the queue would refuse it now.
func (g *Gateway) early(ctx context.Context, org principal.OrgID, size int) *apierr.Error {
	if !g.backoff.holds(org, time.Now()) {
		return nil
	}
	err := g.queue.Admits(string(org), size)
	if err == nil {
		return nil
	}
	g.metrics.early.Inc()
	return g.notQueued(ctx, err)
}
