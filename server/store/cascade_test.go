package store_test

import (
	"testing"

	"entgo.io/ent/dialect/sql/schema"

	"github.com/svc-observability/svc/ent/migrate"
)

// TestRowsGoWithTheirOwner: a table that belongs to an organization or a user loses its rows with the owner. The test covers new
// tables too, so DeleteOrganization misses nothing.
func TestRowsGoWithTheirOwner(t *testing.T) {
	owners := map[string]string{"org_id": "organizations", "user_id": "users", "dashboard_id": "dashboards"}
	// without lists the columns whose rows DeleteOrganization deletes itself, because these rows start without an owner. An actor stays when
	// its user goes: the history of an issue names it, and it goes with its organization. The attempt to connect an account ends after ten
	// minutes, and nobody else can use it.
	without := map[string]bool{
		"device_logins.org_id": true, "device_logins.user_id": true, "issue_actors.user_id": true, "integration_logins.user_id": true,
	}
	tried := 0
	for _, table := range migrate.Tables {
		cascades := map[string]string{}
		for _, key := range table.ForeignKeys {
			if key.OnDelete == schema.Cascade {
				cascades[key.Columns[0].Name] = key.RefTable.Name
			}
		}
		for _, column := range table.Columns {
			place := table.Name + "." + column.Name
			owner, owned := owners[column.Name]
			if !owned || without[place] {
				continue
			}
			tried++
			if cascades[column.Name] != owner {
				t.Errorf("%s: rows stay when their row of %s goes: give the edge of %s entsql.OnDelete(entsql.Cascade)", place, owner, owner)
			}
		}
	}
	if tried < 15 {
		t.Errorf("only %d columns were found", tried)
	}
}
