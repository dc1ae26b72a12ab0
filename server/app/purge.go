package app

import (
	"context"
	"errors"
	"time"

	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse"
)

// How often the purger looks for rows of deleted organizations in the warehouse. Telemetry of a deleted organization may still
// arrive from a queue: from this node until its queue is stored, from another node whenever that comes back, or out of
// quarantine. So no organization is ever marked as done. One look costs one query that reads next to nothing.
const (
	purgeSoon   = time.Second
	purgeOften  = 15 * time.Second
	purgeRarely = 10 * time.Minute
	// purgeRecent is the time after a deletion in which the purger looks often.
	purgeRecent  = 15 * time.Minute
	purgeTimeout = 10 * time.Minute
)

// purger removes the telemetry of organizations that were deleted.
type purger struct {
	app  *App
	wake chan struct{}
}

// openPurge starts the purger on every node that can have telemetry in its queue or that serves deletions.
func (a *App) openPurge(context.Context) error {
	p := &purger{app: a, wake: make(chan struct{}, 1)}
	unsubscribe := a.store.Subscribe(func(c store.Change) {
		if c.Subject == store.SubjectOrganization || c.Subject == store.SubjectAny && c.Cause == nil {
			select {
			case p.wake <- struct{}{}:
			default:
			}
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run(ctx)
	}()
	a.onClose("purge of deleted organizations", func(context.Context) error {
		unsubscribe()
		cancel()
		<-done
		return nil
	})
	return nil
}

func (p *purger) run(ctx context.Context) {
	timer := time.NewTimer(purgeSoon)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-timer.C:
		}
		timer.Reset(p.sweep(ctx))
	}
}

// sweep removes the rows of every deleted organization and returns the time until the next look.
func (p *purger) sweep(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, purgeTimeout)
	defer cancel()
	newest, err := purge(ctx, p.app.store, p.app.warehouse)
	switch {
	case err != nil && ctx.Err() == nil:
		p.app.log.Warn("telemetry of deleted organizations could not be removed; svc tries again soon", "error", err)
		return purgeOften
	case err != nil || newest.IsZero():
		return purgeRarely
	}
	if p.app.pipeline != nil {
		// This node's queue may hold rows of them. They are stored first, so that this look removes them too.
		if err := flushed(ctx, p.app.queue, p.app.pipeline); err != nil && ctx.Err() == nil {
			p.app.log.Warn("the queue could not be stored before a purge", "error", err)
		}
		if _, err := purge(ctx, p.app.store, p.app.warehouse); err != nil && ctx.Err() == nil {
			return purgeOften
		}
	}
	if time.Since(newest) < purgeRecent {
		return purgeOften
	}
	return purgeRarely
}

// flushTimeout bounds the wait for the queue. Behind a long backlog, the purger goes on without it.
const flushTimeout = 30 * time.Second

func flushed(ctx context.Context, log *queue.Log, p *pipeline.Pipeline) error {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	// The tail is the position of the next record. Everything before it is stored once the checkpoint has reached it.
	tail := log.Tail()
	for {
		if done := p.Stats().Done; !done.Before(tail) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// purge removes the rows of deleted organizations and returns the time of the newest deletion.
func purge(ctx context.Context, st *store.Store, w *warehouse.Warehouse) (newest time.Time, err error) {
	tombstones, err := st.ListTombstones(ctx)
	if err != nil || len(tombstones) == 0 {
		return time.Time{}, err
	}
	orgs := make([]principal.OrgID, len(tombstones))
	for i, t := range tombstones {
		orgs[i] = t.Org
	}
	held, err := w.Holding(ctx, orgs)
	if err != nil {
		return time.Time{}, err
	}
	var errs []error
	for _, org := range held {
		errs = append(errs, w.DeleteOrganization(ctx, org))
	}
	return tombstones[0].DeletedAt, errors.Join(errs...)
}
