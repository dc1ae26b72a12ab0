package auth

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// NewOAuthSecret returns 256 random bits as text, for an OAuth code or token. It has no prefix, unlike other secrets.
func NewOAuthSecret() string { return NewSecret("") }

// oauthToken finds the user of an access token of the MCP server's OAuth. It uses the membership and role that the user has now.
func (a *Authenticator) oauthToken(ctx context.Context, token string, org principal.OrgID) (*principal.Principal, error) {
	hash := a.hasher.Hash(token)
	e, err := a.oauth.get(ctx, hash)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, apierr.New(apierr.AuthorizationUnavailable, "The access token cannot be checked at the moment. Try again.", apierr.Cause(err))
	}
	if err != nil || !equalHash(e.value.TokenHash, hash) {
		return nil, apierr.New(apierr.InvalidCredentials, "This server does not know the credential. Check that you copied all of it.")
	}
	t := &e.value
	now := a.now()
	switch {
	case t.Grant.RevokedAt != nil:
		return nil, apierr.New(apierr.InvalidCredentials, "The access was revoked. Connect again.")
	case !now.Before(t.ExpiresAt) || !now.Before(t.Grant.ExpiresAt):
		return nil, apierr.New(apierr.InvalidCredentials, "The access token has expired. Refresh it, or connect again.")
	case t.Role == "":
		return nil, apierr.New(apierr.InvalidCredentials, "The user is no longer a member of the organization.")
	}
	p := &principal.Principal{
		Org: t.Grant.Org, User: t.Grant.User, Email: t.Email, Kind: principal.KindOAuth, Name: t.Grant.ClientName, Role: t.Role,
		Agent: agentID(&t.Grant),
	}
	if t.Grant.Scope != "*" {
		p.Scopes = strings.Fields(t.Grant.Scope)
	}
	if org != "" && org != t.Grant.Org {
		return p, apierr.New(apierr.OrganizationAccessDenied, "The access token belongs to another organization. Remove the x-svc-org-id header.")
	}
	return p, nil
}

// agents is the name space of agentID.
var agents = uuid.MustParse("6f1d1c5e-5f0e-4a53-9c47-8a2a3a0c1d27")

// agentID names a program that acts for a user in an organization. It stays the same when the user connects the program again.
func agentID(g *store.OAuthGrant) string {
	return publicid.Encode(publicid.Actor, uuid.NewSHA1(agents, []byte(string(g.Org)+" "+string(g.User)+" "+g.ClientID)))
}
