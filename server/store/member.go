package store

import (
	"context"
	"slices"
	"time"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/integrationidentity"
	"github.com/svc-observability/svc/ent/membership"
	"github.com/svc-observability/svc/ent/savedview"
	"github.com/svc-observability/svc/server/principal"
)

// Member is a user in an organization.
type Member struct {
	User     principal.UserID
	Email    string
	Name     string
	Role     principal.Role
	JoinedAt time.Time
}

// ListMembers returns members, the oldest membership first, ties by id. Request one more than a page to learn whether there is
// another page.
func (s *Store) ListMembers(ctx context.Context, org principal.OrgID, offset, limit int) ([]Member, error) {
	rows, err := s.read.Membership.Query().Where(membership.OrgID(string(org))).WithUser().
		Order(membership.ByCreatedAt(), membership.ByID()).Offset(offset).Limit(limit).All(ctx)
	return toMembers("list members", rows, err)
}

// MembersByID returns those of the users that are members of the organization.
func (s *Store) MembersByID(ctx context.Context, org principal.OrgID, users []principal.UserID) ([]Member, error) {
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = string(u)
	}
	rows, err := s.read.Membership.Query().Where(membership.OrgID(string(org)), membership.UserIDIn(ids...)).WithUser().
		Order(membership.ByCreatedAt(), membership.ByID()).All(ctx)
	return toMembers("find members", rows, err)
}

// SetRole changes a member's role. It returns ErrNotFound if the user is not a member. It returns ErrLastAdministrator if no administrator
// would be left.
func (s *Store) SetRole(ctx context.Context, org principal.OrgID, user principal.UserID, role principal.Role) (Member, error) {
	r, err := storedRole(role)
	if err != nil {
		return Member{}, err
	}
	var out Member
	err = s.mutate(ctx, "set role", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockMember(ctx, tx, org, user, r != membership.RoleAdmin)
		if err != nil {
			return Change{}, err
		}
		out = toMember(row)
		if row.Role == r {
			return Change{}, nil
		}
		if err := tx.Membership.UpdateOneID(row.ID).SetRole(r).Exec(ctx); err != nil {
			return Change{}, err
		}
		out.Role = role
		err = s.audit(ctx, tx, org, AuditEvent{
			Action: "member.role_changed", ResourceID: string(user), AffectedUser: user,
			Before: map[string]any{"role": string(row.Role)}, After: map[string]any{"role": string(role)},
		})
		return Change{Subject: SubjectMembership, Org: org, User: user}, err
	})
	return out, err
}

// DeleteMembership ends a membership. It revokes the user's grants to programs in the organization, and removes the user's links with
// persons of providers and private saved views; shared views stay. It returns ErrNotFound if the user is not a member. It returns
// ErrLastAdministrator if no administrator would be left.
func (s *Store) DeleteMembership(ctx context.Context, org principal.OrgID, user principal.UserID) error {
	return s.mutate(ctx, "delete membership", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockMember(ctx, tx, org, user, true)
		if err != nil {
			return Change{}, err
		}
		if err := tx.Membership.DeleteOneID(row.ID).Exec(ctx); err != nil {
			return Change{}, err
		}
		if _, err := tx.IntegrationIdentity.Delete().
			Where(integrationidentity.OrgID(string(org)), integrationidentity.UserID(string(user))).Exec(ctx); err != nil {
			return Change{}, err
		}
		if _, err := tx.SavedView.Delete().Where(
			savedview.OrgID(string(org)), savedview.UserID(string(user)), savedview.VisibilityEQ(savedview.VisibilityPrivate),
		).Exec(ctx); err != nil {
			return Change{}, err
		}
		// The announced change of the membership also covers the grants in caches.
		if _, err := s.revokeGrants(ctx, tx, user, org, reasonNoMember); err != nil {
			return Change{}, err
		}
		err = s.audit(ctx, tx, org, AuditEvent{
			Action: "member.removed", ResourceID: string(user), AffectedUser: user,
			Before: map[string]any{"role": string(row.Role), "email": row.Edges.User.Email},
		})
		return Change{Subject: SubjectMembership, Org: org, User: user}, err
	})
}

// lockMember finds a member and locks the organization for a change. leaves says that the member will not be an administrator
// afterwards.
func (s *Store) lockMember(
	ctx context.Context,
	tx *ent.Tx,
	org principal.OrgID,
	user principal.UserID,
	leaves bool,
) (*ent.Membership, error) {
	// Two administrators who remove each other concurrently must not both succeed.
	if err := s.lockOrganization(ctx, tx, org); err != nil {
		return nil, err
	}
	row, err := tx.Membership.Query().Where(membership.OrgID(string(org)), membership.UserID(string(user))).WithUser().Only(ctx)
	if err == nil && row.Edges.User == nil { // deleted since the membership was read
		err = ErrNotFound
	}
	if err != nil || !leaves || row.Role != membership.RoleAdmin {
		return row, err
	}
	n, err := tx.Membership.Query().Where(membership.OrgID(string(org)), membership.RoleEQ(membership.RoleAdmin)).Count(ctx)
	if err == nil && n < 2 {
		err = ErrLastAdministrator
	}
	return row, err
}

// toMembers leaves out memberships without a user. Users are read after the memberships, so a user may be deleted in between.
func toMembers(op string, rows []*ent.Membership, err error) ([]Member, error) {
	rows = slices.DeleteFunc(rows, func(row *ent.Membership) bool { return row.Edges.User == nil })
	return collect(op, toMember, rows, err)
}

func toMember(row *ent.Membership) Member {
	return Member{
		User:     principal.UserID(row.UserID),
		Email:    row.Edges.User.Email,
		Name:     row.Edges.User.Name,
		Role:     principal.Role(row.Role),
		JoinedAt: utc(row.CreatedAt),
	}
}
