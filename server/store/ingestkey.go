package store

import (
	"context"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/ingestkey"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/ent/schema"
	"github.com/svc-observability/svc/server/principal"
)

// IngestKeyKind tells the two default keys of an organization from custom ones.
type IngestKeyKind string

// Kinds of ingest key.
const (
	IngestKeyPublic  IngestKeyKind = "public"
	IngestKeyPrivate IngestKeyKind = "private"
	IngestKeyCustom  IngestKeyKind = "custom"
)

// AttributeMode says whether a key's resource attribute replaces the sender's.
type AttributeMode string

// Modes of a key's resource attribute.
const (
	AttributeAlwaysSet AttributeMode = "always_set"
	AttributeIfMissing AttributeMode = "if_missing"
)

// ResourceAttribute is written on every resource that is sent with a key.
type ResourceAttribute struct {
	Key   string
	Value string
	Mode  AttributeMode
}

// IngestKey is a credential that can only send telemetry. Its id stays when it is rolled.
type IngestKey struct {
	ID        uuid.UUID
	Org       principal.OrgID
	Kind      IngestKeyKind
	Name      string
	KeyHash   string
	KeyPrefix string
	// Signals is nil when every signal is allowed.
	Signals []string
	// RateLimit is in requests per second over all ingest servers; nil for none.
	RateLimit          *float64
	ResourceAttributes []ResourceAttribute
	DisabledAt         *time.Time
	ExpiresAt          *time.Time
	RotatedAt          *time.Time
	CreatedAt          time.Time
	CreatedBy          principal.UserID
}

// DefaultIngestKeys is the pair that every organization has.
type DefaultIngestKeys struct {
	Public    Secret
	Private   Secret
	CreatedBy principal.UserID
}

// NewIngestKey is a custom key to create. The input is validated by the caller.
type NewIngestKey struct {
	Name               string
	Secret             Secret
	Signals            []string
	RateLimit          *float64
	ResourceAttributes []ResourceAttribute
	ExpiresAt          *time.Time
	CreatedBy          principal.UserID
}

// CreateDefaultIngestKeys creates the public and the private key, in that order. ErrConflict: the organization has them.
func (s *Store) CreateDefaultIngestKeys(ctx context.Context, org principal.OrgID, in DefaultIngestKeys) (keys []IngestKey, err error) {
	err = s.tx(ctx, "create default ingest keys", func(tx *ent.Tx) (err error) {
		keys, err = s.createDefaultIngestKeys(ctx, tx, org, in)
		return err
	})
	return keys, err
}

func (s *Store) createDefaultIngestKeys(ctx context.Context, tx *ent.Tx, org principal.OrgID, in DefaultIngestKeys) ([]IngestKey, error) {
	public, err := s.createIngestKey(ctx, tx, org, IngestKeyPublic, NewIngestKey{Name: "Client", Secret: in.Public, CreatedBy: in.CreatedBy})
	if err != nil {
		return nil, err
	}
	private, err := s.createIngestKey(ctx, tx, org, IngestKeyPrivate, NewIngestKey{Name: "Server", Secret: in.Private, CreatedBy: in.CreatedBy})
	if err != nil {
		return nil, err
	}
	return []IngestKey{public, private}, nil
}

// CreateIngestKey creates a custom key.
func (s *Store) CreateIngestKey(ctx context.Context, org principal.OrgID, in NewIngestKey) (key IngestKey, err error) {
	err = s.tx(ctx, "create ingest key", func(tx *ent.Tx) (err error) {
		key, err = s.createIngestKey(ctx, tx, org, IngestKeyCustom, in)
		return err
	})
	return key, err
}

func (s *Store) createIngestKey(ctx context.Context, tx *ent.Tx, org principal.OrgID, kind IngestKeyKind, in NewIngestKey) (IngestKey, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return IngestKey{}, err
	}
	create := tx.IngestKey.Create().SetID(id).SetOrgID(string(org)).SetKind(ingestkey.Kind(kind)).SetName(in.Name).
		SetKeyHash(in.Secret.Hash).SetKeyPrefix(in.Secret.Prefix).SetNillableRateLimit(in.RateLimit).
		SetNillableExpiresAt(utcPtr(in.ExpiresAt)).SetCreatedAt(s.stamp()).SetCreatedBy(string(in.CreatedBy))
	if in.Signals != nil {
		create.SetSignals(in.Signals)
	}
	if len(in.ResourceAttributes) > 0 {
		attrs := make([]schema.ResourceAttribute, len(in.ResourceAttributes))
		for i, a := range in.ResourceAttributes {
			attrs[i] = schema.ResourceAttribute{Key: a.Key, Value: a.Value, Mode: string(a.Mode)}
		}
		create.SetResourceAttributes(attrs)
	}
	row, err := create.Save(ctx)
	if err != nil {
		return IngestKey{}, err
	}
	return toIngestKey(row), nil
}

// RollDefaultIngestKey gives the public or the private key a new secret; the old one is dead at once.
func (s *Store) RollDefaultIngestKey(ctx context.Context, org principal.OrgID, kind IngestKeyKind, secret Secret) (key IngestKey, err error) {
	return s.changeIngestKey(ctx, "roll ingest key", org,
		ingestkey.And(ingestkey.KindEQ(ingestkey.Kind(kind)), ingestkey.KindNEQ(ingestkey.KindCustom)),
		func(u *ent.IngestKeyUpdateOne) {
			u.SetKeyHash(secret.Hash).SetKeyPrefix(secret.Prefix).SetRotatedAt(s.stamp())
		})
}

// SetIngestKeyDisabled disables or enables a custom key.
func (s *Store) SetIngestKeyDisabled(ctx context.Context, org principal.OrgID, id uuid.UUID, disabled bool) (IngestKey, error) {
	return s.changeIngestKey(ctx, "disable ingest key", org,
		ingestkey.And(ingestkey.ID(id), ingestkey.KindEQ(ingestkey.KindCustom)),
		func(u *ent.IngestKeyUpdateOne) {
			if disabled {
				u.SetDisabledAt(s.stamp())
			} else {
				u.ClearDisabledAt()
			}
		})
}

// changeIngestKey changes one key under a row lock, so that the hash it announces as dead is the one that it replaced.
func (s *Store) changeIngestKey(ctx context.Context, op string, org principal.OrgID, which predicate.IngestKey,
	change func(*ent.IngestKeyUpdateOne),
) (key IngestKey, err error) {
	var oldHash string
	err = s.tx(ctx, op, func(tx *ent.Tx) error {
		q := tx.IngestKey.Query().Where(ingestkey.OrgID(string(org)), which)
		if s.dialect == dialect.Postgres {
			q.ForUpdate()
		}
		row, err := q.Only(ctx)
		if err != nil {
			return err
		}
		oldHash = row.KeyHash
		u := row.Update()
		change(u)
		if row, err = u.Save(ctx); err != nil {
			return err
		}
		key = toIngestKey(row)
		return nil
	})
	if oldHash != "" {
		s.publish(Change{Subject: SubjectIngestKey, Org: org, Hash: oldHash})
	}
	if err != nil {
		return IngestKey{}, err
	}
	return key, nil
}

// ListIngestKeys returns all keys of the organization, newest first.
func (s *Store) ListIngestKeys(ctx context.Context, org principal.OrgID) ([]IngestKey, error) {
	rows, err := s.read.IngestKey.Query().Where(ingestkey.OrgID(string(org))).
		Order(ingestkey.ByCreatedAt(entsql.OrderDesc()), ingestkey.ByID(entsql.OrderDesc())).All(ctx)
	if err != nil {
		return nil, mapError("list ingest keys", err)
	}
	out := make([]IngestKey, len(rows))
	for i, row := range rows {
		out[i] = toIngestKey(row)
	}
	return out, nil
}

// IngestKeyByHash finds a key in any organization by the hash of its secret. Disabled and expired keys are found too: the
// caller judges.
func (s *Store) IngestKeyByHash(ctx context.Context, hash string) (IngestKey, error) {
	row, err := s.read.IngestKey.Query().Where(ingestkey.KeyHash(hash)).Only(ctx)
	if err != nil {
		return IngestKey{}, mapError("find ingest key", err)
	}
	return toIngestKey(row), nil
}

func toIngestKey(row *ent.IngestKey) IngestKey {
	var attrs []ResourceAttribute
	for _, a := range row.ResourceAttributes {
		attrs = append(attrs, ResourceAttribute{Key: a.Key, Value: a.Value, Mode: AttributeMode(a.Mode)})
	}
	return IngestKey{
		ID: row.ID, Org: principal.OrgID(row.OrgID), Kind: IngestKeyKind(row.Kind), Name: row.Name, KeyHash: row.KeyHash,
		KeyPrefix: row.KeyPrefix, Signals: row.Signals, RateLimit: row.RateLimit, ResourceAttributes: attrs,
		DisabledAt: utcPtr(row.DisabledAt), ExpiresAt: utcPtr(row.ExpiresAt), RotatedAt: utcPtr(row.RotatedAt),
		CreatedAt: utc(row.CreatedAt), CreatedBy: principal.UserID(row.CreatedBy),
	}
}
