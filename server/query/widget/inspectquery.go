package widget

import (
	"slices"
	"strconv"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// shownQueries are the queries and formulas of the query builder, before anything is known of their data.
func shownQueries(source *svcv2.WidgetDataSource) []*svcv2.WidgetQueryInspection {
	if source.GetKind() != SourceQuery {
		return nil
	}
	var list []*svcv2.WidgetQueryInspection
	add := func(id, name, skipped string) {
		q := &svcv2.WidgetQueryInspection{Id: id, Name: name, Status: "ok"}
		if skipped != "" {
			q.Status, q.Error = "skipped", &skipped
		}
		list = append(list, q)
	}
	for _, d := range source.GetQueries() {
		why := ""
		switch {
		case SwitchedOff(d):
			why = "It is switched off."
		case d.GetHidden():
			why = "It only feeds formulas."
		}
		add(d.GetId(), d.GetName(), why)
	}
	for _, f := range source.GetFormulas() {
		why := ""
		if f.GetHidden() {
			why = "It only feeds other formulas."
		}
		add(f.GetName(), f.GetName(), why)
	}
	return list
}

// perQuery reports whether the data says which query each value comes from.
func perQuery(data *svcv2.WidgetData) bool {
	return data.GetTimeseries() != nil || data.GetBreakdown() != nil
}

// reshaped reports whether a transform turned the data into rows that no longer distinguish queries.
func reshaped(d *svcv2.WidgetDataSource, data *svcv2.WidgetData) bool {
	t := d.GetTransform()
	return d.GetKind() == SourceQuery && !perQuery(data) &&
		(len(t.GetFieldMap()) > 0 || t.GetFlattenSeries() != nil || t.GetComputeRatio() != nil)
}

// inspectQueries inspects each query and formula by itself, with its part of the data.
func inspectQueries(w *svcv2.Widget, data *svcv2.WidgetData, whole *inspection) []*svcv2.WidgetQueryInspection {
	list := shownQueries(w.GetDataSource())
	var shown []*svcv2.WidgetQueryInspection
	for _, q := range list {
		if q.GetStatus() == "ok" {
			shown = append(shown, q)
		}
	}
	for n, q := range shown {
		switch {
		case len(shown) == 1:
			total(q, whole.lines)
			q.Flags, q.Warnings = whole.flags, data.GetWarnings()
		case perQuery(data):
			alone := whole.alone(q.GetName())
			alone.judge()
			total(q, alone.lines)
			q.Flags, q.Warnings = alone.flags, alone.data.GetWarnings()
		default:
			q.Status, q.Error = "skipped", new("The widget turns the data of its queries into rows in which they are not told apart.")
			continue
		}
		if n == 0 && data.GetValue() != nil { // the number belongs to the first query or formula that is shown
			q.ReducedValue = data.GetValue().Value
		}
	}
	return list
}

// alone is the inspection of one query or formula: the widget as if it had no other, with only the data of this one.
func (i *inspection) alone(name string) *inspection {
	source := i.widget.GetDataSource()
	own := &svcv2.WidgetDataSource{Kind: source.GetKind(), ResultShape: source.ResultShape}
	var warnings []string
	if at := slices.IndexFunc(source.GetFormulas(), func(f *svcv2.QueryFormula) bool { return f.GetName() == name }); at >= 0 {
		// A formula has the groups of its operands.
		own.Queries, own.Formulas = source.GetQueries(), source.GetFormulas()[at:at+1]
	} else {
		for _, d := range source.GetQueries() {
			if d.GetName() != name {
				continue
			}
			own.Queries = append(own.Queries, d)
			for _, text := range i.data.GetWarnings() {
				if m := d.GetMetricName(); m != "" && strings.Contains(text, strconv.Quote(m)) {
					warnings = append(warnings, text)
				}
			}
		}
	}
	out := &inspection{
		widget: &svcv2.Widget{Id: i.widget.GetId(), Visualization: i.widget.GetVisualization(), Display: i.widget.GetDisplay(), DataSource: own},
		data:   &svcv2.WidgetData{Kind: i.data.GetKind(), Warnings: warnings},
	}
	if t := i.data.GetTimeseries(); t != nil {
		out.data.Timeseries = &svcv2.WidgetTimeseries{BucketSeconds: t.GetBucketSeconds()}
		for _, s := range t.GetSeries() {
			if s.GetQuery() == name {
				out.data.Timeseries.Series = append(out.data.Timeseries.Series, s)
			}
		}
	}
	if b := i.data.GetBreakdown(); b != nil {
		out.data.Breakdown = ownColumns(b, name)
	}
	for _, l := range i.lines {
		if l.query == name {
			out.lines = append(out.lines, l)
		}
	}
	return out
}

// ownColumns are the columns of one query, and the rows in which it has a value.
func ownColumns(b *svcv2.WidgetBreakdown, name string) *svcv2.WidgetBreakdown {
	out := &svcv2.WidgetBreakdown{}
	var at []int
	for n, c := range b.GetColumns() {
		if c.GetQuery() == name {
			at, out.Columns = append(at, n), append(out.Columns, c)
		}
	}
	for _, r := range b.GetRows() {
		row := &svcv2.QueryRow{Name: r.GetName(), Group: r.GetGroup()}
		found := false
		for _, n := range at {
			row.Values = append(row.Values, r.GetValues()[n])
			found = found || r.GetValues()[n].Value != nil
		}
		if found {
			out.Rows = append(out.Rows, row)
		}
	}
	return out
}
