package services

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type releasesResult struct {
	TimeRange tool.TimeRange `json:"timeRange"`
	Releases  []listed       `json:"releases"`
	Markers   []markerRow    `json:"markers"`
	HasMore   bool           `json:"hasMore"`
}

type listed struct {
	Service     string  `json:"service"`
	Environment string  `json:"environment"`
	Version     string  `json:"version"`
	Commit      string  `json:"commit,omitempty"`
	FirstSeen   string  `json:"firstSeen"`
	LastSeen    string  `json:"lastSeen"`
	State       string  `json:"state"`
	Spans       float64 `json:"spans"`
	ErrorRate   float64 `json:"errorRate"`
	P95Ms       float64 `json:"p95Ms"`
	// PreviousVersion and its figures are missing for the first version of the time range.
	PreviousVersion   string   `json:"previousVersion,omitempty"`
	PreviousErrorRate *float64 `json:"previousErrorRate,omitempty"`
	PreviousP95Ms     *float64 `json:"previousP95Ms,omitempty"`
}

type listReleasesArgs struct {
	tool.Window
	Service     *string
	Environment *string
	Limit       int `default:"{DefaultPage}" of:"SearchReleasesRequest.limit" clamp:""`
}

func newListReleases(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[releasesResult](&tool.Tool{
		Name: "list_releases", View: "/services/{service}?tab=releases",
		Title: "Releases",
		Description: "List the versions of services in at most " + limits.Lasts(limits.ReleaseWindow) +
			", latest first: commit, times, errors and p95 " +
			"beside those of the version before, replaced or rolled back. Also the markers.",
		Run: tool.With(func(ctx context.Context, a *listReleasesArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.ReleaseWindow)
			if err != nil {
				return nil, err
			}
			most := int32(a.Limit)
			found, err := s.Services.SearchReleases(ctx, &svcv2.SearchReleasesRequest{
				StartTime: w.StartProto(), EndTime: w.EndProto(), ServiceName: a.Service, DeploymentEnvironment: a.Environment, Limit: &most,
			})
			if err != nil {
				return nil, err
			}
			marks, err := s.Markers.ListMarkers(ctx, &svcv2.ListMarkersRequest{
				StartTime: w.StartProto(), EndTime: w.EndProto(), ServiceName: a.Service, DeploymentEnvironment: a.Environment,
			})
			if err != nil {
				return nil, err
			}
			return releasesAnswer(a, w, found, marks), nil
		}),
	})
}

func releasesAnswer(a *listReleasesArgs, w tool.TimeRange, found *svcv2.ReleaseList, marks *svcv2.ListMarkersResponse) *tool.Answer {
	res := releasesResult{TimeRange: w, Releases: []listed{}, Markers: []markerRow{}, HasMore: found.GetHasMore()}
	var events [][]string
	for _, m := range marks.GetData() {
		row := toMarker(m)
		res.Markers = append(res.Markers, row)
		events = append(events, []string{row.At, row.Kind, wording.Clip(wording.OneLine(row.Title), 120), row.Service, row.Environment})
	}
	var cells [][]string
	for _, r := range found.GetData() {
		row := listed{
			r.GetServiceName(), r.GetDeploymentEnvironment(), r.GetVersion(), r.GetCommitSha(), wording.Clock(r.GetFirstSeen().AsTime()),
			wording.Clock(r.GetLastSeen().AsTime()), r.GetState(), r.GetEstimatedSpanCount(), r.GetErrorRate(), r.GetP95LatencyMs(), "", nil, nil,
		}
		failed, p95, before := wording.Percent(row.ErrorRate), wording.Number(row.P95Ms), ""
		if b := r.GetPrevious(); b != nil {
			row.PreviousVersion, row.PreviousErrorRate, row.PreviousP95Ms = b.GetVersion(), new(b.GetErrorRate()), new(b.GetP95LatencyMs())
			failed += " (" + wording.Percent(b.GetErrorRate()) + ")"
			p95 += " (" + wording.Number(b.GetP95LatencyMs()) + ")"
			before = b.GetVersion()
		}
		res.Releases = append(res.Releases, row)
		cells = append(cells, []string{
			row.Service, row.Environment, row.Version, wording.Clip(row.Commit, 12), row.FirstSeen, row.LastSeen, row.State,
			wording.Number(row.Spans),
			failed, p95, before,
		})
	}
	text := tool.Page{Scope: append(a.Labels(w, &a.Service, &a.Environment), tool.Estimated(tool.EntrySpans))}
	text.Blocks = []tool.Block{tool.Table("Releases", "No service sent spans with a service.version in this time range.", []string{
		"Service", "Environment", "Version", "Commit", "First seen", "Last seen", "State", "Spans", "Errors (before)", "p95 ms (before)",
		"Version before",
	}, cells)}
	if len(events) > 0 {
		text.Blocks = append(text.Blocks, tool.Table("Markers", "", []string{"Time", "Kind", "Title", "Service", "Environment"}, events))
	}
	if marks.GetHasMore() {
		text.Notes = append(text.Notes, "There are more markers than shown.")
	}
	text.Notes = append(text.Notes,
		"A version that was there before the time range is first seen in its first minute. Figures are of the whole time range.")
	text.Shown = tool.ShownOf(len(cells), res.HasMore, "releases")
	if len(res.Releases) > 0 {
		first := res.Releases[0]
		at := map[string]any{"service": first.Service, "around_time": first.FirstSeen}
		text.Next = append(text.Next, tool.Next("compare_periods", at, "before and after the latest release"))
	}
	return &tool.Answer{Data: res, Text: text}
}
