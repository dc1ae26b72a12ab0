package warehousetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// SpanColumns are the columns of SpanBlock.
const SpanColumns = "OrgId, Timestamp, TraceId, SpanId, ParentSpanId, ServiceName, DurationNano, HasError, IsEntry, SampleRate"

// SpanBlock encodes spans as one Native block. Every second span is a root. The spans are spread over two days, and each stands
// for two.
func SpanBlock(t testing.TB, org principal.OrgID, n int, start time.Time) []byte {
	t.Helper()
	return weightedSpans(t, org, n, start, 2)
}

func weightedSpans(t testing.TB, org principal.OrgID, n int, start time.Time, weight float64) []byte {
	t.Helper()
	var (
		orgs, services      = new(proto.ColStr).LowCardinality(), new(proto.ColStr).LowCardinality()
		stamps              = new(proto.ColDateTime64).WithPrecision(proto.PrecisionNano).WithLocation(time.UTC)
		trace, span, parent proto.ColStr
		duration            proto.ColUInt64
		hasError, isEntry   proto.ColBool
		rate                proto.ColFloat64
	)
	for i := range n {
		orgs.Append(string(org))
		services.Append(fmt.Sprintf("service-%d", i%3))
		stamps.Append(start.Add(time.Duration(i%2)*24*time.Hour + time.Duration(i)*time.Millisecond))
		trace.Append(fmt.Sprintf("%032x", i/2+1))
		span.Append(fmt.Sprintf("%016x", i+1))
		parent.Append([]string{"", fmt.Sprintf("%016x", i)}[i%2])
		duration.Append(uint64(i) * 1000)
		hasError.Append(i%10 == 0)
		isEntry.Append(i%2 == 0)
		rate.Append(weight)
	}
	input := proto.Input{
		{Name: "OrgId", Data: orgs},
		{Name: "Timestamp", Data: stamps},
		{Name: "TraceId", Data: &trace},
		{Name: "SpanId", Data: &span},
		{Name: "ParentSpanId", Data: &parent},
		{Name: "ServiceName", Data: services},
		{Name: "DurationNano", Data: &duration},
		{Name: "HasError", Data: &hasError},
		{Name: "IsEntry", Data: &isEntry},
		{Name: "SampleRate", Data: &rate},
	}
	var b proto.Buffer
	block := proto.Block{Rows: n, Columns: len(input)}
	if err := block.EncodeRawBlock(&b, 0, input); err != nil {
		t.Fatal(err)
	}
	return b.Buf
}

type counts struct{ Spans, Rolled, Errors, Roots, Days uint64 }

func readCounts(t *testing.T, w *warehouse.Warehouse, org principal.OrgID) counts {
	t.Helper()
	var c counts
	for sql, dest := range map[string]*uint64{
		"SELECT count() FROM spans WHERE OrgId = {org:String}":                      &c.Spans,
		"SELECT sum(SpanCount) FROM service_minutes WHERE OrgId = {org:String}":     &c.Rolled,
		"SELECT sum(ErrorCount) FROM service_minutes WHERE OrgId = {org:String}":    &c.Errors,
		"SELECT count() FROM trace_roots WHERE OrgId = {org:String}":                &c.Roots,
		"SELECT uniqExact(toDate(Timestamp)) FROM spans WHERE OrgId = {org:String}": &c.Days,
	} {
		if err := w.QueryRow(t.Context(), org, sql, nil, dest); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return c
}

// The rows of one token are stored once in the table, in the rollup and in the list of roots, although the insert has two blocks
// and two partitions.
func testDeduplication(t *testing.T, w *warehouse.Warehouse) {
	org := OrgID(t)
	start := time.Now().UTC().Truncate(time.Hour).Add(-48 * time.Hour)
	body := append(SpanBlock(t, org, 1000, start), SpanBlock(t, org, 500, start)...)
	want := counts{Spans: 1500, Rolled: 1500, Errors: 150, Roots: 750, Days: 2}
	for range 3 {
		if err := w.Insert(t.Context(), "spans", SpanColumns, bytes.NewReader(body), "log-1/0-100/spans"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, readCounts(t, w, org)); diff != "" {
			t.Fatalf("counts (-want +got):\n%s", diff)
		}
	}
	if err := w.Insert(t.Context(), "spans", SpanColumns, bytes.NewReader(body), "log-1/100-200/spans"); err != nil {
		t.Fatal(err)
	}
	want = counts{Spans: 3000, Rolled: 3000, Errors: 300, Roots: 1500, Days: 2}
	if diff := cmp.Diff(want, readCounts(t, w, org)); diff != "" {
		t.Errorf("another token's rows are missing (-want +got):\n%s", diff)
	}
	// Other organizations do not see them.
	if diff := cmp.Diff(counts{}, readCounts(t, w, "org_other")); diff != "" {
		t.Errorf("another organization's rows (-want +got):\n%s", diff)
	}
	var rate float64
	if err := w.QueryRow(t.Context(), org, "SELECT sum(EstimatedSpanCount) FROM service_minutes WHERE OrgId = {org:String}", nil,
		&rate); err != nil || rate != 6000 {
		t.Errorf("estimated spans: got %g, %v; want 6000", rate, err)
	}
}

// A view that cannot take the rows makes the insert fail permanently. InsertIgnoringViews stores everything else, once.
func testFailingView(t *testing.T, w *warehouse.Warehouse) {
	org := OrgID(t)
	const token = "log-1/0-9/view"
	body := weightedSpans(t, org, 100, time.Now().UTC().Truncate(time.Hour).Add(-48*time.Hour), 1.2e307)
	for range 2 {
		err := w.Insert(t.Context(), "spans", SpanColumns, bytes.NewReader(body), token)
		var e *warehouse.Error
		if !errors.As(err, &e) || !e.Retryable() || !e.Suspect() {
			t.Fatalf("got %v, want an exception that is not known to come of the rows nor of anything else", err)
		}
	}
	want := counts{Spans: 100, Roots: 50, Days: 2} // the rows of service_minutes are missing
	for range 2 {
		if err := w.InsertIgnoringViews(t.Context(), "spans", SpanColumns, bytes.NewReader(body), token); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, readCounts(t, w, org)); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	}
}

func testBadInserts(t *testing.T, w *warehouse.Warehouse) {
	org := OrgID(t)
	good := SpanBlock(t, org, 100, time.Now())
	for _, tt := range []struct {
		name, table, columns string
		body                 []byte
		retryable            bool
	}{
		// An operator can repair a wrong schema, so the rows wait.
		{"no such table", "no_such_table", "A", good, true},
		{"no such column", "spans", "OrgId, Nope", good, true},
		{"no block", "spans", SpanColumns, bytes.Repeat([]byte{0xff}, 100), false},
	} {
		err := w.Insert(t.Context(), tt.table, tt.columns, bytes.NewReader(tt.body), "token/"+tt.name)
		var e *warehouse.Error
		if !errors.As(err, &e) || e.Code == 0 {
			t.Errorf("%s: got %v, want an exception", tt.name, err)
		} else if e.Retryable() != tt.retryable {
			t.Errorf("%s: %v: retryable is %t, want %t", tt.name, err, e.Retryable(), tt.retryable)
		}
	}
	if err := w.Insert(t.Context(), "spans", SpanColumns, bytes.NewReader(good[:len(good)-10]), "token/cut"); err == nil {
		t.Error("a body that was cut off was stored")
	}
	if err := w.Insert(t.Context(), "spans; DROP TABLE spans", "A", bytes.NewReader(good), "t"); err == nil {
		t.Error("an invalid table name was accepted")
	}
	if diff := cmp.Diff(counts{}, readCounts(t, w, org)); diff != "" {
		t.Errorf("a refused insert stored rows (-want +got):\n%s", diff)
	}
	if err := w.Insert(t.Context(), "spans", SpanColumns, bytes.NewReader(good), "token/good"); err != nil {
		t.Error(err)
	}
	if got := readCounts(t, w, org).Spans; got != 100 {
		t.Errorf("got %d spans, want 100", got)
	}
}

func testMigrations(t *testing.T, w *warehouse.Warehouse) {
	before, err := w.MigrationStatuses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(before) < 10 {
		t.Errorf("only %d statements", len(before))
	}
	for _, s := range before {
		if !s.Applied || s.Changed || s.AppliedAt.IsZero() {
			t.Errorf("not applied: %+v", s)
		}
	}
	if err := w.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := w.MigrationStatuses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("a second run changed something (-before +after):\n%s", diff)
	}
}

// testColumns compares the tables that ingest fills with the migrated engine: the columns must have the same names and types, in
// the same order.
func testColumns(t *testing.T, w *warehouse.Warehouse) {
	var out bytes.Buffer
	if err := w.RawQuery(t.Context(), "SELECT table, name, replaceRegexpOne(type, '^SimpleAggregateFunction\\\\(\\\\w+, (.*)\\\\)$', '\\\\1') "+
		"FROM system.columns WHERE database = currentDatabase() ORDER BY table, position", "TSVRaw", &out); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for line := range strings.Lines(out.String()) {
		table, column, _ := strings.Cut(strings.TrimSpace(line), "\t")
		want[table] = append(want[table], column)
	}
	for _, block := range blocks.Schema() {
		var got []string
		for _, f := range block.Fields {
			got = append(got, f.Name+"\t"+f.Column.Type())
		}
		if d := cmp.Diff(want[block.Name], got); d != "" {
			t.Errorf("%s: %s", block.Name, d)
		}
	}
}
