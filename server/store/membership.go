package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/membership"
	"github.com/svc-observability/svc/server/principal"
)

// Membership is a user's role in an organization.
type Membership struct {
	Org       principal.OrgID
	User      principal.UserID
	Role      principal.Role
	CreatedAt time.Time
}

// CreateMembership makes a user a member. It returns ErrConflict if the user is already a member. It returns ErrNotFound if there is no
// such organization or user.
func (s *Store) CreateMembership(ctx context.Context, org principal.OrgID, user principal.UserID, role principal.Role) error {
	r, err := storedRole(role)
	if err != nil {
		return err
	}
	return s.mutate(ctx, "create membership", func(tx *ent.Tx) (Change, error) {
		if err := createMembership(ctx, tx, org, user, r, s.stamp()); err != nil {
			return Change{}, err
		}
		err := s.audit(ctx, tx, org, memberAdded(user, role))
		return Change{Subject: SubjectMembership, Org: org, User: user}, err
	})
}

func memberAdded(user principal.UserID, role principal.Role) AuditEvent {
	return AuditEvent{Action: "member.added", ResourceID: string(user), AffectedUser: user, After: map[string]any{"role": string(role)}}
}

func createMembership(
	ctx context.Context,
	tx *ent.Tx,
	org principal.OrgID,
	user principal.UserID,
	role membership.Role,
	now time.Time,
) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	return tx.Membership.Create().SetID(id).SetOrgID(string(org)).SetUserID(string(user)).SetRole(role).SetCreatedAt(now).Exec(ctx)
}

// RoleOf returns the user's role in the organization. It returns ErrNotFound if the user is not a member.
func (s *Store) RoleOf(ctx context.Context, org principal.OrgID, user principal.UserID) (principal.Role, error) {
	row, err := s.read.Membership.Query().Where(membership.OrgID(string(org)), membership.UserID(string(user))).Only(ctx)
	if err != nil {
		return "", mapError("get role", err)
	}
	return principal.Role(row.Role), nil
}

// MembershipsOf returns the user's memberships, oldest first.
func (s *Store) MembershipsOf(ctx context.Context, user principal.UserID) ([]Membership, error) {
	rows, err := s.read.Membership.Query().Where(membership.UserID(string(user))).
		Order(membership.ByCreatedAt(), membership.ByID()).All(ctx)
	if err != nil {
		return nil, mapError("list memberships", err)
	}
	return toMemberships(rows), nil
}

// UserOrganization is an organization and the role of one user there.
type UserOrganization struct {
	Organization
	Role principal.Role
}

// OrganizationsOf returns the organizations of a user, oldest membership first.
func (s *Store) OrganizationsOf(ctx context.Context, user principal.UserID) ([]UserOrganization, error) {
	rows, err := s.read.Membership.Query().Where(membership.UserID(string(user))).WithOrganization().
		Order(membership.ByCreatedAt(), membership.ByID()).All(ctx)
	if err != nil {
		return nil, mapError("list organizations of a user", err)
	}
	out := make([]UserOrganization, len(rows))
	for i, row := range rows {
		out[i] = UserOrganization{Organization: toOrganization(row.Edges.Organization), Role: principal.Role(row.Role)}
	}
	return out, nil
}

func toMemberships(rows []*ent.Membership) []Membership {
	out := make([]Membership, len(rows))
	for i, row := range rows {
		out[i] = Membership{
			Org: principal.OrgID(row.OrgID), User: principal.UserID(row.UserID), Role: principal.Role(row.Role), CreatedAt: utc(row.CreatedAt),
		}
	}
	return out
}

func storedRole(role principal.Role) (membership.Role, error) {
	r := membership.Role(role)
	if err := membership.RoleValidator(r); err != nil {
		return "", fmt.Errorf("store: role %q cannot be held by a member; use %q or %q", role, principal.RoleAdmin, principal.RoleMember)
	}
	return r, nil
}

// affected maps the outcome of a change that must affect a row.
func affected(op string, n int, err error) error {
	if err != nil {
		return mapError(op, err)
	}
	if n == 0 {
		return fmt.Errorf("store: %s: %w", op, ErrNotFound)
	}
	return nil
}
