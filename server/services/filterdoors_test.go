package services_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/gen/svc/v2/svcv2connect"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/mcp"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/widget"
	"github.com/svc-observability/svc/server/rpc/loopback"
	"github.com/svc-observability/svc/server/rpc/rpctest"
	"github.com/svc-observability/svc/server/services/agentsessions"
	"github.com/svc-observability/svc/server/services/attributes"
	"github.com/svc-observability/svc/server/services/catalog"
	"github.com/svc-observability/svc/server/services/diagnosis"
	"github.com/svc-observability/svc/server/services/errorevents"
	"github.com/svc-observability/svc/server/services/logs"
	"github.com/svc-observability/svc/server/services/metrics"
	"github.com/svc-observability/svc/server/services/productanalytics"
	"github.com/svc-observability/svc/server/services/productevents"
	"github.com/svc-observability/svc/server/services/queryapi"
	"github.com/svc-observability/svc/server/services/servicemap"
	"github.com/svc-observability/svc/server/services/sqlapi"
	"github.com/svc-observability/svc/server/services/traces"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// filtered is a warehouse with random items, and the doors that read it: the clients reach the services through the chain of
// policy and validation, and assistants is the MCP server before them. Widgets are resolved without a stored dashboard.
type filtered struct {
	items      []item // spans, records and points
	events     []item
	sessions   []item
	metric     string // the type of the metric that is read
	start, end *timestamppb.Timestamp
	traces     svcv2.TracesServiceClient
	logs       svcv2.LogsServiceClient
	query      svcv2.QueryServiceClient
	sql        svcv2.SqlServiceClient
	metrics    svcv2.MetricsServiceClient
	product    svcv2.ProductEventsServiceClient
	analytics  svcv2.ProductEventAnalyticsServiceClient
	diagnosis  svcv2.DiagnosisServiceClient
	errors     svcv2.ErrorEventsServiceClient
	values     svcv2.AttributesServiceClient
	assistants http.Handler
	widgets    *widget.Resolver
	ctx        context.Context
	org        principal.OrgID
}

func newFiltered(t testing.TB, seed uint64, org principal.OrgID) *filtered {
	w := warehousetest.Shared(t)
	r := rand.New(rand.NewPCG(seed, 1))
	start := time.Now().UTC().Truncate(24 * time.Hour).Add(-36 * time.Hour)
	f := &filtered{start: timestamppb.New(start), end: timestamppb.New(start.Add(3 * time.Hour)), org: org}
	f.ctx = principal.WithResult(context.Background(), principal.Result{Principal: &principal.Principal{
		Org: org, User: "user_filters", Kind: principal.KindAPIKey, CredentialID: "key_filters", Role: principal.RoleRoot,
	}})
	f.open(t, w)
	f.fill(t, w, r)
	f.fillPoints(t, w)
	f.fillEvents(t, w, rand.New(rand.NewPCG(seed, 4)))
	return f
}

// open makes the services and the doors.
func (f *filtered) open(t testing.TB, w *warehouse.Warehouse) {
	c, chain := rpctest.New(t)
	rollups := query.AllRollups()
	e := engine.New(engine.Config{Warehouse: w, Rollups: rollups})
	f.widgets = widget.New(e, w, time.Now)
	ofTraces, ofLogs, queries := traces.New(w, e), logs.New(w, e), queryapi.New(e)
	mux := http.NewServeMux()
	mux.Handle(svcv2connect.NewTracesServiceHandler(ofTraces, chain.Options()...))
	mux.Handle(svcv2connect.NewLogsServiceHandler(ofLogs, chain.Options()...))
	mux.Handle(svcv2connect.NewQueryServiceHandler(queries, chain.Options()...))
	mux.Handle(svcv2connect.NewSqlServiceHandler(sqlapi.New(w, time.Now), chain.Options()...))
	mux.Handle(svcv2connect.NewDiagnosisServiceHandler(diagnosis.New(diagnose.Readers{
		Warehouse: w, Services: catalog.New(w, rollups), ServiceMap: servicemap.New(w, rollups, time.Now),
		Errors: errorevents.New(w, e, nil, time.Now),
		Logs:   ofLogs, Traces: ofTraces, Query: queries, Agents: agentsessions.New(w),
	}), chain.Options()...))
	mux.Handle(svcv2connect.NewMetricsServiceHandler(metrics.New(w, e), chain.Options()...))
	mux.Handle(svcv2connect.NewProductEventsServiceHandler(productevents.New(w), chain.Options()...))
	mux.Handle(svcv2connect.NewProductEventAnalyticsServiceHandler(productanalytics.New(e), chain.Options()...))
	mux.Handle(svcv2connect.NewErrorEventsServiceHandler(errorevents.New(w, e, nil, time.Now), chain.Options()...))
	mux.Handle(svcv2connect.NewAttributesServiceHandler(attributes.New(w), chain.Options()...))
	conn := loopback.Conn(mux)
	f.errors, f.values = svcv2.NewErrorEventsServiceClient(conn), svcv2.NewAttributesServiceClient(conn)
	f.metrics, f.product = svcv2.NewMetricsServiceClient(conn), svcv2.NewProductEventsServiceClient(conn)
	f.analytics, f.diagnosis = svcv2.NewProductEventAnalyticsServiceClient(conn), svcv2.NewDiagnosisServiceClient(conn)
	f.traces, f.logs = svcv2.NewTracesServiceClient(conn), svcv2.NewLogsServiceClient(conn)
	f.query, f.sql = svcv2.NewQueryServiceClient(conn), svcv2.NewSqlServiceClient(conn)
	f.assistants = must[*mcp.Server](t, "the MCP server")(mcp.New(mcp.Config{Conn: conn, Contract: c, BaseURL: "https://api.example.com"}))
}

// fill inserts random spans and records.
func (f *filtered) fill(t testing.TB, w *warehouse.Warehouse, r *rand.Rand) {
	var spans, records [][]any
	for n := range 60 {
		i := randomItem(r, n)
		f.items = append(f.items, i)
		at := f.start.AsTime().Add(time.Duration(n)*170*time.Second + time.Duration(n))
		parent := "00000000000000ff"
		if i.root {
			parent = ""
		}
		spans = append(spans, []any{
			string(f.org), at, i.id, i.spanID, parent, i.name, "Server", i.service, i.namespace, i.environment, uint64(i.duration), i.status,
			i.status == "Error", i.root,
			i.method, i.route, uint16(i.code), 1.0, i.resource, i.attributes,
		})
		records = append(records, []any{
			string(f.org), at, at, i.id, i.spanID, i.severity, uint8(i.number), i.service, i.namespace, i.environment, i.body, i.attributes,
			i.resource,
		})
	}
	columns := strings.Fields(`OrgId Timestamp TraceId SpanId ParentSpanId SpanName SpanKind ServiceName ServiceNamespace Environment DurationNano StatusCode HasError
		IsEntry HttpMethod HttpRoute HttpStatusCode SampleRate ResourceAttributes SpanAttributes`)
	if err := w.InsertRows(f.ctx, "spans", columns, spans, ""); err != nil {
		t.Fatal(err)
	}
	columns = strings.Fields(`OrgId Timestamp ObservedTimestamp TraceId SpanId SeverityText SeverityNumber ServiceName ServiceNamespace Environment Body LogAttributes
		ResourceAttributes`)
	if err := w.InsertRows(f.ctx, "logs", columns, records, ""); err != nil {
		t.Fatal(err)
	}
}

// counts are numbers of items by service.
func counts(items []item) map[string]float64 {
	out := map[string]float64{}
	for _, i := range items {
		out[i.service]++
	}
	return out
}

// ids are the ids of items, sorted.
func ids(items []item) []string {
	out := []string{}
	for _, i := range items {
		out = append(out, i.id)
	}
	slices.Sort(out)
	return out
}

// idsOf are the ids of answers, sorted.
func idsOf[T any](list []T, id func(T) string) []string {
	out := []string{}
	for _, v := range list {
		out = append(out, id(v))
	}
	slices.Sort(out)
	return out
}

func agree(t testing.TB, door string, filter, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s with %v (-evaluated +read):\n%s", door, filter, diff)
	}
}

// must returns the answer of a door. A door that refuses the filter ends the test.
func must[T any](t testing.TB, filter any) func(T, error) T {
	return func(answer T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v: %v", filter, err)
		}
		return answer
	}
}

func ofFacets(all []*svcv2.Facet) map[string]float64 {
	out := map[string]float64{}
	for _, f := range all {
		if f.GetFacetType() == "service" {
			out[f.GetName()] = f.GetCount()
		}
	}
	return out
}

func ofGroups(all []*svcv2.TelemetryGroup) map[string]float64 {
	out := map[string]float64{}
	for _, g := range all {
		out[g.GetName()] = g.GetValue()
	}
	return out
}

func ofSeries(all []*svcv2.TelemetrySeries) (sum float64) {
	for _, s := range all {
		for _, p := range s.GetPoints() {
			sum += p.GetValue()
		}
	}
	return sum
}

// of are the items of a source.
func (f *filtered) of(source string) []item {
	switch source {
	case eventSource:
		return f.events
	case sessionSource:
		return f.sessions
	default:
		return f.items
	}
}

func (f *filtered) spec(source string, filter *svcv2.QueryFilter, where string) *svcv2.QuerySpec {
	q := &svcv2.QuerySpec{Name: "A", Source: source, Aggregation: "count", Filter: filter, Where: &where}
	if source == metricSource {
		q.Metric = &svcv2.QueryMetric{Name: metricName, Type: f.metric}
	}
	return q
}

// ofQuery counts by service with the query language.
func (f *filtered) ofQuery(t testing.TB, source string, filter *svcv2.QueryFilter, where string) map[string]float64 {
	t.Helper()
	q := f.spec(source, filter, where)
	q.GroupBy = []string{"service.name"}
	res := must[*svcv2.QueryBreakdownResponse](t, q)(f.query.QueryBreakdown(f.ctx, &svcv2.QueryBreakdownRequest{
		StartTime: f.start, EndTime: f.end, Queries: []*svcv2.QuerySpec{q},
	}))
	out := map[string]float64{}
	for _, row := range res.GetData() {
		out[row.GetName()] = row.GetValues()[0].GetValue()
	}
	return out
}

// ofQuerySeries counts over time with the query language.
func (f *filtered) ofQuerySeries(t testing.TB, source string, filter *svcv2.QueryFilter, where string) (sum float64) {
	t.Helper()
	q := f.spec(source, filter, where)
	res := must[*svcv2.QueryTimeseriesResponse](t,
		q)(f.query.QueryTimeseries(f.ctx, &svcv2.QueryTimeseriesRequest{StartTime: f.start, EndTime: f.end, Queries: []*svcv2.QuerySpec{q}}))
	for _, s := range res.GetSeries() {
		for _, p := range s.GetPoints() {
			sum += p.GetValue()
		}
	}
	return sum
}

// ofSQL lists the ids that a statement selects.
func (f *filtered) ofSQL(t testing.TB, source, condition string) []string {
	t.Helper()
	table := map[string]string{
		spanSource: "TraceId FROM spans", logSource: "TraceId FROM logs", eventSource: "Url FROM product_events",
		metricSource: "ScopeVersion FROM metrics_" + f.metric,
	}[source]
	statement := "SELECT " + table + " WHERE $__orgFilter AND $__timeFilter(Timestamp) AND (" + condition + ")"
	res := must[*svcv2.SqlResult](t, statement)(f.sql.RunSql(f.ctx, &svcv2.RunSqlRequest{Sql: statement, StartTime: f.start, EndTime: f.end}))
	out := []string{}
	for _, row := range res.GetRows() {
		out = append(out, row.GetValues()[0].GetStringValue())
	}
	slices.Sort(out)
	return out
}

// ofWidget reads a widget with a filter in text form.
func (f *filtered) ofWidget(t testing.TB, visualization, shape, source, where string) *svcv2.WidgetData {
	t.Helper()
	draft := &svcv2.QueryDraft{
		Id: "a", Name: "A", DataSource: source, Aggregation: "count", WhereClause: &where,
		GroupBy: []string{"service.name"},
	}
	if source == metricSource {
		draft.MetricName, draft.MetricType = new(metricName), &f.metric
	}
	return must[*svcv2.WidgetData](t, where)(f.widgets.Data(f.ctx, f.org, widget.Request{
		Widget: &svcv2.Widget{
			Id: "w", Visualization: visualization, Display: &svcv2.WidgetDisplay{}, DataSource: &svcv2.WidgetDataSource{
				Kind: "query", ResultShape: &shape, Limit: new(100.0), Queries: []*svcv2.QueryDraft{draft},
			},
		},
		Override: &svcv2.TimeRange{Type: "absolute", StartTime: f.start, EndTime: f.end},
	}))
}

// ofChart counts over time in a widget.
func (f *filtered) ofChart(t testing.TB, source, where string) (sum float64) {
	t.Helper()
	for _, s := range f.ofWidget(t, "chart", "timeseries", source, where).GetTimeseries().GetSeries() {
		for _, p := range s.GetPoints() {
			sum += p.GetValue()
		}
	}
	return sum
}

// ofTable counts by service in a widget.
func (f *filtered) ofTable(t testing.TB, source, where string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, row := range f.ofWidget(t, "table", "breakdown", source, where).GetTable().GetRows() {
		out[row.GetValues()[0].GetStringValue()] = row.GetValues()[1].GetNumberValue()
	}
	return out
}

// ofList lists the ids in a widget.
func (f *filtered) ofList(t testing.TB, source, where string) []string {
	t.Helper()
	table := f.ofWidget(t, "list", "list", source, where).GetTable()
	at := slices.IndexFunc(table.GetColumns(), func(c *svcv2.SqlResultColumn) bool { return c.GetName() == "trace_id" })
	out := []string{}
	for _, row := range table.GetRows() {
		out = append(out, row.GetValues()[at].GetStringValue())
	}
	slices.Sort(out)
	return out
}

// call calls a tool and reads its structured answer.
func (f *filtered) call(t testing.TB, tool string, args map[string]any, answer any) {
	t.Helper()
	args["start_time"], args["end_time"] = f.start.AsTime().Format(time.RFC3339Nano), f.end.AsTime().Format(time.RFC3339Nano)
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
	})
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequestWithContext(f.ctx, http.MethodPost, mcp.Path, bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("MCP-Protocol-Version", "2025-06-18")
	w := httptest.NewRecorder()
	f.assistants.ServeHTTP(w, req)
	var out struct {
		Error  json.RawMessage `json:"error"`
		Result struct {
			IsError    bool            `json:"isError"`
			Structured json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	err = json.Unmarshal(w.Body.Bytes(), &out)
	if err == nil && out.Result.IsError && strings.Contains(string(out.Result.Structured), "which is not known") {
		return // a name that nobody sends has no rows: the answer stays empty
	}
	if err != nil || w.Code != http.StatusOK || len(out.Error) > 0 || out.Result.IsError {
		t.Fatalf("%s %v: %d %v: %s", tool, args, w.Code, err, w.Body)
	}
	if err := json.Unmarshal(out.Result.Structured, answer); err != nil {
		t.Fatalf("%s %v: %v: %s", tool, args, err, w.Body)
	}
}

// tracesOf lists the ids of the traces that a tool gives.
func (f *filtered) tracesOf(t testing.TB, tool string, args map[string]any) []string {
	t.Helper()
	var out struct {
		Traces []struct {
			TraceID string `json:"traceId"`
		} `json:"traces"`
	}
	f.call(t, tool, args, &out)
	var found []string
	for _, tr := range out.Traces {
		found = append(found, tr.TraceID)
	}
	return idsOf(found, strings.Clone)
}

// ofQueryData counts by service with the tool query_data.
func (f *filtered) ofQueryData(t testing.TB, source string, args map[string]any) map[string]float64 {
	t.Helper()
	args["source"], args["kind"], args["group_by"], args["limit"] = source, "breakdown", "service", 100
	if source == metricSource {
		args["metric"], args["metric_name"], args["metric_type"] = "count", metricName, f.metric
	}
	var out struct {
		Result struct {
			Data []struct {
				Name  string  `json:"name"`
				Value float64 `json:"value"`
			} `json:"data"`
		} `json:"result"`
	}
	f.call(t, "query_data", args, &out)
	groups := map[string]float64{}
	for _, g := range out.Result.Data {
		groups[g.Name] = g.Value
	}
	return groups
}

// checkTree compares the doors of the query language and returns the number of matching items.
func (f *filtered) checkTree(t testing.TB, r *rand.Rand, source string, filter tree) int {
	t.Helper()
	where := filter.text(r)
	if parsed, err := query.ParseWhere(query.Source(source), where); err != nil {
		t.Fatalf("%s: %v", where, err)
	} else if again, err := query.ParseWhere(query.Source(source), parsed.String()); err != nil || cmp.Diff(parsed, again) != "" {
		t.Errorf("%s is written as %s, which reads as %s (%v)", where, parsed, again, err)
	}
	want := matching(f.of(source), filter.holds)
	counted := counts(want)
	f.checkDifference(t, r, source, filter)
	if source == sessionSource { // no other read of sessions takes a text
		return len(want)
	}
	agree(t, "the query with a tree", where, counted, f.ofQuery(t, source, filter.message(), ""))
	agree(t, "the series of the query with a tree", where, float64(len(want)), f.ofQuerySeries(t, source, filter.message(), ""))
	agree(t, "the query with text", where, counted, f.ofQuery(t, source, nil, where))
	agree(t, "the series of the query with text", where, float64(len(want)), f.ofQuerySeries(t, source, nil, where))
	agree(t, "the chart of a widget", where, float64(len(want)), f.ofChart(t, source, where))
	agree(t, "the table of a widget", where, counted, f.ofTable(t, source, where))
	agree(t, "query_data with text", where, counted, f.ofQueryData(t, source, map[string]any{"where": where}))
	if !filter.uses("person", "known.user", "known.visitor") { // they are no columns
		agree(t, "SQL", where, ids(want), f.ofSQL(t, source, filter.sql(source)))
	}
	if source == spanSource || source == logSource {
		agree(t, "the list of a widget", where, ids(want), f.ofList(t, source, where))
	}
	if source == spanSource || source == logSource {
		agree(t, "the values of services", where, counted, f.ofValues(t, source, where))
	}
	switch source {
	case metricSource:
		f.checkPointsText(t, where, want)
		return len(want)
	case eventSource:
		f.checkEventsText(t, where, want)
		return len(want)
	case logSource:
		groups := must[*svcv2.LogBreakdown](t, where)(f.logs.QueryLogBreakdown(f.ctx, &svcv2.QueryLogBreakdownRequest{
			StartTime: f.start, EndTime: f.end, Aggregation: "count", GroupBy: "service", Where: &where,
		}))
		agree(t, "the breakdown with text", where, counted, ofGroups(groups.GetData()))
		series := must[*svcv2.LogTimeseries](t, where)(f.logs.QueryLogTimeseries(f.ctx, &svcv2.QueryLogTimeseriesRequest{
			StartTime: f.start, EndTime: f.end, Aggregation: "count", Where: &where,
		}))
		agree(t, "the series with text", where, float64(len(want)), ofSeries(series.GetSeries()))
		f.checkRecordsText(t, where, want)
		return len(want)
	}
	f.checkSpansText(t, where, want)
	groups := must[*svcv2.TraceBreakdown](t, where)(f.traces.QueryTraceBreakdown(f.ctx, &svcv2.QueryTraceBreakdownRequest{
		StartTime: f.start, EndTime: f.end, Aggregation: "count", GroupBy: "service", Where: &where,
	}))
	agree(t, "the breakdown with text", where, counted, ofGroups(groups.GetData()))
	series := must[*svcv2.TraceTimeseries](t, where)(f.traces.QueryTraceTimeseries(f.ctx, &svcv2.QueryTraceTimeseriesRequest{
		StartTime: f.start, EndTime: f.end, Aggregation: "count", Where: &where,
	}))
	agree(t, "the series with text", where, float64(len(want)), ofSeries(series.GetSeries()))
	return len(want)
}

// allPages reads a list in pages of nine items.
func allPages[T any](read func(limit *int32, cursor *string) (page []T, next *string, more bool)) (all []T) {
	for cursor, more := (*string)(nil), true; more; {
		var page []T
		page, cursor, more = read(new(int32(9)), cursor)
		all = append(all, page...)
	}
	return all
}

// checkTraces compares the doors of the filters on spans and returns the number of matching items.
func (f *filtered) checkTraces(t testing.TB, filters *svcv2.TraceFilters) int {
	t.Helper()
	want := f.matching(func(i item) bool { return i.spanMatches(filters) })
	found := must[*svcv2.SearchTracesResponse](t, filters)(f.traces.SearchTraces(f.ctx, &svcv2.SearchTracesRequest{
		StartTime: f.start, EndTime: f.end, Limit: new(int32(100)), Filters: filters,
	}))
	agree(t, "the search", filters, ids(want), idsOf(found.GetData(), (*svcv2.TraceSummary).GetId))
	// The horizon of spans only bounds the cost of a page: these pages would be right without its filter too. So TestHorizonsOfSpans
	// checks the filter.
	pages := allPages(func(limit *int32, cursor *string) ([]*svcv2.TraceSummary, *string, bool) {
		page := must[*svcv2.SearchTracesResponse](t, filters)(f.traces.SearchTraces(f.ctx, &svcv2.SearchTracesRequest{
			StartTime: f.start, EndTime: f.end, Limit: limit, Cursor: cursor, Filters: filters,
		}))
		return page.GetData(), page.NextCursor, page.GetHasMore()
	})
	agree(t, "the pages of the search", filters, ids(want), idsOf(pages, (*svcv2.TraceSummary).GetId))
	for _, order := range []string{"start_time", "duration"} {
		spans := allPages(func(limit *int32, cursor *string) ([]*svcv2.SpanSummary, *string, bool) {
			page := must[*svcv2.SearchSpansResponse](t, filters)(f.traces.SearchSpans(f.ctx, &svcv2.SearchSpansRequest{
				StartTime: f.start, EndTime: f.end, Limit: limit, Cursor: cursor, Filters: filters, OrderBy: &order,
			}))
			return page.GetData(), page.NextCursor, page.GetHasMore()
		})
		agree(t, "the spans by "+order, filters, ids(want), idsOf(spans, (*svcv2.SpanSummary).GetTraceId))
	}
	facets := must[*svcv2.FacetList](t, filters)(f.traces.SearchTraceFacets(f.ctx, &svcv2.SearchTraceFacetsRequest{StartTime: f.start, EndTime: f.end, Filters: filters}))
	agree(t, "facets", filters, counts(want), ofFacets(facets.GetData()))
	series := must[*svcv2.TraceTimeseries](t, filters)(f.traces.QueryTraceTimeseries(f.ctx, &svcv2.QueryTraceTimeseriesRequest{
		StartTime: f.start, EndTime: f.end, Aggregation: "count", Filters: filters,
	}))
	agree(t, "the series", filters, float64(len(want)), ofSeries(series.GetSeries()))
	groups := must[*svcv2.TraceBreakdown](t, filters)(f.traces.QueryTraceBreakdown(f.ctx, &svcv2.QueryTraceBreakdownRequest{
		StartTime: f.start, EndTime: f.end, Aggregation: "count", GroupBy: "service", Filters: filters,
	}))
	agree(t, "the breakdown", filters, counts(want), ofGroups(groups.GetData()))
	written := must[query.Filter](t, filters)(query.TraceFilter(filters))
	agree(t, "the table of a widget", filters, counts(want), f.ofTable(t, spanSource, written.String()))
	agree(t, "the query", filters, counts(want), f.ofQuery(t, spanSource, treeOfSpans(filters).message(), ""))
	agree(t, "SQL", filters, ids(want), f.ofSQL(t, spanSource, treeOfSpans(filters).sql(spanSource)))

	args, part := toSearchTraces(filters)
	args["limit"] = 200
	agree(t, "search_traces", args, ids(f.matching(func(i item) bool { return i.spanMatches(part) })), f.tracesOf(t, "search_traces", args))
	args, part = toSpanQueryData(filters)
	agree(t, "query_data", args, counts(f.matching(func(i item) bool { return i.spanMatches(part) })), f.ofQueryData(t, spanSource, args))
	if args, part, ok := toSlowTraces(filters); ok {
		args["limit"] = 100
		agree(t, "find_slow_traces", args, ids(f.matching(func(i item) bool { return i.spanMatches(part) })),
			f.tracesOf(t, "find_slow_traces", args))
	}
	return len(want)
}

// checkLogs compares the doors of the filters on log records and returns the number of matching items.
func (f *filtered) checkLogs(t testing.TB, filters *svcv2.LogFilters) int {
	t.Helper()
	want := f.matching(func(i item) bool { return i.recordMatches(filters) })
	found := must[*svcv2.SearchLogsResponse](t, filters)(f.logs.SearchLogs(f.ctx, &svcv2.SearchLogsRequest{
		StartTime: f.start, EndTime: f.end, Limit: new(int32(100)), Filters: filters,
	}))
	agree(t, "the search", filters, ids(want), idsOf(found.GetData(), (*svcv2.Log).GetTraceId))
	// A full page of log records ends at a horizon. If the horizon had another filter, records would be missing here.
	pages := allPages(func(limit *int32, cursor *string) ([]*svcv2.Log, *string, bool) {
		page := must[*svcv2.SearchLogsResponse](t, filters)(f.logs.SearchLogs(f.ctx, &svcv2.SearchLogsRequest{
			StartTime: f.start, EndTime: f.end, Limit: limit, Cursor: cursor, Filters: filters,
		}))
		return page.GetData(), page.NextCursor, page.GetHasMore()
	})
	agree(t, "the pages of the search", filters, ids(want), idsOf(pages, (*svcv2.Log).GetTraceId))
	facets := must[*svcv2.FacetList](t, filters)(f.logs.SearchLogFacets(f.ctx, &svcv2.SearchLogFacetsRequest{StartTime: f.start, EndTime: f.end, Filters: filters}))
	agree(t, "facets", filters, counts(want), ofFacets(facets.GetData()))
	patterns := must[*svcv2.LogPatternList](t, filters)(f.logs.SearchLogPatterns(f.ctx, &svcv2.SearchLogPatternsRequest{StartTime: f.start, EndTime: f.end, Filters: filters}))
	agree(t, "the count of records", filters, float64(len(want)), patterns.GetTotalCount())
	series := must[*svcv2.LogTimeseries](t, filters)(f.logs.QueryLogTimeseries(f.ctx, &svcv2.QueryLogTimeseriesRequest{
		StartTime: f.start, EndTime: f.end, Aggregation: "count", Filters: filters,
	}))
	agree(t, "the series", filters, float64(len(want)), ofSeries(series.GetSeries()))
	groups := must[*svcv2.LogBreakdown](t, filters)(f.logs.QueryLogBreakdown(f.ctx, &svcv2.QueryLogBreakdownRequest{
		StartTime: f.start, EndTime: f.end, Aggregation: "count", GroupBy: "service", Filters: filters,
	}))
	agree(t, "the breakdown", filters, counts(want), ofGroups(groups.GetData()))
	written := must[query.Filter](t, filters)(query.LogFilter(filters))
	agree(t, "the table of a widget", filters, counts(want), f.ofTable(t, logSource, written.String()))
	agree(t, "the query", filters, counts(want), f.ofQuery(t, logSource, treeOfRecords(filters).message(), ""))
	agree(t, "SQL", filters, ids(want), f.ofSQL(t, logSource, treeOfRecords(filters).sql(logSource)))

	args, part := toSearchLogs(filters)
	args["limit"] = 200
	asked := f.matching(func(i item) bool { return i.recordMatches(part) })
	var out struct {
		TotalCount float64 `json:"totalCount"`
		Logs       []struct {
			TraceID string `json:"traceId"`
		} `json:"logs"`
	}
	f.call(t, "search_logs", args, &out)
	agree(t, "search_logs", args, ids(asked), idsOf(out.Logs, func(l struct {
		TraceID string `json:"traceId"`
	},
	) string {
		return l.TraceID
	}))
	agree(t, "the count of search_logs", args, float64(len(asked)), out.TotalCount)
	if args["span_id"] == nil { // the tool has no such argument
		delete(args, "limit")
		f.call(t, "mine_log_patterns", args, &out)
		agree(t, "mine_log_patterns", args, float64(len(asked)), out.TotalCount)
	}
	args, part = toRecordQueryData(filters)
	agree(t, "query_data", args, counts(f.matching(func(i item) bool { return i.recordMatches(part) })), f.ofQueryData(t, logSource, args))
	return len(want)
}
