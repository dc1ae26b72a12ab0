package store

import (
	"context"
	"fmt"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/invitation"
	"github.com/svc-observability/svc/ent/membership"
	"github.com/svc-observability/svc/ent/user"
	"github.com/svc-observability/svc/server/principal"
)

// NewInvitation is an invitation to create.
type NewInvitation struct {
	Email     *string
	Role      principal.Role
	TokenHash string
	ExpiresAt time.Time
	CreatedBy principal.UserID
}

// Pending reports whether the invitation can be accepted at a time.
func (i *Invitation) Pending(now time.Time) bool {
	return i.AcceptedAt == nil && i.RevokedAt == nil && now.Before(i.ExpiresAt)
}

// CreateInvitation creates an invitation. It returns ErrConflict if the user with this address is already a member.
func (s *Store) CreateInvitation(ctx context.Context, org principal.OrgID, in NewInvitation) (Invitation, error) {
	role, err := storedRole(in.Role)
	if err != nil {
		return Invitation{}, err
	}
	var out Invitation
	err = s.tx(ctx, "create invitation", func(tx *ent.Tx) (err error) {
		row := Invitation{Org: org, Role: principal.Role(role), TokenHash: in.TokenHash, CreatedBy: in.CreatedBy, ExpiresAt: in.ExpiresAt}
		if in.Email != nil {
			email := normalEmail(*in.Email)
			member, err := tx.Membership.Query().Where(membership.OrgID(string(org)), membership.HasUserWith(user.Email(email))).Exist(ctx)
			if err != nil {
				return err
			}
			if member {
				return errMember
			}
			row.Email = &email
		}
		if out, err = s.insertInvitation(ctx, tx, row); err != nil {
			return err
		}
		return s.audit(ctx, tx, org, out.event("created", nil,
			map[string]any{"email": out.Email, "role": string(out.Role), "expires_at": out.ExpiresAt}))
	})
	return out, err
}

// ListInvitations returns invitations, newest first, ties by id. Request one more than a page to learn whether there is another
// page.
func (s *Store) ListInvitations(ctx context.Context, org principal.OrgID, offset, limit int) ([]Invitation, error) {
	rows, err := s.read.Invitation.Query().Where(invitation.OrgID(string(org))).
		Order(invitation.ByCreatedAt(entsql.OrderDesc()), invitation.ByID(entsql.OrderDesc())).Offset(offset).Limit(limit).All(ctx)
	return collect("list invitations", toInvitation, rows, err)
}

// RevokeInvitation makes the link useless. Revoking it again changes nothing. It returns ErrNotFound if there is no such invitation, or it
// was accepted.
func (s *Store) RevokeInvitation(ctx context.Context, org principal.OrgID, id uuid.UUID) (Invitation, error) {
	var out Invitation
	err := s.tx(ctx, "revoke invitation", func(tx *ent.Tx) error {
		n, err := tx.Invitation.Update().Where(invitation.ID(id), invitation.OrgID(string(org)), invitation.AcceptedAtIsNil(),
			invitation.RevokedAtIsNil()).
			SetRevokedAt(s.stamp()).Save(ctx)
		if err != nil {
			return err
		}
		row, err := tx.Invitation.Query().Where(invitation.ID(id), invitation.OrgID(string(org)), invitation.AcceptedAtIsNil()).Only(ctx)
		if err != nil {
			return err
		}
		out = toInvitation(row)
		if n == 0 {
			return nil
		}
		return s.audit(ctx, tx, org, out.event("revoked", map[string]any{"revoked": false}, map[string]any{"revoked": true}))
	})
	return out, err
}

// InvitationByHash finds an invitation by the hash of its token, with its organization. It also finds used, revoked and expired
// invitations.
func (s *Store) InvitationByHash(ctx context.Context, hash string) (Invitation, Organization, error) {
	row, err := s.read.Invitation.Query().Where(invitation.TokenHash(hash)).WithOrganization().Only(ctx)
	if err != nil {
		return Invitation{}, Organization{}, mapError("find invitation", err)
	}
	return toInvitation(row), toOrganization(row.Edges.Organization), nil
}

// errMember is the conflict when an invitation is for a member or when a member accepts one.
var errMember = fmt.Errorf("store: a membership %w", ErrConflict)

// AcceptInvitation makes a user a member, once for each invitation. The user exists already or, if create is set, is created. It returns
// ErrNotFound if the invitation is no longer pending. It returns ErrConflict if the user is already a member or, with create, the address
// is taken. The invitation then stays as it was.
func (s *Store) AcceptInvitation(ctx context.Context, inv Invitation, id principal.UserID, create *NewUser) (User, error) {
	var out User
	err := s.mutate(ctx, "accept invitation", func(tx *ent.Tx) (Change, error) {
		// Lock the organization first and the invitation second, in the same order as a deletion of the organization.
		if err := s.lockOrganization(ctx, tx, inv.Org); err != nil {
			return Change{}, err
		}
		now := s.stamp()
		n, err := tx.Invitation.Update().Where(
			invitation.ID(inv.ID), invitation.OrgID(string(inv.Org)), invitation.AcceptedAtIsNil(), invitation.RevokedAtIsNil(),
			invitation.ExpiresAtGT(now),
		).SetAcceptedAt(now).Save(ctx)
		if err := affected("accept invitation", n, err); err != nil {
			return Change{}, err
		}
		if create != nil {
			out, err = s.createUser(ctx, tx, *create)
		} else {
			out, err = getUser(ctx, tx.User, id)
		}
		if err != nil {
			return Change{}, err
		}
		member, err := tx.Membership.Query().Where(membership.OrgID(string(inv.Org)), membership.UserID(string(out.ID))).Exist(ctx)
		if err != nil {
			return Change{}, err
		}
		if member {
			return Change{}, errMember
		}
		role, err := storedRole(inv.Role)
		if err != nil {
			return Change{}, err
		}
		if err := createMembership(ctx, tx, inv.Org, out.ID, role, now); err != nil {
			return Change{}, err
		}
		if err := tx.Invitation.UpdateOneID(inv.ID).SetAcceptedBy(string(out.ID)).Exec(ctx); err != nil {
			return Change{}, err
		}
		e := inv.event("accepted", nil, nil)
		e.AffectedUser, e.Metadata = out.ID, map[string]any{"role": string(inv.Role)}
		// The actor is the user who accepts, in the organization that the user joins.
		actor := principal.WithResult(ctx, principal.Result{Principal: &principal.Principal{
			Org: inv.Org, User: out.ID, Email: out.Email, Name: out.Name, Kind: principal.KindSession, Role: inv.Role,
		}})
		return Change{Subject: SubjectMembership, Org: inv.Org, User: out.ID}, s.audit(actor, tx, inv.Org, e)
	})
	return out, err
}
