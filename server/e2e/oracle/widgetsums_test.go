package oracle_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// checkHistograms compares histograms of the values of groups and of buckets.
func (a *audit) checkHistograms(s rowSource, w window) {
	d := a.draft(s, w, "count", s.groupings[a.r.IntN(len(s.groupings))])
	if len(d.groups) > 100 {
		return
	}
	var values []float64
	for _, rows := range d.groups {
		values = append(values, estimated(rows))
	}
	show := func(shape string, ranges object) widgetData {
		return a.show(w, "histogram", object{"result_shape": shape, "queries": []object{d.object}}, object{"histogram": ranges})
	}
	got := show("breakdown", object{"bucket_count": 7})
	a.compareBins("groups of "+d.what, got, values)
	d = a.draft(s, w, "count")
	d.object["step_interval"] = "300"
	values = nil
	buckets := w.bucketed(d.rows, 300)
	for at := w.start.Unix() / 300 * 300; at <= w.bucket(w.end, 300); at += 300 {
		values = append(values, estimated(buckets[at]))
	}
	got = show("timeseries", object{"bucket_width": 5})
	a.compareBins("buckets of "+d.what, got, values)
}

// compareBins compares the number of values in each range. A value on the border of two ranges may count in either.
func (a *audit) compareBins(what string, got widgetData, values []float64) {
	counted := 0.0
	for _, b := range got.Histogram.Buckets {
		counted += b.Count
		least, most := 0.0, 0.0
		for _, v := range values {
			slack := 1e-9 * max(1, math.Abs(v))
			most += truth(v >= b.Start-slack && v <= b.End+slack)
			least += truth(v > b.Start+slack && v < b.End-slack)
		}
		a.figure(preview, fmt.Sprintf("values from %v to %v in a histogram of %s", b.Start, b.End, what), b.Count, bounds{least, most})
	}
	a.figure(preview, "values in a histogram of "+what, counted, exactly(float64(len(values))))
}

// checkList compares the latest rows. A trace has one row: its latest span that meets the condition.
func (a *audit) checkList(s rowSource, w window) {
	d := a.draft(s, w, "count")
	got := a.show(w, "list", object{"result_shape": "list", "queries": []object{d.object}, "limit": 15}, object{})
	slices.SortStableFunc(d.rows, func(x, y *row) int { return cmp.Or(y.at.Compare(x.at), strings.Compare(x.id, y.id)) })
	if s.name == "traces" {
		seen := map[string]bool{}
		d.rows = slices.DeleteFunc(d.rows, func(r *row) bool {
			known := seen[r.trace]
			seen[r.trace] = true
			return known
		})
	}
	var times, want []string
	for _, o := range tableRows(got) {
		at := moment(o["timestamp"])
		times = append(times, at.UTC().Format(time.RFC3339Nano))
		known := slices.ContainsFunc(d.rows, func(r *row) bool {
			if !r.at.Equal(at) || o["service_name"] != r.service || blank(o["trace_id"]) != r.trace {
				return false
			}
			if s.name == "logs" {
				return o["body"] == r.name && o["severity"] == r.severity
			}
			return o["span_name"] == r.name && exactly(r.milliseconds()).admits(number64(o["duration_ms"])) && o["has_error"] == r.failed
		})
		a.figure(preview, fmt.Sprintf("rows as %v in a list of %s", o, d.what), truth(known), exactly(1))
	}
	for _, r := range d.rows[:min(15, len(d.rows))] {
		want = append(want, r.at.UTC().Format(time.RFC3339Nano))
	}
	a.names(preview, "times in a list of "+d.what, times, want)
}

// formulas are formulas over the queries A and B, with their meaning.
func formulas() map[string]func(a, b float64) float64 {
	return map[string]func(a, b float64) float64{
		"B / A * 100":         func(a, b float64) float64 { return b / a * 100 },
		"A / B":               func(a, b float64) float64 { return a / b },
		"-a + 2 * (B - 1.5)":  func(a, b float64) float64 { return -a + 2*(b-1.5) },
		"(A - B) / (A + B)":   func(a, b float64) float64 { return (a - b) / (a + b) },
		"100 - 100 * B / A/2": func(a, b float64) float64 { return 100 - 100*b/a/2 },
	}
}

// checkFormulas compares formulas over two queries with conditions of their own. A count of no rows is 0, and a division by zero
// has no value.
func (a *audit) checkFormulas(s rowSource, w window) {
	g := s.groupings[a.r.IntN(len(s.groupings))]
	x, y := a.draft(s, w, "count", g), a.draft(s, w, a.pick("count", "error_count"), g)
	y.object["id"], y.object["name"] = "b", "B"
	counts := func(rows []*row, d drafted) float64 {
		if d.aggregation == "error_count" {
			rows = failed(rows)
		}
		return estimated(rows)
	}
	for text, of := range formulas() {
		what := fmt.Sprintf("%s of A, %s, and B, %s", text, x.what, y.what)
		source := object{
			"result_shape": "breakdown", "queries": []object{merged(x.object, object{"hidden": true}), merged(y.object, object{"hidden": true})},
			"formulas": []object{{"id": "f", "name": "F", "expression": text}},
		}
		got := a.show(w, "chart", source, object{})
		for _, r := range got.Breakdown.Rows {
			group := keyOf(r.Group)
			a.compareFormula(what+" for "+group, r.Values[0].Value, of(counts(x.groups[group], x), counts(y.groups[group], y)))
		}
		for group := range x.groups {
			known := slices.ContainsFunc(got.Breakdown.Rows, func(r queryRow) bool { return keyOf(r.Group) == group })
			if v := of(counts(x.groups[group], x), counts(y.groups[group], y)); !math.IsNaN(v) && !math.IsInf(v, 0) {
				a.figure(preview, "rows for "+group+" of "+what, truth(known), exactly(1))
			}
		}
		for _, q := range source["queries"].([]object) {
			q["step_interval"] = "900"
			delete(q, "group_by")
		}
		source["result_shape"] = "timeseries"
		got = a.show(w, "chart", source, object{})
		ours, theirs := w.bucketed(x.rows, 900), w.bucketed(y.rows, 900)
		for _, line := range got.Timeseries.Series {
			shown := map[int64]*float64{}
			for _, p := range line.Points {
				shown[p.Timestamp.Unix()] = &p.Value
			}
			for at := w.start.Unix() / 900 * 900; at <= w.bucket(w.end, 900); at += 900 {
				a.compareFormula(fmt.Sprintf("%s at %d", what, at), shown[at], of(counts(ours[at], x), counts(theirs[at], y)))
			}
		}
		a.figure(preview, "series of "+what, float64(len(got.Timeseries.Series)), exactly(1))
	}
}

func (a *audit) compareFormula(what string, got *float64, want float64) {
	a.Helper()
	known := !math.IsNaN(want) && !math.IsInf(want, 0)
	if got == nil || !known {
		a.names(preview, what, some(got != nil), some(known))
		return
	}
	a.figure(preview, what, *got, exactly(want))
}

// checkTransforms compares the numbers that transforms make of groups.
func (a *audit) checkTransforms(s rowSource, w window) {
	d := a.draft(s, w, "count", s.groupings[0])
	var values []float64
	for _, rows := range d.groups {
		values = append(values, estimated(rows))
	}
	if len(values) == 0 {
		return
	}
	for aggregate, want := range map[string]float64{
		"sum": total(values), "avg": total(values) / float64(len(values)), "min": slices.Min(values), "max": slices.Max(values),
		"count": float64(len(values)),
	} {
		got := a.show(w, "table", object{
			"result_shape": "breakdown", "queries": []object{d.object},
			"transform": object{"reduce_to_value": object{"field": "value", "aggregate": aggregate}},
		}, object{})
		a.compareFormula(aggregate+" of the groups of "+d.what, got.Value.Value, want)
	}
	names := []string{}
	for name := range d.groups {
		names = append(names, orNone(name))
	}
	slices.Sort(names)
	got := a.show(w, "stat", object{"result_shape": "breakdown", "queries": []object{d.object}, "transform": object{
		"compute_ratio": object{"numerator_name": names[0], "denominator_names": names},
	}}, object{})
	first := 0.0
	for name, rows := range d.groups {
		if orNone(name) == names[0] {
			first = estimated(rows)
		}
	}
	a.compareFormula("share of "+names[0]+" of "+d.what, got.Value.Value, first/total(values))
	got = a.show(w, "funnel", object{"result_shape": "breakdown", "queries": []object{d.object}}, object{})
	for _, r := range got.Funnel.Rows {
		a.figure(preview, r.Name+" in a funnel of "+d.what, r.Value, exactly(estimated(d.groups[r.Name])))
	}
	a.figure(preview, "steps of a funnel of "+d.what, float64(len(got.Funnel.Rows)), exactly(float64(len(d.groups))))
}

// checkStatement compares a number and a table that statements count.
func (a *audit) checkStatement(w window) {
	for table, rows := range map[string][]*row{"traces": a.spans, "logs": a.records} {
		rows = rowsIn(rows, w, func(*row) bool { return true })
		got := a.show(w, "stat", object{
			"kind": "raw_sql", "display_type": "stat",
			"sql": "SELECT count() AS value FROM " + table + " WHERE $__orgFilter AND $__timeFilter(Timestamp)",
		}, object{})
		a.compareFormula("statement that counts "+table+" in "+w.String(), got.Value.Value, float64(len(rows)))
	}
}

// checkComparison compares groups and numbers with those of the period before.
func (a *audit) checkComparison(s rowSource, w window) {
	was := window{w.start.Add(w.start.Sub(w.end)), w.start.Add(-time.Nanosecond)}
	c := s.conditions[a.r.IntN(len(s.conditions))]
	rows, before := rowsIn(s.rows, w, c.meets), rowsIn(s.rows, was, c.meets)
	source := object{
		"result_shape": "breakdown", "comparison": object{"mode": "previous_period", "include_percent_change": true},
		"queries": []object{{
			"id": "a", "name": "A", "data_source": s.name, "aggregation": "count", "where_clause": c.where,
			"group_by": []string{s.groupings[0].field},
		}},
	}
	what := fmt.Sprintf("count of %s of %s in %s against the period before", s.name, c.where, w)
	groups, earlier := by(rows, s.groupings[0].of), by(before, s.groupings[0].of)
	compare := func(what string, cell queryCell, rows, before []*row) {
		now, then := estimated(rows), estimated(before)
		a.compareFormula("value of "+what, cell.Value, now)
		a.compareFormula("earlier value of "+what, cell.Previous, then)
		a.compareFormula("change of "+what, cell.PercentChange, (now-then)/then*100)
	}
	for _, r := range a.show(w, "chart", source, object{}).Breakdown.Rows {
		compare(what+" for "+keyOf(r.Group), r.Values[0], groups[keyOf(r.Group)], earlier[keyOf(r.Group)])
	}
	source["result_shape"] = "timeseries"
	compare(what, a.show(w, "stat", source, object{}).Value, rows, before)
}

// checkRest compares the largest groups, the row of all others, and conditions on the value of groups.
func (a *audit) checkRest(s rowSource, w window) {
	d := a.draft(s, w, "count", s.groupings[0])
	d.object["limit"] = "2"
	got := a.show(w, "chart", object{"result_shape": "breakdown", "queries": []object{d.object}}, object{})
	rest := estimated(d.rows)
	for _, r := range got.Breakdown.Rows {
		if r.Other {
			a.compareFormula("other groups of "+d.what, r.Values[0].Value, rest)
			continue
		}
		n := estimated(d.groups[keyOf(r.Group)])
		rest -= n
		a.compareFormula(keyOf(r.Group)+" of "+d.what, r.Values[0].Value, n)
	}
	d.object["limit"], d.object["having"] = "100", "count > 20 AND count <= 200"
	got = a.show(w, "chart", object{"result_shape": "breakdown", "queries": []object{d.object}}, object{})
	var names, want []string
	for _, r := range got.Breakdown.Rows {
		names = append(names, keyOf(r.Group))
	}
	for name, rows := range d.groups {
		if n := estimated(rows); n > 20 && n <= 200 {
			want = append(want, name)
		}
	}
	a.names(preview, "groups between 20 and 200 of "+d.what, names, want)
}
