package auth

import (
	"context"
	"errors"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func (a *Authenticator) apiKey(ctx context.Context, token string, org principal.OrgID) (*principal.Principal, error) {
	hash := a.hasher.Hash(token)
	e, err := a.keys.get(ctx, hash)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, apierr.New(apierr.ApiKeyLookupPersistence, "The API key cannot be checked at the moment. Try again.", apierr.Cause(err))
	}
	if err != nil || !equalHash(e.value.SecretHash, hash) {
		return nil, apierr.New(apierr.InvalidCredentials,
			"This server does not know the API key. Check that you copied all of it and that it belongs to this region.")
	}
	key := &e.value
	now := a.now()
	switch {
	case key.RevokedAt != nil:
		return nil, apierr.New(apierr.InvalidCredentials, "The API key was revoked. Use another one.")
	case key.ExpiresAt != nil && !now.Before(*key.ExpiresAt):
		return nil, apierr.New(apierr.InvalidCredentials, "The API key has expired. Create a new one.")
	}
	p := &principal.Principal{
		Org: key.Org, User: key.CreatedBy, Kind: principal.KindAPIKey, Name: key.Name, CredentialID: publicid.Encode(publicid.APIKey, key.ID),
		Role: principal.RoleRoot, Scopes: key.Scopes,
	}
	if key.CreatedByEmail != nil {
		p.Email = *key.CreatedByEmail
	}
	if key.Kind == store.ApiKeyMCP {
		p.Kind = principal.KindMCPKey
	}
	if org != "" && org != key.Org {
		return p, apierr.New(apierr.OrganizationAccessDenied, "The API key belongs to another organization. Remove the x-svc-org-id header.")
	}
	if e.touch(key.LastUsedAt, now) {
		org, id := key.Org, key.ID
		a.touches.add(func(ctx context.Context) error { return a.store.TouchApiKey(ctx, org, id, now) })
	}
	return p, nil
}
