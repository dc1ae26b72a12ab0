package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/idempotencykey"
	"github.com/svc-observability/svc/server/principal"
)

// IdempotencyKey is a request that was made with an Idempotency-Key.
type IdempotencyKey struct {
	ID uuid.UUID
	// Caller is the public id of the credential or user. Each caller has its own keys.
	Caller      string
	KeyHash     string
	RequestHash string
	// Done is false while the request is in progress.
	Done bool
	// Response is sealed; nil until Done.
	Response  []byte
	CreatedAt time.Time
	// ExpiresAt is the time at which the key is free again.
	ExpiresAt time.Time
}

// claimAttempts bounds how often a claim is retried when the row that conflicted with it has disappeared.
const claimAttempts = 8

// ClaimIdempotencyKey begins a request with a key of its caller. Exactly one of several concurrent calls is the first; all others
// get the row of that call. Until CompleteIdempotencyKey, the claim expires after lease.
func (s *Store) ClaimIdempotencyKey(
	ctx context.Context,
	org principal.OrgID,
	in IdempotencyKey,
	lease time.Duration,
) (row IdempotencyKey, first bool, err error) {
	const op = "claim idempotency key"
	same := func(now time.Time) *ent.IdempotencyKeyQuery {
		return s.write.IdempotencyKey.Query().Where(idempotencykey.OrgID(string(org)), idempotencykey.Caller(in.Caller),
			idempotencykey.KeyHash(in.KeyHash), idempotencykey.ExpiresAtGT(now))
	}
	for range claimAttempts {
		now := s.stamp()
		id, err := uuid.NewV7()
		if err != nil {
			return IdempotencyKey{}, false, mapError(op, err)
		}
		// An expired row would keep the unique key, so delete it. The call that deletes it is not yet the first: only the insert
		// decides that.
		if _, err := s.write.IdempotencyKey.Delete().Where(idempotencykey.OrgID(string(org)), idempotencykey.Caller(in.Caller),
			idempotencykey.KeyHash(in.KeyHash), idempotencykey.ExpiresAtLTE(now)).Exec(ctx); err != nil {
			return IdempotencyKey{}, false, mapError(op, err)
		}
		created, err := s.write.IdempotencyKey.Create().SetID(id).SetOrgID(string(org)).SetCaller(in.Caller).SetKeyHash(in.KeyHash).
			SetRequestHash(in.RequestHash).SetCreatedAt(now).SetExpiresAt(now.Add(lease)).Save(ctx)
		if err == nil {
			return toIdempotencyKey(created), true, nil
		}
		if err = mapError(op, err); !errors.Is(err, ErrConflict) {
			return IdempotencyKey{}, false, err
		}
		prior, err := same(now).Only(ctx)
		switch {
		case err == nil:
			return toIdempotencyKey(prior), false, nil
		case !ent.IsNotFound(err):
			return IdempotencyKey{}, false, mapError(op, err)
		}
		// The row was released between our two statements.
	}
	return IdempotencyKey{}, false, fmt.Errorf("store: %s: %w: it was taken and released %d times", op, ErrUnavailable, claimAttempts)
}

// CompleteIdempotencyKey stores the answer and keeps it until expiresAt, which the caller counts from the start of the request. It returns
// ErrNotFound if the claim had already ended.
func (s *Store) CompleteIdempotencyKey(ctx context.Context, org principal.OrgID, id uuid.UUID, response []byte, expiresAt time.Time) error {
	n, err := s.write.IdempotencyKey.Update().Where(idempotencykey.ID(id), idempotencykey.OrgID(string(org)), idempotencykey.Status(0)).
		SetStatus(200).SetResponse(response).SetExpiresAt(utc(expiresAt)).Save(ctx)
	if err != nil {
		return mapError("complete idempotency key", err)
	}
	if n == 0 {
		return fmt.Errorf("store: complete idempotency key: %w", ErrNotFound)
	}
	return nil
}

// ReleaseIdempotencyKey frees the key of a request that created nothing. It does nothing when the claim has ended.
func (s *Store) ReleaseIdempotencyKey(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	_, err := s.write.IdempotencyKey.Delete().
		Where(idempotencykey.ID(id), idempotencykey.OrgID(string(org)), idempotencykey.Status(0)).Exec(ctx)
	if err != nil {
		return mapError("release idempotency key", err)
	}
	return nil
}

// purgeRows bounds one statement of a purge, so that it does not hold up writers for long.
const purgeRows = 500

// PurgeIdempotencyKeys deletes the expired keys of every organization and returns their number.
func (s *Store) PurgeIdempotencyKeys(ctx context.Context) (removed int, err error) {
	const op = "purge idempotency keys"
	for {
		now := s.stamp()
		ids, err := s.read.IdempotencyKey.Query().Where(idempotencykey.ExpiresAtLTE(now)).Limit(purgeRows).IDs(ctx)
		if err != nil {
			return removed, mapError(op, err)
		}
		if len(ids) == 0 {
			return removed, nil
		}
		n, err := s.write.IdempotencyKey.Delete().Where(idempotencykey.IDIn(ids...), idempotencykey.ExpiresAtLTE(now)).Exec(ctx)
		removed += n
		if err != nil {
			return removed, mapError(op, err)
		}
	}
}

func toIdempotencyKey(row *ent.IdempotencyKey) IdempotencyKey {
	return IdempotencyKey{
		ID: row.ID, Caller: row.Caller, KeyHash: row.KeyHash, RequestHash: row.RequestHash, Done: row.Status != 0, Response: row.Response,
		CreatedAt: utc(row.CreatedAt), ExpiresAt: utc(row.ExpiresAt),
	}
}
