package widget

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// TestInspect: each flag has data that raises it, and the verdict follows from the flags.
func TestInspect(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	series := func(name string, at []int, v ...float64) *svcv2.QuerySeries {
		s := &svcv2.QuerySeries{Name: name}
		for i, x := range v {
			minute := i
			if at != nil {
				minute = at[i]
			}
			s.Points = append(s.Points, &svcv2.TelemetryPoint{Timestamp: timestamppb.New(start.Add(time.Duration(minute) * time.Minute)), Value: x})
		}
		return s
	}
	chart := func(s ...*svcv2.QuerySeries) *svcv2.WidgetData {
		return &svcv2.WidgetData{Kind: "timeseries", Timeseries: &svcv2.WidgetTimeseries{BucketSeconds: 60, Series: s}}
	}
	widget := func(unit, aggregation string, groups ...string) *svcv2.Widget {
		return &svcv2.Widget{Visualization: "chart", Display: &svcv2.WidgetDisplay{Unit: &unit}, DataSource: &svcv2.WidgetDataSource{
			Kind: "query", Queries: []*svcv2.QueryDraft{{DataSource: "traces", Aggregation: aggregation, GroupBy: groups}},
		}}
	}
	inUnit := func(unit string, v ...float64) *svcv2.QuerySeries {
		s := series("A", nil, v...)
		s.Unit = unit
		return s
	}
	count := widget("number", "count")
	groups := func(values ...float64) *svcv2.WidgetData {
		b := &svcv2.WidgetBreakdown{Columns: []*svcv2.QueryColumn{{Name: "A"}}}
		for i, v := range values {
			b.Rows = append(b.Rows, &svcv2.QueryRow{Name: string(rune('a' + i)), Values: []*svcv2.QueryCell{{Value: &v}}})
		}
		return &svcv2.WidgetData{Kind: "breakdown", Breakdown: b}
	}
	shaped := func(w *svcv2.Widget, shape string) *svcv2.Widget { w.DataSource.ResultShape = &shape; return w }
	limited := widget("number", "count", "attr.k")
	limited.DataSource.Queries[0].SeriesLimit = new("3")
	table := func(rows ...[]any) *svcv2.WidgetData {
		f := frame{columns: []column{{nameColumn, text}, {valueColumn, number}}, rows: rows}
		return &svcv2.WidgetData{Kind: "table", Table: f.proto()}
	}
	heat := func(cells ...string) *svcv2.WidgetData {
		out := &svcv2.WidgetHeatmap{}
		for _, c := range cells {
			x, y, _ := strings.Cut(c, "|")
			out.Cells = append(out.Cells, &svcv2.WidgetHeatmapCell{X: x, Y: y, Value: 3})
		}
		return &svcv2.WidgetData{Kind: "heatmap", Heatmap: out}
	}
	cut := func(d *svcv2.WidgetData) { d.Truncated = true }
	with := func(d *svcv2.WidgetData, fn func(*svcv2.WidgetData)) *svcv2.WidgetData { fn(d); return d }
	for _, c := range []struct {
		name    string
		w       *svcv2.Widget
		d       *svcv2.WidgetData
		verdict string
		flags   []string
	}{
		{"healthy", count, chart(series("A", nil, 1, 2, 3)), Healthy, nil},
		{"empty", count, chart(), Broken, []string{flagEmpty}},
		{"nulls", count, chart(series("A", nil)), Broken, []string{flagNulls}},
		{"zeros", count, chart(series("A", nil, 0, 0, 0)), Suspicious, []string{flagZeros}},
		{"one point", count, chart(series("A", nil, 7)), Suspicious, []string{flagSingle}},
		{"flat", count, chart(series("A", nil, 7, 7, 7, 7, 7)), Suspicious, []string{flagFlat}},
		{"negative", count, chart(series("A", nil, 7, -1)), Suspicious, []string{flagNegative}},
		{"large", count, chart(series("A", nil, 7, 1e16)), Suspicious, []string{flagMagnitude}},
		{"unit", widget("percent", "error_rate"), chart(series("A", nil, 7, 80)), Broken, []string{flagUnit}},
		{"unit of a count", widget("duration_ms", "count"), chart(series("A", nil, 7, 80)), Broken, []string{flagUnit}},
		{"a metric in ms drawn in s", widget("duration_s", "p95"), chart(inUnit("ms", 9400, 9427)), Broken, []string{flagUnit}},
		{"a metric in s drawn in s", widget("duration_s", "p95"), chart(inUnit("s", 9.4, 9.5)), Healthy, nil},
		{"a metric in bytes drawn in ms", widget("duration_ms", "avg"), chart(inUnit("By", 4096, 4097)), Broken, []string{flagUnit}},
		{"a metric in MiB drawn in bytes", widget("bytes", "avg"), chart(inUnit("MiBy", 12, 13)), Broken, []string{flagUnit}},
		{"a metric in percent drawn as a ratio", widget("percent", "avg"), chart(inUnit("%", 0.5, 0.6)), Broken, []string{flagUnit}},
		{"a metric of an own unit", widget("duration_ms", "avg"), chart(inUnit("{order}", 5, 6)), Healthy, nil},
		{"a metric in seconds drawn as a number", widget("number", "avg"), chart(inUnit("s", 0.1, 0.2)), Suspicious, []string{flagWarnings}},
		{"a metric in seconds without a unit drawn", widget("none", "avg"), chart(inUnit("s", 0.1, 0.2)), Healthy, nil},
		{"unit of a duration", widget("duration_s", "p95_duration"), chart(series("A", nil, 7, 80)), Broken, []string{flagUnit}},
		{"gap", count, chart(series("A", []int{0, 1, 30}, 1, 2, 3)), Healthy, []string{flagGap}},
		{"empty groups", widget("number", "count", "attr.k"), chart(series("(none)", nil, 1, 2)), Broken, []string{flagGrouping}},
		{"no groups", count, groups(1, 2), Broken, []string{flagBreakdown}},
		{"one of many", widget("number", "count", "attr.k"), groups(1000, 1, 1), Suspicious, []string{flagDominates}},
		{
			"empty groups of two fields", widget("number", "count", "attr.k", "attr.l"), chart(series("(none) · (none)", nil, 1, 2)), Broken,
			[]string{flagGrouping},
		},
		{
			"empty groups of two queries", widget("number", "count", "attr.k", "attr.l"), chart(series("A: (none) · (none)", nil, 1, 2)), Broken,
			[]string{flagGrouping},
		},
		{"one field is there", widget("number", "count", "attr.k", "attr.l"), chart(series("(none) · x", nil, 1, 2)), Healthy, nil},
		{
			"empty groups in a table", shaped(widget("number", "count", "attr.k"), "breakdown"), table([]any{"(none)", 3.0}), Broken,
			[]string{flagGrouping},
		},
		{
			"empty groups in a table, by two", shaped(widget("number", "count", "attr.k", "attr.l"), "breakdown"),
			table([]any{"(none) · (none)", 3.0}), Broken,
			[]string{flagGrouping},
		},
		{
			"groups in a table", shaped(widget("number", "count", "attr.k"), "breakdown"), table([]any{"(none)", 3.0}, []any{"x", 3.0}), Healthy,
			nil,
		},
		{"empty groups in a heatmap", widget("number", "count", "attr.k"), heat("2026-01-31T12:00:00Z|(none)"), Broken, []string{flagGrouping}},
		{"empty groups as cells", shaped(widget("number", "count", "attr.k"), "breakdown"), heat("(none)|A"), Broken, []string{flagGrouping}},
		{
			"empty groups of two as cells", shaped(widget("number", "count", "attr.k", "attr.l"), "breakdown"), heat("(none)|(none)"), Broken,
			[]string{flagGrouping},
		},
		{"groups as cells", shaped(widget("number", "count", "attr.k", "attr.l"), "breakdown"), heat("(none)|(none)", "(none)|x"), Healthy, nil},
		{
			"too many", widget("number", "count", "attr.k"), with(chart(series("a", nil, 1, 2), series("b", nil, 2, 1)), cut), Suspicious,
			[]string{flagCardinality},
		},
		{"as many as asked for", limited, with(chart(series("a", nil, 1, 2), series("b", nil, 2, 1)), cut), Healthy, nil},
		{"the largest groups", widget("number", "count", "attr.k"), with(groups(3, 2), cut), Healthy, nil},
		{
			"the largest groups in a table", shaped(widget("number", "count", "attr.k"), "breakdown"), with(table([]any{"x", 3.0}), cut), Healthy,
			nil,
		},
		{
			"warnings", count, with(chart(series("A", nil, 1, 2)), func(d *svcv2.WidgetData) { d.Warnings = []string{"odd"} }), Suspicious,
			[]string{flagWarnings},
		},
		{"no metric", count, with(chart(), func(d *svcv2.WidgetData) {
			d.Warnings = []string{`No data points of the metric "x" were received in this window.`}
		}), Broken, []string{flagMetric, flagEmpty}},
	} {
		got := Inspect(c.w, c.d)
		if got.GetVerdict() != c.verdict || !slices.Equal(got.GetFlags(), c.flags) || len(got.GetNotes()) != len(c.flags) {
			t.Errorf("%s: %s %v %v", c.name, got.GetVerdict(), got.GetFlags(), got.GetNotes())
		}
	}
}
