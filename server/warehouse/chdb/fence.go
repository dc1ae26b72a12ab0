package chdb

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// TenantPrefix begins the names of the databases of tenants: one for each organization, empty, which a tenant's connection uses. The row
// policies go by it.
const TenantPrefix = "tenant_"

// Fence lists the tables of the telemetry database, for the row policies of the engine. The engine has one user, so that its rights and
// policies hold for svc itself too: what tells a tenant apart is the database that its connection uses.
type Fence struct {
	// Tenant are the tables and views with a column OrgId: a tenant sees its own rows.
	Tenant []string
	// Internal are all others: only svc sees rows.
	Internal []string
}

//go:embed systemtables.txt
var systemTableList string

// systemTables are the engine's tables about itself that show one tenant what others do, or how the server is made. Those that make rows
// out of nothing are left out: SELECT 1 reads one of them.
func systemTables() []string {
	return slices.DeleteFunc(strings.Fields(systemTableList), func(name string) bool {
		switch name {
		case "one", "numbers", "numbers_mt", "zeros", "zeros_mt", "primes":
			return true
		}
		return false
	})
}

// grants are the rights of the engine's only user: none to reach files, networks or other servers, nor to change users.
const grants = `            <grants>
                <query>GRANT SHOW, SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP, TRUNCATE, OPTIMIZE, KILL QUERY, SHOW ROW POLICIES, SYSTEM ON *.*</query>
                <query>GRANT TABLE ENGINE ON *</query>
                <query>GRANT SET DEFINER ON *</query>
            </grants>
`

// OwnRows is the condition on the rows that a tenant sees: those of the organization that its database is named after.
func OwnRows() string {
	return fmt.Sprintf("startsWith(currentDatabase(), %s) AND OrgId = substring(currentDatabase(), %d)", quoteString(TenantPrefix), len(TenantPrefix)+1)
}

// policies writes the row policies as users.xml has them. Main database sees all rows, a tenant's its own, any other none: the filter is
// folded to a condition on the first column of the sort key, so that it costs nothing and finds the granules.
func (f Fence) policies(database string) string {
	all := "currentDatabase() = " + quoteString(database)
	own := all + " OR " + OwnRows()
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
