package oracle_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// comparedSeries is a series with the points of the period before.
type comparedSeries struct {
	Group                    []string
	Points, Previous, Change []seriesPoint
}

// checkEarlier compares queries and charts with the period before. Its points have the times of the requested period.
func (a *audit) checkEarlier() {
	middle := a.start.Add(a.end.Sub(a.start) / 2)
	w, was := window{middle, a.end}, window{a.start, middle.Add(-time.Nanosecond)}
	for _, s := range a.rowSources() {
		aggregations := []string{"count", "error_rate", "rate"}
		if s.name == "traces" {
			aggregations = append(aggregations, "avg_duration", "p95_duration", "apdex")
		}
		for _, aggregation := range aggregations {
			c, g := s.conditions[a.r.IntN(len(s.conditions))], s.groupings[a.r.IntN(len(s.groupings))]
			now, then := by(rowsIn(s.rows, w, c.meets), g.of), by(rowsIn(s.rows, was, c.meets), g.of)
			if len(now) > 100 || len(then) > 100 {
				continue
			}
			spec := object{
				"name": "A", "source": s.name, "aggregation": aggregation, "group_by": []string{g.field}, "limit": 100, "series_limit": 100,
			}
			widget := object{
				"id": "a", "name": "A", "data_source": s.name, "aggregation": aggregation, "group_by": []string{g.field}, "limit": "100",
				"series_limit": "100", "step_interval": "900",
			}
			if c.where != "" {
				spec["where"], widget["where_clause"] = c.where, c.where
			}
			comparison := object{"mode": "previous_period", "include_percent_change": true}
			request := in(w, object{"queries": []object{spec}, "comparison": comparison})
			what := fmt.Sprintf("%s of %s by %s of %s in %s against the period before", aggregation, s.name, g.field, c.where, w)
			var rows struct{ Data []queryRow }
			a.ask("queryBreakdown", request, &rows)
			for _, r := range rows.Data {
				group := keyOf(r.Group)
				a.compareCell("queryBreakdown", group+" of "+what, r.Values[0], now[group], then[group], aggregation, w.seconds())
			}
			type answer struct {
				Series []struct {
					Group    []string
					Points   []seriesPoint
					Previous []seriesPoint `json:"previous_points"`
					Change   []seriesPoint `json:"percent_change_points"`
				}
			}
			var got answer
			a.ask("queryTimeseries", merged(request, object{"bucket_seconds": 900}), &got)
			var shown struct{ Timeseries answer }
			a.ask(preview, object{
				"widget": object{
					"id": "w", "visualization": "chart", "display": object{}, "layout": object{"x": 0, "y": 0, "w": 4, "h": 4}, "data_source": object{
						"kind": "query", "result_shape": "timeseries", "queries": []object{widget}, "comparison": comparison,
					},
				},
				"time_range": in(w, object{"type": "absolute"}), "empty_range_fallback": false,
			}, &shown)
			for read, list := range map[string]answer{"queryTimeseries": got, preview: shown.Timeseries} {
				missing := maps.Clone(now)
				maps.Copy(missing, then)
				for _, line := range list.Series {
					group := keyOf(line.Group)
					delete(missing, group)
					points := comparedSeries{line.Group, line.Points, line.Previous, line.Change}
					a.compareEarlier(read, group+" of "+what, w, points, now[group], then[group], aggregation)
				}
				a.names(read, "missing series of "+what, slices.Collect(maps.Keys(missing)), nil)
			}
		}
	}
}

// compareCell compares a value, the value before and the change of one group.
func (a *audit) compareCell(read, what string, cell queryCell, now, then []*row, aggregation string, seconds float64) {
	ours, ok := valueOf(now, aggregation, seconds)
	a.optional(read, "value of "+what, cell.Value, ours, ok)
	theirs, okThen := valueOf(then, aggregation, seconds)
	a.optional(read, "earlier value of "+what, cell.Previous, theirs, okThen)
	if exact := ours.low == ours.high && theirs.low == theirs.high; exact {
		change := (ours.low - theirs.low) / theirs.low * 100
		a.optional(read, "change of "+what, cell.PercentChange, exactly(change), ok && okThen && !math.IsNaN(change) && !math.IsInf(change, 0))
	}
}

// valueOf is the value of rows; a count of no rows is 0.
func valueOf(rows []*row, aggregation string, seconds float64) (bounds, bool) {
	if len(rows) == 0 {
		return exactly(0), countsRows(aggregation)
	}
	return aggregate(rows, aggregation, "", seconds)
}

// optional compares a figure that may be missing.
func (a *audit) optional(read, what string, got *float64, want bounds, ok bool) {
	a.Helper()
	if got == nil || !ok {
		a.names(read, what, some(got != nil), some(ok))
		return
	}
	a.figure(read, what, *got, want)
}

// compareEarlier compares the points of a series in each bucket of 15 minutes.
func (a *audit) compareEarlier(read, what string, w window, s comparedSeries, now, then []*row, aggregation string) {
	const bucket = 900
	length := w.end.Sub(w.start)
	nowIn := w.bucketed(now, bucket)
	thenIn := by(then, func(r *row) int64 { return w.bucket(r.at.Add(length), bucket) })
	at := func(list []seriesPoint, at int64) *float64 {
		for _, p := range list {
			if p.Timestamp.Unix() == at {
				return &p.Value
			}
		}
		return nil
	}
	for t := w.start.Unix(); t < w.end.Unix(); t += bucket {
		a.compareCell(read, fmt.Sprintf("%s at %s", what, time.Unix(t, 0).UTC().Format("15:04:05")), queryCell{
			Value: at(s.Points, t), Previous: at(s.Previous, t), PercentChange: at(s.Change, t),
		}, nowIn[t], thenIn[t], aggregation, bucket)
	}
}
