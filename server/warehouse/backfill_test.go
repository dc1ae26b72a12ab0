package warehouse_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// Rows stored before a view existed appear once beside the rows that the view made, however often the tables are filled.
func TestBackfill(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngine(t)
	at := time.Now().UTC().Truncate(time.Hour).Add(-3 * time.Hour)
	spans := func(service string, at time.Time) string {
		return fmt.Sprintf(`INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, SpanName, SpanKind, ServiceName, StatusCode, StatusMessage, HasError, SampleRate, SpanAttributes)
			SELECT 'org_old', toDateTime64(%d, 9, 'UTC') + toIntervalMinute(number * 10), '%[2]s', toString(number), 'query', 'Client', '%[2]s', 'Error', 'no', true, 1, map('db.system', 'postgresql') FROM numbers(6)`,
			at.Unix(), service)
	}
	events := func(key string, at time.Time) string {
		return fmt.Sprintf(`INSERT INTO product_events (OrgId, Name, Timestamp, Attributes) SELECT 'org_old', 'buy', toDateTime64(%d, 9, 'UTC'), map('%s', '1') FROM numbers(3)`, at.Unix(), key)
	}
	run := func(statements ...string) {
		t.Helper()
		for _, sql := range statements {
			if err := e.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}
	// The views are created a day after the warehouse and an hour after the first rows.
	views := []string{"error_events_view", "service_peers_view", "product_event_keys_view"}
	var definitions []string
	for _, v := range views {
		var out bytes.Buffer
		if err := e.RawQuery(t.Context(), "SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = '"+v+"'",
			"TSVRaw", &out); err != nil {
			t.Fatal(err)
		}
		definitions = append(definitions, out.String())
		run("DROP VIEW " + v)
	}
	run(spans("a", at), spans("b", at.Add(time.Hour)), events("size", at))
	run(definitions...)
	run(spans("c", at.Add(2*time.Hour)), events("color", at.Add(2*time.Hour)))
	run("ALTER TABLE schema_migrations UPDATE AppliedAt = AppliedAt - INTERVAL 1 DAY WHERE File < '0005' SETTINGS mutations_sync = 2")
	const counted = `SELECT (SELECT count() FROM error_events), (SELECT uniqExact(TraceId, SpanId) FROM error_events), (SELECT sum(CallCount) FROM service_peers),
		(SELECT arraySort(groupArray((Key, N))) FROM (SELECT Key, sum(UsageCount) AS N FROM attribute_keys WHERE Signal = 'product_events' GROUP BY Key))`
	if got := raw(t, e.Warehouse, counted); got != "6\t6\t6\t[('color',3)]\n" {
		t.Fatalf("before: %q", got)
	}
	hours, err := e.Backfill(t.Context())
	if err != nil || hours == 0 {
		t.Fatalf("%d hours, %v", hours, err)
	}
	const want = "18\t18\t18\t[('color',3),('size',3)]\n"
	if got := raw(t, e.Warehouse, counted); got != want {
		t.Errorf("filled: %q", got)
	}
	if hours, err := e.Backfill(t.Context()); err != nil || hours != 0 {
		t.Errorf("filled again: %d hours, %v", hours, err)
	}
	// An interrupted backfill starts again.
	run("ALTER TABLE schema_migrations DELETE WHERE startsWith(File, 'backfill') SETTINGS mutations_sync = 2")
	if hours, err := e.Backfill(t.Context()); err != nil || hours == 0 {
		t.Errorf("begun again: %d hours, %v", hours, err)
	}
	if got := raw(t, e.Warehouse, counted); got != want {
		t.Errorf("filled twice: %q", got)
	}
	statuses, err := e.MigrationStatuses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statuses {
		if !s.Applied || s.Changed {
			t.Errorf("%+v", s)
		}
	}
}
