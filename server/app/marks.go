package app

import (
	"context"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// openMarks lets the workers know how far this node's telemetry is stored. A process that is alone needs no rows for it.
func (a *App) openMarks(context.Context) error {
	if a.queue == nil || !a.store.WorkExpires() {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(limits.IngestMarkEvery)
		defer tick.Stop()
		for {
			if err := a.tellMark(ctx); err != nil && ctx.Err() == nil {
				a.log.Warn("alerts may wait for this node: it could not say how far its telemetry is stored", "error", err)
			}
			if a.cfg.IngestNodes == 0 {
				a.countNodes(ctx)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	a.onClose("ingest mark", func(ctx context.Context) error {
		cancel()
		running.Wait()
		// With a backlog, the mark stays until it is too old to count.
		if a.pipeline.Stats().Done.Before(a.queue.Tail()) {
			return nil
		}
		return a.store.ClearIngestMark(ctx, a.queue.ID())
	})
	return nil
}

// tellMark writes the mark of this node. While it is not known, the node gives only a sign of life: it takes requests, so others must count
// it, and alerts must wait for it.
func (a *App) tellMark(ctx context.Context) error {
	m, ok := a.ownMark()
	if !ok {
		return a.store.KeepIngestMark(ctx, a.queue.ID())
	}
	return a.store.SetIngestMark(ctx, a.queue.ID(), m)
}

// countNodes divides the rates of ingest keys between the ingest nodes that are alive. While the database does not answer, the last number
// applies.
func (a *App) countNodes(ctx context.Context) {
	n, err := a.store.CountIngestNodes(ctx, a.queue.ID())
	if err != nil {
		return
	}
	a.gateway.SetNodes(1 + n)
}

// ownMark says how far this node's telemetry is stored. It is not known until the records of earlier runs are.
func (a *App) ownMark() (store.IngestMark, bool) {
	now, stats := time.Now(), a.pipeline.Stats()
	if !stats.Caught {
		return store.IngestMark{}, false
	}
	return store.IngestMark{
		Through: now.Add(-stats.OldestOutsideLanes), Behind: stats.Beside, BehindThrough: now.Add(-stats.OldestUnflushed),
	}, true
}

// storedThrough says how far the telemetry of all nodes is stored. ok is false while it is not known.
func (a *App) storedThrough(ctx context.Context) (m store.IngestMark, ok bool, err error) {
	if !a.store.WorkExpires() {
		if a.pipeline == nil {
			return m, false, nil
		}
		m, ok = a.ownMark()
		return m, ok, nil
	}
	m, ok, silent, err := a.store.StoredThrough(ctx)
	if len(silent) > 0 {
		a.log.Warn("alerts are evaluated without ingest nodes that gave no sign of life", "nodes", silent)
	}
	return m, ok, err
}
