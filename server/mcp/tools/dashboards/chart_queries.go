package dashboards

import (
	"context"
	"fmt"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tools/telemetry"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/wording"
)

// chartQuery is the result of one query or formula of a widget.
type chartQuery struct {
	QueryID   string `json:"queryId"`
	QueryName string `json:"queryName"`
	// Status is skipped for a query that is not shown, and for one whose data cannot be separated from other queries. Error says
	// why.
	Status          string         `json:"status"`
	Error           string         `json:"error,omitempty"`
	Spec            map[string]any `json:"spec,omitempty"`
	Stats           *chartStats    `json:"stats,omitempty"`
	ReducedValue    *float64       `json:"reducedValue,omitempty"`
	Flags           []string       `json:"flags"`
	BuilderWarnings []string       `json:"builderWarnings,omitempty"`
}

// chartSQL is the result of a widget's statement.
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

// readStatement runs the widget's statement in the inspected window and returns its raw rows. It returns nil if the widget has no
// statement.
func readStatement(ctx context.Context, s *tool.Clients, out *svcv2.WidgetInspection, x *svcv2.Widget) *chartSQL {
	if out.GetOutcome() != "raw_sql" {
		return nil
	}
	q := &chartSQL{SQL: out.GetRawSql(), Status: "ok", Columns: []string{}, Rows: [][]any{}}
	if out.Refusal != nil {
		q.Status, q.Error = "error", wording.Clip(out.GetRefusal(), 1000)
		return q
	}
	runChart(ctx, s, tool.Period(out.GetStartTime().AsTime(), out.GetEndTime().AsTime()), x, q)
	return q
}

// runChart runs a widget's statement by itself. If it cannot, for lack of a scope or of values for variables, the inspection does
// not fail, because it has already read the statement's figures.
func runChart(ctx context.Context, s *tool.Clients, w tool.TimeRange, x *svcv2.Widget, to *chartSQL) {
	if p, ok := principal.From(ctx); !ok || !p.Allows("sql", false) {
		to.Status, to.Error = "error", "The rows are left out: the credential does not have the scope sql:read."
		return
	}
	most := int32(telemetry.SQLFetched)
	req := &svcv2.RunSqlRequest{Sql: to.SQL, StartTime: w.StartProto(), EndTime: w.EndProto(), MaxRows: &most}
	seconds := x.GetDataSource().GetGranularitySeconds()
	if seconds == 0 {
		seconds = x.GetDataSource().GetParams().GetFields()["granularity_seconds"].GetNumberValue()
	}
	if n := int32(seconds); n > 0 {
		req.GranularitySeconds = &n
	}
	out, err := s.SQL.RunSql(ctx, req)
	if err != nil {
		to.Status, to.Error = "error", wording.Clip(tool.FailureOf(&tool.Tool{}, err).Message, 1000)
		return
	}
	expanded := out.GetExpandedSql()
	to.ExpandedSQL, to.RowCount = &expanded, int(out.GetRowCount())
	for _, c := range out.GetColumns() {
		to.Columns = append(to.Columns, c.GetName())
	}
	to.Rows = telemetry.SqlRows(out)
	to.Truncated = out.GetTruncated() || to.RowCount > len(to.Rows)
}

// block shows the first rows of the statement.
func (q *chartSQL) block() tool.Block {
	var cells [][]string
	for _, row := range q.Rows[:min(len(q.Rows), 20)] {
		var line []string
		for _, v := range row {
			line = append(line, wording.Clip(telemetry.Cell(tool.StructValue(v)), 200))
		}
		cells = append(cells, line)
	}
	empty := "The statement returned no rows."
	if q.Error != "" {
		empty = q.Error
	}
	return tool.Table(fmt.Sprintf("Rows (%d of %d)", len(cells), q.RowCount), empty, q.Columns, cells)
}

// endpointOf names the endpoint that reads a data source.
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

// chartQueries describes the result of each query and formula of the query builder.
func chartQueries(out *svcv2.WidgetInspection, source *svcv2.WidgetDataSource) (list []chartQuery, formulaWithoutValue bool, err error) {
	list = []chartQuery{}
	own := map[string][]*svcv2.WidgetSeriesFigures{}
	shown, valid := 0, false
	for _, f := range out.GetSeries() {
		own[f.GetQuery()] = append(own[f.GetQuery()], f)
		valid = valid || f.GetPoints() > 0
	}
	for _, q := range out.GetQueries() {
		if q.GetStatus() == "ok" {
			shown++
		}
	}
	for i, q := range out.GetQueries() {
		row := chartQuery{
			QueryID:         q.GetId(),
			QueryName:       q.GetName(),
			Status:          q.GetStatus(),
			Error:           q.GetError(),
			ReducedValue:    q.ReducedValue,
			Flags:           tool.NonNil(q.GetFlags()),
			BuilderWarnings: q.GetWarnings(),
		}
		formula := i >= len(source.GetQueries())
		if formula {
			row.Spec, err = toMap(source.GetFormulas()[i-len(source.GetQueries())])
		} else {
			row.Spec, err = toMap(source.GetQueries()[i])
		}
		if err != nil {
			return nil, false, err
		}
		if q.GetStatus() == "ok" {
			series := own[q.GetName()]
			if shown == 1 {
				series = out.GetSeries()
			}
			row.Stats = statsOf(q, series)
			formulaWithoutValue = formulaWithoutValue || formula && valid && q.GetRows() == 0
		}
		list = append(list, row)
	}
	return list, formulaWithoutValue, nil
}
