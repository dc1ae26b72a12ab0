// Package sqltest checks statements: their text against snapshots, that the organization comes first, and that values are bound.
package sqltest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// Marker begins every value that a caller could choose. It must not appear in the SQL.
const Marker = "caller-value"

// Check runs all checks on statements by their names.
func Check(t *testing.T, statements map[string]sqlbuild.Statement) {
	t.Helper()
	t.Run("snapshots", func(t *testing.T) { snapshots(t, statements) })
	t.Run("organization comes first", func(t *testing.T) { organizationComesFirst(t, statements) })
	t.Run("values are bound", func(t *testing.T) { valuesAreBound(t, statements) })
}

func snapshots(t *testing.T, statements map[string]sqlbuild.Statement) {
	for name, s := range statements {
		golden.Compare(t, name+".sql", s.SQL+"\n")
	}
}

var (
	fromTable = regexp.MustCompile(
		`FROM (spans|logs|trace_roots|service_minutes|service_series|organization_minutes|service_hours|operation_hours|log_minutes|service_peers|error_events|metric_catalog|session_replays|session_replay_events|session_events|product_events|attribute_keys|alert_checks|alert_check_hours|scrape_checks|call_hours|metrics_\w+)\b\s*(.{0,40})`,
	)
	place = regexp.MustCompile(`\{(\w+):[^}]+\}`)
)

// organizationComesFirst holds for every read of a table, not only for the outermost.
func organizationComesFirst(t *testing.T, statements map[string]sqlbuild.Statement) {
	for name, s := range statements {
		reads := fromTable.FindAllStringSubmatch(strings.Join(strings.Fields(s.SQL), " "), -1)
		if len(reads) == 0 {
			t.Errorf("%s reads no table that this test knows", name)
		}
		for _, r := range reads {
			if !strings.HasPrefix(r[2], "WHERE OrgId = {org:String}") {
				t.Errorf("%s reads %s with %q before the organization", name, r[1], r[2])
			}
		}
	}
}

func valuesAreBound(t *testing.T, statements map[string]sqlbuild.Statement) {
	for name, s := range statements {
		if strings.Contains(s.SQL, Marker) || strings.Contains(s.SQL, "2026") {
			t.Errorf("%s holds a value of the caller:\n%s", name, s.SQL)
		}
		bound := map[string]bool{"org": true}
		for _, a := range s.Args {
			if bound[a.Name] {
				t.Errorf("%s binds %s twice", name, a.Name)
			}
			bound[a.Name] = true
			if !strings.Contains(s.SQL, "{"+a.Name+":") {
				t.Errorf("%s binds %s, which the SQL does not use", name, a.Name)
			}
		}
		for _, m := range place.FindAllStringSubmatch(s.SQL, -1) {
			if !bound[m[1]] {
				t.Errorf("%s does not bind %s", name, m[1])
			}
		}
	}
}
