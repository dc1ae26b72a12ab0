package services_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query/widget"
)

// checkEventsText compares the doors of the methods of product events that take a text.
func (f *filtered) checkEventsText(t testing.TB, where string, want []item) {
	t.Helper()
	f.checkAnalytics(t, nil, where, want)
}

// checkAnalytics compares the reads of product events over time and by service.
func (f *filtered) checkAnalytics(t testing.TB, names []string, where string, want []item) {
	t.Helper()
	series := must[*svcv2.ProductEventTimeseries](t, where)(f.analytics.QueryProductEventTimeseries(f.ctx, &svcv2.QueryProductEventTimeseriesRequest{
		StartTime: f.start, EndTime: f.end, Aggregation: "count", EventNames: names, Where: &where,
	}))
	agree(t, "the series of product events", where, float64(len(want)), ofSeries(series.GetSeries()))
	groups := must[*svcv2.ProductEventBreakdown](t, where)(f.analytics.QueryProductEventBreakdown(f.ctx, &svcv2.QueryProductEventBreakdownRequest{
		StartTime: f.start, EndTime: f.end, Aggregation: "count", GroupBy: new("service"), EventNames: names, Where: &where,
	}))
	agree(t, "the breakdown of product events", where, counts(want), ofGroups(groups.GetData()))
}

// checkEvents compares the doors of the filters on product events and returns the number of matching items.
func (f *filtered) checkEvents(t testing.TB, filters *svcv2.ProductEventFilters) int {
	t.Helper()
	want := matching(f.events, func(i item) bool { return i.eventMatches(filters) })
	found := must[*svcv2.SearchProductEventsResponse](t, filters)(f.product.SearchProductEvents(f.ctx, &svcv2.SearchProductEventsRequest{
		StartTime: f.start, EndTime: f.end, Limit: new(int32(100)), Filters: filters,
	}))
	agree(t, "the search", filters, ids(want), idsOf(found.GetData(), (*svcv2.ProductEvent).GetUrl))
	pages := allPages(func(limit *int32, cursor *string) ([]*svcv2.ProductEvent, *string, bool) {
		page := must[*svcv2.SearchProductEventsResponse](t, filters)(f.product.SearchProductEvents(f.ctx, &svcv2.SearchProductEventsRequest{
			StartTime: f.start, EndTime: f.end, Limit: limit, Cursor: cursor, Filters: filters,
		}))
		return page.GetData(), page.NextCursor, page.GetHasMore()
	})
	agree(t, "the pages of the search", filters, ids(want), idsOf(pages, (*svcv2.ProductEvent).GetUrl))
	same := treeOfEvents(filters)
	agree(t, "the query", filters, counts(want), f.ofQuery(t, eventSource, same.message(), ""))
	agree(t, "SQL", filters, ids(want), f.ofSQL(t, eventSource, same.sql(eventSource)))
	unnamed := proto.CloneOf(filters)
	unnamed.Names = nil
	text := treeOfEvents(unnamed)
	f.checkAnalytics(t, filters.GetNames(), text.text(rand.New(rand.NewPCG(1, 1))), want)

	part := &svcv2.ProductEventFilters{
		Kind: filters.Kind, Search: filters.Search, ServiceName: filters.ServiceName, Host: filters.Host, PagePath: filters.PagePath,
	}
	list := must[*svcv2.ListProductEventsResponse](t, part)(f.product.ListProductEvents(f.ctx, &svcv2.ListProductEventsRequest{
		StartTime: f.start, EndTime: f.end, Limit: new(int32(100)), Kind: part.Kind, Search: part.Search, ServiceName: part.ServiceName,
		Host: part.Host, PagePath: part.PagePath,
	}))
	agree(t, "the names", part, byName(matching(f.events, func(i item) bool { return i.eventMatches(part) })), ofNames(list.GetData()))
	args, part := toEventQueryData(filters)
	agree(t, "query_data", args, counts(matching(f.events, func(i item) bool { return i.eventMatches(part) })),
		f.ofQueryData(t, eventSource, args))
	return len(want)
}

// toEventQueryData is toSearchTraces for query_data of product events.
func toEventQueryData(f *svcv2.ProductEventFilters) (map[string]any, *svcv2.ProductEventFilters) {
	args, part := map[string]any{}, &svcv2.ProductEventFilters{Names: f.GetNames()}
	argument(args, "service", f.ServiceName, &part.ServiceName)
	argument(args, "host", f.Host, &part.Host)
	argument(args, "page_path", f.PagePath, &part.PagePath)
	argument(args, "event_kind", f.Kind, &part.Kind)
	if len(f.GetNames()) > 0 {
		args["event_name"] = f.GetNames()
	}
	if part.Attributes = attributeArguments(args, f.GetAttributes()); part.GetAttributes() == nil {
		if part.ResourceAttributes = attributeArguments(args, f.GetResourceAttributes()); part.GetResourceAttributes() != nil {
			args["attribute_scope"] = "resource"
		}
	}
	return args, part
}

func byName(events []item) map[string]float64 {
	out := map[string]float64{}
	for _, i := range events {
		out[i.event]++
	}
	return out
}

func ofNames(list []*svcv2.ProductEventName) map[string]float64 {
	out := map[string]float64{}
	for _, n := range list {
		out[n.GetName()] += n.GetCount()
	}
	return out
}

// step is a step of a funnel, with a plain evaluation of the events that take it.
type step struct {
	*svcv2.ProductEventStep
	taken func(item) bool
}

func randomStep(r *rand.Rand) step {
	if r.IntN(3) == 0 {
		s := &svcv2.ProductEventStep{Kind: "page", PagePath: new(pick(r, paths())), Host: sometimes(r, "shop.example", "WWW.Example")}
		return step{s, func(i item) bool {
			return i.kind != "custom" && i.eventMatches(&svcv2.ProductEventFilters{PagePath: s.PagePath, Host: s.Host})
		}}
	}
	s := &svcv2.ProductEventStep{Kind: "event", EventName: new(pick(r, eventNames()))}
	if r.IntN(2) == 0 {
		s.AttributeEquals = map[string]string{pick(r, keys()): pick(r, values())}
	}
	return step{s, func(i item) bool {
		return i.event == s.GetEventName() && !slices.ContainsFunc(slices.Collect(maps.Keys(s.GetAttributeEquals())), func(key string) bool {
			equals := &svcv2.AttributeFilter{Key: key, Operator: "equals", Value: structpb.NewStringValue(s.GetAttributeEquals()[key])}
			return !attributeHolds(i.attributes, equals)
		})
	}}
}

// sessionsOf counts the sessions of events that meet a condition. Without filters, a session counts that nothing else is known of.
func (f *filtered) sessionsOf(filters *svcv2.ProductFilters, holds func(item) bool) float64 {
	found := map[string]bool{}
	for _, i := range matching(f.events, holds) {
		s, known := f.sessionOf(i)
		if i.session != "" && (known && f.sessionMatches(s, filters) || proto.Size(filters) == 0) {
			found[i.session] = true
		}
	}
	return float64(len(found))
}

// checkSessions compares the doors of the filters on the sessions of product events: funnels, paths and names. It returns the number of
// matching sessions.
func (f *filtered) checkSessions(t testing.TB, r *rand.Rand, filters *svcv2.ProductFilters) int {
	t.Helper()
	s := randomStep(r)
	want := f.sessionsOf(filters, s.taken)
	funnel := must[*svcv2.ProductEventFunnel](t, filters)(f.product.SearchProductEventFunnel(f.ctx, &svcv2.SearchProductEventFunnelRequest{
		StartTime: f.start, EndTime: f.end, Steps: []*svcv2.ProductEventStep{s.ProductEventStep}, KeyBy: new("session"), Filters: filters,
	}))
	agree(t, "the funnel of "+s.String(), filters, want, funnel.GetSteps()[0].GetCount())
	paths := must[*svcv2.ProductEventPaths](t, filters)(f.product.SearchProductEventPaths(f.ctx, &svcv2.SearchProductEventPathsRequest{
		StartTime: f.start, EndTime: f.end, Anchor: s.ProductEventStep, KeyBy: new("session"), Filters: filters,
	}))
	agree(t, "the paths of "+s.String(), filters, want, paths.GetCount())
	agree(t, "the first hop of "+s.String(), filters, want, firstHop(paths.GetData()))

	drawn := &svcv2.FunnelStep{
		Kind: s.GetKind(), EventName: s.EventName, AttributeEquals: s.GetAttributeEquals(), PagePath: s.PagePath, Host: s.Host,
	}
	rows := f.ofJourney(t, &svcv2.Widget{Visualization: "funnel", Display: &svcv2.WidgetDisplay{Funnel: &svcv2.FunnelDisplay{
		Steps: []*svcv2.FunnelStep{drawn}, KeyBy: new("session"), Filters: filters,
	}}}).GetFunnel().GetRows()
	agree(t, "the funnel of a widget", filters, want, rows[0].GetValue())
	links := f.ofJourney(t, &svcv2.Widget{Visualization: "paths", Display: &svcv2.WidgetDisplay{Paths: &svcv2.PathsDisplay{
		Anchor: drawn, KeyBy: new("session"), Filters: filters,
	}}}).GetPaths().GetRows()
	agree(t, "the paths of a widget", filters, want, firstHop(links))
	opened := &svcv2.ProductEventStep{Kind: "session", Dimension: new("host"), Value: new(pick(r, []string{"shop.example", "WWW.Example"}))}
	funnel = must[*svcv2.ProductEventFunnel](t, filters)(f.product.SearchProductEventFunnel(f.ctx, &svcv2.SearchProductEventFunnelRequest{
		StartTime: f.start, EndTime: f.end, Steps: []*svcv2.ProductEventStep{opened}, KeyBy: new("session"), Filters: filters,
	}))
	begun := matching(f.sessions, func(s item) bool {
		return f.sessionMatches(s, filters) && f.sessionMatches(s, &svcv2.ProductFilters{Host: opened.Value})
	})
	agree(t, "the funnel of "+opened.String(), filters, float64(len(begun)), funnel.GetSteps()[0].GetCount())

	args, part := toSessionArguments(filters)
	var names struct {
		Events []struct {
			EventName string
			Count     float64
		}
	}
	f.call(t, "list_product_events", maps.Clone(args), &names)
	got := map[string]float64{}
	for _, n := range names.Events {
		got[n.EventName] += n.Count
	}
	agree(t, "list_product_events", args, byName(f.visited(part)), got)
	args["steps_json"], args["key_by"] = []any{s.arguments()}, "session"
	argument(args, "device_type", filters.DeviceType, &part.DeviceType)
	argument(args, "page_path", filters.PagePath, &part.PagePath)
	argument(args, "host", filters.Host, &part.Host)
	var steps struct{ Steps []struct{ Count float64 } }
	f.call(t, "query_funnel", args, &steps)
	agree(t, "query_funnel", args, f.sessionsOf(part, s.taken), steps.Steps[0].Count)
	return len(matching(f.sessions, func(s item) bool { return f.sessionMatches(s, filters) }))
}

// visited are the events of the matching sessions, or all events without a filter.
func (f *filtered) visited(filters *svcv2.ProductFilters) []item {
	return matching(f.events, func(i item) bool {
		s, known := f.sessionOf(i)
		return proto.Size(filters) == 0 || known && f.sessionMatches(s, filters)
	})
}

func firstHop(links []*svcv2.ProductEventPathLink) (sum float64) {
	for _, l := range links {
		if l.GetHop() == 1 {
			sum += l.GetCount()
		}
	}
	return sum
}

// arguments is the step in the form that a tool takes.
func (s step) arguments() map[string]any {
	out := map[string]any{"kind": s.GetKind()}
	for name, value := range map[string]*string{"event_name": s.EventName, "page_path": s.PagePath, "host": s.Host} {
		if value != nil {
			out[name] = *value
		}
	}
	if len(s.GetAttributeEquals()) > 0 {
		out["attribute_equals"] = s.GetAttributeEquals()
	}
	return out
}

// toSessionArguments is the part of the filters on sessions that both tools take.
func toSessionArguments(f *svcv2.ProductFilters) (map[string]any, *svcv2.ProductFilters) {
	args, part := map[string]any{}, &svcv2.ProductFilters{}
	argument(args, "referrer_host", f.ReferrerHost, &part.ReferrerHost)
	argument(args, "country", f.Country, &part.Country)
	argument(args, "utm_source", f.UtmSource, &part.UtmSource)
	return args, part
}

// ofJourney reads a widget with a funnel or paths.
func (f *filtered) ofJourney(t testing.TB, w *svcv2.Widget) *svcv2.WidgetData {
	t.Helper()
	w.Id, w.DataSource = "w", &svcv2.WidgetDataSource{Kind: "static"}
	return must[*svcv2.WidgetData](t, w)(f.widgets.Data(f.ctx, f.org, widget.Request{
		Widget: w, Override: &svcv2.TimeRange{Type: "absolute", StartTime: f.start, EndTime: f.end},
	}))
}
