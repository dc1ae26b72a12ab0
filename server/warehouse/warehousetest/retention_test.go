package warehousetest

import (
	"maps"
	"strings"
	"testing"
)

// TestRetention holds how many days each table keeps its rows: what product-facts.md 7.9 and ingest-mcp-facts.md 3.2 say.
func TestRetention(t *testing.T) {
	want := map[string]string{}
	for days, tables := range map[string]string{
		"30":  "spans trace_roots logs session_replays session_replay_events session_events",
		"90":  "metrics_gauge metrics_sum metrics_histogram metrics_exponential_histogram metrics_summary metric_catalog attribute_keys service_minutes service_peers error_events",
		"365": "product_events",
	} {
		for _, table := range strings.Fields(tables) {
			want[table] = days
		}
	}
	var out strings.Builder
	if err := Shared(t).RawQuery(t.Context(),
		"SELECT name, extract(engine_full, 'TTL .*toIntervalDay\\\\((\\\\d+)\\\\)') FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'"+
			" AND name != 'schema_migrations'", "TSV", &out); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(out.String()) {
		name, days, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		got[name] = days
	}
	for table, days := range want {
		if got[table] != days {
			t.Errorf("%s keeps its rows for %q days, want %s", table, got[table], days)
		}
	}
	for table := range maps.Keys(got) {
		if want[table] == "" && got[table] == "" {
			t.Errorf("%s keeps its rows for ever", table)
		}
	}
}
