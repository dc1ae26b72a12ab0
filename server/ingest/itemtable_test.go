package ingest_test

import (
	"slices"
	"testing"

	"github.com/svc-observability/svc/server/ingest"
)

// One row of these tables is one item. Tables of sums are not counted.
func TestItemTables(t *testing.T) {
	for table, want := range map[string]string{
		"spans": "traces", "logs": "logs", "metrics_gauge": "metrics", "metrics_sum": "metrics", "metrics_histogram": "metrics",
		"metrics_exponential_histogram": "metrics", "metrics_summary": "metrics", "session_replays": "sessions",
		"session_replay_events": "sessions", "session_events": "sessions", "product_events": "events",
		"metric_catalog": "", "attribute_keys": "", "service_minutes": "", "organization_minutes": "", "service_hours": "", "service_series": "",
		"operation_hours": "", "log_minutes": "", "trace_roots": "",
	} {
		got := ingest.ItemTable(table)
		if got != want || got != "" && !slices.Contains(ingest.Signals(), got) {
			t.Errorf("%s: %q, want %q", table, got, want)
		}
	}
}
