package app

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/pullrequests"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/repositories"
	"github.com/svc-observability/svc/server/services/catalog"
	"github.com/svc-observability/svc/server/services/errorissues"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/work"
)

// issueChecksKind checks whether fixes of error issues hold.
func (a *App) issueChecksKind(ctx context.Context) work.Kind {
	telemetry := catalog.FixTelemetry{
		Warehouse: read.NewReader(read.Config{Warehouse: a.opts.reads(a.warehouse), Work: true}), Rollups: a.rollups(ctx),
	}
	c := issues.NewChecker(issues.CheckConfig{
		Store: a.store, Telemetry: telemetry, Code: a.code(), Teller: a.issueTeller(), Events: errorissues.Types(), Logger: a.log, Now: time.Now,
	})
	return work.Kind{Name: store.WorkIssueChecks, Run: func(ctx context.Context, shard *work.Shard) {
		work.Due(ctx, shard, nil, limits.IssueCheckLook, c.Shard(shard.Fence).Step)
	}}
}

// repositoriesKind looks at connected repositories for pull requests that name issues, and for deployments.
func (a *App) repositoriesKind() work.Kind {
	watcher := repositories.New(repositories.Config{Store: a.store, Engine: a.integrations, Logger: a.log, Now: time.Now})
	return work.Kind{Name: store.WorkRepositories, Run: func(ctx context.Context, shard *work.Shard) {
		work.Due(ctx, shard, nil, limits.RepositoryLook, watcher.Shard(shard.Fence).Step)
	}}
}

// code reads pull requests and commits for error issues.
func (a *App) code() *pullrequests.Reader { return pullrequests.New(a.store, a.integrations, time.Now) }
