package app

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/services/errorissues"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/work"
)

// errorIssues has the parts that the services of error issues need.
func (a *App) errorIssues(reads read.Warehouse, rollups query.Rollups) errorissues.Config {
	return errorissues.Config{
		Store: a.store, Warehouse: reads, Rollups: rollups, Code: a.code(), BaseURL: a.baseURL(), Picture: a.charts.Issues, Now: time.Now,
	}
}

// issuesKind applies occurrences of errors to issues, and ends what is over.
func (a *App) issuesKind() work.Kind {
	w := issues.NewWorker(issues.Config{Store: a.store, Events: errorissues.Types(), Teller: a.issueTeller()})
	return work.Kind{Name: store.WorkIssues, Lag: w.Lag, Run: func(ctx context.Context, shard *work.Shard) {
		work.Due(ctx, shard, nil, limits.IssueLook, w.Shard(shard.Fence).Step)
	}}
}

// issueTeller returns the tellers of news about issues, by organization.
func (a *App) issueTeller() func(context.Context, principal.OrgID) (*issues.Teller, error) {
	policies := errorissues.Config{Store: a.store, BaseURL: a.baseURL(), Picture: a.charts.Issues, Now: time.Now}
	return func(ctx context.Context, org principal.OrgID) (*issues.Teller, error) {
		t, err := policies.Teller(ctx, org)
		if err != nil {
			return nil, err
		}
		return &t.Teller, nil
	}
}
