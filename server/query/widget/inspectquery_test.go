package widget

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
)

var noonOf = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func minute(m int) *timestamppb.Timestamp {
	return timestamppb.New(noonOf.Add(time.Duration(m) * time.Minute))
}

func seriesOf(query string, at []int, values ...float64) *svcv2.QuerySeries {
	s := &svcv2.QuerySeries{Query: query, Name: query}
	for i, v := range values {
		s.Points = append(s.Points, &svcv2.TelemetryPoint{Timestamp: minute(at[i]), Value: v})
	}
	return s
}

func draftsOf(names ...string) []*svcv2.QueryDraft {
	var list []*svcv2.QueryDraft
	for _, n := range names {
		list = append(list, &svcv2.QueryDraft{Id: "id_" + n, Name: n, DataSource: "traces", Aggregation: "count"})
	}
	return list
}

// statuses lists the statuses of an inspection's queries with their flags.
func statuses(out *svcv2.WidgetInspection) []string {
	var list []string
	for _, q := range out.GetQueries() {
		list = append(list, fmt.Sprintf("%s %s %v", q.GetName(), q.GetStatus(), q.GetFlags()))
	}
	return list
}

// TestInspectQueries: each of several queries is judged by all flags, on its own data.
func TestInspectQueries(t *testing.T) {
	w := &svcv2.Widget{
		Id: "w", Visualization: "chart", Display: &svcv2.WidgetDisplay{Unit: new("number")},
		DataSource: &svcv2.WidgetDataSource{
			Kind: "query", ResultShape: new("timeseries"), Queries: draftsOf("A", "B", "C", "D", "E"),
			Formulas: []*svcv2.QueryFormula{{Name: "F1", Expression: "A / C"}},
		},
	}
	w.DataSource.Queries[2].Hidden = new(true)
	w.DataSource.Queries[3].Enabled = new(false)
	w.DataSource.Queries[4].DataSource, w.DataSource.Queries[4].MetricName = "metrics", new("gone")
	data := &svcv2.WidgetData{
		Kind: "timeseries", Warnings: []string{`No data points of the metric "gone" were received in this window.`},
		Value: &svcv2.WidgetValue{Value: new(4.0)},
		Timeseries: &svcv2.WidgetTimeseries{BucketSeconds: 60, Series: []*svcv2.QuerySeries{
			seriesOf("A", []int{0, 1, 2}, 4, -1, 0), seriesOf("A", []int{1}, 5), seriesOf("B", []int{0, 1, 9}, 7e15, 7e15, 1),
		}},
	}
	out := Inspect(w, data)
	want := []string{
		"A ok [NEGATIVE_VALUES]", "B ok [SUSPICIOUS_GAP UNREALISTIC_MAGNITUDE]", "C skipped []", "D skipped []",
		"E ok [METRIC_NOT_FOUND EMPTY]", "F1 ok [EMPTY]",
	}
	if diff := cmp.Diff(want, statuses(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a := &svcv2.WidgetQueryInspection{
		Id: "id_A", Name: "A", Status: "ok", Rows: 3, SeriesCount: 2, FirstBucket: minute(0),
		LastBucket: minute(2), ReducedValue: new(4.0), Flags: []string{"NEGATIVE_VALUES"},
	}
	if diff := cmp.Diff(a, out.GetQueries()[0], protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if e := out.GetQueries()[4]; !slices.Equal(e.GetWarnings(), data.GetWarnings()) || len(out.GetQueries()[1].GetWarnings()) > 0 {
		t.Errorf("the warning is of %v and %v", e.GetWarnings(), out.GetQueries()[1].GetWarnings())
	}
	figures := []*svcv2.WidgetSeriesFigures{
		{
			Name: "A", Query: "A", Points: 3, Min: new(-1.0), Max: new(4.0), Avg: new(1.0), Nulls: 1, Zeros: 1, Negatives: 1,
			Samples: []*svcv2.WidgetSample{
				{Bucket: minute(0), Value: new(4.0)},
				{Bucket: minute(1), Value: new(-1.0)},
				{Bucket: minute(2), Value: new(0.0)},
			},
		},
		{
			Name: "A", Query: "A", Points: 1, Min: new(5.0), Max: new(5.0), Avg: new(5.0), Nulls: 3,
			Samples: []*svcv2.WidgetSample{{Bucket: minute(1), Value: new(5.0)}},
		},
	}
	if diff := cmp.Diff(figures, out.GetSeries()[:2], protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInspectQueriesOfGroups: a query without a value in a group does not have that row. A query without groups differs from one
// with groups.
func TestInspectQueriesOfGroups(t *testing.T) {
	w := &svcv2.Widget{Visualization: "table", DataSource: &svcv2.WidgetDataSource{
		Kind: "query", ResultShape: new("breakdown"),
		Queries: draftsOf("A", "B"),
	}}
	w.DataSource.Queries[0].GroupBy = []string{"service.name"}
	row := func(name string, a, b *float64) *svcv2.QueryRow {
		return &svcv2.QueryRow{Name: name, Values: []*svcv2.QueryCell{{Value: a}, {Value: b}}}
	}
	out := Inspect(w, &svcv2.WidgetData{Kind: "breakdown", Breakdown: &svcv2.WidgetBreakdown{
		Columns: []*svcv2.QueryColumn{{Name: "A", Query: "A"}, {Name: "B", Query: "B"}},
		Rows:    []*svcv2.QueryRow{row("web", new(3.0), nil), row("api", new(5.0), new(2.0))},
	}})
	if diff := cmp.Diff([]string{"A ok []", "B ok [BROKEN_BREAKDOWN]"}, statuses(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if b := out.GetSeries()[1]; out.GetQueries()[0].GetRows() != 2 || out.GetQueries()[1].GetRows() != 1 || b.GetNulls() != 1 ||
		b.GetSamples()[0].Value != nil {
		t.Errorf("%v %v", out.GetQueries(), b)
	}
}

// TestInspectQueryOfANumber: the inspection does not say which of two queries gave a number.
func TestInspectQueryOfANumber(t *testing.T) {
	w := &svcv2.Widget{Visualization: "stat", DataSource: &svcv2.WidgetDataSource{
		Kind: "query", Queries: draftsOf("A"),
		Transform: &svcv2.DataTransform{ReduceToValue: &svcv2.ReduceToValue{Field: "value"}},
	}}
	data := &svcv2.WidgetData{Kind: "value", Value: &svcv2.WidgetValue{Value: new(7.0)}, Warnings: []string{"odd"}}
	out := Inspect(w, data)
	if q := out.GetQueries()[0]; q.GetReducedValue() != 7 || q.GetRows() != 1 || !slices.Equal(q.GetFlags(), []string{flagWarnings}) ||
		!slices.Equal(q.GetWarnings(), []string{"odd"}) || out.GetReshaped() {
		t.Errorf("%v", out)
	}
	w.DataSource.Queries, w.DataSource.Transform = draftsOf("A", "B"), &svcv2.DataTransform{ComputeRatio: &svcv2.ComputeRatio{}}
	if out = Inspect(w, data); !out.GetReshaped() || out.GetQueries()[1].GetStatus() != "skipped" || out.GetQueries()[1].GetError() == "" {
		t.Errorf("%v", out)
	}
}

// TestRefused: a widget whose definition is refused is broken. No other failure counts as the widget's fault.
func TestRefused(t *testing.T) {
	w := &svcv2.Widget{Visualization: "chart", DataSource: &svcv2.WidgetDataSource{Kind: "query", Queries: draftsOf("A", "B")}}
	w.DataSource.Queries[1].Hidden = new(true)
	window := query.Window{Start: noonOf, End: noonOf.Add(time.Hour)}
	why := Refusal(fmt.Errorf("read: %w", apierr.New(apierr.QueryEngineValidation, "No such aggregation.")))
	out := Refused(w, window, fromWidget, why)
	if out.GetVerdict() != Broken || out.GetRefusal() != "No such aggregation." || out.GetRangeSource() != "widget" ||
		!out.GetEndTime().AsTime().Equal(window.End) || out.GetQueries()[0].GetError() != why {
		t.Errorf("%v", out)
	}
	if diff := cmp.Diff([]string{"A error []", "B skipped []"}, statuses(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.DataSource = &svcv2.WidgetDataSource{Kind: SourceSQL, Sql: new("SELECT x")}
	if out = Refused(w, window, fromWidget, why); out.GetOutcome() != "raw_sql" || out.GetRawSql() != "SELECT x" || len(out.GetQueries()) > 0 {
		t.Errorf("%v", out)
	}
	for _, err := range []error{
		nil, apierr.New(apierr.QueryEngineTimeout, "Too slow."), apierr.New(apierr.DashboardWidgetNotFound, "None."),
		&BadVariable{},
	} {
		if why := Refusal(err); why != "" {
			t.Errorf("%v is reported as %q", err, why)
		}
	}
}
