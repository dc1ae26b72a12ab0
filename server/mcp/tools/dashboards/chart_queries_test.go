package dashboards

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
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/wording"
)

// chartAPI has a dashboard with one widget.
type chartAPI struct {
	svcv2.DashboardsServiceClient
	svcv2.DashboardDataServiceClient
	svcv2.SqlServiceClient
	widget *svcv2.Widget
	// change adapts the inspection to the test.
	change func(*svcv2.WidgetInspection)
	sqlErr error
}

func (f *chartAPI) GetDashboard(context.Context, *svcv2.GetDashboardRequest, ...grpc.CallOption) (*svcv2.Dashboard, error) {
	return &svcv2.Dashboard{Id: "dash_x", Widgets: []*svcv2.Widget{f.widget}}, nil
}

func (f *chartAPI) SearchDashboardWidgetInspection(
	context.Context, *svcv2.SearchDashboardWidgetInspectionRequest, ...grpc.CallOption,
) (*svcv2.WidgetInspection, error) {
	out := &svcv2.WidgetInspection{
		Outcome: "inspected", DashboardId: "dash_x", WidgetId: "w", Visualization: f.widget.GetVisualization(), Verdict: "suspicious",
		Flags: []string{"ALL_ZEROS"}, Notes: []string{"Every value is 0."},
		StartTime: timestamppb.New(tooltest.Now().Add(-time.Hour)), EndTime: timestamppb.New(tooltest.Now()), RangeSource: "dashboard",
		Series: []*svcv2.WidgetSeriesFigures{{Name: "n", Points: 2, Max: new(3.0)}},
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
	if f.change != nil {
		f.change(out)
	}
	return out, nil
}

func (f *chartAPI) RunSql(context.Context, *svcv2.RunSqlRequest, ...grpc.CallOption) (*svcv2.SqlResult, error) {
	row, err := structpb.NewList([]any{"web", 3})
	if err != nil {
		return nil, err
	}
	return &svcv2.SqlResult{
		ExpandedSql: "SELECT expanded", RowCount: 1, Columns: []*svcv2.SqlResultColumn{{Name: "s"}, {Name: "n"}},
		Rows: []*structpb.ListValue{row},
	}, f.sqlErr
}

// inspectChart calls inspect_chart_data as a caller with the scopes. Nil means all scopes.
func inspectChart(t *testing.T, f *chartAPI, scopes []string) (chartResult, string) {
	t.Helper()
	made, err := newInspectChartData(&tool.Clients{Dashboards: f, DashboardData: f, SQL: f})
	if err != nil {
		t.Fatal(err)
	}
	p := &principal.Principal{Org: "org_a", Kind: principal.KindMCPKey, Role: principal.RoleRoot}
	if scopes != nil {
		p.Kind, p.Scopes = principal.KindAPIKey, scopes
	}
	out, err := made.Call(principal.WithResult(t.Context(), principal.Result{Principal: p}),
		[]byte(`{"dashboard_id":"dash_x","widget_id":"w"}`), tooltest.Now())
	if err != nil {
		t.Fatal(err)
	}
	res := out.Data.(chartResult)
	tooltest.Validate(t, made.Output, res)
	return res, out.Text.Render(made.Title)
}

func drafts(names ...string) []*svcv2.QueryDraft {
	var list []*svcv2.QueryDraft
	for _, n := range names {
		list = append(list, &svcv2.QueryDraft{Id: strings.ToLower(n), Name: n, DataSource: "traces", Aggregation: "count"})
	}
	return list
}

func TestChartQueries(t *testing.T) {
	at := func(m int) *timestamppb.Timestamp {
		return timestamppb.New(tooltest.Now().Add(time.Duration(m) * time.Minute))
	}
	f := &chartAPI{
		widget: &svcv2.Widget{
			Id: "w", Visualization: "chart", Display: &svcv2.WidgetDisplay{Unit: new("number")},
			DataSource: &svcv2.WidgetDataSource{
				Kind: "query", ResultShape: new("timeseries"), Queries: drafts("A", "B", "C"),
				Formulas: []*svcv2.QueryFormula{{Name: "F1", Expression: "A / C"}},
			},
		},
		change: func(out *svcv2.WidgetInspection) {
			out.Series = []*svcv2.WidgetSeriesFigures{
				{
					Name: "a1", Query: "A", Points: 2, Min: new(-1.0), Max: new(0.0), Avg: new(-0.5), Zeros: 1, Negatives: 1,
					Samples: []*svcv2.WidgetSample{{Bucket: at(0), Value: new(-1.0)}, {Value: nil}},
				},
				{Name: "b1", Query: "B", Points: 1, Min: new(5.0), Max: new(5.0), Avg: new(5.0), Nulls: 1},
			}
			out.Queries = []*svcv2.WidgetQueryInspection{
				{
					Id: "a", Name: "A", Status: "ok", Rows: 2, SeriesCount: 1, FirstBucket: at(0), LastBucket: at(1), Flags: []string{"NEGATIVE_VALUES"},
					ReducedValue: new(7.0),
				},
				{Id: "b", Name: "B", Status: "ok", Rows: 1, SeriesCount: 1, Warnings: []string{"odd"}},
				{Id: "c", Name: "C", Status: "skipped", Error: new("It only feeds formulas.")},
				{Id: "F1", Name: "F1", Status: "ok", Flags: []string{"EMPTY"}},
			}
			out.Reshaped = true
		},
	}
	got, text := inspectChart(t, f, nil)
	if w := got.Widget; w.Endpoint != "query_timeseries" || *w.DisplayUnit != "number" || !w.HasFormulaWarning || !w.HasUnsupportedTransform ||
		got.Series != nil || got.RawSQL != nil {
		t.Errorf("%+v %v %v", w, got.Series, got.RawSQL)
	}
	if got.DataSource["kind"] != "query" || len(got.Queries) != 4 {
		t.Fatalf("%v %+v", got.DataSource, got.Queries)
	}
	a, b, c, formula := got.Queries[0], got.Queries[1], got.Queries[2], got.Queries[3]
	want := chartStats{
		RowCount: 2, SeriesCount: 1, FirstBucket: wording.Clock(tooltest.Now()),
		LastBucket: wording.Clock(tooltest.Now().Add(time.Minute)), SeriesStats: []chartLine{
			{
				Name: "a1", Min: new(-1.0), Max: new(0.0), Avg: new(-0.5), ValidCount: 2, ZeroCount: 1, NegativeCount: 1,
				Samples: []chartSample{{wording.Clock(tooltest.Now()), new(-1.0)}, {}},
			},
		},
	}
	if diff := cmp.Diff(want, *a.Stats); diff != "" || a.QueryID != "a" || a.Status != "ok" || a.Spec["aggregation"] != "count" ||
		*a.ReducedValue != 7 || !slices.Equal(a.Flags, []string{"NEGATIVE_VALUES"}) {
		t.Errorf("%+v (-want +got):\n%s", a, diff)
	}
	if len(b.Stats.SeriesStats) != 1 || b.Stats.SeriesStats[0].NullCount != 1 || !slices.Equal(b.BuilderWarnings, []string{"odd"}) ||
		b.Flags == nil {
		t.Errorf("%+v", b)
	}
	if c.Status != "skipped" || c.Stats != nil || formula.Spec["expression"] != "A / C" || !slices.Equal(formula.Flags, []string{"EMPTY"}) {
		t.Errorf("%+v %+v", c, formula)
	}
	for _, part := range []string{"### Queries", "skipped It only feeds formulas.", "| a1 | 2 |"} {
		if !strings.Contains(text, part) {
			t.Errorf("the text has no %q:\n%s", part, text)
		}
	}
	// A query that is shown alone has every series, including series that name no query.
	f.change = func(out *svcv2.WidgetInspection) {
		out.Queries = []*svcv2.WidgetQueryInspection{{Id: "a", Name: "A", Status: "ok", Rows: 1, SeriesCount: 1}}
	}
	if got, _ = inspectChart(t, f, nil); len(got.Queries[0].Stats.SeriesStats) != 1 || got.Widget.HasFormulaWarning {
		t.Errorf("%+v", got.Queries[0])
	}
}

func TestChartOfAStatement(t *testing.T) {
	f := &chartAPI{widget: &svcv2.Widget{
		Id: "w", Visualization: "table",
		DataSource: &svcv2.WidgetDataSource{Kind: "raw_sql", Sql: new("SELECT 1")},
	}}
	got, text := inspectChart(t, f, nil)
	want := chartSQL{
		SQL: "SELECT 1", ExpandedSQL: new("SELECT expanded"), Status: "ok", RowCount: 1, Columns: []string{"s", "n"},
		Rows: [][]any{{"web", 3.0}},
	}
	if diff := cmp.Diff(want, *got.RawSQL); diff != "" || got.Widget.Endpoint != "raw_sql_chart" || len(got.Queries) != 0 ||
		len(got.Series) != 1 || !strings.Contains(text, "| web | 3 |") {
		t.Errorf("%+v (-want +got):\n%s\n%s", got, diff, text)
	}
	if got, _ = inspectChart(t, f, []string{"dashboards:read"}); got.RawSQL.Status != "error" ||
		!strings.Contains(got.RawSQL.Error, "sql:read") || got.RawSQL.Rows == nil {
		t.Errorf("without sql:read: %+v", got.RawSQL)
	}
	f.sqlErr = apierr.New(apierr.WarehouseInvalidSql, "No such column.")
	if got, text = inspectChart(t, f, nil); got.RawSQL.Status != "error" || got.RawSQL.Error != "No such column." ||
		!strings.Contains(text, "No such column.") {
		t.Errorf("%+v\n%s", got.RawSQL, text)
	}
	f.widget.DataSource = &svcv2.WidgetDataSource{Kind: "static"}
	if got, _ = inspectChart(t, f, nil); got.Outcome != "unsupported" || got.RawSQL != nil || got.Queries == nil ||
		got.Widget.Endpoint != "static" {
		t.Errorf("%+v", got)
	}
}

func TestChartWhoseQueryIsRefused(t *testing.T) {
	why := "`aggregation` must be one of count, rate."
	f := &chartAPI{widget: &svcv2.Widget{
		Id: "w", Visualization: "chart",
		DataSource: &svcv2.WidgetDataSource{Kind: "query", Queries: drafts("A")},
	}, change: func(out *svcv2.WidgetInspection) {
		out.Verdict, out.Flags, out.Notes, out.Series, out.Refusal = "broken", nil, []string{why}, nil, &why
		if out.GetOutcome() == "inspected" {
			out.Queries = []*svcv2.WidgetQueryInspection{{Id: "a", Name: "A", Status: "error", Error: &why}}
		}
	}}
	got, text := inspectChart(t, f, nil)
	if got.Verdict != "broken" || got.Queries[0].Status != "error" || got.Queries[0].Error != why || got.Queries[0].Stats != nil ||
		!strings.Contains(text, "must be one of count") {
		t.Errorf("%+v\n%s", got, text)
	}
	f.widget.DataSource = &svcv2.WidgetDataSource{Kind: "raw_sql", Sql: new("SELECT 1")}
	if got, _ = inspectChart(t, f, nil); got.Outcome != "raw_sql" || got.RawSQL.Status != "error" || got.RawSQL.Error != why ||
		got.RawSQL.SQL != "SELECT 1" || got.RawSQL.Rows == nil {
		t.Errorf("%+v", got)
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
		"a count":   {stat(), "sum"},
		"a latency": {widget("gauge", "timeseries", "p95_duration"), "avg"},
		"a metric's sum": {
			with(widget("gauge", "timeseries", "sum"), func(d *svcv2.WidgetDataSource) { d.Queries[0].DataSource = "metrics" }),
			"avg",
		},
		"a chart":         {widget("chart", "timeseries", "count"), ""},
		"no series":       {widget("stat", "breakdown", "count"), ""},
		"several series":  {with(stat(), func(d *svcv2.WidgetDataSource) { d.Queries[0].GroupBy = []string{"service.name"} }), ""},
		"several queries": {with(stat(), func(d *svcv2.WidgetDataSource) { d.Queries = drafts("A", "B") }), ""},
		"one is shown": {
			with(stat(), func(d *svcv2.WidgetDataSource) { d.Queries = drafts("A", "B"); d.Queries[1].Hidden = new(true) }),
			"sum",
		},
		"a formula": {with(stat(), func(d *svcv2.WidgetDataSource) { d.Formulas = []*svcv2.QueryFormula{{Name: "F1"}} }), ""},
		"groups that lie": {with(stat(), func(d *svcv2.WidgetDataSource) {
			d.Queries[0].GroupBy, d.Queries[0].AddOns = []string{"k"}, &svcv2.QueryAddOns{}
		}), "sum"},
		"has one already": {with(stat(), func(d *svcv2.WidgetDataSource) {
			d.Transform = &svcv2.DataTransform{ReduceToValue: &svcv2.ReduceToValue{Field: "A", Aggregate: new("max")}}
		}), ""},
		"other transforms": {with(stat(), func(d *svcv2.WidgetDataSource) { d.Transform = &svcv2.DataTransform{Limit: new(1.0)} }), ""},
	} {
		repaired := repairScalar(tc.x)
		got := tc.x.GetDataSource().GetTransform().GetReduceToValue().GetAggregate()
		if repaired != (tc.want != "") || repaired && (got != tc.want || len(renderWarnings(tc.x)) > 0 ||
			!strings.Contains(repairOf(tc.x), tc.want)) {
			t.Errorf("%s: repaired %v with %q, want %q", name, repaired, got, tc.want)
		}
	}
}

func TestRangeOfAValidation(t *testing.T) {
	at := func(from, to time.Duration) inspectedItem {
		return inspectedItem{start: tooltest.Now().Add(from), end: tooltest.Now().Add(to)}
	}
	if w := sameRange([]inspectedItem{{}, at(-time.Hour, 0), at(15*time.Second-time.Hour, 15*time.Second)}); w == nil ||
		w.Start != wording.Clock(tooltest.Now().Add(-time.Hour)) {
		t.Errorf("of one window: %v", w)
	}
	for _, items := range [][]inspectedItem{nil, {{}}, {at(-time.Hour, 0), at(-2*time.Hour, 0)}} {
		if w := sameRange(items); w != nil {
			t.Errorf("%v have the window %v", items, w)
		}
	}
}

func TestTotalOfPages(t *testing.T) {
	total := func(p tool.Pagination) int {
		if p.Total == nil {
			return -1
		}
		return *p.Total
	}
	for _, c := range []struct {
		offset, shown int
		more          bool
		want          int
	}{{0, 20, true, -1}, {0, 20, false, 20}, {20, 3, false, 23}, {0, 0, false, 0}, {40, 0, false, -1}} {
		if got := total(tool.NewPagination(c.offset, 20, c.shown, c.more)); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
