package pipeline

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/ingest/queue"
)

// Stored waits until every record before a position of the log is stored.
func (p *Pipeline) Stored(ctx context.Context, to queue.Position) error {
	for p.Stats().Done.Before(to) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
