package catalog

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	// takeover is the longest time between the last spans of a version and the first of the version that replaced it.
	takeover = limits.ReleaseTakeover
	// alive is the longest pause of a version that still sends spans.
	alive = limits.ReleaseAlive
)

// SearchReleases lists the releases of all services, with the version before each.
func (s *Service) SearchReleases(ctx context.Context, req *svcv2.SearchReleasesRequest) (*svcv2.ReleaseList, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	w, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.ReleaseWindow)
	if err != nil {
		return nil, err
	}
	limit := limits.DefaultPage
	if req.Limit != nil {
		limit = int(req.GetLimit())
	}
	found, all, err := FindReleases(ctx, s.warehouse, org, reads.ReleaseList{
		Window: w, DeploymentEnvironment: req.DeploymentEnvironment, Service: req.ServiceName, Rollups: s.rollups,
	}, limit)
	if err != nil {
		return nil, err
	}
	res := &svcv2.ReleaseList{Object: "list", StartTime: timestamppb.New(w.Start), EndTime: timestamppb.New(w.End), HasMore: all > len(found)}
	for _, r := range found {
		p := &svcv2.Release{
			ServiceName: r.Service, DeploymentEnvironment: r.Environment, Version: r.Version,
			FirstSeen: timestamppb.New(r.First), LastSeen: timestamppb.New(r.Last), State: r.State,
			EstimatedSpanCount: r.EstimatedSpans, ErrorRate: ratio(r.EstimatedErrors, r.EstimatedSpans), P95LatencyMs: milliseconds(r.Latencies, 1),
		}
		if r.Commit != "" {
			p.CommitSha = &r.Commit
		}
		if o := r.Previous; o != nil {
			p.Previous = &svcv2.ReleaseBefore{
				Version: o.Version, EstimatedSpanCount: o.EstimatedSpans, ErrorRate: ratio(o.EstimatedErrors, o.EstimatedSpans),
				P95LatencyMs: milliseconds(o.Latencies, 1),
			}
		}
		res.Data = append(res.Data, p)
	}
	return res, nil
}

// FoundRelease is a release with its fate.
type FoundRelease struct {
	reads.ReleaseListRow
	// State is current, replaced or rolled_back. Commit is empty when its first spans name none.
	State, Commit string
	// Previous is the version before; nil for the first of the window.
	Previous *reads.ReleaseListRow
}

// FindReleases returns the releases of a window that began last, at most limit of them, and the number of all.
func FindReleases(
	ctx context.Context, w read.Warehouse, org principal.OrgID, list reads.ReleaseList, limit int,
) (found []FoundRelease, all int, err error) {
	list.Limit = limits.ReleasesCompared
	rows, err := read.All[reads.ReleaseListRow](ctx, w, org, reads.Releases(list))
	if err != nil || len(rows) == 0 {
		return nil, 0, err
	}
	shown := rows[:min(limit, len(rows))]
	commits, err := read.All[reads.ReleaseCommitRow](ctx, w, org, reads.ReleaseCommits(shown))
	if err != nil {
		return nil, 0, err
	}
	named := map[reads.ReleaseCommitRow]string{}
	for _, c := range commits {
		commit := c.Commit
		c.Commit = ""
		named[c] = commit
	}
	for i, r := range shown {
		found = append(found, FoundRelease{
			ReleaseListRow: r, State: releaseState(rows, i), Previous: previousRelease(rows, i),
			Commit: named[reads.ReleaseCommitRow{Service: r.Service, Environment: r.Environment, Version: r.Version}],
		})
	}
	return found, int(rows[0].All), nil
}

// others are the other versions of a release's service in its environment.
func others(rows []reads.ReleaseListRow, i int) (out []reads.ReleaseListRow) {
	for j, o := range rows {
		if j != i && o.Service == rows[i].Service && o.Environment == rows[i].Environment {
			out = append(out, o)
		}
	}
	return out
}

// releaseState returns the fate of a release: its last minute is compared with the minutes of the other versions.
func releaseState(rows []reads.ReleaseListRow, i int) string {
	r := rows[i]
	earlier, later := false, false // versions that sent spans after this one had ended
	for _, o := range others(rows, i) {
		switch newer := o.First.After(r.First); {
		case o.Last.Sub(r.Last) <= alive:
		case newer && !o.First.After(r.Last.Add(takeover)):
			return "replaced"
		case newer:
			later = true
		default:
			earlier = true
		}
	}
	switch {
	case earlier:
		return "rolled_back"
	case later:
		return "replaced"
	}
	return "current"
}

// previousRelease returns the version that sent spans when a release began: of those, the one that began last. Without one, it is the
// version that ended last before.
func previousRelease(rows []reads.ReleaseListRow, i int) *reads.ReleaseListRow {
	r := rows[i]
	earlier := slices.DeleteFunc(others(rows, i), func(o reads.ReleaseListRow) bool { return !o.First.Before(r.First) })
	if len(earlier) == 0 {
		return nil
	}
	best := earlier[0]
	for _, o := range earlier[1:] {
		ran, bestRan := !o.Last.Before(r.First.Add(-takeover)), !best.Last.Before(r.First.Add(-takeover))
		switch {
		case ran != bestRan:
			if ran {
				best = o
			}
		case ran && o.First.After(best.First), !ran && o.Last.After(best.Last):
			best = o
		}
	}
	return &best
}
