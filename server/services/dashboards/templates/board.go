package templates

import (
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query/widget"
)

// board collects the widgets of one dashboard.
type board struct {
	values  map[string]string
	widgets []*svcv2.Widget
	ids     map[string]int
}

// layout is the position of a widget: column, row, width and height.
type layout [4]float64

// Types of metrics. The sender decides which type a metric has.
const (
	gauge     = "gauge"
	counter   = "counter"   // a monotonic sum
	upDown    = "updown"    // a sum that also falls
	histogram = "histogram" // queried by its averages: the query builder has no percentiles of metrics
)

func (b *board) add(p layout, visualization, title string, source *svcv2.WidgetDataSource, display *svcv2.WidgetDisplay) {
	id := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(title)), "-")
	for strings.Contains(id, "--") {
		id = strings.ReplaceAll(id, "--", "-")
	}
	b.ids[id]++
	if n := b.ids[id]; n > 1 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	display.Title = new(title)
	b.widgets = append(b.widgets, &svcv2.Widget{
		Id: id, Visualization: visualization, DataSource: source, Display: display,
		Layout: &svcv2.WidgetLayout{X: new(p[0]), Y: new(p[1]), W: new(p[2]), H: new(p[3])},
	})
}

// where joins clauses by AND and leaves out empty ones.
func where(clauses ...string) string {
	var all []string
	for _, c := range clauses {
		if c != "" {
			all = append(all, c)
		}
	}
	return strings.Join(all, " AND ")
}

// equals is the clause `key = "value"`, empty for an empty value.
func equals(key, value string) string {
	if value == "" {
		return ""
	}
	return key + ` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// service is the clause of the parameter service_name.
func (b *board) service() string { return equals("service.name", b.values["service_name"]) }

// sqlService is the same clause for a statement.
func (b *board) sqlService() string {
	v := b.values["service_name"]
	if v == "" {
		return ""
	}
	return " AND ServiceName = '" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v) + "'"
}

// draft is a query in the form in which the query builder writes it.
func draft(source, aggregation, clause string, groups ...string) *svcv2.QueryDraft {
	return &svcv2.QueryDraft{
		Id: "a", Name: "A", Enabled: new(true), DataSource: source, WhereClause: new(clause), Aggregation: aggregation, StepInterval: new(""),
		OrderByDirection: new("desc"), AddOns: &svcv2.QueryAddOns{GroupBy: len(groups) > 0}, GroupBy: groups, Having: new(""), OrderBy: new(""),
		Limit: new(""), Legend: new(""),
	}
}

func spans(aggregation, clause string, groups ...string) *svcv2.QueryDraft {
	return draft("traces", aggregation, clause, groups...)
}

func metric(name, kind, aggregation, clause string, groups ...string) *svcv2.QueryDraft {
	q := draft("metrics", aggregation, clause, groups...)
	q.SignalSource = new("default")
	if name != "" {
		q.MetricName = new(name)
	}
	q.MetricType, q.IsMonotonic = new(kind), new(kind == counter)
	if kind == counter || kind == upDown {
		q.MetricType = new("sum")
	}
	return q
}

func query(shape string, drafts ...*svcv2.QueryDraft) *svcv2.WidgetDataSource {
	for i, q := range drafts {
		q.Id, q.Name = string(rune('a'+i)), string(rune('A'+i))
	}
	return &svcv2.WidgetDataSource{Kind: "query", ResultShape: new(shape), Queries: drafts}
}

func sql(displayType, text string) *svcv2.WidgetDataSource {
	return &svcv2.WidgetDataSource{Kind: widget.SourceSQL, Sql: new(text), DisplayType: new(displayType)}
}

// unitOfData leaves the unit out, so that the widget shows the unit of the metric.
const unitOfData = ""

// shownUnit is the unit of a display, nil for unitOfData.
func shownUnit(unit string) *string {
	if unit == unitOfData {
		return nil
	}
	return &unit
}

// area, line and number are the drawings that all templates share.
func (b *board) area(p layout, title, unit string, drafts ...*svcv2.QueryDraft) {
	b.chart(p, title, unit, "area", true, drafts)
}

func (b *board) line(p layout, title, unit string, drafts ...*svcv2.QueryDraft) {
	b.chart(p, title, unit, "line", false, drafts)
}

func (b *board) chart(p layout, title, unit, kind string, stacked bool, drafts []*svcv2.QueryDraft) {
	b.add(p, "chart", title, query("timeseries", drafts...), &svcv2.WidgetDisplay{
		ChartId: new("query-builder-" + kind), ChartPresentation: &svcv2.ChartPresentation{Legend: new("visible")}, Stacked: new(stacked),
		CurveType: new("monotone"), Unit: shownUnit(unit),
	})
}

// number shows one figure. With aggregate, it combines the buckets of a query. Without, the query covers the whole window.
func (b *board) number(p layout, title, unit, aggregate string, q *svcv2.QueryDraft) {
	source := query("timeseries", q)
	if aggregate != "" {
		source.Transform = &svcv2.DataTransform{
			FlattenSeries: &svcv2.FlattenSeries{ValueField: "value"}, ReduceToValue: &svcv2.ReduceToValue{Field: "value", Aggregate: new(aggregate)},
		}
	}
	b.add(p, "stat", title, source, &svcv2.WidgetDisplay{Unit: shownUnit(unit)})
}

func (b *board) sqlNumber(p layout, title, unit, text string) {
	source := sql("stat", text)
	source.Transform = &svcv2.DataTransform{ReduceToValue: &svcv2.ReduceToValue{Field: "value", Aggregate: new("first")}}
	b.add(p, "stat", title, source, &svcv2.WidgetDisplay{Unit: new(unit)})
}

// column is a column of a table.
func column(field, header, unit string) *svcv2.TableColumn {
	c := &svcv2.TableColumn{Field: field, Header: header}
	if unit != "" {
		c.Unit, c.Align = new(unit), new("right")
	}
	return c
}

func (b *board) table(p layout, title string, source *svcv2.WidgetDataSource, columns ...*svcv2.TableColumn) {
	b.add(p, "table", title, source, &svcv2.WidgetDisplay{Columns: columns})
}

// traces lists the newest 10 traces.
func (b *board) traces(p layout, title, clause string) {
	const limit = 10.
	source := query("list", spans("count", clause))
	source.Limit = new(limit)
	display := &svcv2.WidgetDisplay{ListDataSource: new("traces"), ListLimit: new(limit), ListRootOnly: new(false)}
	if clause != "" {
		display.ListWhereClause = new(clause)
	}
	b.add(p, "list", title, source, display)
}
