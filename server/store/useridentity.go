package store

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/invitation"
	"github.com/svc-observability/svc/ent/membership"
	"github.com/svc-observability/svc/ent/useridentity"
	"github.com/svc-observability/svc/server/principal"
)

// UserByIdentity finds the user who is linked to a subject of an OpenID Connect provider.
func (s *Store) UserByIdentity(ctx context.Context, issuer, subject string) (User, error) {
	row, err := s.read.UserIdentity.Query().Where(useridentity.Issuer(issuer), useridentity.Subject(subject)).WithUser().Only(ctx)
	if err != nil {
		return User{}, mapError("find user by identity", err)
	}
	return toUser(row.Edges.User), nil
}

// LinkIdentity links a user to a subject of a provider, which has proved who owns the user's address. An account that was made with an
// invitation link for anybody never proved its address. Such an account loses its password and its sessions, because they may belong to
// somebody else. It returns ErrConflict if the subject is already linked to a user. It returns ErrNotFound if there is no such user.
func (s *Store) LinkIdentity(ctx context.Context, user principal.UserID, issuer, subject string) error {
	var gone []Change
	err := s.tx(ctx, "link identity", func(tx *ent.Tx) error {
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		err = tx.UserIdentity.Create().SetID(id).SetUserID(string(user)).SetIssuer(issuer).SetSubject(subject).SetCreatedAt(s.stamp()).Exec(ctx)
		if err != nil {
			return err
		}
		dropped, err := s.dropUnproved(ctx, tx, user, &gone)
		if err != nil {
			return err
		}
		rows, err := tx.Membership.Query().Where(membership.UserID(string(user))).WithUser().All(ctx)
		if err != nil {
			return err
		}
		for _, m := range rows {
			org := principal.OrgID(m.OrgID)
			e := AuditEvent{
				Action: "user_identity.linked", AffectedUser: user,
				Metadata: map[string]any{"issuer": issuer, "subject": subject, "password_removed": dropped},
			}
			if err := s.audit(asUser(ctx, org, toUser(m.Edges.User), principal.Role(m.Role)), tx, org, e); err != nil {
				return err
			}
		}
		return nil
	})
	s.publishGone(gone, err)
	return err
}

// unprovedWithin bounds the time between the acceptance of an invitation and the creation of the account that it made. Both
// happen in one transaction.
const unprovedWithin = time.Minute

// dropUnproved removes the password, the sessions and the connected programs of an account that was made with an invitation
// without an address.
func (s *Store) dropUnproved(ctx context.Context, tx *ent.Tx, id principal.UserID, gone *[]Change) (bool, error) {
	row, err := tx.User.Get(ctx, string(id))
	if err != nil || row.PasswordHash == "" {
		return false, err
	}
	unproved, err := tx.Invitation.Query().Where(
		invitation.AcceptedBy(row.ID), invitation.EmailIsNil(), invitation.AcceptedAtLTE(row.CreatedAt),
		invitation.AcceptedAtGTE(row.CreatedAt.Add(-unprovedWithin)),
	).Exist(ctx)
	if err != nil || !unproved {
		return false, err
	}
	if err := tx.User.UpdateOneID(row.ID).SetPasswordHash("").Exec(ctx); err != nil {
		return false, err
	}
	sessions, err := s.endSessions(ctx, tx, id, uuid.Nil)
	if err != nil {
		return false, err
	}
	grants, err := s.revokeGrants(ctx, tx, id, "", "the account was taken over by the owner of its address")
	if err != nil {
		return false, err
	}
	for _, c := range grants {
		if err := s.announce(ctx, tx, c); err != nil {
			return false, err
		}
	}
	*gone = slices.Concat(grants, sessions)
	return true, nil
}

// JoinOrganization makes a user a member because of a rule of the operator. The user is the existing user id or, if create is set, a new
// one. It returns ErrConflict if the user is already a member or, with create, the address is taken. It returns ErrNotFound if there is no
// such organization or user.
func (s *Store) JoinOrganization(
	ctx context.Context, org principal.OrgID, id principal.UserID, create *NewUser, role principal.Role, rule string,
) (User, error) {
	r, err := storedRole(role)
	if err != nil {
		return User{}, err
	}
	var out User
	err = s.mutate(ctx, "join organization", func(tx *ent.Tx) (Change, error) {
		if create != nil {
			out, err = s.createUser(ctx, tx, *create)
		} else {
			out, err = getUser(ctx, tx.User, id)
		}
		if err != nil {
			return Change{}, err
		}
		if err := createMembership(ctx, tx, org, out.ID, r, s.stamp()); err != nil {
			return Change{}, err
		}
		err := s.audit(asUser(ctx, org, out, role), tx, org, AuditEvent{
			Action: "member.added", ResourceID: string(out.ID), AffectedUser: out.ID,
			After: map[string]any{"role": string(role), "email": out.Email}, Metadata: map[string]any{"rule": rule},
		})
		return Change{Subject: SubjectMembership, Org: org, User: out.ID}, err
	})
	return out, err
}

// asUser makes a user the actor of the context, in a flow that has no session yet.
func asUser(ctx context.Context, org principal.OrgID, u User, role principal.Role) context.Context {
	return principal.WithResult(ctx, principal.Result{Principal: &principal.Principal{
		Org: org, User: u.ID, Email: u.Email, Name: u.Name, Kind: principal.KindSession, Role: role,
	}})
}
