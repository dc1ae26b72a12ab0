package warehouse_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/chdb"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// The engine recognizes itself in the shard, and opens no connection to it.
const oneShard = `
    <tcp_port>9019</tcp_port>
    <remote_servers><main><shard><replica><host>127.0.0.1</host><port>9019</port></replica></shard></main></remote_servers>
`

// overTCP makes the engine reachable over TCP, like a server, and returns its address.
func overTCP(t *testing.T, e *warehousetest.Engine) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := chdb.DialUnix(context.Background(), e.Socket)
			if err != nil {
				_ = from.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
				go func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
				}()
			}
		}
	}()
	return l.Addr().String()
}

// TestInsertLate repeats inserts whose token the shard has forgotten: the table of this test remembers no tokens.
func TestInsertLate(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngineIn(t, t.TempDir(), oneShard)
	exec := func(sql string) {
		t.Helper()
		if err := e.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	statements, err := warehouse.ClusterStatements("late", "main")
	if err != nil {
		t.Fatal(err)
	}
	exec("CREATE DATABASE late")
	exec("CREATE TABLE late.spans_local AS svc.spans ENGINE = MergeTree PARTITION BY toDate(Timestamp) ORDER BY (OrgId, ServiceName, Timestamp)")
	exec("CREATE TABLE late.spans AS svc.spans ENGINE = Distributed('main', 'late', 'spans_local', cityHash64(OrgId, TraceId))")
	altered := 0
	for _, sql := range statements {
		sql = regexp.MustCompile(` ON CLUSTER '\w+'`).ReplaceAllString(sql, "")
		if sql, ok := strings.CutPrefix(sql, "ALTER TABLE spans "); ok && strings.Contains(sql, "ngest") {
			altered++
			exec("ALTER TABLE late.spans " + sql)
		}
		if sql, ok := strings.CutPrefix(sql, "ALTER TABLE spans_local "); ok && strings.Contains(sql, "ngest") {
			altered++
			exec("ALTER TABLE late.spans_local " + sql)
		}
	}
	if altered != 3 {
		t.Fatalf("%d statements give the table its range, instead of 3", altered)
	}
	w, err := warehouse.Open(t.Context(), warehouse.Config{URL: "http://" + overTCP(t, e) + "/late?cluster=main"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })

	const n = 1000
	start := time.Now().UTC().Truncate(24 * time.Hour).Add(-24 * time.Hour)
	block := warehousetest.SpanBlock(t, "org_late", n, start)
	if err := e.Insert(t.Context(), "spans", warehousetest.SpanColumns, bytes.NewReader(block), "source"); err != nil {
		t.Fatal(err)
	}
	insert := func(token string) {
		t.Helper()
		if err := w.Insert(t.Context(), "spans", warehousetest.SpanColumns, bytes.NewReader(block), token); err != nil {
			t.Fatal(err)
		}
	}
	// The library ignores the SELECT of an INSERT that gets a body, so a table with the same rows takes the place of the body here.
	insertLate := func(token string) {
		t.Helper()
		sql := warehouse.LateInsert("late.spans", warehousetest.SpanColumns, "svc.spans", token)
		exec(sql + " SETTINGS insert_deduplication_token = '" + token + "'")
	}
	stored := func() string {
		return raw(t, e.Warehouse, "SELECT count(), uniqExact(TraceId, SpanId), uniqExact(toDate(Timestamp)) FROM late.spans")
	}
	insert("log/1-2/spans")
	first := stored()
	if first != "1000\t1000\t2\n" {
		t.Fatalf("rows, different rows and partitions: %q", first)
	}
	insert("log/1-2/spans")
	if stored() == first {
		t.Fatal("the tables still know the token, so this test proves nothing")
	}
	exec("TRUNCATE TABLE late.spans_local")
	insertLate("log/1-2/spans")
	if got := stored(); got != first {
		t.Errorf("nothing was stored before: %q instead of %q", got, first)
	}
	insertLate("log/1-2/spans")
	if got := stored(); got != first {
		t.Errorf("all rows were stored before: %q instead of %q", got, first)
	}
	exec("ALTER TABLE late.spans_local DROP PARTITION '" + start.Format(time.DateOnly) + "'")
	insertLate("log/1-2/spans")
	if got := stored(); got != first {
		t.Errorf("one partition of two was stored before: %q instead of %q", got, first)
	}
	// Equal rows of another range are other rows.
	insertLate("log/2-3/spans")
	if got := raw(t, e.Warehouse, "SELECT count() FROM late.spans"); got != "2000\n" {
		t.Errorf("%q rows of two ranges, instead of 2000", got)
	}
}

// TestRangeColumns: the rows of each table with a range can be told apart by their contents.
func TestRangeColumns(t *testing.T) {
	w := warehousetest.Shared(t)
	statements, err := warehouse.ClusterStatements("svc", "main")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, sql := range statements {
		if m := regexp.MustCompile(`^ALTER TABLE (\w+)_local .*ADD COLUMN IF NOT EXISTS IngestRange`).FindStringSubmatch(sql); m != nil {
			found++
			raw(t, w, "SELECT cityHash64(*) FROM "+m[1]+" LIMIT 1")
		}
	}
	// Every table that ingest fills and whose engine keeps each row as it is. Background work fills the checks.
	plain := strings.Fields(raw(t, w, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MergeTree' AND "+
		"name NOT IN ('schema_migrations', 'trace_roots', 'error_events', 'alert_checks', 'scrape_checks', 'call_hours')"))
	if found != len(plain) {
		t.Errorf("%d tables have a range, and ingest fills the plain tables %v", found, plain)
	}
}
