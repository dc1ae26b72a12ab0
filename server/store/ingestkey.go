package store

import (
	"context"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent/ingestkey"
	"github.com/svc-observability/svc/ent/schema"
	"github.com/svc-observability/svc/server/principal"
)

// IngestKeyKind distinguishes the two default keys of an organization from custom keys.
type IngestKeyKind string

// Kinds of ingest key.
const (
	IngestKeyPublic  = IngestKeyKind(ingestkey.KindPublic)
	IngestKeyPrivate = IngestKeyKind(ingestkey.KindPrivate)
	IngestKeyCustom  = IngestKeyKind(ingestkey.KindCustom)
)

// ResourceAttribute is written on every resource that is sent with a key. AttributeMode says whether it replaces the sender's.
type (
	ResourceAttribute = schema.ResourceAttribute
	AttributeMode     = schema.AttributeMode
)

// Modes of a key's resource attribute.
const (
	AttributeAlwaysSet AttributeMode = "always_set"
	AttributeIfMissing AttributeMode = "if_missing"
)

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
	return collect("list ingest keys", toIngestKey, rows, err)
}

// IngestKeyByHash finds a key in any organization by the hash of its secret. It also finds disabled and expired keys; the caller
// must check for them.
func (s *Store) IngestKeyByHash(ctx context.Context, hash string) (IngestKey, error) {
	row, err := s.read.IngestKey.Query().Where(ingestkey.KeyHash(hash)).Only(ctx)
	return single("find ingest key", toIngestKey, row, err)
}

// TouchIngestKey records that the key was used. Within TouchInterval of the last record it writes nothing.
func (s *Store) TouchIngestKey(ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time) error {
	at = utc(at)
	err := s.write.IngestKey.Update().
		Where(
			ingestkey.ID(id),
			ingestkey.OrgID(string(org)),
			ingestkey.Or(ingestkey.LastUsedAtIsNil(), ingestkey.LastUsedAtLTE(at.Add(-TouchInterval))),
		).
		SetLastUsedAt(at).Exec(ctx)
	if err != nil {
		return mapError("touch ingest key", err)
	}
	return nil
}
