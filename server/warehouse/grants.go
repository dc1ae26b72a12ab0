package warehouse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/limits"
)

// defaultTenantRole is the role that TenantGrants makes if the warehouse URL names none.
const defaultTenantRole = "svc_tenants"

// TenantGrants returns the statements that allow tenants to use SQL on a ClickHouse server. An operator runs them once, and again
// after each upgrade of svc. They create a role that can read the offered tables and nothing else, limits that a statement cannot
// raise, and a row policy on the whole database. They allow svc to make the users of organizations, which have this role only. The
// embedded engine does not need these statements: svc writes them into its configuration.
func (w *Warehouse) TenantGrants() string {
	role, user, on := cmp.Or(w.endpoint.tenantRole, defaultTenantRole), cmp.Or(w.endpoint.user, "default"), w.onCluster()
	bounds := DefaultTenantLimits()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+";\n", args...) }
	line("CREATE SETTINGS PROFILE OR REPLACE %s%s SETTINGS readonly = 2, allow_ddl = 0 CONST, allow_introspection_functions = 0 CONST, "+
		"max_execution_time = %d MAX 60, max_memory_usage = %d MAX %d, max_threads = 1 MAX 2, max_rows_to_read = %d MAX %d, "+
		"max_result_bytes = %d MAX %d, max_concurrent_queries_for_user = %d CONST",
		role, on, int(bounds.Time.Seconds()), bounds.Memory, 4*bounds.Memory, bounds.RowsToRead, 4*bounds.RowsToRead,
		4*bounds.MaxBytes, 16*bounds.MaxBytes, limits.SQLStatementsOfOrganization)
	line("CREATE ROLE IF NOT EXISTS %s%s", role, on)
	line("ALTER ROLE %s%s SETTINGS PROFILE '%s'", role, on, role)
	line("REVOKE%s ALL ON *.* FROM %s", on, role)
	for _, table := range w.tenantTables() {
		line("GRANT%s SELECT ON %s.%s TO %s", on, w.endpoint.database, table, role)
	}
	line("CREATE ROW POLICY OR REPLACE %s%s ON %s.* USING %s TO %s", role, on, w.endpoint.database, w.ownRows(), role)
	line("GRANT%s %s TO %s WITH ADMIN OPTION", on, role, user)
	line("GRANT%s CREATE USER, ALTER USER, DROP USER, SHOW ROW POLICIES ON *.* TO %s", on, user)
	if w.endpoint.cluster != "" {
		line("GRANT%s CLUSTER, REMOTE ON *.* TO %s", on, user)
	}
	return b.String()
}

// tenantTables are the tables that tenants' statements read. On a cluster, the part of a statement for a shard runs as the same user and
// reads the tables of the shard.
func (w *Warehouse) tenantTables() []string {
	var tables []string
	for _, o := range SQLTables() {
		tables = append(tables, o.source())
		if w.endpoint.cluster != "" {
			tables = append(tables, o.source()+localSuffix)
		}
	}
	slices.Sort(tables)
	return slices.Compact(tables)
}
