package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// TestKey is accepted as an ingest key whose data is discarded.
const TestKey = "SVC_TEST"

const (
	ingestKeyTTL = 30 * time.Second
	// ingestMaxStale is how long known keys are accepted while the database fails: losing telemetry is worse than taking it
	// from a key that was revoked elsewhere during the outage.
	ingestMaxStale = 24 * time.Hour
)

var (
	// ErrUnknownKey: no such ingest key, or it is disabled or expired. The message says which and is safe to show.
	ErrUnknownKey = errors.New("ingest key refused")
	// ErrLookupUnavailable: the key cannot be checked at the moment.
	ErrLookupUnavailable = errors.New("ingest key lookup unavailable")
)

// IngestKey is what ingest needs to know of a key. The lists are shared: do not change them.
type IngestKey struct {
	Org  principal.OrgID
	Kind store.IngestKeyKind
	// ID is public, `ingk_…`.
	ID string
	// Test marks TestKey; nothing else is set then.
	Test bool
	// Signals is nil when every signal is allowed.
	Signals []string
	// RateLimit is in requests per second over all ingest servers, 0 for none.
	RateLimit          float64
	ResourceAttributes []store.ResourceAttribute
	// ExpiresAt is zero for never. Lookup has judged it.
	ExpiresAt time.Time
}

// Allows reports whether the key may send a signal: traces, logs, metrics, sessions or events.
func (k *IngestKey) Allows(signal string) bool {
	if k.Signals == nil {
		return true
	}
	for _, s := range k.Signals {
		if s == signal {
			return true
		}
	}
	return false
}

// IngestStore is what ingest authentication needs of the relational store.
type IngestStore interface {
	IngestKeyByHash(ctx context.Context, hash string) (store.IngestKey, error)
	Subscribe(fn func(store.Change)) (unsubscribe func())
}

// IngestAuthenticator resolves ingest keys. It is safe for concurrent use; Close it.
type IngestAuthenticator struct {
	hasher      *Hasher
	now         func() time.Time
	keys        *lookup[ingestRecord]
	unsubscribe func()
}

// ingestRecord holds the answer ready beside what it is judged by.
type ingestRecord struct {
	hash     string
	disabled bool
	key      IngestKey
}

// NewIngest returns an IngestAuthenticator; a nil clock means time.Now.
func NewIngest(st IngestStore, h *Hasher, now func() time.Time) *IngestAuthenticator {
	if now == nil {
		now = time.Now
	}
	load := func(ctx context.Context, hash string) (ingestRecord, error) {
		row, err := st.IngestKeyByHash(ctx, hash)
		if err != nil {
			return ingestRecord{}, err
		}
		return toIngestRecord(row), nil
	}
	a := &IngestAuthenticator{hasher: h, now: now, keys: newLookup(load, now, ingestKeyTTL, ingestMaxStale)}
	a.unsubscribe = st.Subscribe(func(c store.Change) {
		if c.Subject == store.SubjectIngestKey {
			a.keys.invalidate(c.Hash)
		}
	})
	return a
}

// Close ends the subscription to changes.
func (a *IngestAuthenticator) Close() { a.unsubscribe() }

// Lookup resolves the secret of a key. Errors: ErrUnknownKey, ErrLookupUnavailable.
func (a *IngestAuthenticator) Lookup(ctx context.Context, secret string) (IngestKey, error) {
	if secret == TestKey {
		return IngestKey{Test: true}, nil
	}
	switch kindOf(secret) {
	case kindIngestKey:
	case kindAPIKey, kindSession:
		return IngestKey{}, fmt.Errorf("%w: this credential is for the API and cannot send telemetry; use an ingest key", ErrUnknownKey)
	case kindConnector:
		return IngestKey{}, fmt.Errorf("%w: this is the secret of a log push connector, which is good for that connector's own endpoint alone; use an ingest key", ErrUnknownKey)
	case kindUnknown:
		return IngestKey{}, fmt.Errorf("%w: it is not an ingest key; those begin with svc_pk_, svc_sk_ or svc_ik_ and have %d characters",
			ErrUnknownKey, prefixLength+secretLength)
	}
	hash := a.hasher.Hash(secret)
	e, err := a.keys.get(ctx, hash)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return IngestKey{}, fmt.Errorf("%w: %w", ErrLookupUnavailable, err)
	}
	if err != nil || !equalHash(e.value.hash, hash) {
		return IngestKey{}, fmt.Errorf("%w: it is not known here; it may have been rolled, or belong to another region", ErrUnknownKey)
	}
	r := &e.value
	if r.disabled {
		return IngestKey{}, fmt.Errorf("%w: it is disabled", ErrUnknownKey)
	}
	if !r.key.ExpiresAt.IsZero() && !a.now().Before(r.key.ExpiresAt) {
		return IngestKey{}, fmt.Errorf("%w: it has expired", ErrUnknownKey)
	}
	return r.key, nil
}

func toIngestRecord(row store.IngestKey) ingestRecord {
	r := ingestRecord{hash: row.KeyHash, disabled: row.DisabledAt != nil, key: IngestKey{
		Org: row.Org, Kind: row.Kind, ID: publicid.Encode(publicid.IngestKey, row.ID), Signals: row.Signals,
		ResourceAttributes: row.ResourceAttributes,
	}}
	if row.RateLimit != nil {
		r.key.RateLimit = *row.RateLimit
	}
	if row.ExpiresAt != nil {
		r.key.ExpiresAt = *row.ExpiresAt
	}
	return r
}
