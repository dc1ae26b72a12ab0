package store

import (
	"context"
	"fmt"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/apikey"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// ApiKeyKind says where an API key is accepted.
type ApiKeyKind string

// Kinds of API key.
const (
	ApiKeyStandard = ApiKeyKind(apikey.KindStandard)
	ApiKeyMCP      = ApiKeyKind(apikey.KindMcp)
)

// TouchInterval is the resolution of "last used". A second touch within this time writes nothing.
const TouchInterval = time.Minute

// Secret is the stored form of a secret.
type Secret struct {
	Hash string
	// Prefix is the start that may be shown.
	Prefix string
	// Public is the whole text. Only public ingest keys have it: they are shipped in client code, so it may be stored and shown.
	Public string
}

// NewApiKey is an API key to create. The caller validates the input.
type NewApiKey struct {
	Name        string
	Description *string
	Kind        ApiKeyKind
	Scopes      []string
	Secret      Secret
	// CreatedAt defaults to the time of the store's clock. Set it when ExpiresAt counts from it.
	CreatedAt time.Time
	ExpiresAt *time.Time
	CreatedBy principal.UserID
	// CreatedByEmail is empty when unknown.
	CreatedByEmail string
}

// CreateApiKey creates a key and returns it with the number of the transaction.
func (s *Store) CreateApiKey(ctx context.Context, org principal.OrgID, in NewApiKey) (key ApiKey, txid string, err error) {
	err = s.tx(ctx, "create API key", func(tx *ent.Tx) (err error) {
		if key, err = s.insertApiKey(ctx, tx, in.key(org)); err != nil {
			return err
		}
		if err := s.audit(ctx, tx, org, key.event("created", nil)); err != nil {
			return err
		}
		txid, err = nextTxid(ctx, tx)
		return err
	})
	if err != nil {
		return ApiKey{}, "", err
	}
	return key, txid, nil
}

// key is the row of a new key.
func (in *NewApiKey) key(org principal.OrgID) ApiKey {
	return ApiKey{
		Org:            org,
		Name:           in.Name,
		Description:    in.Description,
		Kind:           in.Kind,
		Scopes:         in.Scopes,
		KeyPrefix:      in.Secret.Prefix,
		SecretHash:     in.Secret.Hash,
		ExpiresAt:      in.ExpiresAt,
		CreatedAt:      in.CreatedAt,
		CreatedBy:      in.CreatedBy,
		CreatedByEmail: nonZero(in.CreatedByEmail),
	}
}

// ListApiKeys returns keys, including revoked ones, newest first, ties by id. Request one more than a page to learn whether there
// is another page.
func (s *Store) ListApiKeys(ctx context.Context, org principal.OrgID, offset, limit int) ([]ApiKey, error) {
	rows, err := s.read.ApiKey.Query().Where(apikey.OrgID(string(org))).
		Order(apikey.ByCreatedAt(entsql.OrderDesc()), apikey.ByID(entsql.OrderDesc())).
		Offset(offset).Limit(limit).All(ctx)
	return collect("list API keys", toApiKey, rows, err)
}

// RevokeApiKey revokes a key permanently. Revoking it again changes nothing; the first revocation time stays.
func (s *Store) RevokeApiKey(ctx context.Context, org principal.OrgID, id uuid.UUID) (key ApiKey, txid string, err error) {
	err = s.mutate(ctx, "revoke API key", func(tx *ent.Tx) (Change, error) {
		n, err := revokeApiKey(ctx, tx, org, id, s.stamp())
		if err != nil {
			return Change{}, err
		}
		row, err := tx.ApiKey.Query().Where(apikey.ID(id), apikey.OrgID(string(org))).Only(ctx)
		if err != nil {
			return Change{}, err
		}
		key = toApiKey(row)
		if n > 0 {
			if err := s.audit(ctx, tx, org, key.event("revoked", map[string]any{"revoked": false})); err != nil {
				return Change{}, err
			}
		}
		txid, err = nextTxid(ctx, tx)
		return goneApiKey(key), err
	})
	if err != nil {
		return ApiKey{}, "", err
	}
	return key, txid, nil
}

// RollApiKey revokes a key and creates another with the same name, description, kind and scopes, all or nothing. The new key never expires
// unless an expiry is given. It returns ErrNotFound if there is no such key, or it is revoked. Of two concurrent rolls one succeeds.
func (s *Store) RollApiKey(ctx context.Context, org principal.OrgID, id uuid.UUID, in RollParams) (key ApiKey, txid string, err error) {
	err = s.mutate(ctx, "roll API key", func(tx *ent.Tx) (Change, error) {
		// The update locks the row before it is read, so a second roll waits and then finds the key revoked.
		n, err := revokeApiKey(ctx, tx, org, id, s.stamp())
		if err != nil {
			return Change{}, err
		}
		if n == 0 {
			return Change{}, fmt.Errorf("store: roll API key: %w", ErrNotFound)
		}
		row, err := tx.ApiKey.Get(ctx, id)
		if err != nil {
			return Change{}, err
		}
		old := toApiKey(row)
		key, err = s.insertApiKey(ctx, tx, ApiKey{
			Org: org, Name: old.Name, Description: old.Description, Kind: old.Kind, Scopes: old.Scopes, KeyPrefix: in.Secret.Prefix,
			SecretHash: in.Secret.Hash, ExpiresAt: in.ExpiresAt, CreatedBy: in.By, CreatedByEmail: nonZero(in.ByEmail),
		})
		if err != nil {
			return Change{}, err
		}
		e := old.event("rolled", map[string]any{"revoked": false})
		e.Metadata = map[string]any{"successor_id": publicid.Encode(publicid.APIKey, key.ID)}
		if err := s.audit(ctx, tx, org, e); err != nil {
			return Change{}, err
		}
		txid, err = nextTxid(ctx, tx)
		return goneApiKey(old), err
	})
	if err != nil {
		return ApiKey{}, "", err
	}
	return key, txid, nil
}

// event returns the audit event of a change of the key. before holds the fields that the change may have touched; it is nil for a
// new key.
func (k *ApiKey) event(verb string, before map[string]any) AuditEvent {
	after := map[string]any{
		"name":        k.Name,
		"description": k.Description,
		"kind":        string(k.Kind),
		"scopes":      k.Scopes,
		"key_prefix":  k.KeyPrefix,
		"expires_at":  k.ExpiresAt,
	}
	if before != nil {
		after = map[string]any{"revoked": true}
	}
	return AuditEvent{Action: "api_key." + verb, ResourceID: publicid.Encode(publicid.APIKey, k.ID), Before: before, After: after}
}

// RollParams are the properties that a rolled key does not take from the old key.
type RollParams struct {
	Secret    Secret
	ExpiresAt *time.Time
	By        principal.UserID
	ByEmail   string
}

func revokeApiKey(ctx context.Context, tx *ent.Tx, org principal.OrgID, id uuid.UUID, now time.Time) (int, error) {
	return tx.ApiKey.Update().Where(apikey.ID(id), apikey.OrgID(string(org)), apikey.RevokedAtIsNil()).SetRevokedAt(now).Save(ctx)
}

func goneApiKey(key ApiKey) Change {
	return Change{Subject: SubjectAPIKey, Org: key.Org, Hash: key.SecretHash, Gone: true}
}

// ApiKeyByHash finds a key in any organization by the hash of its secret, for authentication. It also finds revoked and expired
// keys; the caller must check for them.
func (s *Store) ApiKeyByHash(ctx context.Context, hash string) (ApiKey, error) {
	row, err := s.read.ApiKey.Query().Where(apikey.SecretHash(hash)).Only(ctx)
	return single("find API key", toApiKey, row, err)
}

// TouchApiKey records that the key was used. Within TouchInterval of the last record it writes nothing.
func (s *Store) TouchApiKey(ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time) error {
	at = utc(at)
	err := s.write.ApiKey.Update().
		Where(apikey.ID(id), apikey.OrgID(string(org)), apikey.Or(apikey.LastUsedAtIsNil(), apikey.LastUsedAtLTE(at.Add(-TouchInterval)))).
		SetLastUsedAt(at).Exec(ctx)
	if err != nil {
		return mapError("touch API key", err)
	}
	return nil
}
