package auth

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// SignInStore is the part of the relational store that signing in needs.
type SignInStore interface {
	UserByEmail(ctx context.Context, email string) (store.User, error)
	OrganizationsOf(ctx context.Context, user principal.UserID) ([]store.UserOrganization, error)
	CreateSession(ctx context.Context, in store.NewSession) (store.Session, error)
	RevokeSession(ctx context.Context, user principal.UserID, id uuid.UUID) error
}

// SignInConfig configures a SignIn.
type SignInConfig struct {
	Store     SignInStore
	Hasher    *Hasher
	Passwords *Passwords
	// Shared counts the attempts of all nodes together. With nil, this process counts its own attempts.
	Shared Buckets
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// SignIn starts sessions. It is safe for concurrent use.
type SignIn struct {
	store     SignInStore
	hasher    *Hasher
	passwords *Passwords
	throttle  *Throttle
	now       func() time.Time
}

// NewSignIn returns a SignIn.
func NewSignIn(cfg SignInConfig) *SignIn {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &SignIn{
		store: cfg.Store, hasher: cfg.Hasher, passwords: cfg.Passwords, throttle: NewThrottle("sign-in", cfg.Shared, cfg.Now), now: cfg.Now,
	}
}

// SignedIn is a session that was just started. The token is not stored anywhere.
type SignedIn struct {
	Token   string
	User    store.User
	Session store.Session
	// Organizations lists the user's organizations, oldest membership first. Session.Org is one of them, or empty.
	Organizations []store.UserOrganization
}

// Password checks a password and starts a session in the organization. If org is empty and the user has several organizations,
// the session starts without one. Unknown users take as long as wrong passwords and get the same error. The error is always an
// *apierr.Error.
func (s *SignIn) Password(ctx context.Context, email, password string, org principal.OrgID) (SignedIn, error) {
	user, err := s.CheckPassword(ctx, email, password)
	if err != nil {
		return SignedIn{}, err
	}
	return s.Start(ctx, user, org)
}

// CheckPassword does the same as Password but starts no session.
func (s *SignIn) CheckPassword(ctx context.Context, email, password string) (store.User, error) {
	address, account := principal.OriginFrom(ctx).IP, strings.ToLower(strings.TrimSpace(email))
	attempt, wait := s.throttle.Take(address, account)
	if attempt == nil {
		return store.User{}, apierr.New(apierr.SignInThrottled,
			"Too many sign-in attempts failed from this address or for this account. Wait, then try again.",
			apierr.RetryAfter(wait))
	}
	user, err := s.store.UserByEmail(ctx, email)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return store.User{}, signInUnavailable(ctx, err)
	}
	room := Anybody
	if attempt.Familiar {
		room = Familiar
	}
	ok, err := s.passwords.Verify(ctx, user.PasswordHash, password, room)
	switch {
	case errors.Is(err, ErrPasswordsBusy):
		attempt.GiveBack()
		return store.User{}, errBusy()
	case err != nil:
		return store.User{}, signInUnavailable(ctx, err)
	case !ok:
		return store.User{}, apierr.New(apierr.SignInFailed, "The email address or the password is wrong.")
	}
	attempt.Succeeded()
	return user, nil
}

// Start starts a session for a user whose identity was proved.
func (s *SignIn) Start(ctx context.Context, user store.User, org principal.OrgID) (SignedIn, error) {
	orgs, err := s.store.OrganizationsOf(ctx, user.ID)
	if err != nil {
		return SignedIn{}, signInUnavailable(ctx, err)
	}
	out := SignedIn{User: user, Organizations: orgs}
	chosen, err := choose(orgs, org)
	if err != nil {
		return SignedIn{}, err
	}
	out.Token = NewSecret(PrefixSession)
	// The audit log names the new session as the actor.
	ctx = principal.WithResult(ctx, principal.Result{
		Principal: &principal.Principal{Org: chosen, User: user.ID, Email: user.Email, Kind: principal.KindSession},
	})
	out.Session, err = s.store.CreateSession(ctx, store.NewSession{
		User: user.ID, Org: chosen, TokenHash: s.hasher.Hash(out.Token), UserAgent: principal.OriginFrom(ctx).UserAgent,
		ExpiresAt: s.now().Add(SessionLifetime),
	})
	if err != nil {
		return SignedIn{}, signInUnavailable(ctx, err)
	}
	return out, nil
}

// End ends a session. From then on, its token is refused.
func (s *SignIn) End(ctx context.Context, session store.SessionIdentity) error {
	ctx = principal.WithResult(ctx, principal.Result{Principal: &principal.Principal{
		Org: session.Org, User: session.User, Email: session.Email, Kind: principal.KindSession, CredentialID: session.ID.String(),
	}})
	if err := s.store.RevokeSession(ctx, session.User, session.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return signInUnavailable(ctx, err)
	}
	return nil
}

// choose returns the organization of a new session: the named one, or the user's only one, or an empty id.
func choose(orgs []store.UserOrganization, org principal.OrgID) (principal.OrgID, error) {
	for _, o := range orgs {
		if o.ID == org || org == "" && len(orgs) == 1 {
			return o.ID, nil
		}
	}
	switch {
	case len(orgs) == 0:
		return "", apierr.New(apierr.OrganizationAccessDenied, "You do not belong to any organization. Ask an administrator to invite you.")
	case org != "":
		return "", apierr.New(apierr.OrganizationAccessDenied, "You are not a member of this organization.")
	default:
		return "", nil
	}
}

func errBusy() error {
	return apierr.New(apierr.SignInThrottled, "Too many people are signing in at the moment. Wait a few seconds, then try again.")
}

func signInUnavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return apierr.From(ctx.Err())
	}
	return apierr.New(apierr.AuthorizationUnavailable, "Signing in is not possible at the moment. Try again.", apierr.Cause(err))
}
