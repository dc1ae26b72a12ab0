package storetest

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/server/store"
)

func testApiKeyFields(t *testing.T, f *fixture) {
	org, user := f.org(t)
	expires := f.now().Add(time.Hour)
	for name, in := range map[string]store.NewApiKey{
		"least": {Name: "n", Kind: store.ApiKeyStandard},
		"most": {
			Name: "n", Description: new("d ünï"), Kind: store.ApiKeyMCP, Scopes: []string{"traces:read", "*"}, ExpiresAt: &expires,
			CreatedBy: user, CreatedByEmail: "a@example.com",
		},
		"no scope at all": {Name: "n", Description: new(""), Kind: store.ApiKeyStandard, Scopes: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			in.Secret = f.secret()
			key, _, err := f.CreateApiKey(t.Context(), org, in)
			if err != nil {
				t.Fatal(err)
			}
			want := store.ApiKey{
				ID: key.ID, Org: org, Name: in.Name, Description: in.Description, Kind: in.Kind, Scopes: in.Scopes,
				KeyPrefix: in.Secret.Prefix, SecretHash: in.Secret.Hash, CreatedAt: f.now().UTC(), CreatedBy: in.CreatedBy,
			}
			if in.ExpiresAt != nil {
				want.ExpiresAt = new(in.ExpiresAt.UTC())
			}
			if in.CreatedByEmail != "" {
				want.CreatedByEmail = &in.CreatedByEmail
			}
			if diff := cmp.Diff(want, key); diff != "" {
				t.Errorf("created (-want +got):\n%s", diff)
			}
			got, err := f.GetApiKey(t.Context(), org, key.ID)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("get: %v (-want +got):\n%s", err, diff)
			}
			got, err = f.ApiKeyByHash(t.Context(), in.Secret.Hash)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("by hash: %v (-want +got):\n%s", err, diff)
			}
			_, _, err = f.CreateApiKey(t.Context(), org, in)
			wantError(t, err, store.ErrConflict)
		})
	}
	_, _, err := f.CreateApiKey(t.Context(), "org_none", store.NewApiKey{Name: "n", Kind: store.ApiKeyStandard, Secret: f.secret()})
	wantError(t, err, store.ErrNotFound)
	_, err = f.ApiKeyByHash(t.Context(), "none")
	wantError(t, err, store.ErrNotFound)
}

// testApiKeyOrder gives many keys the same time. Pages must still neither repeat nor lose a key.
func testApiKeyOrder(t *testing.T, f *fixture) {
	org, _ := f.org(t)
	other, _ := f.org(t)
	var want []uuid.UUID
	for i := range 23 {
		if i%5 == 0 {
			// Fractions of different printed length: 12:00:00, 12:00:00.1, 12:00:00.100001 …
			f.advance([]time.Duration{time.Microsecond, 100 * time.Millisecond, time.Second}[i/5%3])
		}
		want = append(want, f.apiKey(t, org).ID)
		f.apiKey(t, other)
	}
	slices.Reverse(want)
	for _, size := range []int{1, 4, 23, 100} {
		var got []uuid.UUID
		for {
			page, err := f.ListApiKeys(t.Context(), org, len(got), size)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, k := range page {
				got = append(got, k.ID)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", size, diff)
		}
	}
}

func testApiKeyIsolation(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	key := f.apiKey(t, org)
	_, err := f.GetApiKey(ctx, other, key.ID)
	wantError(t, err, store.ErrNotFound)
	_, _, err = f.RevokeApiKey(ctx, other, key.ID)
	wantError(t, err, store.ErrNotFound)
	_, _, err = f.RollApiKey(ctx, other, key.ID, store.RollParams{Secret: f.secret()})
	wantError(t, err, store.ErrNotFound)
	if err := f.TouchApiKey(ctx, other, key.ID, f.now()); err != nil {
		t.Error(err)
	}
	if keys, err := f.ListApiKeys(ctx, other, 0, 10); err != nil || len(keys) != 0 {
		t.Errorf("the other organization lists %d keys, %v", len(keys), err)
	}
	got, err := f.GetApiKey(ctx, org, key.ID)
	if diff := cmp.Diff(key, got); err != nil || diff != "" {
		t.Errorf("another organization changed the key: %v (-want +got):\n%s", err, diff)
	}
}

func testApiKeyRevoke(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	key := f.apiKey(t, org)
	f.advance(time.Second)
	want := key
	want.RevokedAt = new(f.now().UTC())
	for range 2 {
		got, txid, err := f.RevokeApiKey(ctx, org, key.ID)
		if diff := cmp.Diff(want, got); err != nil || txid == "" || diff != "" {
			t.Errorf("revoke: %v, txid %q (-want +got):\n%s", err, txid, diff)
		}
		f.advance(time.Hour)
	}
	if keys, err := f.ListApiKeys(ctx, org, 0, 10); err != nil || len(keys) != 1 {
		t.Errorf("a revoked key is not listed: %d, %v", len(keys), err)
	}
	_, _, err := f.RevokeApiKey(ctx, org, uuid.New())
	wantError(t, err, store.ErrNotFound)
}

func testApiKeyRoll(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	expires := f.now().Add(time.Hour)
	old, _, err := f.CreateApiKey(ctx, org, store.NewApiKey{
		Name: "n", Description: new("d"), Kind: store.ApiKeyMCP, Scopes: []string{"logs:read"}, Secret: f.secret(), ExpiresAt: &expires,
		CreatedBy: "user_1", CreatedByEmail: "1@example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	f.advance(time.Minute)
	secret := f.secret()
	key, txid, err := f.RollApiKey(ctx, org, old.ID, store.RollParams{Secret: secret, By: "user_2", ByEmail: "2@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	want := store.ApiKey{
		ID: key.ID, Org: org, Name: "n", Description: new("d"), Kind: store.ApiKeyMCP, Scopes: []string{"logs:read"},
		KeyPrefix: secret.Prefix, SecretHash: secret.Hash, CreatedAt: f.now().UTC(), CreatedBy: "user_2", CreatedByEmail: new("2@example.com"),
	}
	if diff := cmp.Diff(want, key); diff != "" || txid == "" || key.ID == old.ID {
		t.Errorf("txid %q, rolled (-want +got):\n%s", txid, diff)
	}
	got, err := f.GetApiKey(ctx, org, old.ID)
	if err != nil || got.RevokedAt == nil || !got.RevokedAt.Equal(f.now()) {
		t.Errorf("old key = %+v, %v", got, err)
	}
	_, _, err = f.RollApiKey(ctx, org, old.ID, store.RollParams{Secret: f.secret()})
	wantError(t, err, store.ErrNotFound)

	// All or nothing: when the new key cannot be written, the old one stays.
	_, _, err = f.RollApiKey(ctx, org, key.ID, store.RollParams{Secret: store.Secret{Hash: old.SecretHash, Prefix: "p"}})
	wantError(t, err, store.ErrConflict)
	if got, err := f.GetApiKey(ctx, org, key.ID); err != nil || got.RevokedAt != nil {
		t.Errorf("after a failed roll: %+v, %v", got, err)
	}
}

func testApiKeyRollRace(t *testing.T, f *fixture) {
	org, _ := f.org(t)
	for range 3 {
		key := f.apiKey(t, org)
		before, err := f.ListApiKeys(t.Context(), org, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var won atomic.Int64
		for range 8 {
			secret := f.secret()
			wg.Go(func() {
				switch _, _, err := f.RollApiKey(t.Context(), org, key.ID, store.RollParams{Secret: secret}); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, store.ErrNotFound):
					t.Errorf("roll: %v", err)
				}
			})
		}
		wg.Wait()
		after, err := f.ListApiKeys(t.Context(), org, 0, 1000)
		if err != nil || won.Load() != 1 || len(after) != len(before)+1 {
			t.Fatalf("%d rolls won, %d keys became %d, %v", won.Load(), len(before), len(after), err)
		}
	}
}

func testApiKeyTouch(t *testing.T, f *fixture) {
	org, _ := f.org(t)
	key := f.apiKey(t, org)
	start := f.now().UTC()
	for _, step := range []struct{ at, want time.Duration }{
		{0, 0},
		{store.TouchInterval - time.Second, 0},
		{store.TouchInterval, store.TouchInterval},
		{0, store.TouchInterval}, // a late writer does not move the time back
		{5 * time.Hour, 5 * time.Hour},
	} {
		if err := f.TouchApiKey(t.Context(), org, key.ID, start.Add(step.at)); err != nil {
			t.Fatal(err)
		}
		got, err := f.GetApiKey(t.Context(), org, key.ID)
		if err != nil || got.LastUsedAt == nil || !got.LastUsedAt.Equal(start.Add(step.want)) {
			t.Errorf("after a touch at +%s: %v, %v; want +%s", step.at, got.LastUsedAt, err, step.want)
		}
	}
}

func testTxid(t *testing.T, f *fixture) {
	org, _ := f.org(t)
	key := f.apiKey(t, org)
	last := int64(0)
	next := func(text string, err error) {
		t.Helper()
		n, perr := strconv.ParseInt(text, 10, 64)
		if err != nil || perr != nil || n <= last {
			t.Errorf("txid %q after %d (%v)", text, last, err)
		}
		last = n
	}
	_, txid, err := f.RollApiKey(t.Context(), org, key.ID, store.RollParams{Secret: f.secret()})
	next(txid, err)
	_, txid, err = f.RevokeApiKey(t.Context(), org, key.ID)
	next(txid, err)

	// Concurrent changes have different numbers.
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 20 {
		in := store.NewApiKey{Name: "n", Kind: store.ApiKeyStandard, Secret: f.secret()}
		wg.Go(func() {
			_, txid, err := f.CreateApiKey(t.Context(), org, in)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[txid] = true
		})
	}
	wg.Wait()
	if len(seen) != 20 {
		t.Errorf("%d numbers for 20 changes", len(seen))
	}
}
