package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

const (
	ingestKeyTTL = limits.IngestKeyCopy
	// ingestMaxStale is how long known keys are accepted while the database fails.
	ingestMaxStale = limits.IngestKeyOutage
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

// IngestKey is a key with the policy of its organization. The key and its lists are shared: do not change them.
type IngestKey struct {
	*store.IngestKey
	// PublicID is `ingk_…`. Every kind of key has one.
	PublicID string
	Policy   *store.IngestPolicy
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
	keys   *lookup[IngestKey]
	// policies holds the policies by organization.
	policies    *lookup[store.IngestPolicy]
	touches     *toucher
	unsubscribe func()
}

// NewIngest returns an IngestAuthenticator. It runs one goroutine, which records when keys were used, until Close.
func NewIngest(cfg IngestConfig) *IngestAuthenticator {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	key := func(ctx context.Context, hash string) (IngestKey, error) {
		row, err := cfg.Store.IngestKeyByHash(ctx, hash)
		return IngestKey{IngestKey: &row, PublicID: publicid.Encode(publicid.IngestKey, row.ID)}, err
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
	//exhaustive:enforce
	switch c.Subject {
	case store.SubjectIngestKey:
		a.keys.changed(c)
	case store.SubjectIngestPolicy:
		a.policies.doubt(string(c.Org))
	case store.SubjectAny:
		a.keys.doubtAll(c.Cause == nil)
		a.policies.doubtAll(c.Cause == nil)
	case store.SubjectAPIKey, store.SubjectSession, store.SubjectMembership, store.SubjectLogpushConnector, store.SubjectOrganization,
		store.SubjectOAuthGrant, store.SubjectScrapeTarget, store.SubjectIntegration:
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
	//exhaustive:enforce
	switch kindOf(secret) {
	case kindIngestKey:
	case kindAPIKey, kindSession:
		return IngestKey{}, fmt.Errorf("%w: this credential is for the API and cannot send telemetry; use an ingest key", ErrMalformedKey)
	case kindConnector:
		return IngestKey{}, fmt.Errorf(
			"%w: this secret of a log push connector works only at the endpoint of that connector; use an ingest key",
			ErrMalformedKey,
		)
	case kindUnknown, kindOAuth:
		return IngestKey{}, fmt.Errorf(
			"%w: this is not an ingest key; an ingest key begins with "+IngestKeyPrefixes+" and has %d characters",
			ErrMalformedKey,
			prefixLength+secretLength,
		)
	}
	hash := a.hasher.Hash(secret)
	e, err := a.keys.get(ctx, hash)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return IngestKey{}, fmt.Errorf("%w: %w", ErrLookupUnavailable, err)
	}
	if err != nil || !equalHash(e.value.KeyHash, hash) {
		return IngestKey{}, fmt.Errorf("%w: this server does not know the key; it may have been rolled, or it belongs to another region",
			ErrUnknownKey)
	}
	key := e.value
	now := a.now()
	if key.DisabledAt != nil {
		return IngestKey{}, key.refused("it is disabled")
	}
	if key.ExpiresAt != nil && !now.Before(*key.ExpiresAt) {
		return IngestKey{}, key.refused("it has expired")
	}
	if e.touch(key.LastUsedAt, now) {
		a.touches.add(func(ctx context.Context) error { return a.store.TouchIngestKey(ctx, key.Org, key.ID, now) })
	}
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

func (k *IngestKey) refused(reason string) error {
	return &RefusedKeyError{Org: k.Org, Kind: k.Kind, KeyID: k.PublicID, reason: reason}
}
