package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
)

// OtherName is the name of the sum of the groups beyond the limit.
const OtherName = "other"

// groupKey is a key that distinguishes groups.
func groupKey(group []string, other bool) string {
	if other {
		return "other"
	}
	return fmt.Sprintf("%q", group)
}

// label is the name of a group for people.
func label(group []string, other bool) string {
	if other {
		return OtherName
	}
	if len(group) == 0 {
		return "all"
	}
	parts := make([]string, len(group))
	for i, part := range group {
		if parts[i] = part; part == "" {
			parts[i] = "(none)"
		}
	}
	return strings.Join(parts, " · ")
}

// title is the name of a series: its group, with the name of the query if there are several queries or no group.
func title(name, legend, group string, several bool) string {
	if legend != "" {
		name = legend
	}
	switch {
	case group == "":
		return name
	case several:
		return name + ": " + group
	default:
		return group
	}
}

// visible counts the queries and formulas that are shown.
func visible(r *query.Request) int {
	n := 0
	for _, q := range r.Queries {
		if !q.Hidden {
			n++
		}
	}
	for _, f := range r.Formulas {
		if !f.Hidden {
			n++
		}
	}
	return n
}

// assembleSeries makes the series of a result from the rows of its queries, and then the series of the formulas.
func assembleSeries(out *query.Timeseries, r *query.Request, now, before []queryAnswer) {
	several := visible(r) > 1
	sums := map[string]*query.Series{} // operands of formulas, by the lower-case names of queries and formulas
	for i, q := range r.Queries {
		series, truncated := rowsToSeries(out, &now[i], 0)
		total := &query.Series{Values: sum(series, out, now[i].plan.Zero)}
		if len(before) > 0 {
			earlier, cut := rowsToSeries(out, &before[i], periodShift(out.Window, out.Bucket))
			total.Previous = sum(earlier, out, now[i].plan.Zero)
			beside(series, earlier, cut, now[i].plan.Zero, len(out.Buckets))
			if !truncated && len(q.Having) == 0 { // otherwise a group without a series may still have rows
				series = append(series, vanished(series, earlier, &q, &now[i].plan)...)
			}
		}
		if len(q.GroupBy) == 0 && len(series) == 0 && now[i].plan.Zero {
			series = []query.Series{unseen(len(out.Buckets), len(before) > 0)}
		}
		sums[strings.ToLower(q.Name)] = total
		if q.Hidden {
			continue
		}
		if len(q.Having) > 0 {
			series, truncated = pick(having(series, q.Having), &q, now[i].plan.Additive)
		}
		out.Truncated = out.Truncated || truncated
		order(series, &q, now[i].plan.Additive)
		for j := range series {
			s := &series[j]
			s.Query, s.Unit = q.Name, now[i].unit
			group := ""
			if len(q.GroupBy) > 0 {
				group = label(s.Group, s.Other)
			} else {
				s.Group = nil
			}
			s.Name = title(q.Name, q.Legend, group, several)
		}
		out.Series = append(out.Series, series...)
	}
	for _, f := range r.Formulas {
		s, warning := formulaSeries(f, sums, out, len(before) > 0)
		if warning != "" {
			out.Warnings = append(out.Warnings, warning)
		}
		sums[strings.ToLower(f.Name)] = s
		if !f.Hidden {
			out.Series = append(out.Series, *s)
		}
	}
	if r.Comparison.Percent {
		for i := range out.Series {
			out.Series[i].Change = change(out.Series[i].Values, out.Series[i].Previous)
		}
	}
}

// periodShift is how much earlier the compared window is. It is a whole number of buckets, so each bucket has one to compare
// with.
func periodShift(w query.Window, bucket time.Duration) time.Duration {
	buckets := (w.Length() + bucket - 1) / bucket
	return time.Duration(int64(buckets) * int64(bucket))
}

// rowsToSeries puts rows into the buckets of the result. It shifts the rows of an earlier window into them.
func rowsToSeries(out *query.Timeseries, a *queryAnswer, shift time.Duration) (series []query.Series, truncated bool) {
	index := map[string]int{}
	window := query.Window{Start: out.Window.Start, End: out.Window.End}
	for _, row := range a.series {
		at := int(row.Bucket.Add(shift).Sub(out.Buckets[0]) / out.Bucket)
		if at < 0 || at >= len(out.Buckets) {
			continue
		}
		truncated = truncated || row.Other
		key := groupKey(row.Group, row.Other)
		i, ok := index[key]
		if !ok {
			i = len(series)
			index[key] = i
			series = append(series, query.Series{Group: row.Group, Other: row.Other, Values: blank(len(out.Buckets), a.plan.Zero)})
		}
		value := row.Value
		if a.plan.PerSecond {
			value /= covered(window, out.Buckets[at], out.Bucket).Seconds()
		}
		if a.plan.Zero {
			series[i].Values[at] += value
		} else {
			series[i].Values[at] = value
		}
	}
	return series, truncated
}

// covered is how much of a bucket lies in the window.
func covered(w query.Window, bucket time.Time, length time.Duration) time.Duration {
	start, end := bucket, bucket.Add(length)
	if w.Start.After(start) {
		start = w.Start
	}
	if w.End.Before(end) {
		end = w.End
	}
	if end.Sub(start) <= 0 {
		return length
	}
	return end.Sub(start)
}

func blank(n int, zero bool) []float64 {
	values := make([]float64, n)
	if !zero {
		for i := range values {
			values[i] = math.NaN()
		}
	}
	return values
}

// beside gives each series its values of the period before. If there were too many groups then, groups that were not read have no
// such values.
func beside(series, earlier []query.Series, cut, zero bool, n int) {
	byKey := map[string][]float64{}
	for _, s := range earlier {
		byKey[groupKey(s.Group, s.Other)] = s.Values
	}
	for i := range series {
		s := &series[i]
		if s.Previous = byKey[groupKey(s.Group, s.Other)]; s.Previous == nil {
			s.Previous = blank(n, zero && !cut)
		}
	}
}

// vanished returns the series of the groups that had rows in the period before and have none now, largest first. It returns at
// most as many as the series limit of the query.
func vanished(series, earlier []query.Series, q *query.Query, p *query.Plan) (out []query.Series) {
	now := map[string]bool{}
	for _, s := range series {
		now[groupKey(s.Group, s.Other)] = true
	}
	for _, s := range earlier {
		if !s.Other && !now[groupKey(s.Group, false)] {
			out = append(out, s)
		}
	}
	largest := *q
	largest.Order = query.Order{}
	order(out, &largest, p.Additive)
	out = out[:min(len(out), limitOfSeries(q))]
	for i := range out {
		out[i].Previous, out[i].Values = out[i].Values, blank(len(out[i].Values), p.Zero)
	}
	return out
}

// unseen is the series of a count that found no rows.
func unseen(buckets int, compared bool) query.Series {
	s := query.Series{Values: blank(buckets, true), Unseen: true}
	if compared {
		s.Previous = blank(buckets, true)
	}
	return s
}

func limitOfSeries(q *query.Query) int { return cmp.Or(q.SeriesLimit, limits.DefaultSeries) }

// sum adds up the series of a query, bucket by bucket, to make an operand of formulas.
func sum(series []query.Series, out *query.Timeseries, zero bool) []float64 {
	total := blank(len(out.Buckets), zero && len(series) == 0)
	for _, s := range series {
		for i, v := range s.Values {
			switch {
			case math.IsNaN(v):
			case math.IsNaN(total[i]):
				total[i] = v
			default:
				total[i] += v
			}
		}
	}
	return total
}

// formulaSeries computes a formula in the buckets where all operands have a value.
func formulaSeries(f query.Formula, operands map[string]*query.Series, out *query.Timeseries, compared bool) (*query.Series, string) {
	e, err := query.ParseFormula(f.Expression)
	s := &query.Series{Query: f.Name, Name: title(f.Name, f.Legend, "", true), Values: blank(len(out.Buckets), false)}
	if compared {
		s.Previous = blank(len(out.Buckets), false)
	}
	if err != nil { // Validate has already parsed it
		return s, fmt.Sprintf("%s was not computed: %s.", f.Name, err)
	}
	zeros := 0
	eval := func(to []float64, of func(*query.Series) []float64) {
		for i := range to {
			v, zero := e.Eval(func(name string) float64 { return of(operands[name])[i] })
			if to[i] = v; zero {
				zeros++
			}
		}
	}
	eval(s.Values, func(o *query.Series) []float64 { return o.Values })
	if compared {
		eval(s.Previous, func(o *query.Series) []float64 { return o.Previous })
	}
	if zeros > 0 {
		return s, divided(f.Name, zeros, "buckets")
	}
	return s, ""
}

func divided(name string, n int, of string) string {
	return fmt.Sprintf("%s has no value in %d %s: it divides by zero there.", name, n, of)
}

// change is the difference between a value and the earlier value in percent. There is no change if the earlier value is absent or
// zero.
func change(values, previous []float64) []float64 {
	out := make([]float64, len(values))
	for i := range values {
		if out[i] = (values[i] - previous[i]) / previous[i] * 100; previous[i] == 0 || math.IsInf(out[i], 0) {
			out[i] = math.NaN()
		}
	}
	return out
}

// having drops points that fail a condition, and series without points. It also drops the series of the groups beyond the limit,
// because that sum includes groups that fail.
func having(series []query.Series, conditions []query.Having) []query.Series {
	return slices.DeleteFunc(series, func(s query.Series) bool {
		if s.Other {
			return true
		}
		left := false
		for i, v := range s.Values {
			if slices.ContainsFunc(conditions, func(h query.Having) bool { return !h.Admits(v) }) {
				s.Values[i] = math.NaN()
			} else {
				left = true
			}
		}
		return !left
	})
}

// pick cuts the series that pass the conditions to the limit of their query and keeps the largest.
func pick(series []query.Series, q *query.Query, additive bool) (kept []query.Series, truncated bool) {
	limit := limitOfSeries(q)
	if len(series) <= limit {
		return series, false
	}
	largest := *q
	largest.Order = query.Order{}
	order(series, &largest, additive)
	return series[:limit], true
}

// order sorts series by group, by their total, or by their maximum if their values do not add up. The series of the other groups
// comes last.
func order(series []query.Series, q *query.Query, additive bool) {
	rank := func(s query.Series) float64 {
		total, most := 0.0, math.Inf(-1)
		for _, v := range s.Values {
			if !math.IsNaN(v) {
				total += v
				most = max(most, v)
			}
		}
		if additive {
			return total
		}
		return most
	}
	slices.SortStableFunc(series, func(a, b query.Series) int {
		if a.Other != b.Other {
			return map[bool]int{true: 1, false: -1}[a.Other]
		}
		byGroup := slices.Compare(a.Group, b.Group)
		if q.Order.ByGroup {
			if q.Order.Ascending {
				return byGroup
			}
			return -byGroup
		}
		byValue := cmp.Compare(rank(a), rank(b))
		if !q.Order.Ascending {
			byValue = -byValue
		}
		return cmp.Or(byValue, byGroup)
	})
}
