package auth

import (
	"context"
	"errors"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// SessionLifetime is how long a sign-in lasts.
const SessionLifetime = 30 * 24 * time.Hour

func (a *Authenticator) session(ctx context.Context, token string, org principal.OrgID) (*principal.Principal, error) {
	hash := a.hasher.Hash(token)
	e, err := a.sessions.get(ctx, hash)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, apierr.New(apierr.AuthorizationUnavailable, "The session cannot be checked at the moment. Try again.", apierr.Cause(err))
	}
	if err != nil || !equalHash(e.value.TokenHash, hash) {
		return nil, apierr.New(apierr.InvalidCredentials, "The session is not known here. Sign in again.")
	}
	s := &e.value
	now := a.now()
	if s.RevokedAt != nil || !now.Before(s.ExpiresAt) {
		return nil, apierr.New(apierr.InvalidCredentials, "The session has ended. Sign in again.")
	}
	m, err := memberOf(s, org)
	if err != nil {
		return nil, err
	}
	if e.touch(&s.LastSeenAt, now) {
		id := s.ID
		a.touches.add(func(ctx context.Context) error { return a.store.TouchSession(ctx, id, now) })
	}
	return &principal.Principal{
		Org: m.Org, User: s.User, Email: s.Email, Kind: principal.KindSession, CredentialID: s.ID.String(), Role: m.Role,
	}, nil
}

// memberOf chooses the organization in which the session acts: the one the request names, else the one of the sign-in, else the
// only one. A choice that fails is never replaced by the next.
func memberOf(s *store.SessionIdentity, org principal.OrgID) (store.Membership, error) {
	if org == "" {
		org = s.Org
	}
	if org == "" {
		if len(s.Memberships) == 1 {
			return s.Memberships[0], nil
		}
		message := "You belong to several organizations. Name one in the x-svc-org-id header."
		if len(s.Memberships) == 0 {
			message = "You do not belong to any organization. Ask an administrator to add you."
		}
		return store.Membership{}, apierr.New(apierr.OrganizationAccessDenied, message)
	}
	for _, m := range s.Memberships {
		if m.Org == org {
			return m, nil
		}
	}
	// The same answer whether the organization exists or not.
	return store.Membership{}, apierr.New(apierr.OrganizationAccessDenied, "You are not a member of this organization.")
}

// ErrSignIn: no such user, or the password is wrong. Deliberately one error.
var ErrSignIn = errors.New("the email address or the password is wrong")

// SessionStore is what signing in needs of the relational store.
type SessionStore interface {
	UserByEmail(ctx context.Context, email string) (store.User, error)
	CreateSession(ctx context.Context, in store.NewSession) (store.Session, error)
}

// SignIn checks a password and starts a session. The token is returned once and never stored. Unknown users take as long as
// wrong passwords. Errors: ErrSignIn, or one of the store.
func SignIn(ctx context.Context, st SessionStore, h *Hasher, p *Passwords, in SignInParams) (token string, s store.Session, err error) {
	user, err := st.UserByEmail(ctx, in.Email)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", store.Session{}, err
	}
	ok, err := p.Verify(ctx, user.PasswordHash, in.Password)
	if err != nil {
		return "", store.Session{}, err
	}
	if !ok {
		return "", store.Session{}, ErrSignIn
	}
	now := in.Now
	if now.IsZero() {
		now = time.Now()
	}
	token = NewSecret(PrefixSession)
	s, err = st.CreateSession(ctx, store.NewSession{
		User: user.ID, TokenHash: h.Hash(token), UserAgent: in.UserAgent, ExpiresAt: now.Add(SessionLifetime),
	})
	if err != nil {
		return "", store.Session{}, err
	}
	return token, s, nil
}

// SignInParams is one attempt to sign in.
type SignInParams struct {
	Email     string
	Password  string
	UserAgent string
	// Now is the time of the attempt; zero means the clock's.
	Now time.Time
}
