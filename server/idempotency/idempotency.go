// Package idempotency makes a create safe to repeat. It keeps the answer to the first request with an Idempotency-Key and gives it
// to every later one, on every node. The answer is sealed, because it may hold a secret.
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

// Times of a key.
const (
	// KeepFor limits how long an answer is kept, from the start of its request.
	KeepFor = limits.IdempotencyRetention
	// Lease is the time after which a key is free again when its request never ended, because the process died. It is longer than
	// any request.
	Lease = limits.IdempotencyLease
	// endTimeout bounds the write that ends a request. The write happens even when the caller has disconnected.
	endTimeout = 5 * time.Second
)

// MaxKeyLength bounds a key.
const MaxKeyLength = limits.IdempotencyKey

// Header carries the key. ReplayedHeader marks an answer that an earlier request got first.
const (
	Header         = "Idempotency-Key"
	ReplayedHeader = "Idempotent-Replayed"
)

// Store keeps keys and answers.
type Store interface {
	ClaimIdempotencyKey(
		ctx context.Context, org principal.OrgID, in store.IdempotencyKey, lease time.Duration,
	) (row store.IdempotencyKey, first bool, err error)
	CompleteIdempotencyKey(ctx context.Context, org principal.OrgID, id uuid.UUID, response []byte, expiresAt time.Time) error
	ReleaseIdempotencyKey(ctx context.Context, org principal.OrgID, id uuid.UUID) error
}

// Sealer encrypts answers.
type Sealer interface {
	Seal(plain []byte, place string) []byte
	Open(sealed []byte, place string) ([]byte, error)
}

// Keys keeps the answers of requests. It is safe for concurrent use.
type Keys struct {
	store  Store
	seal   Sealer
	hash   func(string) string
	logger *slog.Logger
}

// New returns Keys. Keys and requests are stored as the keyed hash that hash returns.
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
	// Replay is the answer to the first request. It is set when Replayed is true.
	Replay   []byte
	Replayed bool

	keys *Keys
	org  principal.OrgID
	row  store.IdempotencyKey
}

// Begin starts a request under its key, or returns the answer to the first request with it. A key stands for one method and one
// request: the error says so if the key comes with another request, or while the first one runs. The first request ends with Done
// or Release.
func (k *Keys) Begin(ctx context.Context, p *principal.Principal, key, method string, request []byte) (*Attempt, error) {
	in := store.IdempotencyKey{Caller: callerOf(p), KeyHash: k.hash("idempotency key\x00" + key), RequestHash: k.requestHash(method, request)}
	row, first, err := k.store.ClaimIdempotencyKey(ctx, p.Org, in, Lease)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, apierr.New(apierr.OrganizationAccessDenied, "The organization no longer exists.", apierr.Cause(err))
	case err != nil:
		return nil, apierr.New(apierr.AuthorizationUnavailable,
			"The `"+Header+"` cannot be checked at the moment, so nothing was done. Try again.", apierr.Cause(err))
	case first:
		return &Attempt{keys: k, org: p.Org, row: row}, nil
	case row.RequestHash != in.RequestHash:
		return nil, apierr.New(apierr.IdempotencyKeyReused, "This `"+Header+"` was used for another request in the last "+
			limits.Lasts(KeepFor)+". Use a new key for each request, and the same key only to repeat it unchanged.", apierr.Param(Header))
	case !row.Done:
		return nil, apierr.New(apierr.IdempotencyInProgress,
			"The first request with this `"+Header+"` is still running. Try again in a moment to get its answer.")
	}
	answer, err := k.seal.Open(row.Response, placeOf(p.Org, row.ID))
	if err != nil {
		return nil, fmt.Errorf("open the stored answer of %s: %w", method, err)
	}
	return &Attempt{Replay: answer, Replayed: true}, nil
}

// Done keeps the answer. It logs a failure to do so: the resource exists, so the caller gets the answer in any case.
func (a *Attempt) Done(ctx context.Context, answer []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	sealed := a.keys.seal.Seal(answer, placeOf(a.org, a.row.ID))
	if err := a.keys.store.CompleteIdempotencyKey(ctx, a.org, a.row.ID, sealed, a.row.CreatedAt.Add(KeepFor)); err != nil {
		a.keys.logger.ErrorContext(ctx,
			"the answer to a request with an idempotency key could not be kept; a repeated request may create a second resource",
			"org_id", a.org, "error", err)
	}
}

// Release frees the key after a request that failed. A repetition then tries again.
func (a *Attempt) Release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := a.keys.store.ReleaseIdempotencyKey(ctx, a.org, a.row.ID); err != nil {
		a.keys.logger.WarnContext(ctx, "an idempotency key could not be freed; it is free when its lease ends", "org_id", a.org, "error", err)
	}
}

// callerOf names the owner of a key: the credential of a machine, or the person behind a session or token. A person can get a new
// session between two attempts.
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

// placeOf binds a sealed answer to its row.
func placeOf(org principal.OrgID, id uuid.UUID) string { return string(org) + " " + id.String() }
