package warehouse_test

import (
	"os"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// Minutes that were stored before 0005_reads.sql get a weight for their errors, both before and after a merge.
func TestErrorWeightsOfOldMinutes(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngine(t)
	text, err := os.ReadFile("migrations/0005_reads.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, statement, found := strings.Cut(string(text), "ALTER TABLE {{alter \"service_minutes\"}}")
	statement, _, closed := strings.Cut(statement, "\n;")
	if !found || !closed {
		t.Fatal("the statement is not where this test looks")
	}
	const row = "INSERT INTO service_minutes (OrgId, Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry, " +
		"SpanCount, EstimatedSpanCount, ErrorCount) " +
		"SELECT 'org_old', toStartOfMinute(now()), 's', '', '', '', true, "
	for _, sql := range []string{
		"SYSTEM STOP MERGES service_minutes", "DROP VIEW service_minutes_view",
		"DROP VIEW service_series_view", "DROP VIEW service_hours_view", "DROP VIEW organization_minutes_view",
		"ALTER TABLE service_minutes DROP COLUMN EstimatedErrorCount",
		row + "10, 40, 2", row + "10, 10, 5", "ALTER TABLE service_minutes" + statement,
	} {
		if err := e.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	const sum = "SELECT sum(EstimatedErrorCount), count() FROM service_minutes WHERE OrgId = 'org_old'"
	if got := raw(t, e.Warehouse, sum); got != "13\t2\n" {
		t.Errorf("before a merge: %q", got)
	}
	for _, sql := range []string{"SYSTEM START MERGES service_minutes", "OPTIMIZE TABLE service_minutes FINAL"} {
		if err := e.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if got := raw(t, e.Warehouse, sum); got != "13\t1\n" {
		t.Errorf("after a merge: %q", got)
	}
}
