package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// TestKey is accepted as an ingest key. Its data is discarded.
const TestKey = "SVC_TEST"

const (
	ingestKeyTTL = 30 * time.Second
	// ingestMaxStale is how long known keys are accepted while the database fails. Losing telemetry is worse than taking it from
	// a key that was revoked elsewhere during the outage.
	ingestMaxStale = 24 * time.Hour
)

var (
	// ErrUnknownKey means that there is no such ingest key, or that it is disabled or expired. A disabled or expired key is a
	// *RefusedKeyError. The message names the reason and is safe to show.
	ErrUnknownKey = errors.New("ingest key refused")
	// ErrMalformedKey is an ErrUnknownKey for text that no installation issues as an ingest key.
	ErrMalformedKey = fmt.Errorf("%w", ErrUnknownKey)
	// ErrLookupUnavailable means that the key cannot be checked at the moment.
	ErrLookupUnavailable = errors.New("ingest key lookup unavailable")
)

// RefusedKeyError is an ErrUnknownKey whose key exists, so the refusal can be shown to its organization.
type RefusedKeyError struct {
	Org  principal.OrgID
	Kind store.IngestKeyKind
	// KeyID is the public id, `ingk_…`.
	KeyID  string
	reason string
}

func (e *RefusedKeyError) Error() string { return ErrUnknownKey.Error() + ": " + e.reason }

// Is makes the error match ErrUnknownKey.
func (e *RefusedKeyError) Is(target error) bool { return target == ErrUnknownKey }

// IngestKey is what ingest needs to know about a key. The lists are shared: do not change them.
type IngestKey struct {
	Org  principal.OrgID
	Kind store.IngestKeyKind
	// ID is the public id, `ingk_…`. Every kind of key has one.
	ID string
	// Test marks TestKey. No other field is set then.
	Test bool
	// Signals is nil when every signal is allowed.
	Signals []string
	// RateLimit is in requests per second over all ingest servers; 0 means no limit.
	RateLimit          float64
	ResourceAttributes []store.ResourceAttribute
	// ExpiresAt is zero for a key that never expires. Lookup has already checked it.
	ExpiresAt time.Time
	// Policy is the organization's policy. It is nil only for TestKey.
	Policy *store.IngestPolicy
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

// IngestStore is the part of the relational store that ingest authentication needs.
type IngestStore interface {
	IngestKeyByHash(ctx context.Context, hash string) (store.IngestKey, error)
	IngestPolicy(ctx context.Context, org principal.OrgID) (store.IngestPolicy, error)
	TouchIngestKey(ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time) error
	Subscribe(fn func(store.Change)) (unsubscribe func())
}

// IngestConfig configures an IngestAuthenticator.
type IngestConfig struct {
	Store  IngestStore
	Hasher *Hasher
	// Logger takes failures that no caller sees. Nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// IngestAuthenticator resolves ingest keys. It is safe for concurrent use; Close it.
type IngestAuthenticator struct {
	store  IngestStore
	hasher *Hasher
	now    func() time.Time
	keys   *lookup[ingestRecord]
	// policies holds the policies by organization.
	policies    *lookup[store.IngestPolicy]
	touches     *toucher
	unsubscribe func()
}

// ingestRecord holds the prepared answer, and the fields that decide whether the key is accepted.
type ingestRecord struct {
	id         uuid.UUID
	hash       string
	disabled   bool
	lastUsedAt *time.Time
	key        IngestKey
}

// NewIngest returns an IngestAuthenticator. It runs one goroutine, which records when keys were used, until Close.
func NewIngest(cfg IngestConfig) *IngestAuthenticator {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	key := func(ctx context.Context, hash string) (ingestRecord, error) {
		row, err := cfg.Store.IngestKeyByHash(ctx, hash)
		if err != nil {
			return ingestRecord{}, err
		}
		return toIngestRecord(row), nil
	}
	policy := func(ctx context.Context, org string) (store.IngestPolicy, error) {
		return cfg.Store.IngestPolicy(ctx, principal.OrgID(org))
	}
	a := &IngestAuthenticator{
		store: cfg.Store, hasher: cfg.Hasher, now: cfg.Now,
		keys:     newLookup(key, cfg.Now, ingestKeyTTL, ingestMaxStale),
		policies: newLookup(policy, cfg.Now, ingestKeyTTL, ingestMaxStale),
		touches:  startToucher(cfg.Logger),
	}
	// If the policy was never read and cannot be read now, ingest goes on without mappings, sampling and limits.
	a.policies.fallback = func() store.IngestPolicy { return store.IngestPolicy{Sampling: store.DefaultSamplingPolicy()} }
	a.unsubscribe = cfg.Store.Subscribe(a.changed)
	return a
}

// changed applies a change at once. It keeps the known copies for the case that the database fails.
func (a *IngestAuthenticator) changed(c store.Change) {
	switch c.Subject {
	case store.SubjectIngestKey:
		a.keys.changed(c)
	case store.SubjectIngestPolicy:
		a.policies.doubt(string(c.Org))
	case store.SubjectAny:
		a.keys.doubtAll(c.Cause == nil)
		a.policies.doubtAll(c.Cause == nil)
	case store.SubjectAPIKey, store.SubjectSession, store.SubjectMembership, store.SubjectLogpushConnector, store.SubjectOrganization,
		store.SubjectOAuthGrant:
	}
}

// Close ends the subscription to changes, writes the uses that are still to be recorded, and ends the goroutine. No call may
// follow.
func (a *IngestAuthenticator) Close() {
	a.unsubscribe()
	a.touches.close()
}

// Lookup resolves the secret of a key. Errors: ErrUnknownKey, ErrLookupUnavailable.
func (a *IngestAuthenticator) Lookup(ctx context.Context, secret string) (IngestKey, error) {
	if secret == TestKey {
		return IngestKey{Test: true}, nil
	}
	switch kindOf(secret) {
	case kindIngestKey:
	case kindAPIKey, kindSession:
		return IngestKey{}, fmt.Errorf("%w: this credential is for the API and cannot send telemetry; use an ingest key", ErrMalformedKey)
	case kindConnector:
		return IngestKey{}, fmt.Errorf("%w: this secret of a log push connector works only at the endpoint of that connector; use an ingest key", ErrMalformedKey)
	case kindUnknown, kindOAuth:
		return IngestKey{}, fmt.Errorf("%w: this is not an ingest key; an ingest key begins with svc_pk_, svc_sk_ or svc_ik_ and has %d characters",
			ErrMalformedKey, prefixLength+secretLength)
	}
	hash := a.hasher.Hash(secret)
	e, err := a.keys.get(ctx, hash)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return IngestKey{}, fmt.Errorf("%w: %w", ErrLookupUnavailable, err)
	}
	if err != nil || !equalHash(e.value.hash, hash) {
		return IngestKey{}, fmt.Errorf("%w: this server does not know the key; it may have been rolled, or it belongs to another region",
			ErrUnknownKey)
	}
	r := &e.value
	now := a.now()
	if r.disabled {
		return IngestKey{}, r.refused("it is disabled")
	}
	if !r.key.ExpiresAt.IsZero() && !now.Before(r.key.ExpiresAt) {
		return IngestKey{}, r.refused("it has expired")
	}
	if e.touch(r.lastUsedAt, now) {
		org, id := r.key.Org, r.id
		a.touches.add(func(ctx context.Context) error { return a.store.TouchIngestKey(ctx, org, id, now) })
	}
	key := r.key
	if key.Policy, err = a.Policy(ctx, key.Org); err != nil {
		return IngestKey{}, err
	}
	return key, nil
}

// Policy returns the ingest policy of an organization, for telemetry that comes without an ingest key. It fails only when ctx
// ends. While the database fails, it returns an older copy. If there is no copy, it returns the default policy without a plan.
func (a *IngestAuthenticator) Policy(ctx context.Context, org principal.OrgID) (*store.IngestPolicy, error) {
	e, err := a.policies.get(ctx, string(org))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLookupUnavailable, err)
	}
	return &e.value, nil
}

func (r *ingestRecord) refused(reason string) error {
	return &RefusedKeyError{Org: r.key.Org, Kind: r.key.Kind, KeyID: r.key.ID, reason: reason}
}

func toIngestRecord(row store.IngestKey) ingestRecord {
	r := ingestRecord{id: row.ID, hash: row.KeyHash, disabled: row.DisabledAt != nil, lastUsedAt: row.LastUsedAt, key: IngestKey{
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
