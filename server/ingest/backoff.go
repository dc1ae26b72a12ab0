package ingest

import (
	"context"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// backoff remembers which organizations were told to wait because of the queue, until when. Whoever sends again before that, and would be
// refused again, is so before its body is decompressed and read: refusing a flood must cost less than serving it. That one answer comes
// before the checks of the body, and only to senders that do not keep to Retry-After.
type backoff struct {
	mu    sync.Mutex
	until map[principal.OrgID]time.Time
}

// maxBackoffs bounds the memory; those that are over make room.
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

// early refuses a request of an organization that was told to wait and does not, if the queue still would.
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
