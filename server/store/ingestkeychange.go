package store

import (
	"context"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/ingestkey"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/server/principal"
)

// CreateDefaultIngestKeys creates the public and the private key, in that order. It returns ErrConflict if the organization already has
// them.
func (s *Store) CreateDefaultIngestKeys(ctx context.Context, org principal.OrgID, in DefaultIngestKeys) (keys []IngestKey, err error) {
	err = s.tx(ctx, "create default ingest keys", func(tx *ent.Tx) (err error) {
		keys, err = s.createDefaultIngestKeys(ctx, tx, org, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	return keys, nil
}

func (s *Store) createDefaultIngestKeys(ctx context.Context, tx *ent.Tx, org principal.OrgID, in DefaultIngestKeys) ([]IngestKey, error) {
	public, err := s.createIngestKey(ctx, tx, org, IngestKeyPublic, NewIngestKey{Name: "Client", Secret: in.Public, CreatedBy: in.CreatedBy})
	if err != nil {
		return nil, err
	}
	private, err := s.createIngestKey(
		ctx,
		tx,
		org,
		IngestKeyPrivate,
		NewIngestKey{Name: "Server", Secret: in.Private, CreatedBy: in.CreatedBy},
	)
	if err != nil {
		return nil, err
	}
	keys := []IngestKey{public, private}
	for i := range keys {
		if err := s.audit(ctx, tx, org, keys[i].event("created", nil, keys[i].auditFields())); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// CreateIngestKey creates a custom key. It returns an *InvalidError if the input breaks a rule.
func (s *Store) CreateIngestKey(ctx context.Context, org principal.OrgID, in NewIngestKey) (key IngestKey, err error) {
	if err := in.check(s.now()); err != nil {
		return IngestKey{}, err
	}
	err = s.tx(ctx, "create ingest key", func(tx *ent.Tx) (err error) {
		if key, err = s.createIngestKey(ctx, tx, org, IngestKeyCustom, in); err != nil {
			return err
		}
		return s.audit(ctx, tx, org, key.event("created", nil, key.auditFields()))
	})
	if err != nil {
		return IngestKey{}, err
	}
	return key, nil
}

func (s *Store) createIngestKey(
	ctx context.Context,
	tx *ent.Tx,
	org principal.OrgID,
	kind IngestKeyKind,
	in NewIngestKey,
) (IngestKey, error) {
	key := IngestKey{
		Org:         org,
		Kind:        kind,
		Name:        in.Name,
		Description: in.Description,
		KeyHash:     in.Secret.Hash,
		KeyPrefix:   in.Secret.Prefix,
		Signals:     in.Signals,
		RateLimit:   in.RateLimit,
		ExpiresAt:   in.ExpiresAt,
		CreatedAt:   s.stamp(),
		CreatedBy:   in.CreatedBy,
	}
	if kind == IngestKeyPublic {
		key.PublicText = in.Secret.Public
	}
	if len(in.ResourceAttributes) > 0 {
		key.ResourceAttributes = in.ResourceAttributes
	}
	if in.Disabled {
		key.DisabledAt = &key.CreatedAt
	}
	return s.insertIngestKey(ctx, tx, key)
}

// RollDefaultIngestKey gives the public or the private key a new secret. The old secret is invalid at once.
func (s *Store) RollDefaultIngestKey(ctx context.Context, org principal.OrgID, kind IngestKeyKind, secret Secret) (IngestKey, error) {
	return s.rollIngestKey(ctx, org, ingestkey.And(ingestkey.KindEQ(ingestkey.Kind(kind)), ingestkey.KindNEQ(ingestkey.KindCustom)), secret)
}

// RollIngestKey gives a custom key a new secret. Its id and its settings stay, so that telemetry stays attributed to the same key.
func (s *Store) RollIngestKey(ctx context.Context, org principal.OrgID, id uuid.UUID, secret Secret) (IngestKey, error) {
	return s.rollIngestKey(ctx, org, customIngestKey(id), secret)
}

func (s *Store) rollIngestKey(ctx context.Context, org principal.OrgID, which predicate.IngestKey, secret Secret) (IngestKey, error) {
	return s.changeIngestKey(ctx, "roll ingest key", org, which, func(old IngestKey, u *ent.IngestKeyUpdateOne) (AuditEvent, bool) {
		u.SetKeyHash(secret.Hash).SetKeyPrefix(secret.Prefix).SetRotatedAt(s.stamp())
		if old.Kind == IngestKeyPublic && secret.Public != "" {
			u.SetPublicText(secret.Public)
		}
		e := old.event("rolled", map[string]any{"key_prefix": old.KeyPrefix}, map[string]any{"key_prefix": secret.Prefix})
		e.Metadata = map[string]any{"key_type": string(old.Kind)}
		return e, true
	})
}

// EditIngestKey applies the fields that are set in edit to a custom key. It returns an *InvalidError if the input breaks a rule; only the
// fields that are set are checked. An edit that changes nothing is not recorded.
func (s *Store) EditIngestKey(ctx context.Context, org principal.OrgID, id uuid.UUID, edit IngestKeyEdit) (IngestKey, error) {
	if err := edit.check(s.now()); err != nil {
		return IngestKey{}, err
	}
	return s.changeIngestKey(
		ctx,
		"edit ingest key",
		org,
		customIngestKey(id),
		func(old IngestKey, u *ent.IngestKeyUpdateOne) (AuditEvent, bool) {
			now := old
			edit.apply(&now, s.stamp())
			u.SetName(now.Name)
			setOr(now.Description, u.SetDescription, u.ClearDescription)
			setOr(now.RateLimit, u.SetRateLimit, u.ClearRateLimit)
			setOr(now.DisabledAt, u.SetDisabledAt, u.ClearDisabledAt)
			setOr(now.ExpiresAt, u.SetExpiresAt, u.ClearExpiresAt)
			if edit.Signals.Set {
				u.SetSignals(now.Signals)
			}
			if len(now.ResourceAttributes) == 0 {
				u.ClearResourceAttributes()
			} else {
				u.SetResourceAttributes(now.ResourceAttributes)
			}
			e := old.event("updated", old.auditFields(), now.auditFields())
			if auditChanges(e.Before, e.After) == nil {
				return AuditEvent{}, false
			}
			return e, now.DisabledAt != nil
		},
	)
}

// DeleteIngestKey deletes a custom key. Its telemetry and its usage stay.
func (s *Store) DeleteIngestKey(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	return s.mutate(ctx, "delete ingest key", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockIngestKey(ctx, tx, org, customIngestKey(id))
		if err != nil {
			return Change{}, err
		}
		key := toIngestKey(row)
		if err := s.audit(ctx, tx, org, key.event("deleted", key.auditFields(), nil)); err != nil {
			return Change{}, err
		}
		return Change{Subject: SubjectIngestKey, Org: org, Hash: row.KeyHash, Gone: true}, tx.IngestKey.DeleteOne(row).Exec(ctx)
	})
}

func customIngestKey(id uuid.UUID) predicate.IngestKey {
	return ingestkey.And(ingestkey.ID(id), ingestkey.KindEQ(ingestkey.KindCustom))
}

// changeIngestKey changes one key under a row lock, so that it announces exactly the hash that it replaced. An empty event says
// that there is nothing to change. gone says that no copy of the key may be served any more.
func (s *Store) changeIngestKey(
	ctx context.Context, op string, org principal.OrgID, which predicate.IngestKey,
	change func(old IngestKey, u *ent.IngestKeyUpdateOne) (e AuditEvent, gone bool),
) (key IngestKey, err error) {
	err = s.mutate(ctx, op, func(tx *ent.Tx) (Change, error) {
		row, err := s.lockIngestKey(ctx, tx, org, which)
		if err != nil {
			return Change{}, err
		}
		old := toIngestKey(row)
		u := row.Update().SetUpdatedAt(s.stamp())
		e, gone := change(old, u)
		if e.Action == "" {
			key = old
			return Change{}, nil
		}
		if row, err = u.Save(ctx); err != nil {
			return Change{}, err
		}
		key = toIngestKey(row)
		return Change{Subject: SubjectIngestKey, Org: org, Hash: old.KeyHash, Gone: gone}, s.audit(ctx, tx, org, e)
	})
	if err != nil {
		return IngestKey{}, err
	}
	return key, nil
}

func (s *Store) lockIngestKey(ctx context.Context, tx *ent.Tx, org principal.OrgID, which predicate.IngestKey) (*ent.IngestKey, error) {
	q := tx.IngestKey.Query().Where(ingestkey.OrgID(string(org)), which)
	if s.dialect == dialect.Postgres {
		q.ForUpdate()
	}
	return q.Only(ctx)
}

// auditFields returns the settings of the key under their names in the API.
func (k *IngestKey) auditFields() map[string]any {
	attributes := k.ResourceAttributes
	if attributes == nil {
		attributes = []ResourceAttribute{} // the log shows an empty list
	}
	var expires any
	if k.ExpiresAt != nil {
		expires = k.ExpiresAt.Format(time.RFC3339Nano)
	}
	return map[string]any{
		"name": k.Name, "description": k.Description, "enabled": k.DisabledAt == nil, "allowed_signals": k.Signals,
		"rate_limit_per_second": k.RateLimit, "resource_attributes": attributes, "expires_at": expires,
	}
}
