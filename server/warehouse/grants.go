package warehouse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// TenantGrants returns the statements that allow tenants to use SQL on a ClickHouse server. An operator runs them once, and again
// after each upgrade of svc. They create a user that can read the offered tables and nothing else, limits that the user cannot
// raise, and a row policy on the whole database. The operator fills in the password. The embedded engine does not need these
// statements: svc writes them into its configuration.
func (w *Warehouse) TenantGrants() string {
	user := w.endpoint.tenantUser
	if user == "" {
		user = chdb.TenantUser
	}
	database, onCluster := w.endpoint.database, ""
	if w.endpoint.cluster != "" {
		onCluster = fmt.Sprintf(" ON CLUSTER '%s'", w.endpoint.cluster)
	}
	limits := DefaultTenantLimits()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+";\n", args...) }
	line(
		"CREATE SETTINGS PROFILE IF NOT EXISTS %s%s SETTINGS readonly = 2, allow_ddl = 0 CONST, allow_introspection_functions = 0 CONST, max_execution_time = %d MAX 60, "+
			"max_memory_usage = %d MAX %d, max_threads = 1 MAX 2, max_rows_to_read = %d MAX %d, max_result_bytes = %d MAX %d",
		user,
		onCluster,
		int(limits.Time.Seconds()),
		limits.Memory,
		4*limits.Memory,
		limits.RowsToRead,
		4*limits.RowsToRead,
		4*limits.MaxBytes,
		16*limits.MaxBytes,
	)
	line("CREATE USER IF NOT EXISTS %s%s IDENTIFIED WITH sha256_password BY '…' DEFAULT ROLE NONE SETTINGS PROFILE '%s'", user,
		onCluster, user)
	line("REVOKE%s ALL ON *.* FROM %s", onCluster, user)
	var sources []string
	for _, o := range SQLTables() {
		if s := o.source(); !slices.Contains(sources, s) {
			sources = append(sources, s)
		}
	}
	slices.Sort(sources)
	for _, s := range sources {
		line("GRANT%s SELECT ON %s.%s TO %s", onCluster, database, s, user)
	}
	// Each organization has an empty database, which the user's connections use. The row policy compares its name.
	line("GRANT%s SHOW DATABASES ON %s*.* TO %s", onCluster, chdb.TenantPrefix, user)
	line("CREATE ROW POLICY OR REPLACE %s%s ON %s.* USING %s TO %s", user, onCluster, database, w.ownRows(), user)
	return b.String()
}
