package warehouse

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/warehouse/chdb"
)

var createPattern = regexp.MustCompile(
	`(?is)^CREATE\s+(?:OR\s+REPLACE\s+)?(?:MATERIALIZED\s+VIEW|VIEW|TABLE)\s+(?:IF\s+NOT\s+EXISTS\s+)?([A-Za-z_][A-Za-z0-9_]*)`,
)

// createsPattern finds statements that create a table or a view.
var createsPattern = regexp.MustCompile(`(?i)^(CREATE|ATTACH|RENAME|EXCHANGE)\b`)

// RowPolicies lists the tables and views that the migrations of this version create, for the row policies of the embedded engine.
// A table is included as soon as a migration creates it.
func RowPolicies() (chdb.Fence, error) {
	steps, err := renderMigrations(migrationFiles, chdb.DefaultDatabase, "")
	if err != nil {
		return chdb.Fence{}, err
	}
	return fenceOf(steps)
}

func fenceOf(steps []step) (chdb.Fence, error) {
	f := chdb.Fence{Internal: []string{"schema_migrations"}}
	for _, s := range steps {
		if !createsPattern.MatchString(s.sql) {
			continue
		}
		m := createPattern.FindStringSubmatch(s.sql)
		if m == nil {
			return chdb.Fence{}, fmt.Errorf("migration %s, statement %d makes something that the row policies do not know: %s", s.file,
				s.number, s.title())
		}
		list := &f.Internal
		if strings.Contains(s.sql, "OrgId") {
			list = &f.Tenant
		}
		if !slices.Contains(*list, m[1]) {
			*list = append(*list, m[1])
		}
	}
	return f, nil
}
