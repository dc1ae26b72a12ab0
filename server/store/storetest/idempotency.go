package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/store"
)

func testIdempotencyKeys(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	in := store.IdempotencyKey{Caller: "key_1", KeyHash: "k", RequestHash: "r"}
	claim := func(in store.IdempotencyKey) (store.IdempotencyKey, bool) {
		t.Helper()
		row, first, err := f.ClaimIdempotencyKey(ctx, org, in, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return row, first
	}
	row, first := claim(in)
	if !first || row.Done || row.ExpiresAt.Sub(row.CreatedAt) != time.Minute {
		t.Fatalf("first claim: %v, %+v", first, row)
	}
	if again, first := claim(store.IdempotencyKey{Caller: "key_1", KeyHash: "k", RequestHash: "s"}); first || again.ID != row.ID ||
		again.RequestHash != "r" {
		t.Errorf("second claim: %v, %+v", first, again)
	}
	if _, first := claim(store.IdempotencyKey{Caller: "key_2", KeyHash: "k", RequestHash: "r"}); !first {
		t.Error("another caller's key is not its own")
	}
	if _, first, err := f.ClaimIdempotencyKey(ctx, other, in, time.Minute); err != nil || !first {
		t.Errorf("another organization's key is not its own: %v, %v", first, err)
	}

	if err := f.CompleteIdempotencyKey(ctx, other, row.ID, []byte("x"), f.now()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another organization completes: %v", err)
	}
	if err := f.CompleteIdempotencyKey(ctx, org, row.ID, []byte("sealed"), row.CreatedAt.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := f.CompleteIdempotencyKey(ctx, org, row.ID, []byte("other"), f.now()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("completed twice: %v", err)
	}
	if err := f.ReleaseIdempotencyKey(ctx, org, row.ID); err != nil {
		t.Fatal(err)
	}
	f.advance(time.Hour - time.Second)
	if done, first := claim(in); first || !done.Done || string(done.Response) != "sealed" {
		t.Errorf("after completion: %v, %+v", first, done)
	}
	f.advance(time.Second)
	next, first := claim(in)
	if !first || next.ID == row.ID {
		t.Errorf("the key is not free after its time: %v, %+v", first, next)
	}
	if err := f.ReleaseIdempotencyKey(ctx, other, next.ID); err != nil {
		t.Fatal(err)
	}
	if _, first := claim(in); first {
		t.Error("another organization released the key")
	}
	if err := f.ReleaseIdempotencyKey(ctx, org, next.ID); err != nil {
		t.Fatal(err)
	}
	lost, first := claim(in)
	if !first {
		t.Error("the key is not free after its release")
	}
	// A claimer that died is replaced, and is too late if it continues afterwards.
	f.advance(time.Minute)
	if _, first := claim(in); !first {
		t.Error("the key is not free after the lease")
	}
	if err := f.CompleteIdempotencyKey(ctx, org, lost.ID, nil, f.now().Add(time.Hour)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a claim that ended is completed: %v", err)
	}

	f.advance(time.Minute)
	if n, err := f.PurgeIdempotencyKeys(ctx); err != nil || n != 3 {
		t.Errorf("purged %d, %v; want the rows of two callers and of the other organization", n, err)
	}
	if n, err := f.PurgeIdempotencyKeys(ctx); err != nil || n != 0 {
		t.Errorf("purged %d more, %v", n, err)
	}
}

func testIdempotencyKeyRace(t *testing.T, f *fixture) {
	org, _ := f.org(t)
	in := store.IdempotencyKey{Caller: "key_1", KeyHash: "k", RequestHash: "r"}
	// The row of a request that died conflicts with all new claims.
	if _, _, err := f.ClaimIdempotencyKey(t.Context(), org, in, time.Minute); err != nil {
		t.Fatal(err)
	}
	f.advance(2 * time.Minute)
	var firsts atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, first, err := f.ClaimIdempotencyKey(t.Context(), org, in, time.Minute)
			if err != nil {
				t.Error(err)
			}
			if first {
				firsts.Add(1)
			}
		})
	}
	wg.Wait()
	if n := firsts.Load(); n != 1 {
		t.Errorf("%d of 20 are first", n)
	}
}
