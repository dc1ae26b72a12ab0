package chdb

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// TenantPrefix is the prefix of the names of tenants' databases, and of tenants' users on a ClickHouse server. On the embedded engine,
// each organization has an empty database, which a tenant's connection uses. The row policies depend on the name.
const TenantPrefix = "tenant_"

// Fence lists the tables of the telemetry database, for the row policies of the engine. The engine has one user, so its rights
// and policies apply to svc itself too. Only the database of the connection distinguishes a tenant.
type Fence struct {
	// Tenant are the tables and views with a column OrgId: a tenant sees its own rows.
	Tenant []string
	// Internal are all other tables and views: only svc sees their rows.
	Internal []string
}

//go:embed systemtables.txt
var systemTableList string

// systemTables are the engine's tables about itself that would show a tenant the activity of others or details of the server.
// Tables that only generate rows are left out: SELECT 1 reads one of them.
func systemTables() []string {
	return slices.DeleteFunc(strings.Fields(systemTableList), func(name string) bool {
		switch name {
		case "one", "numbers", "numbers_mt", "zeros", "zeros_mt", "primes":
			return true
		}
		return false
	})
}

// grants are the rights of the engine's only user. It has no right to reach files, networks or other servers, or to change users.
const grants = `            <grants>
                <query>GRANT SHOW, SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP, TRUNCATE, OPTIMIZE, KILL QUERY, SHOW ROW POLICIES, SYSTEM ON *.*</query>
                <query>GRANT TABLE ENGINE ON *</query>
                <query>GRANT SET DEFINER ON *</query>
            </grants>
`

// OwnRows is the condition on the rows that a tenant sees: the rows of the organization after which its database or its user is named.
// The function is the one that gives this name. ClickHouse folds it to a condition on the first column of the sort key.
func OwnRows(function string) string {
	return fmt.Sprintf("startsWith(%s, %s) AND OrgId = substring(%s, %d)", function, quoteString(TenantPrefix), function, len(TenantPrefix)+1)
}

// policies writes the row policies in the form of users.xml. A connection to the main database sees all rows, one to a tenant's
// database sees the tenant's rows, and any other sees no rows. The engine folds the filter to a condition on the first column of
// the sort key, so it costs nothing and finds the granules.
func (f Fence) policies(database string) string {
	all := "currentDatabase() = " + quoteString(database)
	own := all + " OR " + OwnRows("currentDatabase()")
	var b strings.Builder
	filter := func(table, condition string) {
		fmt.Fprintf(&b, "                    <%s><filter>", table)
		_ = xml.EscapeText(&b, []byte(condition)) // a strings.Builder cannot fail
		fmt.Fprintf(&b, "</filter></%s>\n", table)
	}
	fmt.Fprintf(&b, "            <databases>\n                <%s>\n", database)
	for _, t := range f.Tenant {
		filter(t, own)
	}
	for _, t := range f.Internal {
		filter(t, all)
	}
	fmt.Fprintf(&b, "                </%s>\n                <system>\n", database)
	for _, t := range systemTables() {
		filter(t, all)
	}
	b.WriteString("                </system>\n            </databases>\n")
	return b.String()
}
