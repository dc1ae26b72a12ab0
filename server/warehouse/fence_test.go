package warehouse_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse"
)

// TestEveryTableIsForSQLOrInternal: whoever adds a table must decide whether tenants may read it with SQL.
func TestEveryTableIsForSQLOrInternal(t *testing.T) {
	fence, err := warehouse.RowPolicies()
	if err != nil {
		t.Fatal(err)
	}
	tables := slices.Concat(fence.Tenant, fence.Internal)
	internal, offered := warehouse.InternalTables(), map[string]bool{}
	for _, o := range warehouse.SQLTables() {
		source := o.Source
		if source == "" {
			source = o.Name
		}
		offered[source] = true
		if !slices.Contains(fence.Tenant, source) {
			t.Errorf("%s is offered, but no migration makes the table %s with a column OrgId", o.Name, source)
		}
		if internal[source] != "" {
			t.Errorf("%s is both offered and internal", source)
		}
		if o.Description == "" || o.Example == "" {
			t.Errorf("%s has no description or example", o.Name)
		}
	}
	for _, table := range tables {
		if !offered[table] && internal[table] == "" {
			t.Errorf("the table %s is new: offer it to SQL in SQLTables, or say in internalTables why not", table)
		}
	}
	for table := range internal {
		if !slices.Contains(tables, table) {
			t.Errorf("internalTables names %s, which no migration makes", table)
		}
	}
}

func TestFenceOf(t *testing.T) {
	f, err := warehouse.FenceOf("CREATE TABLE IF NOT EXISTS a (OrgId String)",
		"CREATE MATERIALIZED VIEW IF NOT EXISTS v TO a AS SELECT OrgId FROM b",
		"CREATE TABLE b (X String)", "ALTER TABLE a ADD COLUMN c String", "CREATE VIEW w AS SELECT OrgId FROM a")
	if err != nil || !slices.Equal(f.Tenant, []string{"a", "v", "w"}) || !slices.Equal(f.Internal, []string{"schema_migrations", "b"}) {
		t.Errorf("%+v, %v", f, err)
	}
	for _, sql := range []string{
		"CREATE DICTIONARY d (OrgId String)", "RENAME TABLE a TO b", "CREATE LIVE VIEW v AS SELECT 1",
		"EXCHANGE TABLES a AND b",
	} {
		if f, err := warehouse.FenceOf(sql); err == nil {
			t.Errorf("%s: %+v", sql, f)
		}
	}
}

// TestFenceCoversEverything: the policies are on every table of the engine, and a table without one stops all SQL of tenants.
func TestFenceCoversEverything(t *testing.T) {
	t.Parallel()
	e := tenantEngine(t)
	if err := e.VerifyFence(t.Context()); err != nil {
		t.Fatal(err)
	}
	var system strings.Builder
	if err := e.RawQuery(t.Context(), "SELECT name FROM system.tables WHERE database = 'system' ORDER BY name", "TSV", &system); err != nil {
		t.Fatal(err)
	}
	known, err := os.ReadFile("chdb/systemtables.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(system.String()); !slices.Equal(got, strings.Fields(string(known))) {
		t.Errorf("the engine has the system tables %v: put them into chdb/systemtables.txt", got)
	}
	// A tenant sees no rows of the engine's system tables, and neither does a connection to a database without an owner.
	for _, table := range append(strings.Fields(system.String()), "x") {
		switch table {
		case "one", "numbers", "numbers_mt", "zeros", "zeros_mt", "primes", "x":
			continue
		case "stack_trace": // it signals every thread and waits for all of them, whatever the limits
			continue
		case "models": // it waits for a missing program, whatever the limits; the statement guard refuses this table to tenants
			continue
		}
		r, err := e.RunUnguarded(t.Context(), orgMine, "SELECT count() FROM system."+table, quick())
		if err == nil && string(r.Rows[0]) != `["0"]` {
			t.Errorf("system.%s shows a tenant %s rows", table, r.Rows[0])
		}
	}
	if err := e.Exec(t.Context(), "CREATE TABLE forgotten (OrgId String) ENGINE = MergeTree ORDER BY OrgId"); err != nil {
		t.Fatal(err)
	}
	e.ForgetSchema()
	if _, err := e.SelectConfined(t.Context(), orgMine, "SELECT 1", quick()); !errors.Is(err, warehouse.ErrFence) ||
		!strings.Contains(err.Error(), "forgotten") {
		t.Errorf("a table without a policy: %v", err)
	}
}

// TestNoOracle: a condition is never evaluated on rows of another organization, even in the same granule. A failure there would
// reveal their values.
func TestNoOracle(t *testing.T) {
	t.Parallel()
	e := tenantEngine(t)
	for _, sql := range []string{
		"SELECT count() FROM logs WHERE intDiv(1, Body NOT LIKE 'zebra%') > 0",
		"SELECT count() FROM logs WHERE toUInt8(if(Body LIKE 'zebra%', 'x', '1')) = 1",
		"SELECT count() FROM (SELECT * FROM logs WHERE intDiv(1, OrgId = 'org_mine') = 1)",
		"SELECT count() FROM logs AS l JOIN logs AS r ON l.TraceId = r.TraceId AND intDiv(1, l.Body NOT LIKE 'zebra%') = 1 WHERE l.Timestamp = r.Timestamp",
		"SELECT count() FROM logs WHERE modulo(1, position(Body, 'zebra') = 0) = 0",
		"SELECT count() FROM logs WHERE CAST(if(position(Body, 'zebra') > 0, 'boom', '7') AS UInt8) = 7",
	} {
		r, err := e.SelectConfined(t.Context(), orgMine, sql, quick())
		if err != nil || string(r.Rows[0]) != `["3"]` {
			t.Errorf("%s: %v, %v", sql, r, err)
		}
		composed, err := e.ComposedSQL(t.Context(), orgMine, sql)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.RunUnfenced(t.Context(), orgMine, composed, quick()); err != nil {
			t.Logf("the statement guard alone lets a condition fail on another organization's row, as known: %s", sql)
		}
	}
}

// TestTenantGrants: the statements for the operator grant SELECT on the offered tables and nothing else, and the policy covers
// the whole database.
func TestTenantGrants(t *testing.T) {
	w, err := warehouse.Open(t.Context(), warehouse.Config{
		URL: "clickhouse://svc:secret@127.0.0.1:8123/telemetry?sql_role=readers", TenantKey: []byte("hidden"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	text := w.TenantGrants()
	for _, want := range []string{
		"CREATE ROLE IF NOT EXISTS readers;", "REVOKE ALL ON *.* FROM readers;", "GRANT SELECT ON telemetry.spans TO readers;",
		"GRANT SELECT ON telemetry.error_events TO readers;", "GRANT readers TO svc WITH ADMIN OPTION;",
		"max_concurrent_queries_for_user = 3 CONST",
		"CREATE ROW POLICY OR REPLACE readers ON telemetry.* USING startsWith(currentUser(), 'tenant_') AND OrgId = substring(currentUser(), " +
			"8) TO readers;",
		"readonly = 2", "allow_ddl = 0 CONST",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	for _, bad := range []string{
		"secret", "hidden", "traces", "schema_migrations", "session_replay_events", "_view", "INSERT", "GRANT ALL",
		"CREATE TEMPORARY TABLE",
	} {
		if strings.Contains(text, bad) {
			t.Errorf("holds %q:\n%s", bad, text)
		}
	}
	for _, bad := range []string{
		"clickhouse://svc:p@h/d?sql_user=svc", "clickhouse://svc:p@h/d?sql_password=x",
		"clickhouse://h/d?sql_role=a%20b", "clickhouse://h/d?sql=x",
	} {
		if _, err := warehouse.ParseURL(bad); err == nil || strings.Contains(err.Error(), ":p@") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	// A server without a user for tenants has no tenant SQL.
	bare, err := warehouse.Open(t.Context(), warehouse.Config{URL: "clickhouse://svc:secret@127.0.0.1:1/telemetry"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bare.Close() }()
	if _, err := bare.SelectConfined(t.Context(), orgMine, "SELECT 1", quick()); !errors.Is(err, warehouse.ErrTenantNotSetUp) {
		t.Errorf("a server without a user for tenants: %v", err)
	}
	for _, org := range []string{"", "org x", "org`x", "../x", "org;DROP", strings.Repeat("x", 200)} {
		if _, err := bare.SelectConfined(t.Context(), principal.OrgID(org), "SELECT 1", quick()); err == nil ||
			errors.Is(err, warehouse.ErrTenantNotSetUp) {
			t.Errorf("organization %q: %v", org, err)
		}
	}
}
