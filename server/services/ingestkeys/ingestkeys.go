// Package ingestkeys answers the methods of svc.v2.IngestKeysService.
package ingestkeys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Secrets makes the secret of a key of one kind. It returns the text, which is shown, and the form that is stored.
type Secrets func(kind store.IngestKeyKind) (text string, stored store.Secret)

// Service implements svcv2connect.IngestKeysServiceHandler. It is safe for concurrent use.
type Service struct {
	store   *store.Store
	secrets Secrets
}

// New returns the service.
func New(st *store.Store, secrets Secrets) *Service { return &Service{store: st, secrets: secrets} }

// GetIngestKeys returns the default pair. It makes the pair at the first call.
func (s *Service) GetIngestKeys(ctx context.Context, _ *svcv2.GetIngestKeysRequest) (*svcv2.IngestKeys, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	public, private, err := s.pair(ctx, caller)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toPair(public, private), nil
}

// pair reads the default keys. If two readers find no keys, one of them makes the keys.
func (s *Service) pair(ctx context.Context, caller *principal.Principal) (public, private store.IngestKey, err error) {
	for range 2 {
		keys, err := s.store.ListIngestKeys(ctx, caller.Org)
		if err != nil {
			return public, private, err
		}
		for _, k := range keys {
			switch k.Kind {
			case store.IngestKeyPublic:
				public = k
			case store.IngestKeyPrivate:
				private = k
			case store.IngestKeyCustom:
			}
		}
		if public.ID != uuid.Nil && private.ID != uuid.Nil {
			return public, private, nil
		}
		_, publicSecret := s.secrets(store.IngestKeyPublic)
		_, privateSecret := s.secrets(store.IngestKeyPrivate)
		_, err = s.store.CreateDefaultIngestKeys(ctx, caller.Org, store.DefaultIngestKeys{
			Public: publicSecret, Private: privateSecret, CreatedBy: caller.User,
		})
		if err != nil && !errors.Is(err, store.ErrConflict) {
			return public, private, err
		}
	}
	return public, private, errors.New("ingestkeys: the default pair is not complete")
}

// RollPublicIngestKey gives the public key a new secret.
func (s *Service) RollPublicIngestKey(ctx context.Context, _ *svcv2.RollPublicIngestKeyRequest) (*svcv2.IngestKeys, error) {
	return s.rollDefault(ctx, store.IngestKeyPublic)
}

// RollPrivateIngestKey gives the private key a new secret. Only this answer holds it.
func (s *Service) RollPrivateIngestKey(ctx context.Context, _ *svcv2.RollPrivateIngestKeyRequest) (*svcv2.IngestKeys, error) {
	return s.rollDefault(ctx, store.IngestKeyPrivate)
}

func (s *Service) rollDefault(ctx context.Context, kind store.IngestKeyKind) (*svcv2.IngestKeys, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	public, private, err := s.pair(ctx, caller)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	text, secret := s.secrets(kind)
	rolled, err := s.store.RollDefaultIngestKey(ctx, caller.Org, kind, secret)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	if kind == store.IngestKeyPublic {
		return toPair(rolled, private), nil
	}
	out := toPair(public, rolled)
	out.PrivateKey = text
	return out, nil
}

// ListCustomIngestKeys lists custom keys, newest first.
func (s *Service) ListCustomIngestKeys(
	ctx context.Context, req *svcv2.ListCustomIngestKeysRequest,
) (*svcv2.ListCustomIngestKeysResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	all, err := s.store.ListIngestKeys(ctx, caller.Org)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	keys := slices.DeleteFunc(all, func(k store.IngestKey) bool { return k.Kind != store.IngestKeyCustom })
	keys, next := paging.Part(page, keys)
	res := &svcv2.ListCustomIngestKeysResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, k := range keys {
		res.Data = append(res.Data, ToProto(k))
	}
	return res, nil
}

// CreateCustomIngestKey creates a key and returns its secret, which is not stored.
func (s *Service) CreateCustomIngestKey(ctx context.Context, req *svcv2.CreateCustomIngestKeyRequest) (*svcv2.IngestKeyWithSecret, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	text, secret := s.secrets(store.IngestKeyCustom)
	in := store.NewIngestKey{
		Name: req.GetName(), Description: req.Description, Disabled: req.Enabled != nil && !req.GetEnabled(), Secret: secret,
		Signals: req.GetAllowedSignals(), RateLimit: req.RateLimitPerSecond, ResourceAttributes: fromAttributes(req.GetResourceAttributes()),
		CreatedBy: caller.User,
	}
	if req.GetExpiresAt() != nil {
		at := req.GetExpiresAt().AsTime()
		in.ExpiresAt = &at
	}
	key, err := s.store.CreateIngestKey(ctx, caller.Org, in)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return withSecret(key, text), nil
}

// GetCustomIngestKey returns one key.
func (s *Service) GetCustomIngestKey(ctx context.Context, req *svcv2.GetCustomIngestKeyRequest) (*svcv2.IngestKey, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	key, err := s.store.GetIngestKey(ctx, caller.Org, id)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	if key.Kind != store.IngestKeyCustom {
		return nil, resource().Failure(ctx, store.ErrNotFound)
	}
	return ToProto(key), nil
}

// UpdateCustomIngestKey changes the fields that the mask names.
func (s *Service) UpdateCustomIngestKey(ctx context.Context, req *svcv2.UpdateCustomIngestKeyRequest) (*svcv2.IngestKey, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	var edit store.IngestKeyEdit
	for _, path := range req.GetUpdateMask().GetPaths() {
		switch path {
		case "name":
			edit.Name = store.Set(req.GetName())
		case "description":
			edit.Description = store.Set(req.Description)
		case "enabled":
			edit.Enabled = store.Set(req.GetEnabled())
		case "allowed_signals":
			edit.Signals = store.Set(req.GetAllowedSignals())
		case "rate_limit_per_second":
			edit.RateLimit = store.Set(req.RateLimitPerSecond)
		case "resource_attributes":
			edit.ResourceAttributes = store.Set(fromAttributes(req.GetResourceAttributes()))
		case "expires_at":
			var at *time.Time
			if req.GetExpiresAt() != nil {
				t := req.GetExpiresAt().AsTime()
				at = &t
			}
			edit.ExpiresAt = store.Set(at)
		default:
			return nil, fmt.Errorf("ingestkeys: no update of the field %s", path)
		}
	}
	key, err := s.store.EditIngestKey(ctx, caller.Org, id, edit)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return ToProto(key), nil
}

// RollCustomIngestKey gives a key a new secret. Its id and settings stay.
func (s *Service) RollCustomIngestKey(ctx context.Context, req *svcv2.RollCustomIngestKeyRequest) (*svcv2.IngestKeyWithSecret, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	text, secret := s.secrets(store.IngestKeyCustom)
	key, err := s.store.RollIngestKey(ctx, caller.Org, id, secret)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return withSecret(key, text), nil
}

// DeleteCustomIngestKey deletes a key.
func (s *Service) DeleteCustomIngestKey(ctx context.Context, req *svcv2.DeleteCustomIngestKeyRequest) (*svcv2.DeletedIngestKey, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.store.DeleteIngestKey(ctx, caller.Org, id); err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return &svcv2.DeletedIngestKey{Id: req.GetId(), Object: "ingest_key", Deleted: true}, nil
}

// resource describes the errors of an ingest key.
func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.IngestKey, ID: "an ingest key", Invalid: apierr.IngestKeyValidation,
		NotFound: storeerr.Answer{Tag: apierr.IngestKeyNotFound, Message: "This organization has no such custom ingest key."},
		Unavailable: storeerr.Answer{
			Tag:     apierr.IngestKeyPersistence,
			Message: "Ingest keys cannot be read or changed at the moment. Try again.",
		},
	}
}
