package definition

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/widget"
)

var (
	plainNumber  = regexp.MustCompile(`^0*[1-9][0-9]{0,8}$`)
	stepInterval = regexp.MustCompile(`^0*[1-9][0-9]{0,8}[smhd]?$`)
)

// given is a field of a union, with the kind that it belongs to.
type given struct {
	field, kind string
	set         bool
}

// only refuses the fields that belong to other kinds.
func (c *checker) only(path, kind string, fields []given) {
	for _, f := range fields {
		if f.kind != kind {
			c.foreign(path+"."+f.field, f.set, f.kind)
		}
	}
}

func (c *checker) dataSource(path string, d *svcv2.WidgetDataSource) {
	c.only(path, d.GetKind(), []given{
		{"result_shape", widget.SourceQuery, d.ResultShape != nil},
		{"queries", widget.SourceQuery, len(d.GetQueries()) > 0},
		{"formulas", widget.SourceQuery, len(d.GetFormulas()) > 0},
		{"comparison", widget.SourceQuery, d.Comparison != nil},
		{"default_limit", widget.SourceQuery, d.DefaultLimit != nil},
		{"limit", widget.SourceQuery, d.Limit != nil},
		{"columns", widget.SourceQuery, len(d.GetColumns()) > 0},
		{"sql", widget.SourceSQL, d.Sql != nil},
		{"display_type", widget.SourceSQL, d.DisplayType != nil},
		{"granularity_seconds", widget.SourceSQL, d.GranularitySeconds != nil},
		{"endpoint", widget.SourceRoute, d.Endpoint != nil},
		{"params", widget.SourceRoute, d.Params != nil},
	})
	switch d.GetKind() {
	case widget.SourceQuery:
		c.needs(path+".result_shape", d.ResultShape != nil, widget.SourceQuery)
		c.positive(path+".default_limit", d.DefaultLimit)
		c.positive(path+".limit", d.Limit)
		c.queries(path, d)
	case widget.SourceSQL:
		c.needs(path+".sql", d.Sql != nil, widget.SourceSQL)
		c.positive(path+".granularity_seconds", d.GranularitySeconds)
		if d.Sql != nil {
			c.sql(path+".sql", d.GetSql())
		}
	case widget.SourceRoute:
		c.route(path, d)
	}
	if t := d.GetTransform(); t != nil {
		c.positive(path+".transform.limit", t.Limit)
	}
}

// route checks the parameters of the only endpoint, which takes a statement.
func (c *checker) route(path string, d *svcv2.WidgetDataSource) {
	c.needs(path+".endpoint", d.Endpoint != nil, widget.SourceRoute)
	sql, given := d.GetParams().GetFields()["sql"]
	if !given {
		c.fail(path+".params.sql", "is required by the endpoint raw_sql_chart")
		return
	}
	c.sql(path+".params.sql", sql.GetStringValue())
}

func (c *checker) queries(path string, d *svcv2.WidgetDataSource) {
	running := 0
	for _, q := range d.GetQueries() {
		if !widget.SwitchedOff(q) {
			running++
		}
	}
	switch n := len(d.GetQueries()); {
	case n == 0:
		c.fail(path+".queries", "needs at least one query")
	case n > limits.StoredQueries:
		c.fail(path+".queries", "has %d queries; at most %d are allowed", n, limits.StoredQueries)
	case running > limits.Queries:
		c.fail(path+".queries", "has %d queries that run; at most %d may run. Set `enabled` to false in the others", running, limits.Queries)
	}
	if n := len(d.GetFormulas()); n > limits.Queries {
		c.fail(path+".formulas", "has %d formulas; at most %d are allowed", n, limits.Queries)
	}
	ids, names := map[string]bool{}, map[string]bool{} // names in lower case, as formulas refer to them
	unique := func(path, id, name string) {
		c.label(path+".id", id)
		if ids[id] {
			c.fail(path+".id", "is already the id of an earlier query or formula")
		}
		lower := strings.ToLower(name)
		if problem := query.CheckName(name); problem != "" {
			c.fail(path+".name", "%s", problem)
		} else if names[lower] {
			c.fail(path+".name", "is already the name of an earlier query or formula (upper and lower case are the same)")
		}
		ids[id], names[lower] = true, true
	}
	for i, q := range d.GetQueries() {
		here := at(path+".queries", i)
		unique(here, q.GetId(), q.GetName())
		c.query(here, q)
	}
	for i, f := range d.GetFormulas() {
		here := at(path+".formulas", i)
		if problem := query.CheckFormula(widget.ReadableFormula(f.GetExpression(), c.known), names); problem != "" {
			c.fail(here+".expression", "%s", problem)
		}
		unique(here, f.GetId(), f.GetName()) // after its expression, which cannot refer to its own name
	}
}

func (c *checker) query(path string, q *svcv2.QueryDraft) {
	c.label(path+".aggregation", q.GetAggregation())
	c.only(path, q.GetDataSource(), []given{
		{"value_field", "traces", q.GetValueField() != ""},
		{"signal_source", "metrics", q.SignalSource != nil},
		{"metric_name", "metrics", q.GetMetricName() != ""},
		{"metric_type", "metrics", q.MetricType != nil},
		{"is_monotonic", "metrics", q.IsMonotonic != nil},
	})
	if widget.SwitchedOff(q) { // it may be incomplete
		c.whereText(path+".where_clause", q.GetWhereClause())
	} else {
		c.asked(path, q)
	}
	if n := len(q.GetGroupBy()); n > limits.GroupBy {
		c.fail(path+".group_by", "has %d attributes; at most %d are allowed", n, limits.GroupBy)
	}
	for i, g := range q.GetGroupBy() {
		if strings.TrimSpace(g) == "" {
			c.fail(at(path+".group_by", i), "must not be blank")
		}
	}
	for _, limit := range []struct{ field, text string }{{"limit", q.GetLimit()}, {"series_limit", q.GetSeriesLimit()}} {
		if limit.text != "" && !plainNumber.MatchString(limit.text) {
			c.fail(path+"."+limit.field, "must be a whole number greater than 0, as text")
		}
	}
	if step := q.GetStepInterval(); step != "" && !stepInterval.MatchString(step) {
		c.fail(path+".step_interval", "must be a number of seconds, or a number and a unit (s, m, h or d)")
	}
}

// asked checks that the query language can read the query. A clause with variables is read only when their values are known.
func (c *checker) asked(path string, q *svcv2.QueryDraft) {
	source := query.Source(q.GetDataSource())
	if known := query.Aggregations(source); !slices.Contains(known, q.GetAggregation()) {
		c.fail(path+".aggregation", "must be one of %s", strings.Join(known, ", "))
	}
	if clause := q.GetWhereClause(); !strings.ContainsRune(clause, '$') {
		if _, err := query.ParseWhere(source, clause); err != nil {
			c.fail(path+".where_clause", "cannot be read: %s", err)
		}
	} else {
		c.whereText(path+".where_clause", clause)
	}
	c.references(path+".where_clause", q.GetWhereClause())
	if bad := widget.CheckGroups(path, q); bad != nil {
		c.fail(bad.Field, "%s", bad.Message)
	} else if n := widget.Conditions(q); n > limits.Having {
		c.unreadable(path+".having", "having "+q.GetHaving(), "has %d conditions; at most %d are allowed. Leave out the others", n, limits.Having)
	}
}

// whereText checks the length of a filter that is parsed only when it is read.
func (c *checker) whereText(path, clause string) {
	if n := utf8.RuneCountInString(clause); n > limits.WhereText {
		c.unreadable(path, "filter "+clause, "has %s characters; at most %s are allowed. Shorten the filter",
			limits.Number(n), limits.Number(limits.WhereText))
	}
}

// references checks that the variables of a filter exist.
func (c *checker) references(path, clause string) {
	if name := widget.UnknownVariable(clause, c.known); name != "" {
		c.fail(path, "refers to $%s, but the dashboard has no such variable; for a dollar sign, write \"\\$\" in quotes", name)
	}
}

func (c *checker) positive(path string, v *float64) {
	if v != nil && *v <= 0 {
		c.fail(path, "must be greater than 0")
	}
}

// grouped reports whether a query that runs has an effective group-by.
func grouped(d *svcv2.WidgetDataSource) bool {
	for _, q := range d.GetQueries() {
		enabled := q.Enabled == nil || q.GetEnabled()
		if enabled && len(q.GetGroupBy()) > 0 && (q.GetAddOns() == nil || q.GetAddOns().GetGroupBy()) {
			return true
		}
	}
	return false
}

// match checks that the visualization can draw the result of the data source.
func (c *checker) match(path string, w *svcv2.Widget) {
	d := w.GetDataSource()
	queried := d.GetKind() == widget.SourceQuery
	switch v := w.GetVisualization(); v {
	case "pie", "heatmap", "hbar":
		if queried && !grouped(d) {
			c.fail(path+".data_source.queries", "need a group_by for the visualization %s", v)
		}
	case "funnel":
		if len(w.GetDisplay().GetFunnel().GetSteps()) == 0 && (queried && !grouped(d) || d.GetKind() == widget.SourceStatic) {
			c.fail(path+".display.funnel.steps", "are required for a funnel, or a query with a group_by")
		}
	case "paths":
		if w.GetDisplay().GetPaths() == nil {
			c.fail(path+".display.paths", "is required for the visualization paths")
		}
	case "stat", "gauge":
		if queried && d.GetResultShape() == "list" {
			c.fail(path+".data_source.result_shape", "must be timeseries or breakdown for the visualization %s, which shows one number", v)
		}
	case "list":
		if queried && d.GetResultShape() != "list" {
			c.fail(path+".data_source.result_shape", "must be list for the visualization list")
		}
	case "markdown":
		if strings.TrimSpace(w.GetDisplay().GetMarkdown().GetContent()) == "" {
			c.fail(path+".display.markdown.content", "is required for the visualization markdown")
		}
	}
}
