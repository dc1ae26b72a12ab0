package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/session"
	"github.com/svc-observability/svc/server/principal"
)

// NewSession is a session to create.
type NewSession struct {
	User      principal.UserID
	Org       principal.OrgID
	TokenHash string
	UserAgent string
	ExpiresAt time.Time
}

// SessionIdentity is a session with the rights of its user, read in one consistent step.
type SessionIdentity struct {
	Session
	Email string
	// Memberships are oldest first.
	Memberships []Membership
}

// CreateSession records a sign-in. It returns ErrNotFound if there is no such user or organization.
func (s *Store) CreateSession(ctx context.Context, in NewSession) (Session, error) {
	var out Session
	err := s.tx(ctx, "create session", func(tx *ent.Tx) (err error) {
		now := s.stamp()
		out, err = s.insertSession(ctx, tx, Session{
			User: in.User, Org: in.Org, TokenHash: in.TokenHash, UserAgent: in.UserAgent, CreatedAt: now, LastSeenAt: now, ExpiresAt: in.ExpiresAt,
		})
		if err != nil {
			return err
		}
		return s.auditSession(ctx, tx, out, "created")
	})
	return out, err
}

// auditSession records the start or end of a session that acts in one organization. A session without an organization has no
// entry, because each entry belongs to one organization.
func (s *Store) auditSession(ctx context.Context, tx *ent.Tx, session Session, verb string) error {
	if session.Org == "" {
		return nil
	}
	return s.audit(ctx, tx, session.Org, AuditEvent{Action: "session." + verb, AffectedUser: session.User})
}

// GetSession returns a session of the user.
func (s *Store) GetSession(ctx context.Context, user principal.UserID, id uuid.UUID) (Session, error) {
	row, err := s.read.Session.Query().Where(session.ID(id), session.UserID(string(user))).Only(ctx)
	return single("get session", toSession, row, err)
}

// SessionByHash finds a session by the hash of its token, with its user's email address and memberships. It also finds revoked
// and expired sessions; the caller must check for them.
func (s *Store) SessionByHash(ctx context.Context, hash string) (SessionIdentity, error) {
	row, err := s.read.Session.Query().Where(session.TokenHash(hash)).
		WithUser(func(q *ent.UserQuery) { q.WithMemberships() }).Only(ctx)
	if err != nil {
		return SessionIdentity{}, mapError("find session", err)
	}
	return SessionIdentity{
		Session: toSession(row), Email: row.Edges.User.Email, Memberships: toMemberships(row.Edges.User.Edges.Memberships),
	}, nil
}

// TouchSession records that the session was used. Within TouchInterval of the last record it writes nothing.
func (s *Store) TouchSession(ctx context.Context, id uuid.UUID, at time.Time) error {
	at = utc(at)
	err := s.write.Session.Update().Where(session.ID(id), session.LastSeenAtLTE(at.Add(-TouchInterval))).SetLastSeenAt(at).Exec(ctx)
	if err != nil {
		return mapError("touch session", err)
	}
	return nil
}

// RevokeSession ends a user's session. Ending it again changes nothing.
func (s *Store) RevokeSession(ctx context.Context, user principal.UserID, id uuid.UUID) error {
	return s.mutate(ctx, "revoke session", func(tx *ent.Tx) (Change, error) {
		row, err := tx.Session.Query().Where(session.ID(id), session.UserID(string(user))).Only(ctx)
		if err != nil {
			return Change{}, err
		}
		n, err := tx.Session.Update().Where(session.ID(id), session.RevokedAtIsNil()).SetRevokedAt(s.stamp()).Save(ctx)
		if err == nil && n > 0 {
			err = s.auditSession(ctx, tx, toSession(row), "ended")
		}
		return Change{Subject: SubjectSession, Hash: row.TokenHash, User: user, Gone: true}, err
	})
}
