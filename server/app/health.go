package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/svc-observability/svc/server/health"
	"github.com/svc-observability/svc/server/ingest/pipeline"
)

func (a *App) health() *health.Health {
	return health.New(health.Config{
		Checks: a.checks, Metrics: promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{Registry: a.registry}),
		Logger: a.log, Version: a.opts.Version, Region: a.cfg.Region,
	})
}

func (a *App) checks(ctx context.Context) map[string]health.Check {
	var stats func() pipeline.Stats
	if a.pipeline != nil {
		stats = a.pipeline.Stats
	}
	all := map[string]health.Check{
		"database": health.Database(ctx, a.store), "warehouse": health.Warehouse(ctx, a.warehouse, stats),
	}
	if a.queue != nil {
		all["ingest_queue"] = health.Queue(a.queue)
	}
	return all
}
