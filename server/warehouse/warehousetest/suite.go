package warehousetest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse"
)

// Run is the suite of tests that every kind of warehouse must pass. The warehouse is migrated. Each test uses its own tables and
// organizations.
func Run(t *testing.T, w *warehouse.Warehouse) {
	t.Run("ping", func(t *testing.T) {
		if err := w.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("types", func(t *testing.T) { testTypes(t, w) })
	t.Run("arguments", func(t *testing.T) { testArguments(t, w) })
	t.Run("exceptions", func(t *testing.T) { testExceptions(t, w) })
	t.Run("limits", func(t *testing.T) { testLimits(t, w) })
	t.Run("deadline", func(t *testing.T) { testDeadline(t, w) })
	t.Run("cancel", func(t *testing.T) { testCancel(t, w) })
	t.Run("concurrency", func(t *testing.T) { testConcurrency(t, w) })
	t.Run("deduplication", func(t *testing.T) { testDeduplication(t, w) })
	t.Run("no leak after an error", func(t *testing.T) { testNoLeak(t, w) })
	t.Run("raw query", func(t *testing.T) { testRawQuery(t, w) })
	t.Run("bad inserts", func(t *testing.T) { testBadInserts(t, w) })
	t.Run("a view that fails", func(t *testing.T) { testFailingView(t, w) })
	t.Run("migrations", func(t *testing.T) { testMigrations(t, w) })
	t.Run("columns", func(t *testing.T) { testColumns(t, w) })
}

const org principal.OrgID = "org_suite"

// OrgID returns the id of an organization that only this test uses.
func OrgID(t testing.TB) principal.OrgID {
	return principal.OrgID("org_" + strings.NewReplacer("/", "_", " ", "_").Replace(t.Name()))
}

// one runs a SELECT of a single row.
func one(t *testing.T, w *warehouse.Warehouse, sql string, args []warehouse.Arg, dest ...any) {
	t.Helper()
	if err := w.QueryRow(t.Context(), org, sql, args, dest...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func testTypes(t *testing.T, w *warehouse.Warehouse) {
	table := "suite_types"
	ddl := `CREATE TABLE suite_types (
		N UInt32, L LowCardinality(String), M Map(LowCardinality(String), String), F Nullable(Float64), B Bool,
		A Array(String), T DateTime64(9, 'UTC'), TS Array(DateTime64(9, 'UTC')), MS Array(Map(LowCardinality(String), String)), D DateTime('UTC')
	) ENGINE = MergeTree ORDER BY N`
	if err := w.Exec(t.Context(), ddl); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Exec(context.WithoutCancel(t.Context()), "DROP TABLE suite_types"); err != nil {
			t.Error(err)
		}
	}()
	type row struct {
		N  uint32              `ch:"N"`
		L  string              `ch:"L"`
		M  map[string]string   `ch:"M"`
		F  *float64            `ch:"F"`
		B  bool                `ch:"B"`
		A  []string            `ch:"A"`
		T  time.Time           `ch:"T"`
		TS []time.Time         `ch:"TS"`
		MS []map[string]string `ch:"MS"`
		D  time.Time           `ch:"D"`
	}
	at := time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC)
	half := 0.5
	want := []row{
		{
			1, "one",
			map[string]string{"a": "1", "b": "x\ny"},
			&half, true,
			[]string{"p", "", "it's"},
			at,
			[]time.Time{at},
			[]map[string]string{{"k": "v"}, {}},
			at.Truncate(time.Second),
		},
		{
			2, "",
			map[string]string{},
			nil, false,
			[]string{},
			at.Add(time.Nanosecond),
			[]time.Time{},
			[]map[string]string{},
			at.Truncate(time.Second),
		},
	}
	columns := []string{"N", "L", "M", "F", "B", "A", "T", "TS", "MS", "D"}
	var rows [][]any
	for _, r := range want {
		rows = append(rows, []any{r.N, r.L, r.M, r.F, r.B, r.A, r.T, r.TS, r.MS, r.D})
	}
	if err := w.InsertRows(t.Context(), table, columns, rows, ""); err != nil {
		t.Fatal(err)
	}
	result, err := w.Query(t.Context(), org, "SELECT * FROM suite_types WHERE {org:String} != '' ORDER BY N")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(columns, result.Columns()); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	var got []row
	for result.Next() {
		var r row
		if err := result.ScanStruct(&r); err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if err := errors.Join(result.Err(), result.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func testArguments(t *testing.T, w *warehouse.Warehouse) {
	for _, s := range []string{
		"", "plain", `it's "quoted"`, `back\slash`, `\N`, `\'`, "tab\tand\nline\r", "zero\x00byte", "ünïcödé 日本", "{org:String}", "a') OR 1=1 --",
		"%20+&=?#", "\b\f",
	} {
		var got string
		one(t, w, "SELECT {v:String} AS v WHERE {org:String} != ''", []warehouse.Arg{warehouse.Named("v", s)}, &got)
		if got != s {
			t.Errorf("argument %q came back as %q", s, got)
		}
	}
	list := []string{`it's`, `back\slash`, "tab\tline\n", "]", "zero\x00", ""}
	var gotList []string
	one(t, w, "SELECT {v:Array(String)} AS v WHERE {org:String} != ''", []warehouse.Arg{warehouse.Named("v", list)}, &gotList)
	if diff := cmp.Diff(list, gotList); diff != "" {
		t.Errorf("array argument (-want +got):\n%s", diff)
	}
	at := time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC)
	var gotAt time.Time
	var gotInt int64
	var gotFloat float64
	one(t, w, "SELECT {t:DateTime64(9, 'UTC')} AS t, {i:Int64} AS i, {f:Float64} AS f WHERE {org:String} != ''",
		[]warehouse.Arg{warehouse.Named("t", at), warehouse.Named("i", -7), warehouse.Named("f", 1e-9)}, &gotAt, &gotInt, &gotFloat)
	if !gotAt.Equal(at) || gotInt != -7 || gotFloat != 1e-9 {
		t.Errorf("got %v, %d, %g", gotAt, gotInt, gotFloat)
	}
}

// failure runs a SELECT that must fail and returns its error.
func failure(ctx context.Context, w *warehouse.Warehouse, limits warehouse.Limits, sql string) error {
	rows, err := w.QueryLimited(ctx, org, limits, sql)
	if err != nil {
		return err
	}
	for rows.Next() {
		continue
	}
	return errors.Join(rows.Err(), rows.Close())
}

func checkFailure(t *testing.T, err, kind error, code int) {
	t.Helper()
	var e *warehouse.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a warehouse error", err)
	}
	if e.Code != code || !errors.Is(err, kind) {
		t.Errorf("got code %d of kind %v, want %d of %v: %v", e.Code, e.Kind, code, kind, err)
	}
}

func testExceptions(t *testing.T, w *warehouse.Warehouse) {
	for _, tt := range []struct {
		sql  string
		code int
	}{
		{"SELECT {org:String} FROM no_such_table", 60},
		{"SELEC {org:String}", 62},
		{"SELECT no_such_column, {org:String}", 47},
		{"SELECT throwIf(1, {org:String})", 395},
		{"SELECT throwIf(number = 3000000, {org:String}) FROM numbers(5000000)", 395}, // fails after output has begun
	} {
		err := failure(t.Context(), w, warehouse.Limits{ResultRows: 10_000_000}, tt.sql)
		var e *warehouse.Error
		if !errors.As(err, &e) || e.Code != tt.code {
			t.Errorf("%s: got %v, want code %d", tt.sql, err, tt.code)
		}
	}
	if _, err := w.Query(t.Context(), org, "SELECT 1"); err == nil {
		t.Error("a statement without the organization ran")
	}
	if _, err := w.Query(t.Context(), "", "SELECT {org:String}"); err == nil {
		t.Error("a statement for no organization ran")
	}
	var n uint8
	if err := w.QueryRow(t.Context(), org, "SELECT 1 WHERE {org:String} = ''", nil, &n); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("got %v, want sql.ErrNoRows", err)
	}
}

func testLimits(t *testing.T, w *warehouse.Warehouse) {
	ctx := t.Context()
	checkFailure(t, failure(ctx, w, warehouse.Limits{RowsToRead: 1000},
		"SELECT count(), {org:String} FROM numbers(1000000) WHERE number % 3 = 1"), warehouse.ErrTooCostly, 158)
	checkFailure(t, failure(ctx, w, warehouse.Limits{ResultRows: 10}, "SELECT number, {org:String} FROM numbers(1000)"),
		warehouse.ErrTooCostly, 396)
	checkFailure(t, failure(ctx, w, warehouse.Limits{Memory: 8 << 20},
		"SELECT length(groupArray(number)), {org:String} FROM numbers(10000000)"), warehouse.ErrMemory, 241)
	checkFailure(t, failure(ctx, w, warehouse.Limits{Time: 300 * time.Millisecond},
		"SELECT max(sleepEachRow(0.01)), {org:String} FROM numbers(300)"), warehouse.ErrTimeout, 159)
	err := failure(ctx, w, warehouse.Limits{}, "INSERT INTO spans (OrgId) VALUES ({org:String})")
	var e *warehouse.Error
	if !errors.As(err, &e) || e.Code != 164 {
		t.Errorf("a read that writes: got %v, want code 164", err)
	}
}

// running counts the running statements that contain the marker.
func running(t *testing.T, w *warehouse.Warehouse, marker string) int {
	t.Helper()
	var n uint64
	one(t, w, "SELECT count() FROM system.processes WHERE position(query, {m:String}) > 0 AND position(query, 'system.processes') = 0 AND "+
		"{org:String} != ''",
		[]warehouse.Arg{warehouse.Named("m", marker)}, &n)
	return int(n)
}

func waitEnded(t *testing.T, w *warehouse.Warehouse, marker string) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Second); running(t, w, marker) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the statement still runs")
		}
	}
}

func testDeadline(t *testing.T, w *warehouse.Warehouse) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	err := failure(ctx, w, warehouse.Limits{}, "SELECT max(sleepEachRow(0.01)), 'deadline_mark', {org:String} FROM numbers(280)")
	if !errors.Is(err, warehouse.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a timeout", err)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("came back after %v", d)
	}
	waitEnded(t, w, "deadline_mark")
}

func testCancel(t *testing.T, w *warehouse.Warehouse) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		// It reads for long and gives one row: a large result would end at its bound before the cancellation, on a slow machine.
		ended <- failure(ctx, w, warehouse.Limits{RowsToRead: 1 << 40},
			"SELECT sum(cityHash64(number)), 'cancel_mark', {org:String} FROM numbers(100000000000)")
	}()
	for deadline := time.Now().Add(5 * time.Second); running(t, w, "cancel_mark") == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the statement does not start")
		}
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the cancelled read does not come back")
	}
	waitEnded(t, w, "cancel_mark")
}

func testConcurrency(t *testing.T, w *warehouse.Warehouse) {
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := range 100 {
				want := fmt.Sprintf("%d-%d", worker, i)
				var got string
				var sum uint64
				err := w.QueryRow(t.Context(), org, "SELECT {v:String}, sum(number) FROM numbers({n:UInt64}) WHERE {org:String} != ''",
					[]warehouse.Arg{warehouse.Named("v", want), warehouse.Named("n", i+1)}, &got, &sum)
				if err != nil || got != want || sum != uint64(i*(i+1)/2) {
					t.Errorf("got %q, %d, %v; want %q", got, sum, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func testNoLeak(t *testing.T, w *warehouse.Warehouse) {
	for range 10 {
		err := failure(t.Context(), w, warehouse.Limits{},
			"SELECT 'secret_of_another', throwIf(number = 200000), {org:String} FROM numbers(300000) SETTINGS max_block_size = 8192")
		if err == nil {
			t.Fatal("no error")
		}
		var got string
		one(t, w, "SELECT 'mine' WHERE {org:String} != ''", nil, &got)
		if got != "mine" {
			t.Fatalf("got %q", got)
		}
		var out bytes.Buffer
		if err := w.RawQuery(t.Context(), "SELECT 'mine' AS v", "TSV", &out); err != nil || out.String() != "mine\n" {
			t.Fatalf("got %q, %v", out.String(), err)
		}
	}
}

func testRawQuery(t *testing.T, w *warehouse.Warehouse) {
	for _, tt := range []struct{ sql, format, want string }{
		{"SELECT 1 AS a, 'x' AS b", "", "1\tx\n"},
		{"SELECT 1 AS a, 'x' AS b", "JSONEachRow", "{\"a\":1,\"b\":\"x\"}\n"},
		{"SELECT 1 AS a FORMAT CSVWithNames", "TSV", "\"a\"\n1\n"},
		{"-- a comment\nSELECT 'a' WHERE 0", "TSV", ""},
		{"EXISTS TABLE spans", "TSV", "1\n"},
		{"SELECT '__exception__\\r\\n' AS v", "RawBLOB", "__exception__\r\n"},
	} {
		var out bytes.Buffer
		if err := w.RawQuery(t.Context(), tt.sql, tt.format, &out); err != nil || out.String() != tt.want {
			t.Errorf("%s as %q: got %q, %v; want %q", tt.sql, tt.format, out.String(), err, tt.want)
		}
	}
	for sql, code := range map[string]int{
		"INSERT INTO attribute_keys (OrgId) VALUES ('x')": 164,
		"DROP TABLE spans":   164,
		"SELECT 1; SELECT 2": 62,
		"SELECT number, throwIf(number = 3000000) FROM numbers(4000000)": 395,
		"SELECT 1 SETTINGS max_threads = 3, readonly = 0":                164,
		"SELECT * FROM spans WHERE no_such_function(OrgId)":              46,
	} {
		var e *warehouse.Error
		if err := w.RawQuery(t.Context(), sql, "TSV", &bytes.Buffer{}); !errors.As(err, &e) || e.Code != code {
			t.Errorf("%s: got %v, want code %d", sql, err, code)
		}
	}
	outfile := filepath.Join(t.TempDir(), "out")
	if err := w.RawQuery(t.Context(), "SELECT 1 INTO OUTFILE '"+outfile+"'", "TSV", &bytes.Buffer{}); err == nil {
		t.Error("INTO OUTFILE was allowed")
	}
	if _, err := os.Stat(outfile); err == nil {
		t.Error("INTO OUTFILE wrote a file")
	}
	if err := w.RawQuery(t.Context(), "SELECT 1", "TSV FORMAT", &bytes.Buffer{}); err == nil {
		t.Error("a format that is not a name was taken")
	}
	var out bytes.Buffer
	if err := w.RawQuery(t.Context(), "SELECT number FROM numbers(500000)", "TSV", &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 500000 || !strings.HasSuffix(out.String(), "\n499999\n") {
		t.Errorf("a long output has %d lines", n)
	}
}
