package auth

import (
	"context"
	"errors"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
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
	}
	if t.Grant.Scope != "*" {
		p.Scopes = strings.Fields(t.Grant.Scope)
	}
	if org != "" && org != t.Grant.Org {
		return p, apierr.New(apierr.OrganizationAccessDenied, "The access token belongs to another organization. Remove the x-svc-org-id header.")
	}
	return p, nil
}
