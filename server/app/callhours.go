package app

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/callhours"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/work"
)

// callHoursKind counts the calls between services of each hour, for the service map.
func (a *App) callHoursKind() work.Kind {
	cfg := callhours.Config{
		Organizations: a.store, Warehouse: read.NewReader(read.Config{Warehouse: a.opts.reads(a.warehouse), Work: true}),
		Into: a.warehouse, Turn: callhours.NewTurn(), Logger: a.log, Now: time.Now,
	}
	return work.Kind{Name: store.WorkCallHours, Run: func(ctx context.Context, shard *work.Shard) {
		c := callhours.NewCounter(cfg, func(org principal.OrgID) bool {
			return store.ShardOf(store.WorkCallHours, string(org)) == shard.Number
		})
		work.Due(ctx, shard, nil, time.Minute, c.Step)
	}}
}
