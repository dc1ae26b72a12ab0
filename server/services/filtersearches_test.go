package services_test

import (
	"testing"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// checkSpansText compares the searches that take a filter of spans as text, also together with the conditions of a message.
func (f *filtered) checkSpansText(t testing.TB, where string, want []item) {
	t.Helper()
	search := func(what string, filters *svcv2.TraceFilters, want []item) {
		t.Helper()
		found := must[*svcv2.SearchTracesResponse](t, where)(f.traces.SearchTraces(f.ctx, &svcv2.SearchTracesRequest{
			StartTime: f.start, EndTime: f.end, Limit: new(int32(100)), Filters: filters, Where: &where,
		}))
		agree(t, "the search "+what, where, ids(want), idsOf(found.GetData(), (*svcv2.TraceSummary).GetId))
		spans := must[*svcv2.SearchSpansResponse](t, where)(f.traces.SearchSpans(f.ctx, &svcv2.SearchSpansRequest{
			StartTime: f.start, EndTime: f.end, Limit: new(int32(100)), Filters: filters, Where: &where, OrderBy: new("duration"),
		}))
		agree(t, "the spans "+what, where, ids(want), idsOf(spans.GetData(), (*svcv2.SpanSummary).GetTraceId))
		facets := must[*svcv2.FacetList](t, where)(f.traces.SearchTraceFacets(f.ctx, &svcv2.SearchTraceFacetsRequest{
			StartTime: f.start, EndTime: f.end, Filters: filters, Where: &where,
		}))
		agree(t, "facets "+what, where, counts(want), ofFacets(facets.GetData()))
	}
	search("with text", nil, want)
	part := &svcv2.TraceFilters{DeploymentEnvironment: new("prod"), HasError: new(false)}
	search("with text and conditions", part, matching(want, func(i item) bool { return i.spanMatches(part) }))
	pages := allPages(func(limit *int32, cursor *string) ([]*svcv2.TraceSummary, *string, bool) {
		page := must[*svcv2.SearchTracesResponse](t, where)(f.traces.SearchTraces(f.ctx, &svcv2.SearchTracesRequest{
			StartTime: f.start, EndTime: f.end, Limit: limit, Cursor: cursor, Where: &where,
		}))
		return page.GetData(), page.NextCursor, page.GetHasMore()
	})
	agree(t, "the pages with text", where, ids(want), idsOf(pages, (*svcv2.TraceSummary).GetId))

	failed := func(holds func(item) bool) float64 {
		return float64(len(matching(want, func(i item) bool { return i.status == "Error" && holds(i) })))
	}
	for _, tt := range []struct {
		what    string
		filters *svcv2.ErrorEventFilters
		want    float64
	}{
		{"errors with text", nil, failed(func(item) bool { return true })},
		{
			"errors with text and conditions", &svcv2.ErrorEventFilters{ServiceName: new("shop"), RootOnly: new(true)},
			failed(func(i item) bool { return i.service == "shop" && i.root }),
		},
	} {
		found := must[*svcv2.SearchErrorEventsResponse](t, where)(f.errors.SearchErrorEvents(f.ctx, &svcv2.SearchErrorEventsRequest{
			StartTime: f.start, EndTime: f.end, Limit: new(int32(100)), Filters: tt.filters, Where: &where,
		}))
		agree(t, "the totals of "+tt.what, where, tt.want, found.GetTotals().GetOccurrences())
		listed := 0.0
		for _, e := range found.GetData() {
			listed += e.GetCount()
		}
		agree(t, "the groups of "+tt.what, where, tt.want, listed)
	}
}

// checkRecordsText is checkSpansText for log records.
func (f *filtered) checkRecordsText(t testing.TB, where string, want []item) {
	t.Helper()
	search := func(what string, filters *svcv2.LogFilters, want []item) {
		t.Helper()
		found := must[*svcv2.SearchLogsResponse](t, where)(f.logs.SearchLogs(f.ctx, &svcv2.SearchLogsRequest{
			StartTime: f.start, EndTime: f.end, Limit: new(int32(100)), Filters: filters, Where: &where,
		}))
		agree(t, "the search "+what, where, ids(want), idsOf(found.GetData(), (*svcv2.Log).GetTraceId))
		facets := must[*svcv2.FacetList](t, where)(f.logs.SearchLogFacets(f.ctx, &svcv2.SearchLogFacetsRequest{
			StartTime: f.start, EndTime: f.end, Filters: filters, Where: &where,
		}))
		agree(t, "facets "+what, where, counts(want), ofFacets(facets.GetData()))
		patterns := must[*svcv2.LogPatternList](t, where)(f.logs.SearchLogPatterns(f.ctx, &svcv2.SearchLogPatternsRequest{
			StartTime: f.start, EndTime: f.end, Filters: filters, Where: &where,
		}))
		agree(t, "the count of patterns "+what, where, float64(len(want)), patterns.GetTotalCount())
	}
	search("with text", nil, want)
	part := &svcv2.LogFilters{DeploymentEnvironment: new("test"), MinimumSeverity: new(int32(9))}
	search("with text and conditions", part, matching(want, func(i item) bool { return i.recordMatches(part) }))
	pages := allPages(func(limit *int32, cursor *string) ([]*svcv2.Log, *string, bool) {
		page := must[*svcv2.SearchLogsResponse](t, where)(f.logs.SearchLogs(f.ctx, &svcv2.SearchLogsRequest{
			StartTime: f.start, EndTime: f.end, Limit: limit, Cursor: cursor, Where: &where,
		}))
		return page.GetData(), page.NextCursor, page.GetHasMore()
	})
	agree(t, "the pages with text", where, ids(want), idsOf(pages, (*svcv2.Log).GetTraceId))
}

// ofValues are the services of matching rows with their numbers, as the list of values shows them.
func (f *filtered) ofValues(t testing.TB, source, where string) map[string]float64 {
	t.Helper()
	found := must[*svcv2.ListAttributeValuesResponse](t, where)(f.values.ListAttributeValues(f.ctx, &svcv2.ListAttributeValuesRequest{
		StartTime: f.start, EndTime: f.end, Signal: source, Key: "service.name", Where: &where,
	}))
	out := map[string]float64{}
	for _, v := range found.GetData() {
		out[v.GetValue()] = v.GetCount()
	}
	return out
}
