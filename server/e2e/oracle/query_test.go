package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// aggregationsOf lists the aggregations that the query language has for rows. Those of a field read the given attribute.
func aggregationsOf(source string) []string {
	list := []string{
		"count", "rate", "error_count", "error_rate", "sum", "avg", "min", "max", "p50", "p75", "p90", "p95", "p99", "count_distinct",
	}
	if source == "traces" {
		list = append(
			list, "apdex", "avg_duration", "min_duration", "max_duration", "p50_duration", "p75_duration", "p90_duration", "p95_duration",
			"p99_duration",
		)
	}
	return list
}

func ofField(aggregation string) bool {
	return !strings.HasSuffix(aggregation, "_duration") && !slices.Contains([]string{"count", "rate", "error_count", "error_rate", "apdex"},
		aggregation)
}

// countsRows reports whether an aggregation over no rows is 0.
func countsRows(aggregation string) bool {
	return slices.Contains([]string{"count", "rate", "error_count", "count_distinct"}, aggregation)
}

// checkQuery compares the query language: every aggregation in every window shape, with conditions and groups drawn at random, over
// time and not.
func (a *audit) checkQuery() {
	for _, source := range []string{"traces", "logs"} {
		rows, conditions, groupings := a.spans, a.spanConditions(), append(spanGroupings(), moreFields(source)...)
		if source == "logs" {
			rows, conditions, groupings = a.records, a.recordConditions(), append(recordGroupings(), moreFields(source)...)
		}
		for _, aggregation := range aggregationsOf(source) {
			for n, w := range a.windows() {
				c, picked := conditions[a.r.IntN(len(conditions))], []grouping{}
				for _, i := range a.r.Perm(len(groupings))[:(n+a.r.IntN(2))%3] {
					picked = append(picked, groupings[i])
				}
				a.checkOneQuery(source, aggregation, w, c, picked, rowsIn(rows, w, c.meets))
			}
		}
	}
}

func (a *audit) checkOneQuery(source, aggregation string, w window, c condition, picked []grouping, rows []*row) {
	fields := []string{}
	for _, g := range picked {
		fields = append(fields, g.field)
	}
	want := by(rows, func(r *row) string {
		var group []string
		for _, g := range picked {
			group = append(group, g.of(r))
		}
		return keyOf(group)
	})
	what := fmt.Sprintf("%s of %s by %v of %s in %s", aggregation, source, fields, c.where, w)
	spec := object{
		"name": "A", "source": source, "aggregation": aggregation, "where": c.where, "group_by": fields, "limit": 100,
		"series_limit": 100,
	}
	if len(fields) == 0 {
		delete(spec, "group_by")
	}
	if c.where == "" {
		delete(spec, "where")
	}
	if ofField(aggregation) {
		spec["value_field"] = "attr.cart.size"
	}
	if len(want) > 100 {
		return
	}
	var breakdown struct{ Data []queryRow }
	a.ask("queryBreakdown", in(w, object{"queries": []object{spec}}), &breakdown)
	a.compareRows("queryBreakdown", what, w, aggregation, len(fields) > 0, breakdown.Data, want)
	const read = "queryTimeseries"
	var got querySeries
	bucket := []int64{60, 900, 3600, 77}[a.r.IntN(4)]
	a.ask(read, in(w, object{"queries": []object{spec}, "bucket_seconds": bucket}), &got)
	a.compareSeries(read, what, w, aggregation, bucket, got, want)
}

// keyOf joins the values of a group.
func keyOf(group []string) string { return strings.Join(group, " | ") }

type queryRow struct {
	Name   string
	Group  []string
	Other  bool
	Values []queryCell
}

type queryCell struct {
	Value, Previous *float64
	PercentChange   *float64 `json:"percent_change"`
}

// compareRows compares the groups of a query. Groups whose rows have no value leave the expected groups.
func (a *audit) compareRows(read, what string, w window, aggregation string, grouped bool, rows []queryRow, want map[string][]*row) {
	a.Helper()
	seen := []string{}
	for _, d := range rows {
		group := keyOf(d.Group)
		v := d.Values[0].Value
		if len(want[group]) == 0 {
			if grouped || v != nil && (*v != 0 || !countsRows(aggregation)) {
				a.names(read, "groups of "+what, []string{group}, nil)
			}
			continue
		}
		seen = append(seen, group)
		b, ok := aggregate(want[group], aggregation, "cart.size", w.seconds())
		if !ok || v == nil {
			a.names(read, "values of "+group+" of "+what, some(v != nil), some(ok))
			continue
		}
		a.figure(read, what+" for "+group, *v, b)
	}
	// A group whose rows have no value may be left out.
	for group, of := range want {
		if _, ok := aggregate(of, aggregation, "cart.size", 1); !ok {
			delete(want, group)
			seen = slices.DeleteFunc(seen, func(s string) bool { return s == group })
		}
	}
	a.names(read, "groups of "+what, seen, slices.Collect(maps.Keys(want)))
}

func some(yes bool) []string {
	if yes {
		return []string{"a number"}
	}
	return nil
}

type querySeries struct {
	BucketSeconds int64 `json:"bucket_seconds"`
	Series        []struct {
		Query  string
		Group  []string
		Points []seriesPoint
	}
}

// compareSeries compares the series of a query.
func (a *audit) compareSeries(read, what string, w window, aggregation string, bucket int64, got querySeries, want map[string][]*row) {
	a.Helper()
	want = maps.Clone(want)
	for _, s := range got.Series {
		group := keyOf(s.Group)
		rows, known := want[group]
		delete(want, group)
		points := s.Points
		if !known && slices.ContainsFunc(points, func(p seriesPoint) bool { return p.Value != 0 }) {
			a.names(read, "series of "+what, []string{group}, nil)
			continue
		}
		buckets := w.bucketed(rows, bucket)
		for _, p := range points {
			of := buckets[p.Timestamp.Unix()]
			delete(buckets, p.Timestamp.Unix())
			b, ok := bounds{}, true
			if len(of) > 0 {
				b, ok = aggregate(of, aggregation, "cart.size", covered(w, p.Timestamp, bucket))
			}
			if !ok || len(of) == 0 && !countsRows(aggregation) {
				a.figure(read, "number of values at "+p.Timestamp.Format("15:04:05")+" of "+group+" of "+what, 1, exactly(0))
				continue
			}
			a.figure(read, what+" for "+group+" at "+p.Timestamp.Format("15:04:05"), p.Value, b)
		}
		missing := 0
		for _, of := range buckets {
			if _, ok := aggregate(of, aggregation, "cart.size", 1); ok {
				missing++
			}
		}
		a.figure(read, "number of missing points for "+group+" of "+what, float64(missing), exactly(0))
	}
	a.names(read, "missing series of "+what, slices.Collect(maps.Keys(want)), nil)
}

// covered is the length of the part of a bucket that lies in the window. A rate in the first and in the last bucket is over that part.
func covered(w window, bucket time.Time, seconds int64) float64 {
	start, end := bucket, bucket.Add(time.Duration(seconds)*time.Second)
	if start.Before(w.start) {
		start = w.start
	}
	if end.After(w.end) {
		end = w.end
	}
	return end.Sub(start).Seconds()
}
