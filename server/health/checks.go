package health

import (
	"context"
	"errors"
	"time"

	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse"
)

// A Pinger is a database.
type Pinger interface {
	Ping(ctx context.Context) error
}

// Database checks the relational database.
func Database(ctx context.Context, db Pinger) Check { return Check{db.Ping(ctx), "unavailable"} }

// Warehouse checks that the warehouse answers and takes rows. Without a role of ingest, stats is nil.
func Warehouse(ctx context.Context, w Pinger, stats func() pipeline.Stats) Check {
	err := w.Ping(ctx)
	if errors.Is(err, warehouse.ErrHeld) {
		return Check{err, "unavailable: it could not be opened or migrated; the log has the reason, and data/queue keeps what is sent"}
	}
	if err != nil {
		return Check{err, "unavailable: it does not answer"}
	}
	if stats != nil {
		if s := stats(); s.Failing != nil && time.Since(s.FailingSince) > limits.InsertsFail {
			return Check{s.Failing, "inserts fail: the log has the reason, and the queue keeps what is sent"}
		}
	}
	return Check{}
}

// Queue checks that telemetry can be accepted.
func Queue(log *queue.Log) Check {
	err := log.Writable()
	if errors.Is(err, queue.ErrFull) {
		return Check{err, "full: it has reached its bound, or the disk has no room for it; exporters must retry"}
	}
	return Check{err, "unavailable: it cannot write; exporters must retry"}
}
