package widget

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// ended is the last full hour when the tests began: an hour may end while they run.
var ended = time.Now().UTC().Truncate(time.Hour)

// hour is the end of the tests' window. The spans lie in the two hours before it.
func hour() time.Time { return ended }

// fill stores spans for one organization, a minute apart. The last hour has 30 spans of checkout, of which every third failed,
// and 10 of cart, of which the first failed. The hour before has 20 of checkout. Durations are 1, 2, 3 … ms.
func fill(t *testing.T, w *warehouse.Warehouse, org principal.OrgID) {
	t.Helper()
	add := func(service string, ago time.Duration, n int, failing int) {
		err := w.Exec(t.Context(), fmt.Sprintf(`INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, ParentSpanId, SpanName, SpanKind, ServiceName, DurationNano, StatusCode, HasError, SampleRate, SpanAttributes)
			SELECT '%[1]s', fromUnixTimestamp64Nano(toInt64(%[2]d + (number + 1) * 60000000000), 'UTC'), lower(hex(MD5(concat('%[3]s', '%[4]d', toString(number))))), lower(leftPad(hex(number + 1), 16, '0')), '',
			concat('op ', toString(number %% 2)), 'Server', '%[3]s', (number + 1) * 1000000, if(number %% %[5]d = 0, 'Error', 'Unset'), number %% %[5]d = 0, 1, map('k', '%[1]s-', 'n', toString(number))
			FROM numbers(%[6]d)`, org, hour().Add(-ago).UnixNano(), service, ago, failing, n))
		if err != nil {
			t.Fatal(err)
		}
	}
	add("checkout", time.Hour, 30, 3)
	add("cart", time.Hour, 10, 1000)
	add("checkout", 2*time.Hour, 20, 1000)
}

func lastHour() *svcv2.TimeRange {
	return &svcv2.TimeRange{
		Type: "absolute", StartTime: timestamppb.New(hour().Add(-time.Hour)),
		EndTime: timestamppb.New(hour().Add(-time.Nanosecond)),
	}
}

func draftOf(aggregation, where string, groups ...string) *svcv2.QueryDraft {
	return &svcv2.QueryDraft{Id: "a", Name: "A", DataSource: "traces", Aggregation: aggregation, WhereClause: &where, GroupBy: groups}
}

func widgetOf(visual, shape string, drafts ...*svcv2.QueryDraft) *svcv2.Widget {
	for i, d := range drafts {
		d.Name = string(rune('A' + i))
	}
	return &svcv2.Widget{
		Id: "w", Visualization: visual, Display: &svcv2.WidgetDisplay{},
		DataSource: &svcv2.WidgetDataSource{Kind: "query", ResultShape: &shape, Queries: drafts},
	}
}

func sqlOf(visual, display, sql string) *svcv2.Widget {
	return &svcv2.Widget{
		Id: "w", Visualization: visual, Display: &svcv2.WidgetDisplay{},
		DataSource: &svcv2.WidgetDataSource{Kind: "raw_sql", Sql: &sql, DisplayType: &display},
	}
}

type reader struct {
	t   *testing.T
	r   *Resolver
	org principal.OrgID
}

func newReader(t *testing.T, org principal.OrgID) reader {
	w := warehousetest.Shared(t)
	fill(t, w, org)
	return reader{t, New(engine.New(engine.Config{Warehouse: w}), w, time.Now), org}
}

func (r reader) data(w *svcv2.Widget, change ...func(*Request)) *svcv2.WidgetData {
	r.t.Helper()
	req := Request{Widget: w, Override: lastHour()}
	for _, fn := range change {
		fn(&req)
	}
	out, err := r.r.Data(r.t.Context(), r.org, req)
	if err != nil {
		r.t.Fatalf("%v: %v", w, err)
	}
	return out
}

func (r reader) number(what string, w *svcv2.Widget, want float64, change ...func(*Request)) {
	r.t.Helper()
	d := r.data(w, change...)
	if d.GetKind() != "value" || d.GetValue().Value == nil || math.Abs(d.GetValue().GetValue()-want) > 1e-6 {
		r.t.Errorf("%s: %s %v, want %g", what, d.GetKind(), d.GetValue(), want)
	}
}

func reduced(w *svcv2.Widget, aggregate string) *svcv2.Widget {
	w.DataSource.Transform = &svcv2.DataTransform{
		FlattenSeries: &svcv2.FlattenSeries{ValueField: "value"}, ReduceToValue: &svcv2.ReduceToValue{Field: "value", Aggregate: &aggregate},
	}
	return w
}

// TestKinds compares the data of widgets with spans that were counted by hand.
func TestKinds(t *testing.T) {
	r := newReader(t, "org_widgets_kinds")
	r.number("a count", widgetOf("stat", "timeseries", draftOf("count", "")), 40)
	r.number("a count, reduced", reduced(widgetOf("stat", "timeseries", draftOf("count", "")), "sum"), 40)
	r.number("a count of groups", widgetOf("stat", "breakdown", draftOf("count", "service.name = cart")), 10)
	r.number("failed spans", widgetOf("stat", "timeseries", draftOf("count", "has_error = true")), 11)
	r.number("nothing", widgetOf("stat", "timeseries", draftOf("count", "service.name = nobody")), 0)
	r.number("a statement", sqlOf("stat", "stat", "SELECT count() AS value FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp)"), 40)

	ratio := widgetOf("stat", "breakdown", draftOf("count", "has_error = true"), draftOf("count", ""))
	ratio.DataSource.Queries[0].Hidden, ratio.DataSource.Queries[1].Hidden = new(true), new(true)
	ratio.DataSource.Formulas = []*svcv2.QueryFormula{{Id: "f", Name: "F1", Expression: "A / B * $factor"}}
	r.number("a formula with a variable", ratio, 27.5, func(q *Request) {
		q.Variables, q.Values = []*svcv2.DashboardVariable{{Name: "factor", Type: "textbox"}}, map[string]string{"factor": "100"}
	})

	compared := widgetOf("stat", "timeseries", draftOf("count", "service.name = checkout"))
	compared.DataSource.Comparison = &svcv2.QueryComparison{Mode: new("previous_period"), IncludePercentChange: new(true)}
	if v := r.data(compared).GetValue(); v.GetValue() != 30 || v.GetPrevious() != 20 || v.GetPercentChange() != 50 {
		t.Errorf("compared: %v", v)
	}

	// The value covers the whole window in every shape, not its buckets.
	for aggregation, want := range map[string]float64{
		"count": 40, "max_duration": 30, "min_duration": 1, "avg_duration": 13,
		"count_distinct": 40, "error_rate": 11.0 / 40,
	} {
		for _, shape := range []string{"timeseries", "breakdown"} {
			w := widgetOf("gauge", shape, draftOf(aggregation, ""))
			if aggregation == "count_distinct" {
				w.DataSource.Queries[0].ValueField = new("trace.id")
			}
			r.number(aggregation+" as "+shape, w, want)
		}
	}
	r.number("the largest of any group", widgetOf("stat", "timeseries", draftOf("max_duration", "", "service.name")), 30)
	several := widgetOf("stat", "timeseries", draftOf("count", ""), draftOf("error_rate", ""))
	several.DataSource.Formulas = []*svcv2.QueryFormula{{Id: "f", Name: "F1", Expression: "A / 2"}}
	r.number("the first of several", several, 40)
	if w := r.data(several).GetWarnings(); len(w) != 1 || !strings.Contains(w[0], "shows one number, and here it is that of A") {
		t.Errorf("several: %v", w)
	}
	several.DataSource.Queries[0].Hidden, several.DataSource.Queries[1].Hidden = new(true), new(true)
	r.number("a formula of the whole window", several, 20)

	// cart sent nothing after the first ten minutes of the hour.
	halfHour := func(q *Request) {
		q.Override = &svcv2.TimeRange{
			Type: "absolute", StartTime: timestamppb.New(hour().Add(-30 * time.Minute)),
			EndTime: timestamppb.New(hour()),
		}
	}
	for _, shape := range []string{"timeseries", "breakdown"} {
		silent := widgetOf("stat", shape, draftOf("count", "service.name = cart"))
		silent.DataSource.Comparison = &svcv2.QueryComparison{Mode: new("previous_period")}
		if v := r.data(silent, halfHour).GetValue(); v.Value == nil || v.GetValue() != 0 || v.GetPrevious() != 10 ||
			v.GetPercentChange() != -100 {
			t.Errorf("silent, as %s: %v", shape, v)
		}
	}
	fell := widgetOf("chart", "timeseries", draftOf("count", "service.name = cart"))
	fell.DataSource.Comparison = &svcv2.QueryComparison{Mode: new("previous_period")}
	if d := r.data(fell, halfHour, func(q *Request) { q.Fallback = true }); d.GetRangeSource() != "override" ||
		len(d.GetTimeseries().GetSeries()) != 1 || len(d.GetTimeseries().GetSeries()[0].GetPreviousPoints()) == 0 {
		t.Errorf("a chart of what fell silent: %v", d)
	}

	chart := r.data(widgetOf("chart", "timeseries", draftOf("count", "", "service.name"))).GetTimeseries()
	sums := map[string]float64{}
	for _, s := range chart.GetSeries() {
		for _, p := range s.GetPoints() {
			sums[s.GetName()] += p.GetValue()
		}
	}
	if len(sums) != 2 || sums["checkout"] != 30 || sums["cart"] != 10 {
		t.Errorf("chart: %v", sums)
	}
	hiding := widgetOf("chart", "timeseries", draftOf("count", "", "service.name"), draftOf("avg_duration", ""))
	hiding.DataSource.Transform = &svcv2.DataTransform{HideSeries: &svcv2.HideSeries{BaseNames: []string{"A"}}}
	if s := r.data(hiding).GetTimeseries().GetSeries(); len(s) != 1 || s[0].GetQuery() != "B" {
		t.Errorf("hidden: %v", s)
	}

	for _, visual := range []string{"pie", "hbar"} {
		b := r.data(widgetOf(visual, "timeseries", draftOf("count", "", "service.name"))).GetBreakdown()
		if len(b.GetRows()) != 2 || b.GetRows()[0].GetName() != "checkout" || b.GetRows()[0].GetValues()[0].GetValue() != 30 {
			t.Errorf("%s: %v", visual, b)
		}
	}
	sorted := widgetOf("hbar", "breakdown", draftOf("count", "", "service.name"))
	sorted.DataSource.Transform = &svcv2.DataTransform{SortBy: &svcv2.SortBy{Field: "value", Direction: "asc"}, Limit: new(1.0)}
	if b := r.data(sorted).GetBreakdown(); len(b.GetRows()) != 1 || b.GetRows()[0].GetName() != "cart" {
		t.Errorf("sorted: %v", b)
	}
	table := r.data(widgetOf("table", "breakdown", draftOf("count", "", "service.name"),
		draftOf("max_duration", "", "service.name"))).GetTable()
	if got := fmt.Sprint(table.GetRows()[0].AsSlice(), len(table.GetColumns())); got != "[checkout 30 30 30] 4" {
		t.Errorf("table: %s", got)
	}
	heat := r.data(widgetOf("heatmap", "timeseries", draftOf("count", "", "service.name"))).GetHeatmap()
	total := 0.0
	for _, c := range heat.GetCells() {
		total += c.GetValue()
	}
	if total != 40 {
		t.Errorf("heatmap: %g", total)
	}
	total = 0
	for _, b := range r.data(sqlOf("histogram", "histogram", "SELECT DurationNano / 1e6 AS value FROM spans WHERE $__orgFilter AND "+
		"$__timeFilter(Timestamp)")).GetHistogram().GetBuckets() {
		total += b.GetCount()
	}
	if total != 40 {
		t.Errorf("histogram: %g", total)
	}
	lines := r.data(sqlOf("chart", "line", "SELECT $__timeGroup(Timestamp) AS bucket, ServiceName, count() AS n FROM spans WHERE "+
		"$__orgFilter AND $__timeFilter(Timestamp) GROUP BY 1, 2")).GetTimeseries()
	if len(lines.GetSeries()) != 2 || lines.GetSeries()[1].GetName() != "checkout" || lines.GetBucketSeconds() != 300 {
		t.Errorf("lines: %v", lines)
	}
	pie := r.data(sqlOf("pie", "pie", "SELECT ServiceName AS name, count() AS n FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp) "+
		"GROUP BY 1 ORDER BY 2")).GetBreakdown()
	if len(pie.GetRows()) != 2 || pie.GetRows()[1].GetValues()[0].GetValue() != 30 {
		t.Errorf("pie: %v", pie)
	}
	if d := r.data(&svcv2.Widget{Visualization: "markdown", DataSource: &svcv2.WidgetDataSource{Kind: "static"}}); d.GetKind() != "none" {
		t.Errorf("text: %v", d)
	}
}

func TestList(t *testing.T) {
	r := newReader(t, "org_widgets_list")
	w := widgetOf("list", "list", draftOf("count", "has_error = true AND service.name = $service"))
	w.DataSource.Limit, w.DataSource.Columns = new(4.0), []string{"attr.n", "service_name"}
	vars := func(q *Request) {
		q.Variables, q.Values = []*svcv2.DashboardVariable{{Name: "service", Type: "textbox"}}, map[string]string{"service": "checkout"}
	}
	got := r.data(w, vars).GetTable()
	var ns []string
	at := slices.IndexFunc(got.GetColumns(), func(c *svcv2.SqlResultColumn) bool { return c.GetName() == "attr.n" })
	for _, row := range got.GetRows() {
		ns = append(ns, row.GetValues()[at].GetStringValue())
	}
	if fmt.Sprint(ns) != "[27 24 21 18]" || len(got.GetColumns()) != 9 {
		t.Errorf("list: %v %v", ns, got.GetColumns())
	}
	// The window is narrowed to the last seven days.
	month := func(q *Request) { q.Override = &svcv2.TimeRange{Type: "relative", Value: new("30d")} }
	if d := r.data(w, vars, month); d.GetNarrowedToSeconds() != 7*24*3600 || len(d.GetTable().GetRows()) != 4 {
		t.Errorf("of a month: %v", d)
	}
	// Groups without a filter are read for one day.
	if d := r.data(widgetOf("pie", "breakdown", draftOf("count", "", "service.name")), month); d.GetNarrowedToSeconds() != 24*3600 ||
		len(d.GetBreakdown().GetRows()) != 2 {
		t.Errorf("groups of a month: %v", d)
	}
}

// TestFallback: if a chart has no data in its window, it shows a longer window that has data, provided the request allows that.
func TestFallback(t *testing.T) {
	r := newReader(t, "org_widgets_fallback")
	short := func(q *Request) {
		q.Override = &svcv2.TimeRange{
			Type: "absolute", StartTime: timestamppb.New(hour().Add(-time.Second)),
			EndTime: timestamppb.New(hour().Add(-time.Nanosecond)),
		}
	}
	chart := widgetOf("chart", "timeseries", draftOf("avg_duration", "service.name = checkout"))
	if d := r.data(chart, short); len(d.GetTimeseries().GetSeries()) != 0 || d.GetRangeSource() != "override" {
		t.Errorf("without: %v", d)
	}
	d := r.data(chart, short, func(q *Request) { q.Fallback = true })
	if len(d.GetTimeseries().GetSeries()) != 1 || d.GetRangeSource() != "fallback" ||
		d.GetEndTime().AsTime().Sub(d.GetStartTime().AsTime()) != 24*time.Hour {
		t.Errorf("with: %v", d)
	}
	nobody := widgetOf("chart", "timeseries", draftOf("avg_duration", "service.name = nobody"))
	if d := r.data(nobody, short, func(q *Request) { q.Fallback = true }); d.GetRangeSource() != "override" {
		t.Errorf("nothing anywhere: %v", d)
	}
}

// TestVariablesStayInside: values that look like filter or SQL syntax find no rows of any organization. The value for all finds
// all rows of the caller's organization.
func TestVariablesStayInside(t *testing.T) {
	mine, theirs := newReader(t, "org_widgets_mine"), newReader(t, "org_widgets_theirs")
	variables := []*svcv2.DashboardVariable{{
		Name: "s", Type: "query", IncludeAll: new(true),
		Source: &svcv2.VariableSource{Kind: "facet", Facet: new("service")},
	}}
	set := func(v string) func(*Request) {
		return func(q *Request) { q.Variables, q.Values = variables, map[string]string{"s": v} }
	}
	widgets := map[string]*svcv2.Widget{
		"filter":        widgetOf("stat", "timeseries", draftOf("count", "service.name = $s")),
		"quoted filter": widgetOf("stat", "timeseries", draftOf("count", `service.name = "$s"`)),
		"statement": sqlOf("stat", "stat", "SELECT count() AS value FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp) AND "+
			"ServiceName IN ($s)"),
	}
	for name, w := range widgets {
		mine.number(name, w, 30, set("checkout"))
		mine.number(name+" of all", w, 40, set(All))
		for _, value := range []string{
			"x') OR 1 = 1 --", "x' OR '1' = '1", `x" OR service.name != "`, `x\`, `\' OR 1=1 --`, "x') UNION ALL SELECT count() FROM spans --",
			"$__orgFilter", "x'); DROP TABLE spans", "{org:String}",
			"') OR OrgId = 'org_widgets_theirs' --", `\`, "'", "", `x" OR attr.k contains "`,
		} {
			mine.number(name+" with "+value, w, 0, set(value))
		}
	}
	// The other organization has its own rows in every read.
	if rows := mine.data(widgetOf("table", "breakdown", draftOf("count", "", "attr.k"))).GetTable().GetRows(); len(rows) != 1 ||
		rows[0].GetValues()[0].GetStringValue() != "org_widgets_mine-" {
		t.Errorf("groups: %v", rows)
	}
	if d := theirs.data(sqlOf("table", "table", "SELECT DISTINCT SpanAttributes['k'] AS k FROM spans WHERE $__orgFilter")).GetTable(); len(d.GetRows()) != 1 ||
		!strings.HasPrefix(d.GetRows()[0].GetValues()[0].GetStringValue(), "org_widgets_theirs") {
		t.Errorf("statement: %v", d)
	}
	options, err := mine.r.Options(t.Context(), mine.org, &svcv2.DashboardVariable{
		Name: "k", Type: "query",
		Source: &svcv2.VariableSource{Kind: "attribute", Scope: new("span"), AttributeKey: new("k")},
	}, mustWindow(t), "")
	if err != nil || len(options) != 1 || options[0].GetValue() != "org_widgets_mine-" {
		t.Errorf("options: %v %v", options, err)
	}
}

func mustWindow(t *testing.T) (w struct{ Start, End time.Time }) {
	t.Helper()
	got, _, err := Window(lastHour(), nil, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestUnknownVariable: a stored widget that refers to a deleted variable reports that.
func TestUnknownVariable(t *testing.T) {
	r := newReader(t, "org_widgets_unknown")
	d := r.data(widgetOf("chart", "breakdown", draftOf("count", "service.name = $nosuch", "service.name")))
	if len(d.GetWarnings()) != 2 || !strings.Contains(d.GetWarnings()[0], "$nosuch") || !strings.Contains(d.GetWarnings()[1], "No service") {
		t.Errorf("warnings: %v", d.GetWarnings())
	}
}

// TestBadWidgets: an invalid widget is refused, and the error names the wrong field.
func TestBadWidgets(t *testing.T) {
	r := newReader(t, "org_widgets_bad")
	formula := widgetOf("chart", "timeseries", draftOf("count", ""))
	formula.DataSource.Formulas = []*svcv2.QueryFormula{{Id: "f", Name: "F1", Expression: "A / nobody"}}
	havingText := widgetOf("chart", "timeseries", draftOf("count", ""))
	havingText.DataSource.Queries[0].Having = new("often")
	params, _ := structpb.NewStruct(map[string]any{"sql": "SELECT 1 FROM system.tables WHERE $__orgFilter"})
	for field, w := range map[string]*svcv2.Widget{
		"queries[0].where_clause": widgetOf("chart", "timeseries", draftOf("count", "service.name = (")),
		"queries[0].aggregation":  widgetOf("chart", "timeseries", draftOf("median", "")),
		"formulas[0].expression":  formula, "queries[0].having": havingText,
		"sql": {Visualization: "table", DataSource: &svcv2.WidgetDataSource{Kind: "route", Params: params}},
	} {
		_, err := r.r.Data(t.Context(), r.org, Request{Widget: w, Override: lastHour()})
		if e := apierr.From(err); err == nil || e.Param != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
