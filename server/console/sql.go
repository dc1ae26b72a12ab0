package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wirejson"
)

func sqlCommands() []Command {
	return []Command{
		{
			Path: "query", Arguments: []string{"SQL"}, Short: "Run one SELECT over the telemetry of the organization", window: true,
			Flags: []Flag{
				limitFlag("most rows, 1 to %[1]s (default %[2]s); with --all the rows of a request (default %[1]s)",
					limits.Number(limits.SQLRows), limits.Number(limits.DefaultSQLRows)),
				{
					Name: "all", Usage: "all rows, page by page, as jsonl; the statement needs ORDER BY, and no LIMIT",
					Target: func(o *Options) any { return &o.All },
				},
			},
			Long: `'-' reads the statement from standard input. 'svc tables' lists the tables. The macros $__timeFilter(column), $__timeGroup(column), $__startTime and
$__endTime use the window. With --format jsonl each row is an object on its own line.

One request gives at most ` + limits.Number(limits.SQLRows) + ` rows and ` + limits.Size(limits.SQLResult) + `. --all repeats it with LIMIT and OFFSET until the statement has no more rows. So the
columns of ORDER BY must be unique together, such as Timestamp, SpanId.`,
			Example: "  svc query 'SELECT ServiceName, count() AS spans FROM spans WHERE $__timeFilter(Timestamp) GROUP BY ServiceName'\n" +
				"  svc query - --format jsonl < report.sql | jq .spans\n" +
				"  svc query --all 'SELECT Timestamp, SpanId FROM spans WHERE $__timeFilter(Timestamp) ORDER BY Timestamp, SpanId' > spans.jsonl",
			run: runSQL, stream: allRows,
		},
		{
			Path: "tables", Arguments: []string{"[TABLE]"}, Short: "List the tables for svc query, or the columns of one",
			Example: "  svc tables spans", run: sqlTables,
		},
	}
}

func runSQL(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	res, err := q.client.sql.RunSql(ctx, &svcv2.RunSqlRequest{Sql: q.Arguments[0], StartTime: start, EndTime: end, MaxRows: number(q.Limit)})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	s := section{records: true}
	for _, c := range res.GetColumns() {
		s.columns = append(s.columns, column{title: c.GetName(), right: isNumber(c.GetType()), grow: !isNumber(c.GetType())})
	}
	a := Answer{message: res, notes: sqlNotes(res)}
	for _, r := range res.GetRows() {
		// Only the requested format is made: a result may have 8 MiB.
		if q.format == FormatLines {
			line, err := sqlObject(res.GetColumns(), r)
			if err != nil {
				return Answer{}, err
			}
			a.rawLines = append(a.rawLines, line)
			continue
		}
		cells := make([]cell, len(s.columns))
		for i, v := range r.GetValues() {
			if i < len(cells) {
				if cells[i].text, err = sqlText(v); err != nil {
					return Answer{}, err
				}
			}
		}
		s.rows = append(s.rows, cells)
	}
	a.sections, a.empty = []section{s}, none(s, "the statement has no rows")
	if res.GetTruncated() {
		a.notes = append(a.notes, cutNote(int(res.GetRowCount())))
	}
	return a, nil
}

// cutNote says that an answer lacks rows, and how to get them.
func cutNote(rows int) string {
	text := "the result was cut: the statement has more rows than these " + limits.Number(rows) + "."
	if rows < limits.SQLRows {
		text += " --limit shows up to " + limits.Number(limits.SQLRows) + ";"
	}
	return text + " --all reads every row, page by page, and needs ORDER BY"
}

// isNumber reports whether the values of a ClickHouse type line up at the right.
func isNumber(name string) bool {
	for _, wrapper := range []string{"LowCardinality(", "Nullable("} {
		name = strings.TrimPrefix(name, wrapper)
	}
	for _, prefix := range []string{"Int", "UInt", "Float", "Decimal"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// sqlText is a value in a table: text as it is, a list or an object as JSON, null as nothing.
func sqlText(v *structpb.Value) (string, error) {
	switch k := v.GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		return "", nil
	case *structpb.Value_StringValue:
		return k.StringValue, nil
	case *structpb.Value_NumberValue:
		return strconv.FormatFloat(k.NumberValue, 'f', -1, 64), nil
	}
	text, err := wirejson.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write the answer: %w", err)
	}
	return string(text), nil
}

// sqlObject is a row as JSON, by the names of the columns.
func sqlObject(columns []*svcv2.SqlResultColumn, r *structpb.ListValue) ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, v := range r.GetValues() {
		if i >= len(columns) {
			break
		}
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(columns[i].GetName())
		if err != nil {
			return nil, fmt.Errorf("write the answer: %w", err)
		}
		value, err := wirejson.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("write the answer: %w", err)
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func sqlTables(ctx context.Context, q *Query) (Answer, error) {
	req := &svcv2.ListSqlTablesRequest{}
	if len(q.Arguments) > 0 {
		req.Table = &q.Arguments[0]
	}
	res, err := q.client.sql.ListSqlTables(ctx, req)
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	a := Answer{message: res, lines: linesOf(res.GetData())}
	if req.Table == nil {
		s := section{columns: []column{{title: "TABLE"}, {title: "DESCRIPTION", prose: true}}}
		for _, v := range res.GetData() {
			s.rows = append(s.rows, row(v.GetName(), v.GetDescription()))
		}
		a.sections = []section{s}
		return a, nil
	}
	for _, v := range res.GetData() {
		columns := section{title: v.GetName() + ": " + v.GetDescription(), columns: []column{{title: "COLUMN"}, {title: "TYPE", grow: true}}}
		for _, c := range v.GetColumns() {
			columns.rows = append(columns.rows, row(c.GetName(), c.GetType()))
		}
		notes := section{title: "Notes", columns: []column{{prose: true}}}
		for _, n := range v.GetNotes() {
			notes.rows = append(notes.rows, row(n))
		}
		a.sections = append(a.sections, columns, notes, section{title: "Example", columns: []column{{}}, rows: [][]cell{row(v.GetExample())}})
	}
	return a, nil
}
