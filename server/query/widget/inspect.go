package widget

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
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
	manySeries = limits.CrowdedSeries
	// dominant is the share of the total above which one series hides the others.
	dominant = 0.98
	// flatPoints is the number of equal values that cannot be a coincidence.
	flatPoints = 5
	// gapBuckets is the number of consecutive missing buckets that makes a gap.
	gapBuckets = 3
	// longest is a duration in milliseconds that no request reaches.
	longest = float64(30 * 24 * time.Hour / time.Millisecond)
	largest = 1e15
)

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

// about starts the inspection of a widget, before its data is known.
func about(w *svcv2.Widget) *svcv2.WidgetInspection {
	out := &svcv2.WidgetInspection{
		Object: "widget_inspection", Outcome: "inspected", WidgetId: w.GetId(), Visualization: w.GetVisualization(), Verdict: Healthy,
	}
	if d := w.GetDisplay(); d != nil {
		out.Title, out.Unit = d.Title, d.Unit
	}
	switch w.GetDataSource().GetKind() {
	case SourceSQL:
		out.Outcome, out.RawSql = "raw_sql", w.GetDataSource().Sql
	case SourceRoute:
		out.Outcome, out.RawSql = "raw_sql", new(w.GetDataSource().GetParams().GetFields()["sql"].GetStringValue())
	}
	return out
}

// Inspect describes the oddities in the data of a widget.
func Inspect(w *svcv2.Widget, data *svcv2.WidgetData) *svcv2.WidgetInspection {
	out := about(w)
	out.StartTime, out.EndTime, out.RangeSource = data.GetStartTime(), data.GetEndTime(), data.GetRangeSource()
	if data.GetKind() == "none" {
		out.Outcome = "unsupported"
		return out
	}
	i := &inspection{widget: w, data: data, lines: linesOf(data)}
	i.judge()
	out.Flags, out.Notes = i.flags, i.notes
	for _, l := range i.lines {
		out.Series = append(out.Series, l.figures())
	}
	out.Reshaped = reshaped(w.GetDataSource(), data)
	out.Queries = inspectQueries(w, data, i)
	broken := []string{flagEmpty, flagNulls, flagBreakdown, flagGrouping, flagMetric, flagUnit}
	switch {
	case slices.ContainsFunc(i.flags, func(f string) bool { return slices.Contains(broken, f) }):
		out.Verdict = Broken
	case slices.ContainsFunc(i.flags, func(f string) bool { return f != flagGap }):
		out.Verdict = Suspicious
	}
	return out
}

// Refusal is the reason why a widget's own queries or statement are refused. It is empty for every other failure, which another
// try or another argument may fix.
func Refusal(err error) string {
	for _, tag := range []apierr.Tag{
		apierr.QueryEngineValidation, apierr.WarehouseInvalidSql, apierr.WarehouseQuery,
		apierr.TelemetryBreakdownFilterRequired, apierr.TelemetryBucketCountTooLarge,
	} {
		if e := (*apierr.Error)(nil); errors.As(err, &e) && e.Tag == tag {
			return e.Message
		}
	}
	return ""
}

// Refused is the inspection of a widget whose queries or statement are refused because its definition is wrong.
func Refused(w *svcv2.Widget, window query.Window, source, why string) *svcv2.WidgetInspection {
	out := about(w)
	out.StartTime, out.EndTime, out.RangeSource = timestamppb.New(window.Start), timestamppb.New(window.End), source
	out.Verdict, out.Notes, out.Refusal = Broken, []string{why}, &why
	for _, q := range shownQueries(w.GetDataSource()) {
		if q.GetStatus() == "ok" { // the queries run together or not at all
			q.Status, q.Error = "error", &why
		}
		out.Queries = append(out.Queries, q)
	}
	return out
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
	i.judgeValues()
	low, high := slices.Min(all), slices.Max(all)
	if low == 0 && high == 0 {
		i.flag(flagZeros, "Every value is 0.")
	} else if i.data.GetTimeseries() != nil {
		i.judgeLines()
	}
	if low < 0 && i.neverNegative() {
		i.flag(flagNegative, "The least value is %g, but this figure is never below 0.", low)
	}
	if most := math.Max(math.Abs(low), math.Abs(high)); most > largest {
		i.flag(flagMagnitude, "The largest value is %g.", most)
	} else if strings.HasPrefix(i.unit(), durationUnits) && most*perMillisecond(i.unit()) > longest {
		i.flag(flagMagnitude, "The longest duration is %g %s.", most, i.unit())
	}
}

func (i *inspection) unit() string { return i.widget.GetDisplay().GetUnit() }

func (i *inspection) textOnly() bool {
	return !slices.ContainsFunc(i.data.GetTable().GetColumns(), func(c *svcv2.SqlResultColumn) bool { return c.GetType() == number }) &&
		i.data.GetTable() != nil
}

func perMillisecond(unit string) float64 {
	switch unit {
	case UnitSeconds:
		return 1e3
	case UnitMicroseconds:
		return 1e-3
	case UnitNanoseconds:
		return 1e-6
	default:
		return 1
	}
}

// grouped reports whether a query has groups that count.
func (i *inspection) grouped() bool { return i.grouping() > 0 }

// crowded reports whether groups were left out although the widget asks for them. A breakdown shows only the largest groups on
// purpose, and so does a series_limit.
func (i *inspection) crowded() bool {
	source := i.widget.GetDataSource()
	switch {
	case !i.data.GetTruncated() || source.GetKind() == SourceQuery && i.byGroups():
		return false
	default:
		return !slices.ContainsFunc(source.GetQueries(), func(d *svcv2.QueryDraft) bool { return d.GetSeriesLimit() != "" })
	}
}

// byGroups reports whether the rows are groups of the whole window.
func (i *inspection) byGroups() bool {
	return i.data.GetBreakdown() != nil || i.widget.GetDataSource().GetResultShape() == "breakdown"
}

// nameless matches the name of a group, or of its series, whose rows have none of the fields in group_by.
var nameless = regexp.MustCompile(`^(.*: )?\(none\)( · \(none\))*$`)

// groupless reports whether there are groups and all of them are nameless, in data of any shape.
func (i *inspection) groupless() bool {
	var names []string
	for _, s := range i.data.GetTimeseries().GetSeries() {
		names = append(names, s.GetName())
	}
	for _, r := range i.data.GetBreakdown().GetRows() {
		names = append(names, r.GetName())
	}
	if t := i.data.GetTable(); i.byGroups() && len(t.GetColumns()) > 0 && t.GetColumns()[0].GetName() == nameColumn {
		for _, r := range t.GetRows() {
			names = append(names, r.GetValues()[0].GetStringValue())
		}
	} else if !i.byGroups() && len(t.GetColumns()) > 0 && t.GetColumns()[0].GetName() == bucketColumn {
		for _, c := range t.GetColumns()[1:] {
			names = append(names, c.GetName())
		}
	}
	for _, c := range i.data.GetHeatmap().GetCells() {
		switch {
		case !i.byGroups():
			names = append(names, c.GetY())
		case i.grouping() > 1:
			names = append(names, c.GetX()+" · "+c.GetY())
		default:
			names = append(names, c.GetX())
		}
	}
	return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !nameless.MatchString(n) })
}

// grouping is the number of fields in group_by of the first query that groups.
func (i *inspection) grouping() int {
	for _, d := range i.widget.GetDataSource().GetQueries() {
		if len(d.GetGroupBy()) > 0 && on(d, (*svcv2.QueryAddOns).GetGroupBy) {
			return len(d.GetGroupBy())
		}
	}
	return 0
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
	if i.grouped() && i.groupless() {
		i.flag(flagGrouping, "No row has the field that is grouped by.")
	}
	if i.data.GetBreakdown() != nil && i.widget.GetDataSource().GetKind() == SourceQuery && !i.grouped() {
		i.flag(flagBreakdown, "A breakdown is drawn, but nothing is grouped by.")
	}
	if i.crowded() || len(names) > manySeries {
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

// judgeUnit compares the unit with the figures that the queries compute.
func (i *inspection) judgeUnit(all []float64) {
	unit := i.unit()
	if unit == UnitPercent && slices.Max(all) > 1.5 {
		i.flag(flagUnit, "The unit percent is of a ratio from 0 to 1, but the largest value is %g.", slices.Max(all))
	}
	if len(i.widget.GetDataSource().GetFormulas()) > 0 {
		return
	}
	for _, d := range i.widget.GetDataSource().GetQueries() {
		a, duration := d.GetAggregation(), strings.HasPrefix(unit, durationUnits)
		switch {
		case d.GetDataSource() == "metrics" || unit == "":
		case strings.HasSuffix(a, "_duration") && duration && unit != UnitMilliseconds:
			i.flag(flagUnit, "%s is in milliseconds, but the unit is %s.", a, unit)
		case strings.HasSuffix(a, "_duration") && (unit == UnitPercent || unit == UnitBytes),
			a == string(query.ErrorRate) && (duration || unit == UnitBytes),
			slices.Contains(query.Counting(), a) &&
				(duration || unit == UnitBytes || unit == UnitPercent):
			i.flag(flagUnit, "%s does not have the unit %s.", a, unit)
		}
	}
}

// neverNegative reports whether the queries or the unit say that no value is below 0.
func (i *inspection) neverNegative() bool {
	unit := i.unit()
	if strings.HasPrefix(unit, durationUnits) || unit == UnitBytes || unit == UnitRequestsPerSecond {
		return true
	}
	return slices.ContainsFunc(i.widget.GetDataSource().GetQueries(), func(d *svcv2.QueryDraft) bool {
		return slices.Contains(append(query.Counting(), string(query.Increase), string(query.ErrorRate)), d.GetAggregation())
	}) && len(i.widget.GetDataSource().GetFormulas()) == 0
}

// judgeLines examines the values of series over time.
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
