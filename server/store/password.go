package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/membership"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/ent/session"
	"github.com/svc-observability/svc/server/principal"
)

// ChangePassword replaces a user's password hash and ends the user's sessions except keep (uuid.Nil keeps no session). It returns the
// number of ended sessions and writes an entry to the audit log of each of the user's organizations. It returns ErrNotFound if there is no
// such user.
func (s *Store) ChangePassword(ctx context.Context, id principal.UserID, hash string, keep uuid.UUID) (int, error) {
	var gone []Change
	err := s.tx(ctx, "change password", func(tx *ent.Tx) error {
		if err := tx.User.UpdateOneID(string(id)).SetPasswordHash(hash).Exec(ctx); err != nil {
			return err
		}
		var err error
		if gone, err = s.endSessions(ctx, tx, id, keep); err != nil {
			return err
		}
		orgs, err := tx.Membership.Query().Where(membership.UserID(string(id))).Select(membership.FieldOrgID).Strings(ctx)
		if err != nil {
			return err
		}
		for _, org := range orgs {
			e := AuditEvent{
				Action:       "user.password_changed",
				ResourceID:   string(id),
				AffectedUser: id,
				Metadata:     map[string]any{"sessions_ended": len(gone)},
			}
			if err := s.audit(ctx, tx, principal.OrgID(org), e); err != nil {
				return err
			}
		}
		return nil
	})
	s.publishGone(gone, err)
	return len(gone), err
}

// endSessions ends the sessions of a user except keep, and returns the changes to publish.
func (s *Store) endSessions(ctx context.Context, tx *ent.Tx, id principal.UserID, keep uuid.UUID) ([]Change, error) {
	live := []predicate.Session{session.UserID(string(id)), session.RevokedAtIsNil(), session.IDNEQ(keep)}
	hashes, err := tx.Session.Query().Where(live...).Select(session.FieldTokenHash).Strings(ctx)
	if err != nil {
		return nil, err
	}
	if err := tx.Session.Update().Where(live...).SetRevokedAt(s.stamp()).Exec(ctx); err != nil {
		return nil, err
	}
	var gone []Change
	for _, hash := range hashes {
		c := Change{Subject: SubjectSession, Hash: hash, User: id, Gone: true}
		if err := s.announce(ctx, tx, c); err != nil {
			return nil, err
		}
		gone = append(gone, c)
	}
	return gone, nil
}

// publishGone publishes the credentials that a transaction made invalid. err is the outcome of the transaction (see mutate).
func (s *Store) publishGone(gone []Change, err error) {
	for _, c := range gone {
		c.Gone = c.Gone && err == nil
		s.publish(c)
	}
}
