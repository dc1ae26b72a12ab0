package app

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/pullrequests"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/repositories"
	"github.com/svc-observability/svc/server/services/catalog"
	"github.com/svc-observability/svc/server/services/errorissues"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/work"
)

// issueChecksKind checks whether fixes of error issues hold.
func (a *App) issueChecksKind(ctx context.Context) work.Kind {
	telemetry := fixTelemetry{
		warehouse: read.NewReader(read.Config{Warehouse: a.opts.reads(a.warehouse), Work: true}), rollups: a.rollups(ctx),
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

// fixTelemetry reads releases and occurrences for checks of fixes.
type fixTelemetry struct {
	warehouse read.Warehouse
	rollups   query.Rollups
}

// Releases implements issues.Telemetry.
func (t fixTelemetry) Releases(
	ctx context.Context, org principal.OrgID, service string, from, to time.Time,
) ([]issues.ServiceRelease, error) {
	found, _, err := catalog.FindReleases(ctx, t.warehouse, org, reads.ReleaseList{
		Window: query.Window{Start: from, End: to}, Service: &service, Rollups: t.rollups,
	}, limits.ReleasesCompared)
	if err != nil {
		return nil, err
	}
	out := make([]issues.ServiceRelease, len(found))
	for i, r := range found {
		out[i] = issues.ServiceRelease{
			Environment: r.Environment, Version: r.Version, Commit: r.Commit, First: r.First, Last: r.Last, State: r.State, Spans: r.EstimatedSpans,
		}
	}
	return out, nil
}

// Occurrences implements issues.Telemetry.
func (t fixTelemetry) Occurrences(
	ctx context.Context, org principal.OrgID, hashes []string, from, to time.Time,
) ([]issues.VersionCount, error) {
	f := reads.ErrorFilters{Fingerprints: reads.Fingerprints(hashes), Logs: true}
	w := query.Window{Start: from, End: to}
	rows, err := read.All[reads.ErrorVersionRow](ctx, t.warehouse, org, reads.ErrorVersions(w, f, limits.ReleasesCompared).Until(to))
	if err != nil {
		return nil, err
	}
	out := make([]issues.VersionCount, len(rows))
	for i, r := range rows {
		out[i] = issues.VersionCount{Environment: r.Environment, Version: r.Version, Count: float64(r.Count)}
	}
	return out, nil
}
