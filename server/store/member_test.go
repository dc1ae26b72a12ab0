package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/membership"
	"github.com/svc-observability/svc/server/principal"
)

// TestMembersWithoutUser: a membership whose user was deleted after it was read is left out, and nothing panics.
func TestMembersWithoutUser(t *testing.T) {
	t.Parallel()
	joined := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	rows := []*ent.Membership{
		{UserID: "user_gone", Role: membership.RoleMember},
		{
			UserID: "user_a", Role: membership.RoleAdmin, CreatedAt: joined,
			Edges: ent.MembershipEdges{User: &ent.User{Email: "a@example.com", Name: "A"}},
		},
	}
	got, err := toMembers("list members", rows, nil)
	want := []Member{{User: "user_a", Email: "a@example.com", Name: "A", Role: principal.RoleAdmin, JoinedAt: joined}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
}
