package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// widgetData is the data of a widget.
type widgetData struct {
	Kind       string
	Timeseries querySeries
	Breakdown  struct{ Rows []queryRow }
	Table      struct {
		Columns []struct{ Name string }
		Rows    [][]any
	}
	Value     queryCell
	Histogram struct {
		Buckets []struct{ Start, End, Count float64 }
	}
	Heatmap struct {
		Cells []struct {
			X, Y  string
			Value float64
		}
	}
	Funnel    struct{ Rows []groupValue }
	Truncated bool
}

type groupValue struct {
	Name  string
	Value float64
}

// rowSource is a kind of rows that widgets show.
type rowSource struct {
	name       string
	rows       []*row
	conditions []condition
	groupings  []grouping
}

func (a *audit) rowSources() []rowSource {
	return []rowSource{
		{"traces", a.spans, a.spanConditions(), append(spanGroupings(), moreFields("traces")...)},
		{"logs", a.records, a.recordConditions(), append(recordGroupings(), moreFields("logs")...)},
	}
}

// show reads the data of a widget that is not stored.
func (a *audit) show(w window, visual string, source, display object) (d widgetData) {
	a.Helper()
	if source["kind"] == nil {
		source["kind"] = "query"
	}
	a.ask("previewDashboardWidget", object{
		"widget": object{
			"id": "w", "visualization": visual, "data_source": source, "display": display, "layout": object{"x": 0, "y": 0, "w": 4, "h": 4},
		},
		"time_range":           in(w, object{"type": "absolute"}),
		"empty_range_fallback": false,
	}, &d)
	return d
}

// drafted is a query of a widget with its rows.
type drafted struct {
	object
	aggregation, what string
	rows              []*row
	groups            map[string][]*row
}

func (a *audit) draft(s rowSource, w window, aggregation string, by1 ...grouping) drafted {
	c := s.conditions[a.r.IntN(len(s.conditions))]
	d := drafted{object: object{
		"id": "a", "name": "A", "data_source": s.name, "aggregation": aggregation, "series_limit": "100", "limit": "100",
	}}
	d.aggregation, d.rows = aggregation, rowsIn(s.rows, w, c.meets)
	fields := []string{}
	for _, g := range by1 {
		fields = append(fields, g.field)
	}
	if len(fields) > 0 {
		d.object["group_by"] = fields
	}
	if c.where != "" {
		d.object["where_clause"] = c.where
	}
	if ofField(aggregation) {
		d.object["value_field"] = "attr.cart.size"
	}
	d.what = fmt.Sprintf("%s of %s by %v of %s in %s", aggregation, s.name, fields, c.where, w)
	d.groups = by(d.rows, func(r *row) string {
		var group []string
		for _, g := range by1 {
			group = append(group, g.of(r))
		}
		return keyOf(group)
	})
	return d
}

const preview = "previewDashboardWidget"

// checkWidgets compares the data of each type of widget.
func (a *audit) checkWidgets() {
	for n, w := range a.windows()[:3] {
		for i, s := range a.rowSources() {
			aggregations := aggregationsOf(s.name)
			if s.name == "logs" { // queries of widgets aggregate only fields of spans
				aggregations = slices.DeleteFunc(aggregations, ofField)
			}
			for k := range 4 {
				aggregation := aggregations[(n*8+i*4+k*3+a.r.IntN(3))%len(aggregations)]
				a.checkChart(s, w, aggregation)
				a.checkNumber(s, w, aggregation, []string{"stat", "gauge"}[k%2])
			}
			a.checkTables(s, w)
			a.checkHeatmaps(s, w)
			a.checkHistograms(s, w)
			a.checkList(s, w)
			a.checkFormulas(s, w)
			a.checkTransforms(s, w)
		}
		a.checkStatement(w)
	}
	middle := a.start.Add(a.end.Sub(a.start) / 2)
	for _, s := range a.rowSources() {
		a.checkComparison(s, window{middle, a.end})
		a.checkRest(s, window{a.start, a.end})
	}
}

func (a *audit) checkChart(s rowSource, w window, aggregation string) {
	picked := []grouping{s.groupings[a.r.IntN(len(s.groupings))]}
	if a.r.IntN(3) == 0 {
		picked = nil
	}
	d := a.draft(s, w, aggregation, picked...)
	bucket := []int64{60, 900, 3600, 77}[a.r.IntN(4)]
	series := merged(d.object, object{"step_interval": fmt.Sprint(bucket)})
	got := a.show(w, "chart", object{"result_shape": "timeseries", "queries": []object{series}}, object{})
	a.compareSeries(preview, "chart of "+d.what, w, aggregation, bucket, got.Timeseries, d.groups)
	if picked == nil {
		return
	}
	visual := a.pick("chart", "hbar", "pie")
	got = a.show(w, visual, object{"result_shape": "breakdown", "queries": []object{d.object}}, object{})
	a.compareRows(preview, visual+" of "+d.what, w, aggregation, true, got.Breakdown.Rows, maps.Clone(d.groups))
}

// checkNumber compares one number: the aggregation over the whole window.
func (a *audit) checkNumber(s rowSource, w window, aggregation, visual string) {
	d := a.draft(s, w, aggregation)
	got := a.show(w, visual, object{"result_shape": "timeseries", "queries": []object{d.object}}, object{})
	b, ok := aggregate(d.rows, aggregation, "cart.size", w.seconds())
	if len(d.rows) == 0 {
		b, ok = exactly(0), countsRows(aggregation)
	}
	if !ok || got.Value.Value == nil {
		a.names(preview, visual+" of "+d.what, some(got.Value.Value != nil), some(ok))
		return
	}
	a.figure(preview, visual+" of "+d.what, *got.Value.Value, b)
}

// checkTables compares tables of groups and of buckets.
func (a *audit) checkTables(s rowSource, w window) {
	g := s.groupings[0]
	d := a.draft(s, w, "count", g)
	second := merged(d.object, object{"id": "b", "name": "B", "aggregation": "error_rate"})
	got := a.show(w, "table", object{"result_shape": "breakdown", "queries": []object{d.object, second}}, object{})
	var names []string
	for _, row := range tableRows(got) {
		name := fmt.Sprint(row["name"])
		names = append(names, name)
		of := d.groups[name]
		a.figure(preview, "A of "+name+" in a table of "+d.what, number64(row["A"]), exactly(estimated(of)))
		a.figure(preview, "value of "+name+" in a table of "+d.what, number64(row["value"]), exactly(estimated(of)))
		a.figure(preview, "B of "+name+" in a table of "+d.what, number64(row["B"]), exactly(errorRate(of)))
	}
	a.names(preview, "rows of a table of "+d.what, names, slices.Collect(maps.Keys(d.groups)))
	d.object["step_interval"] = "900"
	got = a.show(w, "table", object{"result_shape": "timeseries", "queries": []object{d.object}}, object{})
	buckets := w.bucketed(d.rows, 900)
	for _, row := range tableRows(got) {
		at := moment(row["bucket"])
		groups := by(buckets[at.Unix()], g.of)
		delete(buckets, at.Unix())
		for name := range d.groups {
			a.figure(preview, fmt.Sprintf("%s at %s in a table of %s", name, at, d.what), number64(row[name]), exactly(estimated(groups[name])))
		}
	}
	a.figure(preview, "missing rows of a table of "+d.what, float64(len(buckets)), exactly(0))
}

func tableRows(d widgetData) (out []object) {
	for _, r := range d.Table.Rows {
		row := object{}
		for n, c := range d.Table.Columns {
			row[c.Name] = r[n]
		}
		out = append(out, row)
	}
	return out
}

// number64 is a number of an answer, and -1 for anything else.
func number64(v any) float64 {
	if n, ok := v.(float64); ok {
		return n
	}
	return -1
}

// checkHeatmaps compares heat maps of series and of groups by two fields.
func (a *audit) checkHeatmaps(s rowSource, w window) {
	d := a.draft(s, w, "count", s.groupings[0])
	d.object["step_interval"] = "900"
	got := a.show(w, "heatmap", object{"result_shape": "timeseries", "queries": []object{d.object}}, object{})
	cells := by(d.rows, func(r *row) string {
		return time.Unix(w.bucket(r.at, 900), 0).UTC().Format(time.RFC3339) + " " + s.groupings[0].of(r)
	})
	a.compareCells(d.what, got, cells)
	d = a.draft(s, w, "count", s.groupings[0], s.groupings[1])
	if len(d.groups) > 100 {
		return
	}
	got = a.show(w, "heatmap", object{"result_shape": "breakdown", "queries": []object{d.object}}, object{})
	a.compareCells(d.what, got, by(d.rows, func(r *row) string { return orNone(s.groupings[0].of(r)) + " " + orNone(s.groupings[1].of(r)) }))
}

func (a *audit) compareCells(what string, got widgetData, cells map[string][]*row) {
	for _, c := range got.Heatmap.Cells {
		a.figure(preview, fmt.Sprintf("%s, %s in a heatmap of %s", c.X, c.Y, what), c.Value, exactly(estimated(cells[c.X+" "+c.Y])))
		delete(cells, c.X+" "+c.Y)
	}
	a.names(preview, "missing cells of a heatmap of "+what, slices.Collect(maps.Keys(cells)), nil)
}
