package widget

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
)

// unfiltered is the longest window for groups without a filter that narrows them.
const unfiltered = limits.UnfilteredBreakdownWindow

// fallbacks are the windows to try for a chart without data.
func fallbacks() []time.Duration {
	return []time.Duration{limits.ChartFallback, limits.ChartFallbackLonger, limits.TimeseriesWindow}
}

// query runs the query builder's queries.
func (j *job) query(ctx context.Context) error {
	if j.source.GetResultShape() == "breakdown" || slices.Contains([]string{"hbar", "pie", "funnel"}, j.visual) {
		return j.breakdown(ctx)
	}
	if (j.visual == "stat" || j.visual == "gauge") && plain(j.source.GetTransform()) {
		return j.total(ctx)
	}
	t, err := j.timeseries(ctx)
	if err != nil {
		return err
	}
	if j.req.Fallback && j.visual == "chart" && empty(t) {
		if t, err = j.widen(ctx, t); err != nil {
			return err
		}
	}
	j.out.Truncated = t.Truncated
	j.out.Warnings = append(j.out.Warnings, t.Warnings...)
	transform := j.source.GetTransform()
	t.Series = slices.DeleteFunc(t.Series, func(s query.Series) bool { return s.Unseen || hidden(transform, s.Query, s.Name) })
	units := make([]string, len(t.Series))
	for i, s := range t.Series {
		units[i] = s.Unit
	}
	j.unit(units)
	switch j.visual {
	case "stat", "gauge":
		j.number(t)
	case "heatmap":
		j.heat(t)
	case "histogram":
		f, value := seriesFrame(t, false).transformed(j, transform)
		if value != nil {
			f = frame{columns: []column{{"value", number}}, rows: [][]any{{*value}}}
		}
		j.histogram(f.numbers())
	case "table":
		j.table(seriesFrame(t, false), transform)
	default:
		if plain(transform) {
			j.series(t)
			return nil
		}
		j.table(seriesFrame(t, false), transform)
	}
	return nil
}

// unit states the unit of the values, if they all have the same.
func (j *job) unit(units []string) {
	if len(slices.Compact(slices.Clone(units))) == 1 && j.source.GetTransform().GetComputeRatio() == nil {
		j.out.Unit = units[0]
	}
}

func (j *job) timeseries(ctx context.Context) (*query.Timeseries, error) {
	r, err := j.request()
	if err != nil {
		return nil, err
	}
	return j.engine.Timeseries(ctx, j.org, r)
}

// empty reports whether no series has a value, in the window or in the compared period.
func empty(t *query.Timeseries) bool {
	return !slices.ContainsFunc(t.Series, func(s query.Series) bool {
		known := func(v float64) bool { return !math.IsNaN(v) }
		return !s.Unseen && (slices.ContainsFunc(s.Values, known) || slices.ContainsFunc(s.Previous, known))
	})
}

// widen looks for data in longer windows that end at the same time. If there is none, it returns the first result.
func (j *job) widen(ctx context.Context, without *query.Timeseries) (*query.Timeseries, error) {
	asked, warnings := j.window, len(j.out.Warnings)
	for _, length := range fallbacks() {
		if length <= asked.Length() {
			continue
		}
		j.window = query.Window{Start: asked.End.Add(-length), End: asked.End}
		t, err := j.timeseries(ctx)
		if err != nil {
			return nil, err
		}
		if !empty(t) {
			j.out.RangeSource = fromFallback
			return t, nil
		}
	}
	j.window, j.out.Warnings = asked, j.out.Warnings[:warnings]
	return without, nil
}

// hidden reports whether the transform hides a series or column, by its full name or by its name without the group.
func hidden(t *svcv2.DataTransform, names ...string) bool {
	for _, base := range t.GetHideSeries().GetBaseNames() {
		for _, name := range names {
			if name == base || strings.HasPrefix(name, base+": ") {
				return true
			}
		}
	}
	return false
}

// plain reports whether a transform only hides series and changes nothing else.
func plain(t *svcv2.DataTransform) bool {
	return len(t.GetFieldMap()) == 0 && t.GetFlattenSeries() == nil && t.GetReduceToValue() == nil && t.GetComputeRatio() == nil &&
		t.GetSortBy() == nil &&
		(t == nil || t.Limit == nil)
}

func (j *job) series(t *query.Timeseries) {
	j.out.Kind = "timeseries"
	j.out.Timeseries = &svcv2.WidgetTimeseries{BucketSeconds: int32(t.Bucket.Seconds()), Series: t.Proto().GetSeries()}
}

// total computes one number from the queries over the whole window, and shows their series beside it. A percentile, a mean or a
// number of users over a window does not follow from its values in parts of the window.
func (j *job) total(ctx context.Context) error {
	r, err := j.request()
	if err != nil {
		return err
	}
	var t *query.Timeseries
	var b *query.Breakdown
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		t, err = j.engine.Timeseries(gctx, j.org, r)
		return err
	})
	g.Go(func() (err error) {
		b, err = j.engine.Total(gctx, j.org, r)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	j.out.Warnings = append(j.out.Warnings, b.Warnings...)
	transform := j.source.GetTransform()
	t.Series = slices.DeleteFunc(t.Series, func(s query.Series) bool { return s.Unseen || hidden(transform, s.Query, s.Name) })
	j.series(t)
	shown := without(b, transform)
	if len(shown.Columns) > 0 {
		j.unit([]string{shown.Columns[0].Unit})
	}
	j.numberOfGroups(shown)
	return nil
}

// number makes one number of the series, as the transform says.
func (j *job) number(t *query.Timeseries) {
	of := func(previous bool) *float64 {
		f, value := seriesFrame(t, previous).transformed(j, j.source.GetTransform())
		if value == nil {
			value = f.reduce(&svcv2.ReduceToValue{Field: "value"})
		}
		return finite(*value)
	}
	v := &svcv2.WidgetValue{Value: of(false)}
	if empty(t) && !j.counts() {
		v.Value = nil // nothing was measured, which differs from 0
	}
	if slices.ContainsFunc(t.Series, func(s query.Series) bool { return s.Previous != nil }) {
		warnings := j.out.Warnings
		v.Previous = of(true)
		j.out.Warnings = warnings // the second read gives the same warnings again
		v.PercentChange = percent(v.Value, v.Previous)
	}
	j.series(t)
	j.out.Kind, j.out.Value = "value", v
}

// counts reports whether the first query that is shown is a count. Then the value for no rows is 0.
func (j *job) counts() bool {
	for _, d := range j.source.GetQueries() {
		if !d.GetHidden() && !SwitchedOff(d) {
			switch query.Func(d.GetAggregation()) {
			case query.Count, query.Increase, query.ErrorCount:
				return true
			case query.Sum:
				return d.GetDataSource() != string(query.Metrics)
			default:
				return false
			}
		}
	}
	return false
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func percent(v, before *float64) *float64 {
	if v == nil || before == nil || *before == 0 {
		return nil
	}
	return finite((*v - *before) / math.Abs(*before) * 100)
}

// breakdown runs the queries over the whole window.
func (j *job) breakdown(ctx context.Context) error {
	j.narrow(limits.BreakdownWindow)
	run := func() (*query.Breakdown, error) {
		r, err := j.request()
		if err != nil {
			return nil, err
		}
		return j.engine.Breakdown(ctx, j.org, r)
	}
	b, err := run()
	if tagged(err, apierr.TelemetryBreakdownFilterRequired) {
		j.narrow(unfiltered)
		b, err = run()
	}
	if err != nil {
		return err
	}
	j.out.Truncated = b.Truncated
	j.out.Warnings = append(j.out.Warnings, b.Warnings...)
	transform := j.source.GetTransform()
	b = without(b, transform)
	units := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		units[i] = c.Unit
	}
	j.unit(units)
	f := groupFrame(b, false)
	switch j.visual {
	case "stat", "gauge":
		j.numberOfGroups(b)
	case "table":
		j.table(f, transform)
	case "histogram":
		f, _ := f.transformed(j, transform)
		j.histogram(f.numbers())
	case "heatmap":
		j.heatOfGroups(b)
	case "funnel":
		f, _ := f.transformed(j, transform)
		j.steps(f)
	default:
		if !ordersOnly(transform) {
			j.table(f, transform)
			return nil
		}
		ordered, _ := f.transformed(j, transform)
		j.groups(b, ordered.origins)
	}
	return nil
}

// ordersOnly reports whether a transform only reorders groups.
func ordersOnly(t *svcv2.DataTransform) bool {
	return len(t.GetFieldMap()) == 0 && t.GetFlattenSeries() == nil && t.GetReduceToValue() == nil && t.GetComputeRatio() == nil
}

// without leaves out hidden columns and groups.
func without(b *query.Breakdown, t *svcv2.DataTransform) *query.Breakdown {
	if len(t.GetHideSeries().GetBaseNames()) == 0 {
		return b
	}
	out := *b
	out.Columns, out.Groups = nil, nil
	var kept []int
	for i, c := range b.Columns {
		if !hidden(t, c.Query, c.Name) {
			kept, out.Columns = append(kept, i), append(out.Columns, c)
		}
	}
	pick := func(values []float64) (out []float64) {
		if values == nil {
			return nil
		}
		for _, i := range kept {
			out = append(out, values[i])
		}
		return out
	}
	for _, g := range b.Groups {
		if len(g.Group) > 0 && hidden(t, g.Name) {
			continue
		}
		g.Values, g.Previous, g.Change = pick(g.Values), pick(g.Previous), pick(g.Change)
		out.Groups = append(out.Groups, g)
	}
	return &out
}

// groups shows the groups with these indexes.
func (j *job) groups(b *query.Breakdown, indexes []int) {
	all := b.Proto()
	j.out.Kind = "breakdown"
	j.out.Breakdown = &svcv2.WidgetBreakdown{Columns: all.GetColumns()}
	for _, i := range indexes {
		j.out.Breakdown.Rows = append(j.out.Breakdown.Rows, all.GetData()[i])
	}
}

// numberOfGroups makes the number that the transform asks for. Without one it takes the first value of the first query or formula
// that is shown.
func (j *job) numberOfGroups(b *query.Breakdown) {
	if len(b.Columns) > 1 && plain(j.source.GetTransform()) {
		j.warn(fmt.Sprintf("A %s shows one number, and here it is that of %s. Hide the queries that it must not show.", j.visual, b.Columns[0].Query))
	}
	of := func(previous bool) *float64 {
		if plain(j.source.GetTransform()) {
			return first(b, previous)
		}
		f, value := groupFrame(b, previous).transformed(j, j.source.GetTransform())
		if value == nil {
			if len(f.numbers()) == 0 {
				return nil
			}
			value = f.reduce(&svcv2.ReduceToValue{Field: "value"})
		}
		return finite(*value)
	}
	v := &svcv2.WidgetValue{Value: of(false)}
	if len(b.Groups) > 0 && b.Groups[0].Previous != nil {
		warnings := j.out.Warnings
		v.Previous = of(true)
		j.out.Warnings = warnings
		v.PercentChange = percent(v.Value, v.Previous)
	}
	j.out.Kind, j.out.Value = "value", v
}

// first is the value of the first column in the first group.
func first(b *query.Breakdown, previous bool) *float64 {
	if len(b.Groups) == 0 || len(b.Columns) == 0 {
		return nil
	}
	if previous {
		return finite(b.Groups[0].Previous[0])
	}
	return finite(b.Groups[0].Values[0])
}
