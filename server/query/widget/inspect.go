package widget

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// Flags of an inspection.
const (
	flagEmpty       = "EMPTY"
	flagNulls       = "ALL_NULLS"
	flagBreakdown   = "BROKEN_BREAKDOWN"
	flagGrouping    = "EMPTY_GROUPING"
	flagMetric      = "METRIC_NOT_FOUND"
	flagUnit        = "UNIT_MISMATCH"
	flagZeros       = "ALL_ZEROS"
	flagSingle      = "SINGLE_POINT"
	flagFlat        = "FLAT_LINE"
	flagNegative    = "NEGATIVE_VALUES"
	flagMagnitude   = "UNREALISTIC_MAGNITUDE"
	flagDominates   = "SINGLE_SERIES_DOMINATES"
	flagCardinality = "CARDINALITY_EXPLOSION"
	flagWarnings    = "BUILDER_WARNINGS"
	flagGap         = "SUSPICIOUS_GAP"
)

// Verdicts.
const (
	Broken     = "broken"
	Suspicious = "suspicious"
	Healthy    = "looks_healthy"
)

const (
	manySeries = 50
	// dominant is the share of all from which one series hides the others.
	dominant = 0.98
	// flatPoints is how many equal values are no coincidence.
	flatPoints = 5
	// gapBuckets is how many missing buckets in a row are a gap.
	gapBuckets = 3
	// longest is a duration, in milliseconds, that none of a request has.
	longest = float64(30 * 24 * time.Hour / time.Millisecond)
	largest = 1e15
)

// line is a series, or a column of groups or rows.
type line struct {
	name   string
	values []float64
	times  []time.Time
}

type inspection struct {
	widget *svcv2.Widget
	data   *svcv2.WidgetData
	lines  []line
	flags  []string
	notes  []string
}

func (i *inspection) flag(name, format string, args ...any) {
	if slices.Contains(i.flags, name) {
		return
	}
	i.flags = append(i.flags, name)
	i.notes = append(i.notes, fmt.Sprintf(format, args...))
}

// Inspect says what is odd about the data of a widget.
func Inspect(w *svcv2.Widget, data *svcv2.WidgetData) *svcv2.WidgetInspection {
	out := &svcv2.WidgetInspection{
		Object: "widget_inspection", Outcome: "inspected", WidgetId: w.GetId(), Title: w.GetDisplay().Title, Visualization: w.GetVisualization(),
		Unit: w.GetDisplay().Unit, StartTime: data.GetStartTime(), EndTime: data.GetEndTime(), RangeSource: data.GetRangeSource(), Verdict: Healthy,
	}
	switch w.GetDataSource().GetKind() {
	case kindSQL:
		out.Outcome, out.RawSql = "raw_sql", w.GetDataSource().Sql
	case kindRoute:
		out.Outcome, out.RawSql = "raw_sql", new(w.GetDataSource().GetParams().GetFields()["sql"].GetStringValue())
	}
	if data.GetKind() == "none" {
		out.Outcome = "unsupported"
		return out
	}
	i := &inspection{widget: w, data: data}
	i.collect()
	i.judge()
	out.Flags, out.Notes = i.flags, i.notes
	for _, l := range i.lines {
		f := &svcv2.WidgetSeriesFigures{Name: l.name}
		if n := len(l.values); n > 0 {
			sum := 0.0
			for _, v := range l.values {
				sum += v
			}
			f.Points, f.Min, f.Max, f.Avg = uint32(n), new(slices.Min(l.values)), new(slices.Max(l.values)), finite(sum/float64(n))
		}
		out.Series = append(out.Series, f)
	}
	broken := []string{flagEmpty, flagNulls, flagBreakdown, flagGrouping, flagMetric, flagUnit}
	switch {
	case slices.ContainsFunc(i.flags, func(f string) bool { return slices.Contains(broken, f) }):
		out.Verdict = Broken
	case slices.ContainsFunc(i.flags, func(f string) bool { return f != flagGap }):
		out.Verdict = Suspicious
	}
	return out
}

// collect takes the values out of whatever shape the data has.
func (i *inspection) collect() {
	d := i.data
	one := func(name string, values []float64) {
		i.lines = append(i.lines, line{name: name, values: values})
	}
	for _, s := range d.GetTimeseries().GetSeries() {
		l := line{name: s.GetName()}
		for _, p := range s.GetPoints() {
			l.values, l.times = append(l.values, p.GetValue()), append(l.times, p.GetTimestamp().AsTime())
		}
		i.lines = append(i.lines, l)
	}
	for at, c := range d.GetBreakdown().GetColumns() {
		var values []float64
		for _, row := range d.GetBreakdown().GetRows() {
			if v := row.GetValues()[at].Value; v != nil {
				values = append(values, *v)
			}
		}
		one(c.GetName(), values)
	}
	for at, c := range d.GetTable().GetColumns() {
		if c.GetType() != number {
			continue
		}
		var values []float64
		for _, row := range d.GetTable().GetRows() {
			if v := real(row.GetValues()[at].AsInterface()); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		one(c.GetName(), values)
	}
	if v := d.GetValue(); v != nil && v.Value != nil && d.GetTimeseries() == nil {
		one("value", []float64{v.GetValue()})
	}
	var all []float64
	for _, b := range d.GetHistogram().GetBuckets() {
		all = append(all, b.GetCount())
	}
	for _, c := range d.GetHeatmap().GetCells() {
		all = append(all, c.GetValue())
	}
	for _, r := range d.GetFunnel().GetRows() {
		all = append(all, r.GetValue())
	}
	for _, r := range d.GetPaths().GetRows() {
		all = append(all, r.GetCount())
	}
	if all != nil {
		one(d.GetKind(), all)
	}
}

func (i *inspection) judge() {
	var all []float64
	for _, l := range i.lines {
		all = append(all, l.values...)
	}
	rows := len(i.data.GetBreakdown().GetRows()) + len(i.data.GetTable().GetRows())
	for _, w := range i.data.GetWarnings() {
		if strings.HasPrefix(w, "No data points of the metric") || strings.Contains(w, " was received as ") {
			i.flag(flagMetric, "%s", w)
		} else {
			i.flag(flagWarnings, "%s", w)
		}
	}
	switch {
	case len(all) == 0 && rows > 0 && i.textOnly():
		return // a list of texts
	case len(all) == 0 && (rows > 0 || len(i.lines) > 0 && i.data.GetKind() == "timeseries"):
		i.flag(flagNulls, "No value is a number.")
		return
	case len(all) == 0:
		i.flag(flagEmpty, "There is no data in the window.")
		return
	}
	i.judgeGroups()
	i.judgeUnit(all)
	low, high := slices.Min(all), slices.Max(all)
	if low == 0 && high == 0 {
		i.flag(flagZeros, "Every value is 0.")
	} else if i.data.GetTimeseries() != nil {
		i.judgeLines()
	}
	if low < 0 && i.neverNegative() {
		i.flag(flagNegative, "The least value is %g, of what is never below 0.", low)
	}
	if most := math.Max(math.Abs(low), math.Abs(high)); most > largest {
		i.flag(flagMagnitude, "The largest value is %g.", most)
	} else if strings.HasPrefix(i.unit(), "duration_") && most*perMillisecond(i.unit()) > longest {
		i.flag(flagMagnitude, "The longest duration is %g %s.", most, i.unit())
	}
}

func (i *inspection) unit() string { return i.widget.GetDisplay().GetUnit() }

func (i *inspection) textOnly() bool {
	return !slices.ContainsFunc(i.data.GetTable().GetColumns(), func(c *svcv2.SqlResultColumn) bool { return c.GetType() == number }) && i.data.GetTable() != nil
}

func perMillisecond(unit string) float64 {
	switch unit {
	case "duration_s":
		return 1e3
	case "duration_us":
		return 1e-3
	case "duration_ns":
		return 1e-6
	default:
		return 1
	}
}

// grouped reports whether a query has groups that count.
func (i *inspection) grouped() bool {
	return slices.ContainsFunc(i.widget.GetDataSource().GetQueries(), func(d *svcv2.QueryDraft) bool {
		return len(d.GetGroupBy()) > 0 && on(d, (*svcv2.QueryAddOns).GetGroupBy)
	})
}

func (i *inspection) judgeGroups() {
	names, totals := []string{}, []float64{}
	for _, s := range i.data.GetTimeseries().GetSeries() {
		total := 0.0
		for _, p := range s.GetPoints() {
			total += math.Abs(p.GetValue())
		}
		names, totals = append(names, s.GetName()), append(totals, total)
	}
	for _, r := range i.data.GetBreakdown().GetRows() {
		total := 0.0
		for _, c := range r.GetValues() {
			total += math.Abs(c.GetValue())
		}
		names, totals = append(names, r.GetName()), append(totals, total)
	}
	if i.grouped() && len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return n != noGroup && !strings.HasSuffix(n, ": "+noGroup) }) {
		i.flag(flagGrouping, "No row has the field that is grouped by.")
	}
	if i.data.GetBreakdown() != nil && i.widget.GetDataSource().GetKind() == kindQuery && !i.grouped() {
		i.flag(flagBreakdown, "A breakdown is drawn, but nothing is grouped by.")
	}
	if i.data.GetTruncated() || len(names) > manySeries {
		i.flag(flagCardinality, "There are more groups than can be told apart; add a filter or a limit.")
	}
	sum := 0.0
	for _, t := range totals {
		sum += t
	}
	for n, t := range totals {
		if len(totals) > 2 && sum > 0 && t/sum > dominant {
			i.flag(flagDominates, "%s has %.1f %% of all.", names[n], t/sum*100)
		}
	}
}

// judgeUnit compares the unit with what the queries compute.
func (i *inspection) judgeUnit(all []float64) {
	unit := i.unit()
	if unit == "percent" && slices.Max(all) > 1.5 {
		i.flag(flagUnit, "The unit percent is of a ratio from 0 to 1, but the largest value is %g.", slices.Max(all))
	}
	if len(i.widget.GetDataSource().GetFormulas()) > 0 {
		return
	}
	for _, d := range i.widget.GetDataSource().GetQueries() {
		a, duration := d.GetAggregation(), strings.HasPrefix(unit, "duration_")
		switch {
		case d.GetDataSource() == "metrics" || unit == "":
		case strings.HasSuffix(a, "_duration") && duration && unit != "duration_ms":
			i.flag(flagUnit, "%s is in milliseconds, but the unit is %s.", a, unit)
		case strings.HasSuffix(a, "_duration") && (unit == "percent" || unit == "bytes"), a == "error_rate" && (duration || unit == "bytes"),
			slices.Contains([]string{"count", "rate", "error_count", "sessions", "persons", "users", "visitors"}, a) && (duration || unit == "bytes" || unit == "percent"):
			i.flag(flagUnit, "%s does not have the unit %s.", a, unit)
		}
	}
}

// neverNegative reports whether the queries or the unit say that no value is below 0.
func (i *inspection) neverNegative() bool {
	unit := i.unit()
	if strings.HasPrefix(unit, "duration_") || unit == "bytes" || unit == "requests_per_sec" {
		return true
	}
	return slices.ContainsFunc(i.widget.GetDataSource().GetQueries(), func(d *svcv2.QueryDraft) bool {
		return slices.Contains([]string{"count", "rate", "increase", "error_rate", "error_count"}, d.GetAggregation())
	}) && len(i.widget.GetDataSource().GetFormulas()) == 0
}

// judgeLines looks at the course of series.
func (i *inspection) judgeLines() {
	step := time.Duration(i.data.GetTimeseries().GetBucketSeconds()) * time.Second
	points, flat := 0, true
	for _, l := range i.lines {
		points += len(l.values)
		if len(l.values) < flatPoints || slices.Min(l.values) != slices.Max(l.values) {
			flat = false
		}
		for n := 1; n < len(l.times); n++ {
			if step > 0 && l.times[n].Sub(l.times[n-1]) > gapBuckets*step {
				i.flag(flagGap, "%s has no data from %s to %s.", l.name, l.times[n-1].Format(time.RFC3339), l.times[n].Format(time.RFC3339))
			}
		}
	}
	if points == 1 {
		i.flag(flagSingle, "There is one point.")
	} else if flat {
		i.flag(flagFlat, "No series ever changes its value.")
	}
}
