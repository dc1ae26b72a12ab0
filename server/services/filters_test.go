package services_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/widget"
	"github.com/svc-observability/svc/server/services/logs"
	"github.com/svc-observability/svc/server/services/traces"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

var filterCases = flag.Int("filters", 40, "how many random filters TestFiltersAgree tries for each signal")

// item is a span or a log record as it is stored. The test evaluates filters over items, and every read must agree with the
// result.
type item struct {
	id                              string // the id of its trace, which has no other item
	service, namespace, environment string
	name, status, method, route     string
	code                            int
	duration                        time.Duration
	root                            bool
	severity                        string
	number                          int
	body, spanID                    string
	attributes, resource            map[string]string
}

// These are sources of random text. Several values are common, so that filters match something, and some are hard to handle
// correctly.
func services() []string { return []string{"cart", "shop", "Shop"} }

func keys() []string {
	return []string{"http.method", "http.request.method", "db.system", "db.system.name", "http.route", "k", "it's \\ odd"}
}

func values() []string {
	return []string{"GET", "get", "mysql", "", "3", "12.5", "nan", "Größe", "a,b"}
}

func resources() []string {
	return []string{"deployment.environment", "deployment.environment.name", "service.name", "host"}
}

func words() []string {
	return []string{"payment declined by BANK", "größe falsch", "one two-three four", "ready", ""}
}
func severities() []string { return []string{"INFO", "WARN", "ERROR"} }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func pairs(r *rand.Rand, keys []string) map[string]string {
	out := map[string]string{}
	for range r.IntN(4) {
		out[pick(r, keys)] = pick(r, values())
	}
	return out
}

func randomItem(r *rand.Rand, n int) item {
	i := item{
		id: fmt.Sprintf("%032x", n+0xa0), service: pick(r, services()), namespace: pick(r, []string{"", "eu"}),
		environment: pick(r, []string{"", "prod", "test"}),
		name:        pick(r, []string{"GET", "list Orders", "größe", ""}), status: pick(r, []string{"Unset", "Ok", "Error"}),
		method: pick(r, []string{"", "GET", "get"}),
		route:  pick(r, []string{"", "/a/{id}"}), code: pick(r, []int{0, 200, 404, 503}), duration: time.Duration(r.IntN(9)) * 1_450_000,
		root:     r.IntN(3) > 0,
		severity: pick(r, severities()), number: pick(r, []int{0, 9, 17}), body: pick(r, words()), spanID: fmt.Sprintf("%016x", r.IntN(3)+0xb0),
		attributes: pairs(r, keys()), resource: pairs(r, resources()),
	}
	if _, ok := i.resource["service.name"]; ok { // ingest promotes it to the column
		i.resource["service.name"] = i.service
	}
	return i
}

// sameKey lists the names of an attribute that OpenTelemetry renamed, the requested name first.
func sameKey(key string) []string {
	for _, pair := range [][]string{
		{"http.method", "http.request.method"}, {"db.system", "db.system.name"}, {"deployment.environment", "deployment.environment.name"},
	} {
		if i := slices.Index(pair, key); i >= 0 {
			return []string{key, pair[1-i]}
		}
	}
	return []string{key}
}

func contains(text, part string) bool {
	return text != "" && strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

func attributeHolds(of map[string]string, f *svcv2.AttributeFilter) bool {
	value, present := "", false
	for _, key := range sameKey(f.GetKey()) {
		if value, present = of[key]; present {
			break
		}
	}
	number, err := strconv.ParseFloat(value, 64)
	isNumber, limit := err == nil && value != "nan", f.GetValue().GetNumberValue()
	holds := false
	switch f.GetOperator() {
	case "exists":
		holds = present
	case "equals":
		holds = present && value == f.GetValue().GetStringValue()
	case "contains":
		holds = present && strings.Contains(strings.ToLower(value), strings.ToLower(f.GetValue().GetStringValue()))
	case "gt":
		holds = isNumber && number > limit
	case "gte":
		holds = isNumber && number >= limit
	case "lt":
		holds = isNumber && number < limit
	case "lte":
		holds = isNumber && number <= limit
	}
	return holds != f.GetNegated()
}

func allHold(of map[string]string, list []*svcv2.AttributeFilter) bool {
	return !slices.ContainsFunc(list, func(f *svcv2.AttributeFilter) bool { return !attributeHolds(of, f) })
}

func is(wanted *string, have string) bool { return wanted == nil || *wanted == have }

func (i item) spanMatches(f *svcv2.TraceFilters) bool {
	ms := float64(i.duration) / 1e6
	return is(f.ServiceName, i.service) && is(f.SpanName, i.name) && is(f.TraceId, i.id) && is(f.HttpRoute, i.route) &&
		is(f.HttpMethod, i.method) &&
		(f.StatusCode == nil || strings.EqualFold(f.GetStatusCode(), i.status)) && is(f.DeploymentEnvironment, i.environment) &&
		is(f.ServiceNamespace, i.namespace) && (f.SpanNameContains == nil || contains(i.name, f.GetSpanNameContains())) &&
		(f.HttpStatusCode == nil || i.code != 0 && f.GetHttpStatusCode() == strconv.Itoa(i.code)) &&
		(f.HasError == nil || f.GetHasError() == (i.status == "Error")) && (f.MinDurationMs == nil || ms >= f.GetMinDurationMs()) &&
		(f.MaxDurationMs == nil || ms <= f.GetMaxDurationMs()) && (f.GetSpanScope() != "root" || i.root) &&
		allHold(i.attributes, f.GetAttributes()) && allHold(i.resource, f.GetResourceAttributes())
}

func (i item) recordMatches(f *svcv2.LogFilters) bool {
	return is(f.ServiceName, i.service) && is(f.TraceId, i.id) && is(f.SpanId, i.spanID) && is(f.DeploymentEnvironment, i.environment) &&
		is(f.ServiceNamespace, i.namespace) && (f.Severity == nil || strings.EqualFold(f.GetSeverity(), i.severity)) &&
		(f.BodySearch == nil || contains(i.body, f.GetBodySearch())) &&
		(f.GetMinimumSeverity() == 0 || i.number >= int(f.GetMinimumSeverity())) &&
		allHold(i.attributes, f.GetAttributes()) && allHold(i.resource, f.GetResourceAttributes())
}

// sometimes gives a value for one in eight filters.
func sometimes[T any](r *rand.Rand, list ...T) *T {
	if r.IntN(8) > 0 {
		return nil
	}
	return new(pick(r, list))
}

func randomAttributes(r *rand.Rand, keys []string) []*svcv2.AttributeFilter {
	var out []*svcv2.AttributeFilter
	for range max(0, r.IntN(4)-1) {
		f := &svcv2.AttributeFilter{
			Key: pick(r, keys), Operator: pick(r, []string{"exists", "equals", "equals", "contains", "gt", "gte", "lt", "lte"}),
			Negated: new(r.IntN(3) == 0),
		}
		switch f.GetOperator() {
		case "exists":
		case "equals", "contains":
			f.Value = structpb.NewStringValue(pick(r, values()))
		default:
			f.Value = structpb.NewNumberValue(pick(r, []float64{3, 12.5, -1, 1e9}))
		}
		out = append(out, f)
	}
	return out
}

func randomTraceFilters(r *rand.Rand, items []item) *svcv2.TraceFilters {
	return &svcv2.TraceFilters{
		ServiceName: sometimes(r, services()...), SpanName: sometimes(r, "GET", "größe", ""),
		SpanNameContains: sometimes(r, "ORDERS", "GRÖSSE", "größ", "t"), TraceId: sometimes(r, pick(r, items).id),
		StatusCode: sometimes(r, "error", "Ok"), HttpRoute: sometimes(r, "/a/{id}", ""),
		HttpMethod: sometimes(r, "GET", "get"), HttpStatusCode: sometimes(r, "200", "503", "0", "0200", "many"),
		DeploymentEnvironment: sometimes(r, "prod", ""), ServiceNamespace: sometimes(r, "eu"), HasError: sometimes(r, true, false),
		MinDurationMs: sometimes(r, 4.35, 0), MaxDurationMs: sometimes(r, 4.35, 1e12),
		SpanScope: sometimes(r, "root", "all"), Attributes: randomAttributes(r, keys()), ResourceAttributes: randomAttributes(r, resources()),
	}
}

func randomLogFilters(r *rand.Rand, items []item) *svcv2.LogFilters {
	return &svcv2.LogFilters{
		ServiceName: sometimes(r, services()...), Severity: sometimes(r, "error", "INFO"), MinimumSeverity: sometimes[int32](r, 0, 9, 17),
		TraceId: sometimes(r, pick(r, items).id), SpanId: sometimes(r, items[0].spanID),
		BodySearch:            sometimes(r, " declined ", "two-three", "GRÖSSE", "größe f", "e"),
		DeploymentEnvironment: sometimes(r, "test", ""), ServiceNamespace: sometimes(r, "eu"), Attributes: randomAttributes(r, keys()),
		ResourceAttributes: randomAttributes(r, resources()),
	}
}

// filtered is a warehouse with random items and the services that read it.
type filtered struct {
	items      []item
	start, end time.Time
	traces     *traces.Service
	logs       *logs.Service
	widgets    *widget.Resolver
	ctx        context.Context
	org        principal.OrgID
}

func newFiltered(t testing.TB, seed uint64, org principal.OrgID) *filtered {
	w := warehousetest.Shared(t)
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test that can be repeated
	e := engine.New(engine.Config{Warehouse: w, Rollups: query.AllRollups()})
	start := time.Now().UTC().Truncate(24 * time.Hour).Add(-36 * time.Hour)
	f := &filtered{
		start: start, end: start.Add(3 * time.Hour), traces: traces.New(w, e), logs: logs.New(w, e), widgets: widget.New(e, w, time.Now),
		ctx: principal.WithResult(context.Background(), principal.Result{Principal: &principal.Principal{Org: org}}), org: org,
	}
	var spans, records [][]any
	for n := range 60 {
		i := randomItem(r, n)
		f.items = append(f.items, i)
		at := start.Add(time.Duration(n)*170*time.Second + time.Duration(n))
		parent := "00000000000000ff"
		if i.root {
			parent = ""
		}
		spans = append(spans, []any{
			string(org), at, i.id, i.spanID, parent, i.name, "Server", i.service, i.namespace, i.environment, uint64(i.duration), i.status,
			i.status == "Error", i.root,
			i.method, i.route, uint16(i.code), 1.0, i.resource, i.attributes,
		})
		records = append(records, []any{
			string(org), at, at, i.id, i.spanID, i.severity, uint8(i.number), i.service, i.namespace, i.environment, i.body, i.attributes,
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
	return f
}

// counts are numbers of items by service.
func counts(items []item) map[string]float64 {
	out := map[string]float64{}
	for _, i := range items {
		out[i.service]++
	}
	return out
}

func agree(t testing.TB, door string, filters fmt.Stringer, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s with %s (-evaluated +read):\n%s", door, filters, diff)
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

// ofWidget reads a table of counts by service with a filter in text form.
func (f *filtered) ofWidget(t testing.TB, source, where string) map[string]float64 {
	data, err := f.widgets.Data(f.ctx, f.org, widget.Request{
		Widget: &svcv2.Widget{
			Id: "w", Visualization: "table", Display: &svcv2.WidgetDisplay{}, DataSource: &svcv2.WidgetDataSource{
				Kind: "query", ResultShape: new("breakdown"), Queries: []*svcv2.QueryDraft{{
					Id: "a", Name: "A", DataSource: source, Aggregation: "count", WhereClause: &where, GroupBy: []string{"service.name"},
				}},
			},
		},
		Override: &svcv2.TimeRange{Type: "absolute", StartTime: timestamppb.New(f.start), EndTime: timestamppb.New(f.end)},
	})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, row := range data.GetTable().GetRows() {
		cells := row.GetValues()
		out[cells[0].GetStringValue()] = cells[1].GetNumberValue()
	}
	return out
}

// checkTraces compares the reads of traces and returns the number of matching items.
func (f *filtered) checkTraces(t testing.TB, filters *svcv2.TraceFilters) int {
	t.Helper()
	var want []item
	wanted := []string{}
	for _, i := range f.items {
		if i.spanMatches(filters) {
			want, wanted = append(want, i), append(wanted, i.id)
		}
	}
	start, end := timestamppb.New(f.start), timestamppb.New(f.end)
	found, err := f.traces.SearchTraces(f.ctx, &svcv2.SearchTracesRequest{
		StartTime: start, EndTime: end, Limit: new(int32(100)), Filters: filters,
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, tr := range found.GetData() {
		ids = append(ids, tr.GetId())
	}
	slices.Sort(ids)
	agree(t, "the search", filters, wanted, ids)
	facets, err := f.traces.SearchTraceFacets(f.ctx, &svcv2.SearchTraceFacetsRequest{StartTime: start, EndTime: end, Filters: filters})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "facets", filters, counts(want), ofFacets(facets.GetData()))
	series, err := f.traces.QueryTraceTimeseries(f.ctx, &svcv2.QueryTraceTimeseriesRequest{
		StartTime: start, EndTime: end, Aggregation: "count", Filters: filters,
	})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "the series", filters, float64(len(want)), ofSeries(series.GetSeries()))
	groups, err := f.traces.QueryTraceBreakdown(f.ctx, &svcv2.QueryTraceBreakdownRequest{
		StartTime: start, EndTime: end, Aggregation: "count", GroupBy: "service.name", Filters: filters,
	})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "the breakdown", filters, counts(want), ofGroups(groups.GetData()))
	tree, err := query.TraceFilter(filters)
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "the widget", filters, counts(want), f.ofWidget(t, "traces", tree.String()))
	return len(want)
}

// checkLogs compares the reads of log records and returns the number of matching items.
func (f *filtered) checkLogs(t testing.TB, filters *svcv2.LogFilters) int {
	t.Helper()
	var want []item
	wanted := []string{}
	for _, i := range f.items {
		if i.recordMatches(filters) {
			want, wanted = append(want, i), append(wanted, i.id)
		}
	}
	start, end := timestamppb.New(f.start), timestamppb.New(f.end)
	found, err := f.logs.SearchLogs(f.ctx, &svcv2.SearchLogsRequest{StartTime: start, EndTime: end, Limit: new(int32(100)), Filters: filters})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, l := range found.GetData() {
		ids = append(ids, l.GetTraceId())
	}
	slices.Sort(ids)
	agree(t, "the search", filters, wanted, ids)
	facets, err := f.logs.SearchLogFacets(f.ctx, &svcv2.SearchLogFacetsRequest{StartTime: start, EndTime: end, Filters: filters})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "facets", filters, counts(want), ofFacets(facets.GetData()))
	patterns, err := f.logs.SearchLogPatterns(f.ctx, &svcv2.SearchLogPatternsRequest{StartTime: start, EndTime: end, Filters: filters})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "the count of records", filters, float64(len(want)), patterns.GetTotalCount())
	series, err := f.logs.QueryLogTimeseries(f.ctx, &svcv2.QueryLogTimeseriesRequest{
		StartTime: start, EndTime: end, Aggregation: "count", Filters: filters,
	})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "the series", filters, float64(len(want)), ofSeries(series.GetSeries()))
	groups, err := f.logs.QueryLogBreakdown(f.ctx, &svcv2.QueryLogBreakdownRequest{
		StartTime: start, EndTime: end, Aggregation: "count", GroupBy: "service.name", Filters: filters,
	})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "the breakdown", filters, counts(want), ofGroups(groups.GetData()))
	tree, err := query.LogFilter(filters)
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "the widget", filters, counts(want), f.ofWidget(t, "logs", tree.String()))
	return len(want)
}

// TestFiltersAgree compares every read that takes a filter with a plain evaluation of the filter over random spans and records.
func TestFiltersAgree(t *testing.T) {
	f := newFiltered(t, 7, "org_filters_agree")
	r := rand.New(rand.NewPCG(7, 2)) //nolint:gosec // a test that can be repeated
	some := 0
	for range *filterCases {
		ofTraces, ofLogs := randomTraceFilters(r, f.items), randomLogFilters(r, f.items)
		for _, n := range []int{f.checkTraces(t, ofTraces), f.checkLogs(t, ofLogs)} {
			if n > 0 && n < len(f.items) {
				some++
			}
		}
	}
	if some < *filterCases/2 {
		t.Errorf("only %d of %d filters hold for some items and not for all", some, 2**filterCases)
	}
}

// FuzzFiltersAgree is TestFiltersAgree with random filters of any seed.
func FuzzFiltersAgree(f *testing.F) {
	f.Add(uint64(1))
	of := newFiltered(f, 11, "org_filters_fuzz")
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // a test that can be repeated
		of.checkTraces(t, randomTraceFilters(r, of.items))
		of.checkLogs(t, randomLogFilters(r, of.items))
	})
}
