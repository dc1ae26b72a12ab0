package warehousetest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/limits"
)

// TestRetention checks that each table of the real schema keeps its rows for the time that package limits names.
func TestRetention(t *testing.T) {
	var out strings.Builder
	if err := Shared(t).RawQuery(t.Context(),
		"SELECT name, extract(engine_full, 'TTL .*toIntervalDay\\\\((\\\\d+)\\\\)') FROM system.tables WHERE database = currentDatabase() AND "+
			"engine LIKE '%MergeTree'"+
			" AND name != 'schema_migrations'", "TSV", &out); err != nil {
		t.Fatal(err)
	}
	tables := 0
	for line := range strings.Lines(out.String()) {
		table, days, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		tables++
		kept, err := limits.Retention(table)
		if err != nil {
			t.Error(err)
		} else if want := strconv.Itoa(int(kept / limits.Day)); days != want {
			t.Errorf("%s keeps its rows for %q days, want %s", table, days, want)
		}
	}
	if tables < 20 {
		t.Errorf("%d tables were checked", tables)
	}
}
