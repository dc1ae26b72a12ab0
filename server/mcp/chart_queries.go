package mcp

import (
	"context"
	"fmt"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/principal"
)

// chartQuery is what one query or formula of a widget gave.
type chartQuery struct {
	QueryID   string `json:"queryId"`
	QueryName string `json:"queryName"`
	// Status is skipped for what does not show, and for what cannot be told from other queries: Error says why.
	Status          string         `json:"status"`
	Error           string         `json:"error,omitempty"`
	Spec            map[string]any `json:"spec,omitempty"`
	Stats           *chartStats    `json:"stats,omitempty"`
	ReducedValue    *float64       `json:"reducedValue,omitempty"`
	Flags           []string       `json:"flags"`
	BuilderWarnings []string       `json:"builderWarnings,omitempty"`
}

// chartSQL is what the statement of a widget gave.
type chartSQL struct {
	SQL         string   `json:"sql"`
	ExpandedSQL *string  `json:"expandedSql,omitempty"`
	Status      string   `json:"status"`
	Error       string   `json:"error,omitempty"`
	RowCount    int      `json:"rowCount"`
	Columns     []string `json:"columns"`
	Rows        [][]any  `json:"rows"`
	Truncated   bool     `json:"truncated"`
}

// chartRead is the data behind an inspection.
type chartRead struct {
	data *svcv2.WidgetData
	sql  *chartSQL
	// refusal is why the queries could not run.
	refusal string
}

// readChart reads the data in the window that was inspected. The rows of a statement come as its own columns where the caller may run it.
func (s *Server) readChart(ctx context.Context, out *svcv2.WidgetInspection, x *svcv2.Widget) (chartRead, error) {
	var read chartRead
	if out.GetOutcome() == "unsupported" {
		return read, nil
	}
	w := period(out.GetStartTime().AsTime(), out.GetEndTime().AsTime())
	if out.GetOutcome() == "raw_sql" {
		read.sql = &chartSQL{SQL: out.GetRawSql(), Status: "ok", Columns: []string{}, Rows: [][]any{}}
		return read, s.runChart(ctx, w, x, read.sql)
	}
	no := false
	var err error
	read.data, err = s.clients.dashboardData.SearchDashboardWidgetData(ctx, &svcv2.SearchDashboardWidgetDataRequest{
		Id: out.GetDashboardId(), WidgetId: out.GetWidgetId(), TimeRange: absolute(w), EmptyRangeFallback: &no,
	})
	return read, err
}

// runChart runs a widget's statement by itself. That it cannot, for want of a scope or of values for variables, does not fail the inspection, which
// has read the statement's figures.
func (s *Server) runChart(ctx context.Context, w timeRange, x *svcv2.Widget, to *chartSQL) error {
	if p, ok := principal.From(ctx); !ok || !p.Allows("sql", false) {
		to.Status, to.Error = "error", "The rows are left out: the credential does not have the scope sql:read."
		return nil
	}
	most := int32(sqlFetched)
	req := &svcv2.RunSqlRequest{Sql: to.SQL, StartTime: w.startProto(), EndTime: w.endProto(), MaxRows: &most}
	seconds := x.GetDataSource().GetGranularitySeconds()
	if seconds == 0 {
		seconds = x.GetDataSource().GetParams().GetFields()["granularity_seconds"].GetNumberValue()
	}
	if n := int32(seconds); n > 0 {
		req.GranularitySeconds = &n
	}
	out, err := s.clients.sql.RunSql(ctx, req)
	if err != nil {
		to.Status, to.Error = "error", clip(apiFailure(&tool{}, err).Message, 1000)
		return nil
	}
	expanded := out.GetExpandedSql()
	to.ExpandedSQL, to.RowCount = &expanded, int(out.GetRowCount())
	for _, c := range out.GetColumns() {
		to.Columns = append(to.Columns, c.GetName())
	}
	to.Rows = sqlRows(out)
	to.Truncated = out.GetTruncated() || to.RowCount > len(to.Rows)
	return nil
}

// block shows the first rows of the statement.
func (q *chartSQL) block() block {
	var cells [][]string
	for _, row := range q.Rows[:min(len(q.Rows), 20)] {
		var line []string
		for _, v := range row {
			line = append(line, clip(cell(structValue(v)), 200))
		}
		cells = append(cells, line)
	}
	empty := "It gave no rows."
	if q.Error != "" {
		empty = q.Error
	}
	return table(fmt.Sprintf("Rows (%d of %d)", len(cells), q.RowCount), empty, q.Columns, cells)
}

// endpointOf names what a data source is read by.
func endpointOf(d *svcv2.WidgetDataSource) string {
	switch d.GetKind() {
	case "query":
		shape := d.GetResultShape()
		if shape == "" {
			shape = "timeseries"
		}
		return "query_" + shape
	case "raw_sql":
		return "raw_sql_chart"
	case "route":
		return d.GetEndpoint()
	default:
		return d.GetKind()
	}
}

// reshaped reports whether a transform has made rows of the data in which queries are not told apart.
func reshaped(d *svcv2.WidgetDataSource, data *svcv2.WidgetData) bool {
	t := d.GetTransform()
	return d.GetKind() == "query" && data != nil && !perQuery(data) && (len(t.GetFieldMap()) > 0 || t.GetFlattenSeries() != nil || t.GetComputeRatio() != nil)
}

// formulaWithoutValue reports whether a formula has no value, though there is data.
func formulaWithoutValue(d *svcv2.WidgetDataSource, data *svcv2.WidgetData) bool {
	if !perQuery(data) {
		return false
	}
	lines := chartLines(data)
	if !slices.ContainsFunc(lines, func(l queryLine) bool { return l.ValidCount > 0 }) {
		return false
	}
	return slices.ContainsFunc(d.GetFormulas(), func(f *svcv2.QueryFormula) bool {
		return !f.GetHidden() && !slices.ContainsFunc(lines, func(l queryLine) bool { return l.query == f.GetName() && l.ValidCount > 0 })
	})
}

// chartQueries gives each query and formula of the query builder its part of the data.
func chartQueries(out *svcv2.WidgetInspection, x *svcv2.Widget, read chartRead) ([]chartQuery, error) {
	data := read.data
	list := []chartQuery{}
	source := x.GetDataSource()
	if source.GetKind() != "query" || out.GetOutcome() == "unsupported" {
		return list, nil
	}
	shown := 0
	for _, d := range source.GetQueries() {
		spec, err := toMap(d)
		if err != nil {
			return nil, err
		}
		q := chartQuery{QueryID: d.GetId(), QueryName: d.GetName(), Status: "ok", Spec: spec, Flags: []string{}}
		switch {
		case d.Enabled != nil && !d.GetEnabled():
			q.Status, q.Error = "skipped", "It is switched off."
		case d.GetHidden():
			q.Status, q.Error = "skipped", "It only feeds formulas."
		default:
			shown++
		}
		list = append(list, q)
	}
	for _, f := range source.GetFormulas() {
		spec, err := toMap(f)
		if err != nil {
			return nil, err
		}
		q := chartQuery{QueryID: f.GetName(), QueryName: f.GetName(), Status: "ok", Spec: spec, Flags: []string{}}
		if f.GetHidden() {
			q.Status, q.Error = "skipped", "It only feeds other formulas."
		} else {
			shown++
		}
		list = append(list, q)
	}
	lines := chartLines(data)
	first := true
	for i := range list {
		q := &list[i]
		if q.Status != "ok" {
			continue
		}
		if read.refusal != "" { // they run together, or not at all
			q.Status, q.Error = "error", read.refusal
			continue
		}
		own := func(l queryLine) bool { return l.query == q.QueryName }
		if shown == 1 {
			own = func(queryLine) bool { return true }
			q.Flags, q.BuilderWarnings = listOf(out.GetFlags()), data.GetWarnings()
		} else if !perQuery(data) {
			q.Status, q.Error = "skipped", "The widget turns the data of its queries into rows in which they are not told apart."
			continue
		}
		q.Stats = statsOf(lines, own)
		if shown > 1 {
			q.Flags = append(q.Flags, q.Stats.flags()...)
		}
		if first && data.GetValue() != nil { // the number is that of what shows first
			q.ReducedValue = data.GetValue().Value
		}
		first = false
	}
	return list, nil
}

// perQuery reports whether data says which query its values are of.
func perQuery(data *svcv2.WidgetData) bool {
	return data.GetTimeseries() != nil || data.GetBreakdown() != nil
}
