package query

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
)

// TestSessionIDs: a filter of session.id takes the id that the sender gave a session, which is stored, and the public id, which people see.
func TestSessionIDs(t *testing.T) {
	t.Parallel()
	of := uuid.New()
	for id, stored := range map[string]string{
		publicid.EncodeText(publicid.SessionReplay, "visit-7"): "visit-7",
		publicid.Encode(publicid.SessionReplay, of):            of.String(),
		"visit-7":                            "visit-7",
		"srep_":                              "srep_",
		publicid.EncodeText("log", "a line"): publicid.EncodeText("log", "a line"),
	} {
		for _, where := range []string{"session.id = " + id, `session.id in (other, "` + id + `")`, "NOT session.id = " + id} {
			for _, s := range Sources() {
				filter, err := ParseWhere(s, where)
				if err != nil {
					t.Fatalf("%s: %s: %v", s, where, err)
				}
				b := &sqlbuild.Builder{}
				c := FilterSQL(b, s, filter)
				args := b.Statement(c.Join(0)).Args
				has := func(text string) bool {
					return slices.ContainsFunc(args, func(a warehouse.Arg) bool { return strings.HasPrefix(a.Name, "value") && a.Value == text })
				}
				if !has(stored) || stored != id && has(id) {
					t.Errorf("%s: %s reads %v, want %q", s, where, args, stored)
				}
			}
		}
	}
}
