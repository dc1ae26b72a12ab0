package auth

import (
	"context"
	"errors"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// A session ends SessionLifetime after the sign-in, or earlier when it was unused for SessionIdle.
const (
	SessionLifetime = limits.SessionLifetime
	SessionIdle     = limits.SessionIdle
)

// session returns a principal without an organization beside the error if the person has not chosen one.
func (a *Authenticator) session(ctx context.Context, token string, org principal.OrgID) (*principal.Principal, error) {
	e, err := a.liveSession(ctx, token)
	if err != nil {
		return nil, err
	}
	s := &e.value
	m, err := memberOf(s, org)
	if err != nil {
		if org != "" || s.Org != "" {
			return nil, err
		}
		a.touchSession(e)
		return &principal.Principal{User: s.User, Email: s.Email, Kind: principal.KindSession, CredentialID: s.ID.String()}, err
	}
	a.touchSession(e)
	return &principal.Principal{
		Org: m.Org, User: s.User, Email: s.Email, Kind: principal.KindSession, CredentialID: s.ID.String(), Role: m.Role,
	}, nil
}

// SignedInUser returns the user of a session token, without choosing an organization. It is for pages about the user. Anything
// about an organization goes through Authenticate. The error is always an *apierr.Error.
func (a *Authenticator) SignedInUser(ctx context.Context, token string) (store.SessionIdentity, error) {
	if kindOf(token) != kindSession {
		return store.SessionIdentity{}, apierr.New(apierr.InvalidCredentials, "This credential is not a session. Sign in.")
	}
	e, err := a.liveSession(ctx, token)
	if err != nil {
		return store.SessionIdentity{}, err
	}
	a.touchSession(e)
	return e.value, nil
}

// liveSession finds a session that has not ended.
func (a *Authenticator) liveSession(ctx context.Context, token string) (*entry[store.SessionIdentity], error) {
	hash := a.hasher.Hash(token)
	e, err := a.sessions.get(ctx, hash)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, apierr.New(apierr.AuthorizationUnavailable, "The session cannot be checked at the moment. Try again.", apierr.Cause(err))
	}
	if err != nil || !equalHash(e.value.TokenHash, hash) {
		return nil, apierr.New(apierr.InvalidCredentials, "This server does not know the session. Sign in again.")
	}
	s := &e.value
	now := a.now()
	lastUse := s.LastSeenAt
	if touched := time.Unix(0, e.touched.Load()); touched.After(lastUse) {
		lastUse = touched // recorded outside of the requests, so the copy may be older
	}
	if s.RevokedAt != nil || !now.Before(s.ExpiresAt) || now.Sub(lastUse) >= SessionIdle {
		return nil, apierr.New(apierr.InvalidCredentials, "The session has ended. Sign in again.")
	}
	return e, nil
}

func (a *Authenticator) touchSession(e *entry[store.SessionIdentity]) {
	if now := a.now(); e.touch(&e.value.LastSeenAt, now) {
		id := e.value.ID
		a.touches.add(func(ctx context.Context) error { return a.store.TouchSession(ctx, id, now) })
	}
}

// memberOf chooses the organization in which the session acts: the one that the request names, else the one of the sign-in, else
// the only one. If a choice fails, the next one does not replace it.
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
	// The answer must not show whether the organization exists.
	return store.Membership{}, apierr.New(apierr.OrganizationAccessDenied, "You are not a member of this organization.")
}
