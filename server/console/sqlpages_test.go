package console_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/console"
	"github.com/svc-observability/svc/server/console/consoletest"
	"github.com/svc-observability/svc/server/golden"
)

// numbered answers statements with LIMIT and OFFSET out of a list of numbers. It refuses the second request once.
func numbered(t *testing.T, length int) func(string, proto.Message) (proto.Message, error) {
	requests := 0
	return func(_ string, m proto.Message) (proto.Message, error) {
		req := m.(*svcv2.RunSqlRequest)
		if requests++; requests == 2 {
			err := consoletest.Refusal(connect.CodeResourceExhausted, &optionsv1.ErrorDetail{
				Tag: "@svc/http/errors/RateLimitedError", Message: "Too many requests.", Retryable: true, Status: 429,
			})
			var wire *connect.Error
			if errors.As(err, &wire) {
				wire.Meta().Set("Retry-After", "1")
			}
			return nil, err
		}
		var limit, offset int
		end := req.GetSql()[strings.LastIndex(req.GetSql(), "\n")+1:]
		if _, err := fmt.Sscanf(end, "LIMIT %d OFFSET %d", &limit, &offset); err != nil || int(req.GetMaxRows()) != limit {
			t.Errorf("%v of %v", err, req)
		}
		res := &svcv2.SqlResult{
			Columns:  []*svcv2.SqlResultColumn{{Name: "n", Type: "UInt8"}},
			Warnings: []string{"Beware of start_time and end_time."},
		}
		for n := offset; n < min(length, offset+limit); n++ {
			res.Rows = append(res.Rows, &structpb.ListValue{Values: []*structpb.Value{structpb.NewNumberValue(float64(n))}})
		}
		return res, nil
	}
}

// TestAllRows: --all reads every row once, waits where the server asks to, and asks for the same window each time.
func TestAllRows(t *testing.T) {
	for _, length := range []int{0, 25, 30} {
		s := consoletest.New(t, numbered(t, length))
		stdout, stderr, err := run(t.Context(), t, s, "query", console.Query{
			Arguments: []string{"SELECT n FROM t ORDER BY n; \n"}, Options: console.Options{All: true, Limit: 10},
		}, console.Output{Format: console.FormatLines})
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for n := range length {
			fmt.Fprintf(&want, "{\"n\":%d}\n", n)
		}
		requests := s.Requests()
		if pages := length/10 + 1; stdout != want.String() || !strings.Contains(stderr,
			fmt.Sprintf("svc: %d rows in %d request", length, pages)) {
			t.Errorf("%d rows:\n%s%s", length, stdout, stderr)
		}
		if strings.Count(stderr, "Beware of --since, --start and --end.") != 1 || length > 10 != strings.Contains(stderr, "asks to wait 1s") {
			t.Errorf("%d rows: %s", length, stderr)
		}
		for _, r := range requests {
			if window := `"end_time":"2026-11-26T19:00:00Z"`; !strings.Contains(r, window) || !strings.Contains(r, `ORDER BY n\nLIMIT 10 OFFSET `) {
				t.Errorf("%s lacks %s", r, window)
			}
		}
	}
	s := consoletest.New(t, nil)
	for sql, want := range map[string]string{
		"SELECT 1": "ORDER BY", "SELECT 1 order by 1 limit 5": "LIMIT", "SELECT 1 ORDER BY 1\nLIMIT 5, 6;": "LIMIT",
		"SELECT 1 ORDER BY 1 LIMIT 5 OFFSET 3":                 "LIMIT",
		"SELECT * FROM (SELECT a FROM t ORDER BY a)":           "ORDER BY",
		"SELECT rank() OVER (PARTITION BY f(b) ORDER BY a), c": "ORDER BY",
		"SELECT 'it''s ORDER BY \\' a' -- ORDER BY a":          "ORDER BY",
		"SELECT a ORDER BY a LIMIT 3 -- all":                   "LIMIT",
		"SELECT a ORDER BY a OFFSET 3":                         "LIMIT",
		"SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY b": "UNION",
	} {
		_, _, err := run(t.Context(), t, s, "query",
			console.Query{Arguments: []string{sql}, Options: console.Options{All: true}}, console.Output{})
		var bad *console.UsageError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestAllStatements: these statements can be read page by page, although a part of them looks as if they could not.
func TestAllStatements(t *testing.T) {
	for _, sql := range []string{
		"SELECT * FROM (SELECT a FROM t UNION ALL SELECT b FROM u LIMIT 5) ORDER BY a",
		"SELECT 'LIMIT 5' AS x ORDER BY x, 'LIMIT 5'",
		"SELECT a FROM t ORDER BY a LIMIT 1 BY b",
		"WITH u AS (SELECT 1 LIMIT 1) SELECT union FROM t\nORDER\n BY \"limit 5\" /* LIMIT 5 */ -- LIMIT 5",
		"SELECT a FROM t ORDER BY a, (SELECT 1 LIMIT 1)",
	} {
		s := consoletest.New(t, numbered(t, 1))
		_, _, err := run(t.Context(), t, s, "query",
			console.Query{Arguments: []string{sql}, Options: console.Options{All: true}}, console.Output{})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestCutResult: a result that was cut says so, and how to read the rest.
func TestCutResult(t *testing.T) {
	for rows, want := range map[int32]string{3: "these 3. --limit shows up to 10,000; --all", 10_000: "these 10,000. --all"} {
		s := consoletest.New(t, func(string, proto.Message) (proto.Message, error) {
			return &svcv2.SqlResult{RowCount: rows, Truncated: true}, nil
		})
		_, stderr, err := run(t.Context(), t, s, "query", console.Query{Arguments: []string{"SELECT 1"}},
			console.Output{Format: console.FormatJSON})
		if err != nil || !strings.Contains(stderr, "the result was cut") || !strings.Contains(stderr, want) {
			t.Errorf("%v %s", err, stderr)
		}
	}
}

// TestRecords: rows with more columns than the terminal can show are lists of names and values.
func TestRecords(t *testing.T) {
	s := consoletest.New(t, nil)
	stdout, _, err := run(t.Context(), t, s, "query", console.Query{Arguments: []string{"SELECT 1"}},
		console.Output{Format: console.FormatTable, Width: 30})
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "query.records.golden", stdout)
	checkSafe(t, stdout, false)
}
