package app

import (
	"context"
	"os"
	"time"

	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/purge"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/work"
)

// openWork starts the background work of this process. The processes with the role `worker` share it.
func (a *App) openWork(ctx context.Context) error {
	if !a.cfg.Roles.Has(config.RoleWorker) {
		return nil
	}
	if err := a.openScraper(); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	w, err := work.Start(ctx, work.Config{
		Leases: a.store, Kinds: a.workKinds(ctx), Host: host, Version: a.opts.Version, Logger: a.log, Metrics: a.registry,
	})
	if err != nil {
		return err
	}
	a.onClose("background work", w.Close)
	return nil
}

// workKinds lists the kinds of background work that this process can do.
func (a *App) workKinds(ctx context.Context) []work.Kind {
	kinds := []work.Kind{
		{Name: store.WorkSweep, Run: a.sweep},
		a.outboxKind(),
		a.alertsKind(ctx),
		a.issuesKind(),
		a.issueChecksKind(ctx),
		a.integrationsKind(),
		a.repositoriesKind(),
		a.callHoursKind(),
	}
	if url := a.cfg.HeartbeatURL.Reveal(); url != "" {
		h := alerting.Heartbeat{Store: a.store, URL: url, Logger: a.log}
		kinds = append(kinds, work.Kind{Name: store.WorkHeartbeat, Run: func(ctx context.Context, shard *work.Shard) {
			work.Tick(ctx, shard, limits.HeartbeatEvery, 0, h.Beat)
		}})
	}
	if a.scraper != nil {
		kinds = append(kinds, work.Kind{Name: store.WorkScrape, Run: func(ctx context.Context, shard *work.Shard) {
			a.scraper.Run(ctx, shard.Fence, shard.Stopping())
		}})
	}
	return kinds
}

// sweep removes the telemetry of deleted organizations, and rows that are old. One process does it for all.
func (a *App) sweep(ctx context.Context, shard *work.Shard) {
	cfg := purge.Config{
		Tombstones: a.store, Telemetry: a.warehouse, Nightly: a.warehouse.Cluster() != "", Logger: a.log,
	}
	if a.pipeline != nil {
		cfg.Flush = func(ctx context.Context) error { return a.pipeline.Stored(ctx, a.queue.Tail()) }
	}
	p := purge.Start(cfg)
	defer p.Close()
	work.Due(ctx, shard, nil, purge.OldEvery, func(ctx context.Context) (time.Time, error) { return purge.Old(ctx, a.store) })
}
