package telemetry

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

var traceIDForm = regexp.MustCompile("^[0-9a-fA-F]{32}$")

const (
	SQLFetched  = limits.ToolSQLRows
	sqlRendered = limits.ToolSQLShown
)

type sqlResult struct {
	// TimeRange is the time range that the macros insert. It is left out for a statement without such a macro.
	TimeRange   *tool.TimeRange `json:"timeRange,omitempty"`
	ExpandedSQL string          `json:"expandedSql"`
	RowCount    int             `json:"rowCount"`
	Columns     []string        `json:"columns"`
	Rows        [][]any         `json:"rows"`
	Truncated   bool            `json:"truncated"`
}

type runSQLArgs struct {
	SQL string `required:"true" example:"SELECT ServiceName, count() AS n FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp) GROUP BY ServiceName ORDER BY n DESC LIMIT 10"`
	tool.Window
	GranularitySeconds *int `doc:"Bucket of $__timeGroup." of:"RunSqlRequest.granularity_seconds"`
}

func newRunSQL(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[sqlResult](&tool.Tool{
		Name: "run_sql", View: "/sql?sql={sql}",
		Title: "SQL",
		Description: "Run one read-only SELECT (ClickHouse) on telemetry of at most " + limits.Lasts(limits.SQLWindow) +
			". $__timeFilter(Timestamp) and $__timeGroup(Timestamp) apply the time range; write $__orgFilter into every statement. " +
			"See describe_warehouse_tables.",
		Run: tool.With(func(ctx context.Context, a *runSQLArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SQLWindow)
			if err != nil {
				return nil, err
			}
			req := &svcv2.RunSqlRequest{Sql: a.SQL, StartTime: w.StartProto(), EndTime: w.EndProto()}
			most := int32(SQLFetched)
			req.MaxRows = &most
			if g := a.GranularitySeconds; g != nil {
				n := int32(*g)
				req.GranularitySeconds = &n
			}
			out, err := s.SQL.RunSql(ctx, req)
			if err != nil {
				return nil, withTables(ctx, s, err, req.Sql)
			}
			res := sqlResult{ExpandedSQL: out.GetExpandedSql(), RowCount: int(out.GetRowCount()), Columns: []string{}, Rows: [][]any{}}
			for _, c := range out.GetColumns() {
				res.Columns = append(res.Columns, c.GetName())
			}
			var cells [][]string
			res.Rows = SqlRows(out)
			for _, r := range out.GetRows()[:len(res.Rows)] {
				var line []string
				for _, v := range r.GetValues() {
					line = append(line, wording.Clip(Cell(v), 200))
				}
				cells = append(cells, line)
			}
			res.Truncated = out.GetTruncated() || res.RowCount > len(res.Rows)
			text := tool.Page{
				Notes: out.GetWarnings(), Blocks: []tool.Block{tool.Table("", "The query returned no rows.", res.Columns, cells)},
			}
			if out.GetUsesWindow() {
				res.TimeRange, text.Scope = &w, []tool.Pair{w.Label()}
			}
			if len(cells) > 0 {
				text.Shown = fmt.Sprintf("Shown: %d of %d rows.", len(res.Rows), res.RowCount)
				if out.GetTruncated() {
					text.Shown = fmt.Sprintf("Shown: %d of more than %d rows. Aggregate, or add a LIMIT.", len(res.Rows), res.RowCount)
				}
			}
			text.Next = sqlNext(w, &res, req.GetSql())
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

// SqlRows returns the first rows of a result, with long texts cut.
func SqlRows(out *svcv2.SqlResult) [][]any {
	rows := [][]any{}
	for _, r := range out.GetRows()[:min(len(out.GetRows()), sqlRendered)] {
		row := r.AsSlice()
		for i, v := range row {
			if t, ok := v.(string); ok {
				row[i] = wording.Clip(t, tool.MaxValueText)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// sqlNext suggests calls after a result: into a trace that the rows name, or to the tables and names if there are no rows.
func sqlNext(w tool.TimeRange, res *sqlResult, sql string) []tool.Suggestion {
	if res.RowCount == 0 {
		next := []tool.Suggestion{tool.Next("describe_warehouse_tables", map[string]any{}, "the tables and their columns")}
		if longer := w.From.Add(-limits.SearchWindow); w.To.Sub(longer) <= limits.SQLWindow && strings.Contains(sql, "$__timeFilter") {
			next = append(
				next,
				tool.Next(
					"run_sql",
					map[string]any{"sql": sql, "start_time": wording.Clock(longer), "end_time": w.End},
					"the same in a time range that begins "+limits.Lasts(limits.SearchWindow)+" earlier",
				),
			)
		}
		return next
	}
	for i, name := range res.Columns {
		if id, ok := res.Rows[0][i].(string); ok && (strings.EqualFold(name, "TraceId") || strings.EqualFold(name, "trace_id")) &&
			traceIDForm.MatchString(id) {
			return []tool.Suggestion{tool.Next("inspect_trace", map[string]any{"trace_id": id}, "the trace of the first row")}
		}
	}
	for i, name := range res.Columns {
		if service, ok := res.Rows[0][i].(string); ok && strings.EqualFold(name, "ServiceName") && service != "" &&
			w.Length() <= limits.SearchWindow {
			return []tool.Suggestion{
				tool.Next(
					"diagnose_service",
					map[string]any{"service": service, "start_time": w.Start, "end_time": w.End},
					"changes in the service of the first row",
				),
			}
		}
	}
	return []tool.Suggestion{tool.Next("describe_warehouse_tables", map[string]any{}, "other tables to query")}
}

func Cell(v *structpb.Value) string {
	switch k := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		return k.StringValue
	case *structpb.Value_NumberValue:
		return wording.Number(k.NumberValue)
	case *structpb.Value_NullValue:
		return ""
	default:
		return protojson.MarshalOptions{}.Format(v)
	}
}

// withTables adds the columns of the tables that a refused query names, so that the next attempt can be correct.
func withTables(ctx context.Context, s *tool.Clients, err error, sql string) error {
	d := tool.FailureOf(&tool.Tool{}, err)
	lower := strings.ToLower(d.Message)
	if !strings.Contains(lower, "column") && !strings.Contains(lower, "table") && !strings.Contains(lower, "identifier") {
		return err
	}
	list, listErr := s.SQL.ListSqlTables(ctx, &svcv2.ListSqlTablesRequest{})
	if listErr != nil {
		return err // the first error says more
	}
	message, shown := d.Message, 0
	var names []string
	for _, t := range list.GetData() {
		names = append(names, t.GetName())
		if shown < 3 && strings.Contains(strings.ToLower(sql), strings.ToLower(t.GetName())) {
			shown++
			message += "\n\nTable " + t.GetName() + ": " + columnList(t)
		}
	}
	if shown == 0 {
		message += "\n\nTables: " + strings.Join(names, ", ")
	}
	return &tool.InputError{Tag: d.Tag, Parameter: "sql", Message: message}
}

func columnList(t *svcv2.SqlTable) string {
	var parts []string
	for _, c := range t.GetColumns() {
		parts = append(parts, c.GetName()+" "+c.GetType())
	}
	return wording.Clip(strings.Join(parts, ", "), 3000)
}

type tablesResult struct {
	Tables []tableRow `json:"tables,omitempty"`
	Table  *tableInfo `json:"table,omitempty"`
}

type tableRow struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	ColumnCount int    `json:"columnCount"`
}

type tableInfo struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Columns     []tableColumn `json:"columns"`
	SortingKey  []string      `json:"sortingKey"`
	Notes       []string      `json:"notes"`
}

type tableColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type describeWarehouseTablesArgs struct {
	tool.Call
	Table *string `doc:"Describe this table."`
}

func newDescribeWarehouseTables(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[tablesResult](&tool.Tool{
		Name: "describe_warehouse_tables", View: "/sql", Title: "Warehouse tables",
		Description: "List the tables that run_sql can read, or the columns of one table with an example. The tables hold only rows of the " +
			"organization, so $__orgFilter is always true. Write it all the same: widgets and alert rules refuse a statement without it.",
		Run: tool.With(func(ctx context.Context, a *describeWarehouseTablesArgs) (*tool.Answer, error) {
			list, err := s.SQL.ListSqlTables(ctx, &svcv2.ListSqlTablesRequest{Table: a.Table})
			if err != nil {
				return nil, err
			}
			var text tool.Page
			if a.Table == nil || len(list.GetData()) != 1 {
				res := tablesResult{Tables: []tableRow{}}
				var cells [][]string
				for _, t := range list.GetData() {
					res.Tables = append(res.Tables, tableRow{t.GetName(), t.GetDescription(), len(t.GetColumns())})
					cells = append(cells, []string{t.GetName(), fmt.Sprint(len(t.GetColumns())), t.GetDescription()})
				}
				text.Blocks = []tool.Block{tool.Table("", "There are no tables.", []string{"Table", "Columns", "Content"}, cells)}
				if len(res.Tables) > 0 {
					text.Next = append(
						text.Next,
						tool.Next("describe_warehouse_tables", map[string]any{"table": res.Tables[0].Name}, "the columns of a table"),
					)
				}
				return &tool.Answer{Data: res, Text: text}, nil
			}
			t := list.GetData()[0]
			info := tableInfo{
				Name:        t.GetName(),
				Description: t.GetDescription(),
				Columns:     []tableColumn{},
				SortingKey:  append([]string{}, t.GetSortKey()...),
				Notes:       append([]string{}, t.GetNotes()...),
			}
			var cells [][]string
			for _, c := range t.GetColumns() {
				info.Columns = append(info.Columns, tableColumn{c.GetName(), c.GetType()})
				cells = append(cells, []string{c.GetName(), c.GetType()})
			}
			text.Scope = []tool.Pair{tool.Labeled("Table", t.GetName()), tool.Labeled("Sorted by", strings.Join(t.GetSortKey(), ", "))}
			text.Notes = t.GetNotes()
			text.Blocks = []tool.Block{{Empty: t.GetDescription()}, tool.Table("Columns", "", []string{"Column", "Type"}, cells)}
			if t.GetExample() != "" {
				text.Next = append(text.Next, tool.Next("run_sql", map[string]any{"sql": t.GetExample()}, "an example for this table"))
			}
			return &tool.Answer{Data: tablesResult{Table: &info}, Text: text}, nil
		}),
	})
}
