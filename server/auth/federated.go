package auth

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Identity has the claims of an OpenID Connect provider about a person who signed in there.
type Identity struct {
	Issuer, Subject string
	Email           string
	// EmailVerified means that the provider vouches that the address belongs to the person.
	EmailVerified bool
	Name          string
	// Picture is the URL of a picture of the person; empty without one.
	Picture string
}

// JoinRule makes everybody who signs in with a verified address of a domain a member of one organization. The zero value makes
// nobody a member.
type JoinRule struct {
	// Organization is an id, `org_…`, or a slug.
	Organization string
	// Domains are in lower case.
	Domains []string
}

func (r JoinRule) covers(email string) bool {
	_, domain, ok := strings.Cut(email, "@")
	return ok && r.Organization != "" && slices.Contains(r.Domains, domain)
}

// FederatedStore is the part of the relational store that signing in with a provider needs.
type FederatedStore interface {
	UserByIdentity(ctx context.Context, issuer, subject string) (store.User, error)
	UserByEmail(ctx context.Context, email string) (store.User, error)
	SetUserAvatar(ctx context.Context, id principal.UserID, url string) error
	LinkIdentity(ctx context.Context, user principal.UserID, issuer, subject string) error
	InvitationByHash(ctx context.Context, hash string) (store.Invitation, store.Organization, error)
	AcceptInvitation(ctx context.Context, inv store.Invitation, id principal.UserID, create *store.NewUser) (store.User, error)
	MembershipsOf(ctx context.Context, user principal.UserID) ([]store.Membership, error)
	ListOrganizations(ctx context.Context) ([]store.Organization, error)
	JoinOrganization(ctx context.Context, org principal.OrgID, id principal.UserID, create *store.NewUser, role principal.Role,
		rule string) (store.User, error)
}

// FederatedConfig configures a Federated.
type FederatedConfig struct {
	Store  FederatedStore
	SignIn *SignIn
	Join   JoinRule
}

// Federated starts sessions for people whom a provider has identified. It is safe for concurrent use.
type Federated struct{ FederatedConfig }

// NewFederated returns a Federated.
func NewFederated(cfg FederatedConfig) *Federated { return &Federated{cfg} }

// Start finds the user of an identity and starts a session. It prefers the user who used the identity before, else the user who
// has the verified address. The token of an invitation means that the person has agreed to join, as that user or as a new one.
// Otherwise only the join rule creates accounts and memberships. The error is always an *apierr.Error.
func (f *Federated) Start(ctx context.Context, id Identity, invitation string) (SignedIn, error) {
	user, err := f.find(ctx, id)
	if err != nil {
		return SignedIn{}, err
	}
	var org principal.OrgID
	if invitation != "" {
		if user, org, err = f.accept(ctx, id, user, invitation); err != nil {
			return SignedIn{}, err
		}
	}
	if id.EmailVerified && f.Join.covers(address(id)) {
		if user, err = f.join(ctx, id, user); err != nil {
			return SignedIn{}, err
		}
	}
	if user == nil {
		return SignedIn{}, apierr.New(apierr.OrganizationAccessDenied,
			"No account has the address "+address(id)+". Ask an administrator for an invitation, and open its link.")
	}
	if picture := pictureURL(id.Picture); picture != "" && (user.AvatarURL == nil || *user.AvatarURL != picture) {
		if err := f.Store.SetUserAvatar(ctx, user.ID, picture); err != nil {
			return SignedIn{}, signInUnavailable(ctx, err)
		}
	}
	return f.SignIn.Start(ctx, *user, org)
}

// pictureURL returns the URL of a picture that a page can show, and nothing for other texts.
func pictureURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || len(text) > limits.AvatarURL || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}

// address returns an address in the form in which addresses are stored.
func address(id Identity) string { return strings.ToLower(strings.TrimSpace(id.Email)) }

// find returns nil for an unknown person, who may still be allowed to join.
func (f *Federated) find(ctx context.Context, id Identity) (*store.User, error) {
	user, err := f.Store.UserByIdentity(ctx, id.Issuer, id.Subject)
	switch {
	case err == nil:
		return &user, nil
	case !errors.Is(err, store.ErrNotFound):
		return nil, signInUnavailable(ctx, err)
	case address(id) == "" || !id.EmailVerified:
		// A person who can write any address into an account at the provider must not become the user who has that address here.
		return nil, apierr.New(apierr.SignInFailed, "The provider has not verified your email address. Verify it there, then sign in again.")
	}
	user, err = f.Store.UserByEmail(ctx, id.Email)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, signInUnavailable(ctx, err)
	}
	return &user, f.link(ctx, id, user.ID)
}

func (f *Federated) link(ctx context.Context, id Identity, user principal.UserID) error {
	err := f.Store.LinkIdentity(ctx, user, id.Issuer, id.Subject)
	if errors.Is(err, store.ErrConflict) { // a sign-in in another tab was faster
		other, oerr := f.Store.UserByIdentity(ctx, id.Issuer, id.Subject)
		if oerr == nil && other.ID == user {
			return nil
		}
	}
	if err != nil {
		return signInUnavailable(ctx, err)
	}
	return nil
}

// accept joins the organization of an invitation, and creates the user if there is no such user. A person who is already a member
// keeps the membership.
func (f *Federated) accept(ctx context.Context, id Identity, user *store.User, token string) (*store.User, principal.OrgID, error) {
	inv, org, err := f.Store.InvitationByHash(ctx, f.SignIn.hasher.Hash(token))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, "", signInUnavailable(ctx, err)
	}
	gone := func(cause error) error {
		return apierr.New(
			apierr.InvitationNotFound,
			"This invitation does not exist, was used or revoked, or has expired. Ask for a new one.",
			apierr.Cause(cause),
		)
	}
	if err != nil || !inv.Pending(f.SignIn.now()) {
		return nil, "", gone(err)
	}
	var who principal.UserID
	var create *store.NewUser
	email := address(id)
	if user != nil {
		who, email = user.ID, user.Email
	} else {
		create = &store.NewUser{Email: email, Name: id.Name}
	}
	if inv.Email != nil && *inv.Email != email {
		return nil, "", apierr.New(apierr.OrganizationForbidden, "The invitation is for another email address, not for "+email+".")
	}
	joined, err := f.Store.AcceptInvitation(ctx, inv, who, create)
	switch {
	case errors.Is(err, store.ErrConflict) && user != nil: // a member already
		return user, org.ID, nil
	case errors.Is(err, store.ErrNotFound):
		return nil, "", gone(err)
	case err != nil:
		return nil, "", signInUnavailable(ctx, err)
	}
	if create != nil {
		return &joined, org.ID, f.link(ctx, id, joined.ID)
	}
	return &joined, org.ID, nil
}

// join applies the join rule. The operator named its organization.
func (f *Federated) join(ctx context.Context, id Identity, user *store.User) (*store.User, error) {
	all, err := f.Store.ListOrganizations(ctx)
	if err != nil {
		return nil, signInUnavailable(ctx, err)
	}
	i := slices.IndexFunc(all, func(o store.Organization) bool {
		return string(o.ID) == f.Join.Organization || o.Slug == f.Join.Organization
	})
	if i < 0 {
		if user != nil {
			return user, nil // a known user signs in as before
		}
		return nil, apierr.New(apierr.OrganizationAccessDenied,
			"The organization that new users join does not exist. Ask the operator of this server.")
	}
	var who principal.UserID
	var create *store.NewUser
	if user == nil {
		create = &store.NewUser{Email: address(id), Name: id.Name}
	} else {
		who = user.ID
		memberships, err := f.Store.MembershipsOf(ctx, who)
		if err != nil {
			return nil, signInUnavailable(ctx, err)
		}
		if slices.ContainsFunc(memberships, func(m store.Membership) bool { return m.Org == all[i].ID }) {
			return user, nil
		}
	}
	joined, err := f.Store.JoinOrganization(ctx, all[i].ID, who, create, principal.RoleMember, "oidc-join-domains")
	if err != nil {
		return nil, signInUnavailable(ctx, err)
	}
	if create != nil {
		return &joined, f.link(ctx, id, joined.ID)
	}
	return &joined, nil
}
