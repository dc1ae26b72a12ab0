package store

import (
	"context"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/ingestkey"
	"github.com/svc-observability/svc/server/principal"
)

// IngestKeyKind distinguishes the two default keys of an organization from custom keys.
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

// IngestKey is a credential that can only send telemetry. Rolling it keeps its id.
type IngestKey struct {
	ID          uuid.UUID
	Org         principal.OrgID
	Kind        IngestKeyKind
	Name        string
	Description *string
	KeyHash     string
	KeyPrefix   string
	// PublicText is the whole key. Only public keys have it, and it is empty for public keys from versions that did not store it.
	PublicText string
	// Signals is nil when every signal is allowed, as for default keys.
	Signals []string
	// RateLimit is in requests per second over all ingest servers; nil means no limit.
	RateLimit          *float64
	ResourceAttributes []ResourceAttribute
	DisabledAt         *time.Time
	ExpiresAt          *time.Time
	RotatedAt          *time.Time
	LastUsedAt         *time.Time
	CreatedAt          time.Time
	// UpdatedAt equals the creation time until the first change.
	UpdatedAt time.Time
	CreatedBy principal.UserID
}

// DefaultIngestKeys is the pair that every organization has.
type DefaultIngestKeys struct {
	Public    Secret
	Private   Secret
	CreatedBy principal.UserID
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

// GetIngestKey returns one key, default or custom.
func (s *Store) GetIngestKey(ctx context.Context, org principal.OrgID, id uuid.UUID) (IngestKey, error) {
	row, err := s.read.IngestKey.Query().Where(ingestkey.ID(id), ingestkey.OrgID(string(org))).Only(ctx)
	if err != nil {
		return IngestKey{}, mapError("get ingest key", err)
	}
	return toIngestKey(row), nil
}

// IngestKeyByHash finds a key in any organization by the hash of its secret. It also finds disabled and expired keys; the caller
// must check for them.
func (s *Store) IngestKeyByHash(ctx context.Context, hash string) (IngestKey, error) {
	row, err := s.read.IngestKey.Query().Where(ingestkey.KeyHash(hash)).Only(ctx)
	if err != nil {
		return IngestKey{}, mapError("find ingest key", err)
	}
	return toIngestKey(row), nil
}

// TouchIngestKey records that the key was used. Within TouchInterval of the last record it writes nothing.
func (s *Store) TouchIngestKey(ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time) error {
	at = utc(at)
	err := s.write.IngestKey.Update().
		Where(ingestkey.ID(id), ingestkey.OrgID(string(org)), ingestkey.Or(ingestkey.LastUsedAtIsNil(), ingestkey.LastUsedAtLTE(at.Add(-TouchInterval)))).
		SetLastUsedAt(at).Exec(ctx)
	if err != nil {
		return mapError("touch ingest key", err)
	}
	return nil
}

func toIngestKey(row *ent.IngestKey) IngestKey {
	var attrs []ResourceAttribute
	for _, a := range row.ResourceAttributes {
		attrs = append(attrs, ResourceAttribute{Key: a.Key, Value: a.Value, Mode: AttributeMode(a.Mode)})
	}
	key := IngestKey{
		ID: row.ID, Org: principal.OrgID(row.OrgID), Kind: IngestKeyKind(row.Kind), Name: row.Name,
		Description: row.Description, KeyHash: row.KeyHash, KeyPrefix: row.KeyPrefix, Signals: row.Signals, RateLimit: row.RateLimit, ResourceAttributes: attrs,
		DisabledAt: utcPtr(row.DisabledAt), ExpiresAt: utcPtr(row.ExpiresAt), RotatedAt: utcPtr(row.RotatedAt),
		LastUsedAt: utcPtr(row.LastUsedAt), CreatedAt: utc(row.CreatedAt), UpdatedAt: utc(row.CreatedAt), CreatedBy: principal.UserID(row.CreatedBy),
	}
	if row.UpdatedAt != nil {
		key.UpdatedAt = utc(*row.UpdatedAt)
	}
	if row.PublicText != nil {
		key.PublicText = *row.PublicText
	}
	return key
}
