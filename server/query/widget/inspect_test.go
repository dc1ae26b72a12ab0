package widget

import (
	"slices"
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
	count := widget("number", "count")
	groups := func(values ...float64) *svcv2.WidgetData {
		b := &svcv2.WidgetBreakdown{Columns: []*svcv2.QueryColumn{{Name: "A"}}}
		for i, v := range values {
			b.Rows = append(b.Rows, &svcv2.QueryRow{Name: string(rune('a' + i)), Values: []*svcv2.QueryCell{{Value: &v}}})
		}
		return &svcv2.WidgetData{Kind: "breakdown", Breakdown: b}
	}
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
		{"unit of a duration", widget("duration_s", "p95_duration"), chart(series("A", nil, 7, 80)), Broken, []string{flagUnit}},
		{"gap", count, chart(series("A", []int{0, 1, 30}, 1, 2, 3)), Healthy, []string{flagGap}},
		{"empty groups", widget("number", "count", "attr.k"), chart(series("(none)", nil, 1, 2)), Broken, []string{flagGrouping}},
		{"no groups", count, groups(1, 2), Broken, []string{flagBreakdown}},
		{"one of many", widget("number", "count", "attr.k"), groups(1000, 1, 1), Suspicious, []string{flagDominates}},
		{"too many", widget("number", "count", "attr.k"), with(groups(3, 2), func(d *svcv2.WidgetData) { d.Truncated = true }), Suspicious, []string{flagCardinality}},
		{"warnings", count, with(chart(series("A", nil, 1, 2)), func(d *svcv2.WidgetData) { d.Warnings = []string{"odd"} }), Suspicious, []string{flagWarnings}},
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
