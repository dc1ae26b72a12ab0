// Package apikeys answers the methods of svc.v2.ApiKeysService. The policy of a method decides who may call it. This package
// decides which scopes a restricted key may pass on to a new key.
package apikeys

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// NewSecret makes a secret: the text, which is shown once, and the form that is stored.
type NewSecret func() (text string, stored store.Secret, err error)

// Service implements svcv2connect.ApiKeysServiceHandler. It is safe for concurrent use.
type Service struct {
	store     *store.Store
	newSecret NewSecret
	families  []string
	now       func() time.Time
}

// New returns the service. served holds the scope families of the API's methods. Expirations count from the clock now.
func New(st *store.Store, newSecret NewSecret, served []string, now func() time.Time) *Service {
	return &Service{store: st, newSecret: newSecret, families: families(served), now: now}
}

// ListApiKeys lists the organization's keys, newest first, revoked ones included.
func (s *Service) ListApiKeys(ctx context.Context, req *svcv2.ListApiKeysRequest) (*svcv2.ListApiKeysResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	keys, err := s.store.ListApiKeys(ctx, caller.Org, page.Offset, page.Want())
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	keys, next := paging.Cut(page, keys)
	res := &svcv2.ListApiKeysResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, k := range keys {
		res.Data = append(res.Data, toProto(k))
	}
	return res, nil
}

// CreateApiKey creates a key and returns its secret, which is not stored.
func (s *Service) CreateApiKey(ctx context.Context, req *svcv2.CreateApiKeyRequest) (*svcv2.ApiKeyWithSecret, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	in := store.NewApiKey{
		Name: strings.TrimSpace(req.GetName()), Description: req.Description, Kind: store.ApiKeyStandard,
		CreatedBy: caller.User, CreatedByEmail: caller.Email,
	}
	if req.Kind != nil {
		in.Kind = store.ApiKeyKind(req.GetKind())
	}
	if req.ExpiresInSeconds != nil {
		in.CreatedAt = s.now()
		at := in.CreatedAt.Add(time.Duration(req.GetExpiresInSeconds()) * time.Second)
		in.ExpiresAt = &at
	}
	if in.Scopes, err = checkScopes(req.GetScopes(), s.families); err != nil {
		return nil, err
	}
	if err := mayGrant(caller, in.Scopes); err != nil {
		return nil, err
	}
	text, stored, err := s.newSecret()
	if err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	in.Secret = stored
	key, txid, err := s.store.CreateApiKey(ctx, caller.Org, in)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return withSecret(key, text, txid), nil
}

// GetApiKey returns one key.
func (s *Service) GetApiKey(ctx context.Context, req *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	key, err := s.store.GetApiKey(ctx, caller.Org, id)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(key), nil
}

// RevokeApiKey revokes a key for good. Repeating it changes nothing.
func (s *Service) RevokeApiKey(ctx context.Context, req *svcv2.RevokeApiKeyRequest) (*svcv2.ApiKeyMutationResponse, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	key, txid, err := s.store.RevokeApiKey(ctx, caller.Org, id)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return mutation(key, txid), nil
}

// RollApiKey revokes a key and creates its successor, which never expires.
func (s *Service) RollApiKey(ctx context.Context, req *svcv2.RollApiKeyRequest) (*svcv2.ApiKeyWithSecret, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	old, err := s.store.GetApiKey(ctx, caller.Org, id)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	// Rolling a key gives out a secret with the old key's scopes. Scopes never change, so one check is enough.
	if err := mayGrant(caller, old.Scopes); err != nil {
		return nil, err
	}
	text, stored, err := s.newSecret()
	if err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	key, txid, err := s.store.RollApiKey(ctx, caller.Org, id, store.RollParams{Secret: stored, By: caller.User, ByEmail: caller.Email})
	if err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return nil, apierr.New(apierr.ApiKeyNotFound, "This organization has no such API key, or it was revoked and cannot be rolled.",
				apierr.Param("id"), apierr.Cause(err))
		}
		return nil, resource().Failure(ctx, err)
	}
	return withSecret(key, text, txid), nil
}

// resource describes the errors of an API key.
func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.APIKey, ID: "an API key",
		NotFound:    storeerr.Answer{Tag: apierr.ApiKeyNotFound, Message: "This organization has no such API key."},
		Unavailable: storeerr.Answer{Tag: apierr.ApiKeyPersistence, Message: "API keys cannot be read or changed at the moment. Try again."},
	}
}
