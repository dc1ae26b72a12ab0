package warehouse_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

func raw(t *testing.T, w *warehouse.Warehouse, sql string) string {
	t.Helper()
	var out bytes.Buffer
	if err := w.RawQuery(t.Context(), sql, "TSV", &out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out.String()
}

func TestRenderedForCluster(t *testing.T) {
	sql, err := warehouse.ClusterStatements("svc", "main")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "cluster.sql", strings.Join(sql, "\n;\n\n")+"\n;\n")
	for _, statement := range sql {
		if !strings.Contains(statement, " ON CLUSTER 'main'") {
			t.Errorf("not on the cluster: %s", statement)
		}
	}
}

const clusterConfig = `
    <zookeeper><implementation>testkeeper</implementation></zookeeper>
    <macros><shard>01</shard><replica>replica-1</replica></macros>
    <remote_servers><main><shard><replica><host>localhost</host><port>9000</port></replica></shard></main></remote_servers>
`

var onCluster = regexp.MustCompile(` ON CLUSTER '\w+'`)

// The engine really makes the cluster's tables, with a keeper in memory. It has no other nodes, so nothing is inserted.
// TestChecksums checks the checksums of released statements. An installation that has applied a statement refuses to start when
// its checksum differs. So a line of the golden file never changes; new statements add lines.
func TestChecksums(t *testing.T) {
	got, err := warehouse.Checksums()
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "checksums.txt", got)
}

// TestNamedMigrationsExist: each migration that the program names is a file.
func TestNamedMigrationsExist(t *testing.T) {
	for _, name := range []string{warehouse.MinutesComplete, warehouse.CoarseRollupsAdded, warehouse.ServiceSeriesAdded} {
		if _, err := os.Stat("migrations/" + name); err != nil {
			t.Error(err)
		}
	}
}

// TestRetentionPlaceholders checks that no migration contains a retention as a plain number.
func TestRetentionPlaceholders(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "--") && strings.Contains(line, "TTL ") && !strings.Contains(line, "{{retention ") {
				t.Errorf("%s: %s", file, line)
			}
		}
	}
}

func TestClusterTables(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngineIn(t, t.TempDir(), clusterConfig)
	if err := e.Exec(t.Context(), "CREATE DATABASE clustered"); err != nil {
		t.Fatal(err)
	}
	sql, err := warehouse.ClusterStatements("clustered", "main")
	if err != nil {
		t.Fatal(err)
	}
	qualify := regexp.MustCompile(`((?:TABLE|VIEW) IF NOT EXISTS |ALTER TABLE |TO |FROM |\nAS )(\w+)`)
	altered := regexp.MustCompile(`^ALTER TABLE (\w+_local) ADD COLUMN`)
	var reads []string // tables that lack a column, so no view is made from them here
	for _, statement := range sql {
		statement = onCluster.ReplaceAllString(statement, "")
		view := strings.HasPrefix(statement, "CREATE MATERIALIZED VIEW")
		if m := altered.FindStringSubmatch(statement); m != nil {
			reads = append(reads, "FROM "+m[1]+"\n")
		}
		if strings.HasPrefix(statement, "ALTER ") || view &&
			slices.ContainsFunc(reads, func(from string) bool { return strings.Contains(statement, from) }) {
			// Replicas never leave their read-only mode here, so this statement is only parsed. Every other test runs it on plain tables.
			statement = "EXPLAIN AST " + statement
		}
		if err := e.Exec(t.Context(), qualify.ReplaceAllString(statement, "${1}clustered.${2}")); err != nil {
			t.Fatalf("%s\n%v", statement, err)
		}
	}
	golden.Compare(t, "cluster_tables.txt", raw(t, e.Warehouse,
		"SELECT name, engine, sorting_key FROM system.tables WHERE database = 'clustered' ORDER BY name"))
	// libchdb 26.7.3 crashes when it closes with open replicated tables. Only this test has such tables.
	if err := e.Exec(t.Context(), "DROP DATABASE clustered SYNC"); err != nil {
		t.Error(err)
	}
}

// Every sort key begins with the organization.
func TestOrganizationFirst(t *testing.T) {
	w := warehousetest.Shared(t)
	got := raw(t, w, "SELECT name, sorting_key FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name "+
		"!= 'schema_migrations' AND NOT startsWith(sorting_key, 'OrgId,')")
	if got != "" {
		t.Errorf("tables not sorted by organization first:\n%s", got)
	}
}

func TestMigrationsResume(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngine(t)
	files := func(text string) fstest.MapFS {
		return fstest.MapFS{"migrations/9001_test.sql": &fstest.MapFile{Data: []byte(text)}}
	}
	const first = "-- a comment\nCREATE TABLE {{create \"m_one\"}} (A UInt8) ENGINE = {{engine \"MergeTree\"}} ORDER BY A\n;\n"
	err := e.MigrateFiles(t.Context(), files(first+"CREATE TABLE m_two (A NoSuchType) ENGINE = MergeTree ORDER BY A\n;\n"))
	if err == nil || !strings.Contains(err.Error(), "9001_test.sql, statement 2") {
		t.Fatalf("got %v", err)
	}
	// The first statement is recorded as applied. It has no IF NOT EXISTS, so it would fail a second time.
	const both = "-- another comment\n" + first + "CREATE TABLE m_two (A UInt8) ENGINE = MergeTree ORDER BY A\n;\n"
	for range 2 {
		if err := e.MigrateFiles(t.Context(), files(both)); err != nil {
			t.Fatal(err)
		}
	}
	if got := raw(t, e.Warehouse, "SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'm_') ORDER BY name"); got != "m_one\nm_two\n" {
		t.Errorf("tables: %q", got)
	}
	err = e.MigrateFiles(t.Context(), files(strings.ReplaceAll(both, "A UInt8", "A UInt16")))
	if err == nil || !strings.Contains(err.Error(), "changed after it was applied") {
		t.Errorf("a changed statement: got %v", err)
	}
	if err := e.MigrateFiles(t.Context(), files("{{nonsense}}\n;\n")); err == nil ||
		!strings.Contains(err.Error(), "9001_test.sql, statement 1") {
		t.Errorf("a statement that cannot be rendered: got %v", err)
	}
}

// A creation setting for new tables does not affect existing tables, and does not count as a change of an applied statement.
func TestFreshSettings(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngine(t)
	migrate := func(text string) {
		t.Helper()
		if err := e.MigrateFiles(t.Context(), fstest.MapFS{"migrations/9001_test.sql": &fstest.MapFile{Data: []byte(text)}}); err != nil {
			t.Fatal(err)
		}
	}
	const one = "CREATE TABLE f_one (A UInt8) ENGINE = MergeTree ORDER BY A SETTINGS index_granularity = "
	const two = "CREATE TABLE f_two (A UInt8) ENGINE = MergeTree ORDER BY A SETTINGS index_granularity = "
	migrate(one + "8192\n;\n")
	for range 2 {
		migrate(one + "{{fresh 8192 2048}}\n;\n" + two + "{{fresh 8192 2048}}\n;\n")
	}
	got := raw(t, e.Warehouse, "SELECT name, extract(engine_full, 'index_granularity = (\\\\d+)') FROM system.tables WHERE database = "+
		"currentDatabase() AND startsWith(name, 'f_') ORDER BY name")
	if want := "f_one\t8192\nf_two\t2048\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRetentionSettings: a table that exists when a retention becomes a placeholder keeps its TTL, and the statement counts as unchanged.
func TestRetentionSettings(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngine(t)
	migrate := func(text string) error {
		t.Helper()
		return e.MigrateFiles(t.Context(), fstest.MapFS{"migrations/9001_test.sql": &fstest.MapFile{Data: []byte(text)}})
	}
	statement := func(table, days string) string {
		return "CREATE TABLE " + table + " (A DateTime) ENGINE = MergeTree ORDER BY A TTL A + INTERVAL " + days + " DAY\n;\n"
	}
	for _, text := range []string{
		statement("r_old", "12"),
		statement("r_old", "{{retention spans 12}}") + statement("r_new", "{{retention spans 12}}"),
	} {
		if err := migrate(text); err != nil {
			t.Fatal(err)
		}
	}
	got := raw(t, e.Warehouse, "SELECT name, extract(engine_full, 'toIntervalDay\\\\((\\\\d+)\\\\)') FROM system.tables WHERE database = "+
		"currentDatabase() AND startsWith(name, 'r_') ORDER BY name")
	if want := fmt.Sprintf("r_new\t%d\nr_old\t12\n", limits.TraceRetention/limits.Day); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := migrate(statement("r_old", "{{retention no_such_table 12}}")); err == nil || !strings.Contains(err.Error(), "no_such_table") {
		t.Errorf("a table without a retention: got %v", err)
	}
}

// TestUpgradeIsRecorded: statements that are added to a warehouse with telemetry count as an upgrade, however soon they come
// after the first statements. Statements that are added to an empty warehouse, after an interrupted first start, do not.
func TestUpgradeIsRecorded(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngine(t)
	upgraded := func() (all []string) {
		t.Helper()
		statuses, err := e.MigrationStatuses(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statuses {
			if s.Upgrade {
				all = append(all, s.File)
			}
		}
		return slices.Compact(all)
	}
	for i, rows := range []string{"", "INSERT INTO logs (OrgId, Timestamp, Body) VALUES ('org_old', now64(9), 'before')"} {
		for _, sql := range []string{rows, "ALTER TABLE schema_migrations DELETE WHERE File > '0011' AND File < '1' SETTINGS mutations_sync = 2"} {
			if sql == "" {
				continue
			}
			if err := e.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := [][]string{nil, {
			"0011_service_series.sql", "0012_product_event_keys.sql", "0014_alert_checks.sql", "0015_scrape_checks.sql", "0016_error_groups.sql",
			"0017_call_hours.sql",
		}}[i]
		if got := upgraded(); !slices.Equal(got, want) {
			t.Errorf("run %d: %q, want %q", i, got, want)
		}
	}
}

// The newer migrations apply to a data folder of an earlier version, and its rows stay.
func TestMigrationsOfExistingData(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngine(t)
	// Go back to the schema of 0001 and 0002, as far as rows depend on it.
	for _, sql := range []string{
		"ALTER TABLE logs RESET SETTING text_index_posting_list_codec",
		"INSERT INTO logs (OrgId, Timestamp, Body) VALUES ('org_old', now64(9), 'payment declined before')",
		"ALTER TABLE schema_migrations DELETE WHERE File > '0003' SETTINGS mutations_sync = 2",
	} {
		if err := e.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if err := e.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Exec(t.Context(), "INSERT INTO logs (OrgId, Timestamp, Body) VALUES ('org_old', now64(9), 'payment declined after')"); err != nil {
		t.Fatal(err)
	}
	// The text index works in both parts and in the part into which they are merged.
	for range 2 {
		if got := raw(t, e.Warehouse, "SELECT count() FROM logs WHERE OrgId = 'org_old' AND hasAllTokens(Body, 'payment declined')"); got != "2\n" {
			t.Errorf("found %q, want both", got)
		}
		if err := e.Exec(t.Context(), "OPTIMIZE TABLE logs FINAL"); err != nil {
			t.Fatal(err)
		}
	}
	if got := raw(t, e.Warehouse, "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'logs' AND "+
		"position(create_table_query, 'bitpacking') > 0"); got != "1\n" {
		t.Error("the setting is not there")
	}
}
