package mcp

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

var traceIDForm = regexp.MustCompile("^[0-9a-fA-F]{32}$")

const (
	sqlFetched  = 1000
	sqlRendered = 100
	maxSQL      = 366 * 24 * time.Hour
)

type sqlResult struct {
	TimeRange   timeRange `json:"timeRange"`
	ExpandedSQL string    `json:"expandedSql" jsonschema:"with its macros replaced"`
	RowCount    int       `json:"rowCount"`
	Columns     []string  `json:"columns"`
	Rows        [][]any   `json:"rows" jsonschema:"the first 100"`
	Truncated   bool      `json:"truncated" jsonschema:"whether there are more rows than listed"`
}

func newRunSQL(s *Server) (*tool, error) {
	return define[sqlResult](&tool{
		name: "run_sql", title: "SQL",
		description: "Run one read-only SELECT (ClickHouse) on telemetry. It must filter by the macro $__orgFilter; $__timeFilter(Timestamp) and $__timeGroup(Timestamp) take the time range. See describe_warehouse_tables.",
		params: append([]param{
			{name: "sql", kind: kindText, required: true, example: "SELECT ServiceName, count() AS n FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp) GROUP BY ServiceName ORDER BY n DESC LIMIT 10"},
		}, append(windowParams(), param{name: "granularity_seconds", kind: kindInteger, description: "Bucket of $__timeGroup.", minimum: num(1), maximum: num(31536000)})...),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.window(maxSQL)
			if err != nil {
				return nil, err
			}
			req := &svcv2.RunSqlRequest{Sql: *a.text("sql"), StartTime: w.startProto(), EndTime: w.endProto()}
			most := int32(sqlFetched)
			req.MaxRows = &most
			if g := a.number("granularity_seconds"); g != nil {
				n := int32(*g)
				req.GranularitySeconds = &n
			}
			out, err := s.clients.sql.RunSql(ctx, req)
			if err != nil {
				return nil, s.withTables(ctx, err, req.Sql)
			}
			res := sqlResult{TimeRange: w, ExpandedSQL: out.GetExpandedSql(), RowCount: int(out.GetRowCount()), Columns: []string{}, Rows: [][]any{}}
			for _, c := range out.GetColumns() {
				res.Columns = append(res.Columns, c.GetName())
			}
			var cells [][]string
			res.Rows = sqlRows(out)
			for _, r := range out.GetRows()[:len(res.Rows)] {
				var line []string
				for _, v := range r.GetValues() {
					line = append(line, clip(cell(v), 200))
				}
				cells = append(cells, line)
			}
			res.Truncated = out.GetTruncated() || res.RowCount > len(res.Rows)
			text := page{scope: []pair{w.label()}, blocks: []block{table("", "The query returned no rows.", res.Columns, cells)}}
			if len(cells) > 0 {
				text.shown = fmt.Sprintf("Shown: %d of %d rows.", len(res.Rows), res.RowCount)
				if out.GetTruncated() {
					text.shown = fmt.Sprintf("Shown: %d of more than %d rows. Aggregate, or add a LIMIT.", len(res.Rows), res.RowCount)
				}
			}
			text.next = sqlNext(w, &res, req.GetSql())
			return &answer{data: res, text: text}, nil
		},
	})
}

// sqlRows are the first rows of a result, with long texts cut.
func sqlRows(out *svcv2.SqlResult) [][]any {
	rows := [][]any{}
	for _, r := range out.GetRows()[:min(len(out.GetRows()), sqlRendered)] {
		row := r.AsSlice()
		for i, v := range row {
			if t, ok := v.(string); ok {
				row[i] = clip(t, maxValueText)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// sqlNext are calls that go on from rows: into a trace that they name, or to what there is to ask when there are none.
func sqlNext(w timeRange, res *sqlResult, sql string) []suggestion {
	if res.RowCount == 0 {
		next := []suggestion{{"describe_warehouse_tables", map[string]any{}, "which tables and columns there are"}}
		if longer := w.start.Add(-maxSearch); w.end.Sub(longer) <= maxSQL && strings.Contains(sql, "$__timeFilter") {
			next = append(next, suggestion{"run_sql", map[string]any{"sql": sql, "start_time": clock(longer), "end_time": w.End}, "the same in a time range that begins a week earlier"})
		}
		return next
	}
	for i, name := range res.Columns {
		if id, ok := res.Rows[0][i].(string); ok && (strings.EqualFold(name, "TraceId") || strings.EqualFold(name, "trace_id")) && traceIDForm.MatchString(id) {
			return []suggestion{{"inspect_trace", map[string]any{"trace_id": id}, "the trace of the first row"}}
		}
	}
	for i, name := range res.Columns {
		if service, ok := res.Rows[0][i].(string); ok && strings.EqualFold(name, "ServiceName") && service != "" && w.end.Sub(w.start) <= maxSearch {
			return []suggestion{{"diagnose_service", map[string]any{"service": service, "start_time": w.Start, "end_time": w.End}, "what changed in the service of the first row"}}
		}
	}
	return []suggestion{{"describe_warehouse_tables", map[string]any{}, "other tables to ask"}}
}

func cell(v *structpb.Value) string {
	switch k := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		return k.StringValue
	case *structpb.Value_NumberValue:
		return number(k.NumberValue)
	case *structpb.Value_NullValue:
		return ""
	default:
		return protojson.MarshalOptions{}.Format(v)
	}
}

// withTables adds the columns of the tables that a refused query names, so that the next try can be right.
func (s *Server) withTables(ctx context.Context, err error, sql string) error {
	d := apiFailure(s.tool("run_sql"), err)
	lower := strings.ToLower(d.Message)
	if !strings.Contains(lower, "column") && !strings.Contains(lower, "table") && !strings.Contains(lower, "identifier") {
		return err
	}
	list, listErr := s.clients.sql.ListSqlTables(ctx, &svcv2.ListSqlTablesRequest{})
	if listErr != nil {
		return err // the first failure says more
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
	return &inputError{tag: d.Tag, parameter: "sql", message: message}
}

func columnList(t *svcv2.SqlTable) string {
	var parts []string
	for _, c := range t.GetColumns() {
		parts = append(parts, c.GetName()+" "+c.GetType())
	}
	return clip(strings.Join(parts, ", "), 3000)
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

func newDescribeWarehouseTables(s *Server) (*tool, error) {
	return define[tablesResult](&tool{
		name: "describe_warehouse_tables", title: "Warehouse tables",
		description: "List the tables that run_sql can read, or the columns of one, with an example.",
		params:      []param{{name: "table", kind: kindText, description: "Describe this table."}},
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			list, err := s.clients.sql.ListSqlTables(ctx, &svcv2.ListSqlTablesRequest{Table: a.text("table")})
			if err != nil {
				return nil, err
			}
			var text page
			if a.text("table") == nil || len(list.GetData()) != 1 {
				res := tablesResult{Tables: []tableRow{}}
				var cells [][]string
				for _, t := range list.GetData() {
					res.Tables = append(res.Tables, tableRow{t.GetName(), t.GetDescription(), len(t.GetColumns())})
					cells = append(cells, []string{t.GetName(), fmt.Sprint(len(t.GetColumns())), t.GetDescription()})
				}
				text.blocks = []block{table("", "There are no tables.", []string{"Table", "Columns", "What it has"}, cells)}
				if len(res.Tables) > 0 {
					text.next = append(text.next, suggestion{"describe_warehouse_tables", map[string]any{"table": res.Tables[0].Name}, "the columns of a table"})
				}
				return &answer{data: res, text: text}, nil
			}
			t := list.GetData()[0]
			info := tableInfo{Name: t.GetName(), Description: t.GetDescription(), Columns: []tableColumn{}, SortingKey: append([]string{}, t.GetSortKey()...), Notes: append([]string{}, t.GetNotes()...)}
			var cells [][]string
			for _, c := range t.GetColumns() {
				info.Columns = append(info.Columns, tableColumn{c.GetName(), c.GetType()})
				cells = append(cells, []string{c.GetName(), c.GetType()})
			}
			text.scope = []pair{{"Table", t.GetName()}, {"Sorted by", strings.Join(t.GetSortKey(), ", ")}}
			text.notes = t.GetNotes()
			text.blocks = []block{{empty: t.GetDescription()}, table("Columns", "", []string{"Column", "Type"}, cells)}
			if t.GetExample() != "" {
				text.next = append(text.next, suggestion{"run_sql", map[string]any{"sql": t.GetExample()}, "an example"})
			}
			return &answer{data: tablesResult{Table: &info}, text: text}, nil
		},
	})
}
