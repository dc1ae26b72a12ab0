package services

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/wording"
)

const (
	// releasedServices is the number of services whose releases are read.
	releasedServices = limits.ToolReleasedServices
	// groupsOfCommits is the most groups that a read may ask for.
	groupsOfCommits = limits.BreakdownRows
)

// release is a version of a service with the commit that its resource names.
type release struct {
	Service string `json:"service"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
	// Spans is the estimated number of spans: entry spans, or all spans of a service that has no entry spans.
	Spans float64 `json:"spans"`
	// FirstSeen and LastSeen are the first and the last minute of the time range with spans of the version.
	FirstSeen string `json:"firstSeen,omitempty"`
	LastSeen  string `json:"lastSeen,omitempty"`
}

func exploreServices(
	ctx context.Context, s *tool.Clients, a *exploreAttributesArgs, w tool.TimeRange, res *attributesResult, text *tool.Page,
) error {
	list, err := s.Environments.ListEnvironments(ctx, &svcv2.ListEnvironmentsRequest{StartTime: w.StartProto(), EndTime: w.EndProto()})
	if err != nil {
		return err
	}
	res.Environments = []tool.NameCount{}
	var cells [][]string
	for _, e := range list.GetData() {
		res.Environments = append(res.Environments, tool.NameCount{Name: e.GetName(), Count: e.GetSpanCount()})
		cells = append(cells, []string{e.GetName(), wording.Number(e.GetSpanCount())})
	}
	if res.CommitShas, err = commits(ctx, s, a, w); err != nil {
		return err
	}
	if res.Releases, err = releases(ctx, s, a, w); err != nil {
		return err
	}
	var rows [][]string
	for _, r := range res.Releases {
		rows = append(rows, []string{r.Service, r.Version, r.Commit, r.FirstSeen, r.LastSeen, wording.Number(r.Spans)})
	}
	text.Blocks = []tool.Block{
		tool.Table("Environments", "No environment was seen in this time range.", []string{"Environment", "All spans, received"}, cells),
		tool.Table("Releases", "No service was seen in this time range.",
			[]string{"Service", "Version", "Commit", "First seen in the time range", "Last seen", "Spans, weighted by sampling"}, rows),
	}
	text.Notes = append(text.Notes, "The spans of releases are "+tool.EntrySpans+".")
	text.Shown = tool.ShownOf(len(rows), false, "releases")
	if a.Service == nil {
		text.Notes = append(text.Notes, "Releases are those of the "+strconv.Itoa(releasedServices)+" services with most spans.")
	}
	text.Next = append(text.Next, tool.Next("list_services", a.Again(w, nil), "the services"))
	return nil
}

// releases lists the versions of the services that send most spans, or of one service: by service, the latest version first.
func releases(ctx context.Context, s *tool.Clients, a *exploreAttributesArgs, w tool.TimeRange) ([]release, error) {
	var names []string
	if a.Service != nil {
		names = []string{*a.Service}
	} else {
		services, err := ListServices(ctx, s, nil, w)
		if err != nil {
			return nil, err
		}
		for _, v := range services[:min(len(services), releasedServices)] {
			names = append(names, v.GetName())
		}
	}
	found := make([]*svcv2.ServiceReleases, len(names))
	var reads []func() error
	for i, name := range names {
		reads = append(reads, func() (err error) {
			found[i], err = s.Services.ListServiceReleases(ctx, &svcv2.ListServiceReleasesRequest{
				Name: name, StartTime: w.StartProto(), EndTime: w.EndProto(),
			})
			return err
		})
	}
	if err := tool.InTurns(reads); err != nil {
		return nil, err
	}
	commit, err := commitsOfVersions(ctx, s, a, w)
	if err != nil {
		return nil, err
	}
	list := []release{}
	for i, name := range names {
		versions := slices.Clone(found[i].GetData())
		slices.SortStableFunc(versions, func(x, y *svcv2.ServiceRelease) int {
			return y.GetFirstSeen().AsTime().Compare(x.GetFirstSeen().AsTime())
		})
		for _, v := range versions {
			list = append(list, release{
				name, v.GetVersion(), commit[[2]string{name, v.GetVersion()}], v.GetEstimatedSpanCount(),
				wording.Clock(v.GetFirstSeen().AsTime()), wording.Clock(v.GetLastSeen().AsTime()),
			})
		}
	}
	return list, nil
}

// commitsOfVersions returns the most frequent commit of each version of each service, in the last day of the time range: a longer read of
// all services would be refused.
func commitsOfVersions(ctx context.Context, s *tool.Clients, a *exploreAttributesArgs, w tool.TimeRange) (map[[2]string]string, error) {
	if w.Length() > limits.Day {
		w = tool.Period(w.To.Add(-limits.Day), w.To)
	}
	most := int32(groupsOfCommits)
	spec := &svcv2.QuerySpec{
		Name: "n", Source: "traces", Aggregation: "count", GroupBy: []string{"service.name", "service.version", query.CommitKeys()[1]},
		Limit: &most,
	}
	if a.Service != nil {
		spec.Filter = &svcv2.QueryFilter{Field: new("service.name"), Operator: new("="), Value: tool.StructValue(*a.Service)}
	}
	out, err := s.Query.QueryBreakdown(ctx, &svcv2.QueryBreakdownRequest{
		StartTime: w.StartProto(), EndTime: w.EndProto(), Queries: []*svcv2.QuerySpec{spec},
	})
	if err != nil {
		return nil, err
	}
	commit := map[[2]string]string{}
	for _, row := range out.GetData() { // the most frequent group first
		if g := row.GetGroup(); !row.GetOther() && len(g) == 3 && commit[[2]string{g[0], g[1]}] == "" {
			commit[[2]string{g[0], g[1]}] = g[2]
		}
	}
	return commit, nil
}

// commits lists the commits that resources of spans name, most frequent first.
func commits(ctx context.Context, s *tool.Clients, a *exploreAttributesArgs, w tool.TimeRange) ([]tool.NameCount, error) {
	scope := "resource"
	var list []tool.NameCount
	for _, key := range query.CommitKeys() {
		rows, _, err := attributeValues(ctx, s, a, w, "traces", key, &scope, a.Limit)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			list = append(list, tool.NameCount{Name: r.GetValue(), Count: r.GetCount()})
		}
	}
	return mergeCounts(list), nil
}

// mergeCounts lists each name once, most frequent first. A resource that names its commit under both keys counts under each key,
// so mergeCounts keeps the larger count.
func mergeCounts(list []tool.NameCount) []tool.NameCount {
	merged := []tool.NameCount{}
	for _, c := range list {
		if i := slices.IndexFunc(merged, func(m tool.NameCount) bool { return m.Name == c.Name }); i >= 0 {
			merged[i].Count = max(merged[i].Count, c.Count)
		} else {
			merged = append(merged, c)
		}
	}
	slices.SortStableFunc(merged, func(a, b tool.NameCount) int { return cmp.Compare(b.Count, a.Count) })
	return merged
}
