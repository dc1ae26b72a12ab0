// Package idempotency lets a create be repeated without creating twice: the answer to the first request with an Idempotency-Key is
// kept, sealed because it may hold a secret, and given to every later one, on every node.
package idempotency

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Times of keys.
const (
	// KeepFor is how long an answer is kept, from the beginning of its request.
	KeepFor = limits.IdempotencyRetention
	// Lease is when a key is free again whose request never ended, because the process died. It is longer than any request lasts.
	Lease = 2 * time.Minute
	// endTimeout bounds the write that ends a request; it happens although the caller may be gone.
	endTimeout = 5 * time.Second
	purgeEvery = 10 * time.Minute
)

// MaxKeyLength bounds a key.
const MaxKeyLength = 255

// Header carries the key; ReplayedHeader marks an answer that was given before.
const (
	Header         = "Idempotency-Key"
	ReplayedHeader = "Idempotent-Replayed"
)

// Store keeps keys and answers.
type Store interface {
	ClaimIdempotencyKey(ctx context.Context, org principal.OrgID, in store.IdempotencyKey, lease time.Duration) (row store.IdempotencyKey, first bool, err error)
	CompleteIdempotencyKey(ctx context.Context, org principal.OrgID, id uuid.UUID, response []byte, expiresAt time.Time) error
	ReleaseIdempotencyKey(ctx context.Context, org principal.OrgID, id uuid.UUID) error
	PurgeIdempotencyKeys(ctx context.Context) (removed int, err error)
}

// Sealer encrypts answers.
type Sealer interface {
	Seal(plain []byte, place string) []byte
	Open(sealed []byte, place string) ([]byte, error)
}

// Keys is safe for concurrent use.
type Keys struct {
	store  Store
	seal   Sealer
	hash   func(string) string
	logger *slog.Logger
}

// New returns Keys. hash is the keyed hash under which keys and requests are stored.
func New(s Store, seal Sealer, hash func(string) string, logger *slog.Logger) *Keys {
	return &Keys{store: s, seal: seal, hash: hash, logger: logger}
}

// Check reports what is wrong with the text of a key.
func Check(key string) error {
	refuse := func(text string) error {
		return apierr.New(apierr.InvalidRequest, "`"+Header+"` "+text, apierr.Param(Header))
	}
	if key == "" || len(key) > MaxKeyLength {
		return refuse(fmt.Sprintf("must have 1 to %d characters.", MaxKeyLength))
	}
	for i := range len(key) {
		if key[i] < 0x20 || key[i] > 0x7e {
			return refuse("holds a character that is not printable ASCII.")
		}
	}
	return nil
}

// Attempt is one request under a key.
type Attempt struct {
	// Replay is the answer of the first request; only when Replayed.
	Replay   []byte
	Replayed bool

	keys *Keys
	org  principal.OrgID
	row  store.IdempotencyKey
}

// Begin says whether a request is the first under its key. method and request are all that it asks for: a key stands for one
// request, and the error says so when it comes with another, or while the first is under way. The first ends with Done or Release.
func (k *Keys) Begin(ctx context.Context, p *principal.Principal, key, method string, request []byte) (*Attempt, error) {
	in := store.IdempotencyKey{Caller: callerOf(p), KeyHash: k.hash("idempotency key\x00" + key), RequestHash: k.requestHash(method, request)}
	row, first, err := k.store.ClaimIdempotencyKey(ctx, p.Org, in, Lease)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, apierr.New(apierr.OrganizationAccessDenied, "The organization does not exist any more.", apierr.Cause(err))
	case err != nil:
		return nil, apierr.New(apierr.AuthorizationUnavailable, "The `"+Header+"` cannot be checked at the moment, so nothing was done. Try again.", apierr.Cause(err))
	case first:
		return &Attempt{keys: k, org: p.Org, row: row}, nil
	case row.RequestHash != in.RequestHash:
		return nil, apierr.New(apierr.IdempotencyKeyReused, "This `"+Header+"` was used for another request in the last "+
			limits.Lasts(KeepFor)+". Use a new key for each request, and the same key only to repeat it unchanged.", apierr.Param(Header))
	case !row.Done:
		return nil, apierr.New(apierr.IdempotencyInProgress, "The first request with this `"+Header+"` is still under way. Try again in a moment to get its answer.")
	}
	answer, err := k.seal.Open(row.Response, placeOf(p.Org, row.ID))
	if err != nil {
		return nil, fmt.Errorf("open the kept answer of %s: %w", method, err)
	}
	return &Attempt{Replay: answer, Replayed: true}, nil
}

// Done keeps the answer. What cannot be kept is logged: the resource exists, so its maker gets the answer in any case.
func (a *Attempt) Done(ctx context.Context, answer []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	sealed := a.keys.seal.Seal(answer, placeOf(a.org, a.row.ID))
	if err := a.keys.store.CompleteIdempotencyKey(ctx, a.org, a.row.ID, sealed, a.row.CreatedAt.Add(KeepFor)); err != nil {
		a.keys.logger.ErrorContext(ctx, "the answer to a request with an idempotency key could not be kept; a repeated request may create a second resource",
			"org_id", a.org, "error", err)
	}
}

// Release frees the key: the request failed, so repeating it must try again.
func (a *Attempt) Release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := a.keys.store.ReleaseIdempotencyKey(ctx, a.org, a.row.ID); err != nil {
		a.keys.logger.WarnContext(ctx, "an idempotency key could not be freed; it is free when its lease ends", "org_id", a.org, "error", err)
	}
}

// Run removes expired answers until the context ends.
func (k *Keys) Run(ctx context.Context) {
	ticker := time.NewTicker(purgeEvery)
	defer ticker.Stop()
	for {
		if _, err := k.store.PurgeIdempotencyKeys(ctx); err != nil && ctx.Err() == nil {
			k.logger.WarnContext(ctx, "expired idempotency keys could not be removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// callerOf names the credential of a machine, and the person behind a session or token: those change while a person repeats a request.
func callerOf(p *principal.Principal) string {
	if p.Kind == principal.KindAPIKey || p.Kind == principal.KindMCPKey {
		return p.CredentialID
	}
	return cmp.Or(string(p.User), p.CredentialID)
}

func (k *Keys) requestHash(method string, request []byte) string {
	text := binary.AppendUvarint([]byte("idempotent request\x00"), uint64(len(method)))
	return k.hash(string(append(append(text, method...), request...)))
}

// placeOf binds an answer to its row.
func placeOf(org principal.OrgID, id uuid.UUID) string { return string(org) + " " + id.String() }
