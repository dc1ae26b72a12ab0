package mcp

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// chartAPI has a dashboard with one widget.
type chartAPI struct {
	svcv2.DashboardsServiceClient
	svcv2.DashboardDataServiceClient
	svcv2.SqlServiceClient
	widget *svcv2.Widget
	data   *svcv2.WidgetData
	read   *svcv2.SearchDashboardWidgetDataRequest
	sqlErr error
	// fails is what the inspection fails with.
	fails error
}

func (f *chartAPI) GetDashboard(context.Context, *svcv2.GetDashboardRequest, ...grpc.CallOption) (*svcv2.Dashboard, error) {
	return &svcv2.Dashboard{Id: "dash_x", Widgets: []*svcv2.Widget{f.widget}}, nil
}

func (f *chartAPI) SearchDashboardWidgetInspection(context.Context, *svcv2.SearchDashboardWidgetInspectionRequest, ...grpc.CallOption) (*svcv2.WidgetInspection, error) {
	if f.fails != nil {
		return nil, f.fails
	}
	out := &svcv2.WidgetInspection{
		Outcome: "inspected", DashboardId: "dash_x", WidgetId: "w", Visualization: f.widget.GetVisualization(), Verdict: "suspicious", Flags: []string{"ALL_ZEROS"}, Notes: []string{"Every value is 0."},
		StartTime: timestamppb.New(now().Add(-time.Hour)), EndTime: timestamppb.New(now()), RangeSource: "dashboard", Series: []*svcv2.WidgetSeriesFigures{{Name: "n", Points: 2, Max: num(3)}},
	}
	if d := f.widget.GetDisplay(); d != nil {
		out.Unit = d.Unit
	}
	switch f.widget.GetDataSource().GetKind() {
	case "raw_sql":
		out.Outcome, out.RawSql = "raw_sql", f.widget.GetDataSource().Sql
	case "static":
		out.Outcome = "unsupported"
	}
	return out, nil
}

func (f *chartAPI) SearchDashboardWidgetData(_ context.Context, req *svcv2.SearchDashboardWidgetDataRequest, _ ...grpc.CallOption) (*svcv2.WidgetData, error) {
	f.read = req
	return f.data, nil
}

func (f *chartAPI) RunSql(context.Context, *svcv2.RunSqlRequest, ...grpc.CallOption) (*svcv2.SqlResult, error) {
	row, err := structpb.NewList([]any{"web", 3})
	if err != nil {
		return nil, err
	}
	return &svcv2.SqlResult{ExpandedSql: "SELECT expanded", RowCount: 1, Columns: []*svcv2.SqlResultColumn{{Name: "s"}, {Name: "n"}}, Rows: []*structpb.ListValue{row}}, f.sqlErr
}

// inspectChart calls inspect_chart_data as somebody with the scopes; nil for all.
func inspectChart(t *testing.T, f *chartAPI, scopes []string) (chartResult, string) {
	t.Helper()
	tool, err := newInspectChartData(&Server{clients: clients{dashboards: f, dashboardData: f, sql: f}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := tool.read([]byte(`{"dashboard_id":"dash_x","widget_id":"w"}`), now())
	if err != nil {
		t.Fatal(err)
	}
	p := &principal.Principal{Org: "org_a", Kind: principal.KindMCPKey, Role: principal.RoleRoot}
	if scopes != nil {
		p.Kind, p.Scopes = principal.KindAPIKey, scopes
	}
	out, err := tool.run(principal.WithResult(t.Context(), principal.Result{Principal: p}), a)
	if err != nil {
		t.Fatal(err)
	}
	res := out.data.(chartResult)
	if err := resolve(t, tool.output).Validate(asJSON(t, res)); err != nil {
		t.Error(err)
	}
	return res, out.text.render(tool.title)
}

func drafts(names ...string) []*svcv2.QueryDraft {
	var list []*svcv2.QueryDraft
	for _, n := range names {
		list = append(list, &svcv2.QueryDraft{Id: strings.ToLower(n), Name: n, DataSource: "traces", Aggregation: "count"})
	}
	return list
}

func minutes(query string, at []int, values ...float64) *svcv2.QuerySeries {
	s := &svcv2.QuerySeries{Query: query, Name: query}
	for i, v := range values {
		s.Points = append(s.Points, &svcv2.TelemetryPoint{Timestamp: timestamppb.New(now().Add(time.Duration(at[i]) * time.Minute)), Value: v})
	}
	return s
}

func TestChartQueries(t *testing.T) {
	f := &chartAPI{
		widget: &svcv2.Widget{Id: "w", Visualization: "chart", Display: &svcv2.WidgetDisplay{Unit: ptr("number")}, DataSource: &svcv2.WidgetDataSource{
			Kind: "query", ResultShape: ptr("timeseries"), Queries: drafts("A", "B", "C", "D"), Formulas: []*svcv2.QueryFormula{{Name: "F1", Expression: "A / C"}},
		}},
		data: &svcv2.WidgetData{Kind: "timeseries", Timeseries: &svcv2.WidgetTimeseries{BucketSeconds: 60, Series: []*svcv2.QuerySeries{
			minutes("A", []int{0, 1, 2}, 4, -1, 0), minutes("A", []int{1}, 5), minutes("B", []int{0, 1}, 0, 0),
		}}},
	}
	f.widget.DataSource.Queries[2].Hidden = ptr(true)
	f.widget.DataSource.Queries[3].Enabled = ptr(false)
	got, text := inspectChart(t, f, nil)
	if f.read.GetTimeRange().GetStartTime().AsTime() != now().Add(-time.Hour) || f.read.EmptyRangeFallback == nil || f.read.GetEmptyRangeFallback() {
		t.Errorf("the data was read with %v, not in the window of the inspection", f.read)
	}
	if w := got.Widget; w.Endpoint != "query_timeseries" || *w.DisplayUnit != "number" || !w.HasFormulaWarning || w.HasUnsupportedTransform || got.Series != nil || got.RawSQL != nil {
		t.Errorf("%+v %v %v", w, got.Series, got.RawSQL)
	}
	if got.DataSource["kind"] != "query" || len(got.Queries) != 5 {
		t.Fatalf("%v %+v", got.DataSource, got.Queries)
	}
	a := got.Queries[0]
	bucket := func(m int) string { return clock(now().Add(time.Duration(m) * time.Minute)) }
	want := chartStats{RowCount: 3, SeriesCount: 2, FirstBucket: bucket(0), LastBucket: bucket(2), SeriesStats: []chartLine{
		{Name: "A", Min: num(-1), Max: num(4), Avg: num(1), ValidCount: 3, ZeroCount: 1, NegativeCount: 1, Samples: []chartSample{{bucket(0), num(4)}, {bucket(1), num(-1)}, {bucket(2), num(0)}}},
		{Name: "A", Min: num(5), Max: num(5), Avg: num(5), ValidCount: 1, NullCount: 2, Samples: []chartSample{{bucket(1), num(5)}}},
	}}
	if diff := cmp.Diff(want, *a.Stats); diff != "" || a.QueryID != "a" || a.Status != "ok" || a.Spec["aggregation"] != "count" || len(a.Flags) > 0 {
		t.Errorf("%+v (-want +got):\n%s", a, diff)
	}
	statuses, flags := "", [][]string{}
	for _, q := range got.Queries {
		statuses += q.QueryName + " " + q.Status + ", "
		flags = append(flags, q.Flags)
	}
	if statuses != "A ok, B ok, C skipped, D skipped, F1 ok, " || !slices.Equal(flags[1], []string{"ALL_ZEROS"}) || !slices.Equal(flags[4], []string{"EMPTY"}) {
		t.Errorf("%s %q", statuses, flags)
	}
	for _, part := range []string{"### Queries", "skipped It is switched off.", "| n | 2 |"} {
		if !strings.Contains(text, part) {
			t.Errorf("the text has no %q:\n%s", part, text)
		}
	}
}

func TestChartOfOneNumber(t *testing.T) {
	f := &chartAPI{
		widget: &svcv2.Widget{Id: "w", Visualization: "stat", DataSource: &svcv2.WidgetDataSource{Kind: "query", ResultShape: ptr("breakdown"), Queries: drafts("A"), Transform: &svcv2.DataTransform{ReduceToValue: &svcv2.ReduceToValue{Field: "value"}}}},
		data:   &svcv2.WidgetData{Kind: "value", Value: &svcv2.WidgetValue{Value: num(7)}, Warnings: []string{"odd"}},
	}
	got, _ := inspectChart(t, f, nil)
	q := got.Queries[0]
	if *q.ReducedValue != 7 || q.Stats.RowCount != 1 || !slices.Equal(q.Flags, []string{"ALL_ZEROS"}) || !slices.Equal(q.BuilderWarnings, []string{"odd"}) || got.Widget.HasUnsupportedTransform {
		t.Errorf("%+v %+v", q, got.Widget)
	}
	f.widget.DataSource.Queries, f.widget.DataSource.Transform = drafts("A", "B"), &svcv2.DataTransform{ComputeRatio: &svcv2.ComputeRatio{}}
	if got, _ = inspectChart(t, f, nil); !got.Widget.HasUnsupportedTransform || got.Queries[1].Status != "skipped" || got.Queries[1].Stats != nil || got.Queries[1].Error == "" {
		t.Errorf("of a number it is said which of two queries gave it: %+v", got.Queries[1])
	}
}

func TestChartOfAStatement(t *testing.T) {
	f := &chartAPI{widget: &svcv2.Widget{Id: "w", Visualization: "table", DataSource: &svcv2.WidgetDataSource{Kind: "raw_sql", Sql: ptr("SELECT 1")}}}
	got, text := inspectChart(t, f, nil)
	want := chartSQL{SQL: "SELECT 1", ExpandedSQL: ptr("SELECT expanded"), Status: "ok", RowCount: 1, Columns: []string{"s", "n"}, Rows: [][]any{{"web", 3.0}}}
	if diff := cmp.Diff(want, *got.RawSQL); diff != "" || got.Widget.Endpoint != "raw_sql_chart" || len(got.Queries) != 0 || len(got.Series) != 1 || !strings.Contains(text, "| web | 3 |") {
		t.Errorf("%+v (-want +got):\n%s\n%s", got, diff, text)
	}
	if got, _ = inspectChart(t, f, []string{"dashboards:read"}); got.RawSQL.Status != "error" || !strings.Contains(got.RawSQL.Error, "sql:read") || got.RawSQL.Rows == nil {
		t.Errorf("without sql:read: %+v", got.RawSQL)
	}
	f.sqlErr = apierr.New(apierr.WarehouseInvalidSql, "No such column.")
	if got, text = inspectChart(t, f, nil); got.RawSQL.Status != "error" || got.RawSQL.Error != "No such column." || !strings.Contains(text, "No such column.") {
		t.Errorf("%+v\n%s", got.RawSQL, text)
	}
	f.widget.DataSource = &svcv2.WidgetDataSource{Kind: "static"}
	if got, _ = inspectChart(t, f, nil); got.Outcome != "unsupported" || got.RawSQL != nil || got.Queries == nil || got.Widget.Endpoint != "static" {
		t.Errorf("%+v", got)
	}
}

func TestChartWhoseQueryIsRefused(t *testing.T) {
	f := &chartAPI{
		fails: apierr.New(apierr.QueryEngineValidation, "`aggregation` must be one of count, rate."),
		widget: &svcv2.Widget{
			Id: "w", Visualization: "chart", DataSource: &svcv2.WidgetDataSource{Kind: "query", Queries: drafts("A", "B")},
			TimeRange: &svcv2.TimeRange{Type: "relative", Value: ptr("2d")},
		},
	}
	f.widget.DataSource.Queries[1].Hidden = ptr(true)
	got, text := inspectChart(t, f, nil)
	if got.Verdict != "broken" || got.Queries[0].Status != "error" || got.Queries[0].Error == "" || got.Queries[1].Status != "skipped" || !strings.Contains(text, "must be one of count") {
		t.Errorf("%+v\n%s", got, text)
	}
	if want := (chartRange{clock(now().Add(-48 * time.Hour)), clock(now()), "widget"}); got.TimeRange != want {
		t.Errorf("the window is %+v, want %+v", got.TimeRange, want)
	}
	f.widget.TimeRange, f.widget.DataSource = nil, &svcv2.WidgetDataSource{Kind: "raw_sql", Sql: ptr("SELECT 1")}
	if got, _ = inspectChart(t, f, nil); got.Outcome != "raw_sql" || got.RawSQL.Status != "error" || got.RawSQL.SQL != "SELECT 1" || got.TimeRange.Source != "dashboard" {
		t.Errorf("%+v", got)
	}
	for _, tag := range []apierr.Tag{apierr.QueryEngineTimeout, apierr.DashboardWidgetNotFound} {
		if why := widgetFault(apierr.New(tag, "Not the widget's fault.")); why != "" {
			t.Errorf("%v is told as %q", tag, why)
		}
	}
}

func TestRepairScalar(t *testing.T) {
	widget := func(panel, shape, aggregation string) *svcv2.Widget {
		q := drafts("A")
		q[0].Aggregation = aggregation
		return &svcv2.Widget{Id: "w", Visualization: panel, DataSource: &svcv2.WidgetDataSource{Kind: "query", ResultShape: &shape, Queries: q}}
	}
	with := func(x *svcv2.Widget, change func(*svcv2.WidgetDataSource)) *svcv2.Widget {
		change(x.DataSource)
		return x
	}
	stat := func() *svcv2.Widget { return widget("stat", "timeseries", "count") }
	for name, tc := range map[string]struct {
		x    *svcv2.Widget
		want string
	}{
		"a count":         {stat(), "sum"},
		"a latency":       {widget("gauge", "timeseries", "p95_duration"), "avg"},
		"a metric's sum":  {with(widget("gauge", "timeseries", "sum"), func(d *svcv2.WidgetDataSource) { d.Queries[0].DataSource = "metrics" }), "avg"},
		"a chart":         {widget("chart", "timeseries", "count"), ""},
		"no series":       {widget("stat", "breakdown", "count"), ""},
		"several series":  {with(stat(), func(d *svcv2.WidgetDataSource) { d.Queries[0].GroupBy = []string{"service.name"} }), ""},
		"several queries": {with(stat(), func(d *svcv2.WidgetDataSource) { d.Queries = drafts("A", "B") }), ""},
		"one is shown":    {with(stat(), func(d *svcv2.WidgetDataSource) { d.Queries = drafts("A", "B"); d.Queries[1].Hidden = ptr(true) }), "sum"},
		"a formula":       {with(stat(), func(d *svcv2.WidgetDataSource) { d.Formulas = []*svcv2.QueryFormula{{Name: "F1"}} }), ""},
		"groups that lie": {with(stat(), func(d *svcv2.WidgetDataSource) {
			d.Queries[0].GroupBy, d.Queries[0].AddOns = []string{"k"}, &svcv2.QueryAddOns{}
		}), "sum"},
		"has one already": {with(stat(), func(d *svcv2.WidgetDataSource) {
			d.Transform = &svcv2.DataTransform{ReduceToValue: &svcv2.ReduceToValue{Field: "A", Aggregate: ptr("max")}}
		}), ""},
		"other transforms": {with(stat(), func(d *svcv2.WidgetDataSource) { d.Transform = &svcv2.DataTransform{Limit: num(1)} }), ""},
	} {
		repaired := repairScalar(tc.x)
		got := tc.x.GetDataSource().GetTransform().GetReduceToValue().GetAggregate()
		if repaired != (tc.want != "") || repaired && (got != tc.want || len(renderWarnings(tc.x)) > 0 || !strings.Contains(repairOf(tc.x), tc.want)) {
			t.Errorf("%s: repaired %v with %q, want %q", name, repaired, got, tc.want)
		}
	}
}
