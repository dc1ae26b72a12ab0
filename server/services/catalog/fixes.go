package catalog

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// FixTelemetry reads releases and occurrences for checks of fixes.
type FixTelemetry struct {
	Warehouse read.Warehouse
	Rollups   query.Rollups
}

// Releases implements issues.Telemetry.
func (t FixTelemetry) Releases(
	ctx context.Context, org principal.OrgID, service string, from, to time.Time,
) ([]issues.ServiceRelease, error) {
	found, _, err := FindReleases(ctx, t.Warehouse, org, reads.ReleaseList{
		Window: query.Window{Start: from, End: to}, Service: &service, Rollups: t.Rollups,
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
func (t FixTelemetry) Occurrences(
	ctx context.Context, org principal.OrgID, hashes []string, from, to time.Time,
) ([]issues.VersionCount, error) {
	f := reads.ErrorFilters{Fingerprints: reads.Fingerprints(hashes), Logs: true}
	w := query.Window{Start: from, End: to}
	rows, err := read.All[reads.ErrorVersionRow](ctx, t.Warehouse, org, reads.ErrorVersions(w, f, limits.ReleasesCompared).Until(to))
	if err != nil {
		return nil, err
	}
	out := make([]issues.VersionCount, len(rows))
	for i, r := range rows {
		out[i] = issues.VersionCount{Environment: r.Environment, Version: r.Version, Count: float64(r.Count)}
	}
	return out, nil
}
