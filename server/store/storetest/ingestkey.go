package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/svc-observability/svc/server/store"
)

func testDefaultIngestKeys(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	other, _ := f.org(t)
	in := store.DefaultIngestKeys{Public: f.secret(), Private: f.secret(), CreatedBy: user}
	keys, err := f.CreateDefaultIngestKeys(ctx, org, in)
	if err != nil || len(keys) != 2 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	public, private := keys[0], keys[1]
	want := store.IngestKey{
		ID: public.ID, Org: org, Kind: store.IngestKeyPublic, Name: "Client", KeyHash: in.Public.Hash, KeyPrefix: in.Public.Prefix,
		CreatedAt: f.now().UTC(), CreatedBy: user,
	}
	if diff := cmp.Diff(want, public); diff != "" {
		t.Errorf("public (-want +got):\n%s", diff)
	}
	// One pair per organization, but as many pairs as organizations.
	_, err = f.CreateDefaultIngestKeys(ctx, org, store.DefaultIngestKeys{Public: f.secret(), Private: f.secret()})
	wantError(t, err, store.ErrConflict)
	_, err = f.RollDefaultIngestKey(ctx, other, store.IngestKeyPublic, f.secret())
	wantError(t, err, store.ErrNotFound)
	if _, err := f.CreateDefaultIngestKeys(ctx, other, store.DefaultIngestKeys{Public: f.secret(), Private: f.secret()}); err != nil {
		t.Errorf("second organization: %v", err)
	}

	f.advance(time.Minute)
	secret := f.secret()
	rolled, err := f.RollDefaultIngestKey(ctx, org, store.IngestKeyPrivate, secret)
	if err != nil {
		t.Fatal(err)
	}
	want = private
	want.KeyHash, want.KeyPrefix, want.RotatedAt = secret.Hash, secret.Prefix, ptr(f.now().UTC())
	if diff := cmp.Diff(want, rolled); diff != "" {
		t.Errorf("rolled (-want +got):\n%s", diff)
	}
	_, err = f.IngestKeyByHash(ctx, in.Private.Hash)
	wantError(t, err, store.ErrNotFound)
	got, err := f.IngestKeyByHash(ctx, secret.Hash)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("by hash: %v (-want +got):\n%s", err, diff)
	}
	_, err = f.RollDefaultIngestKey(ctx, org, store.IngestKeyCustom, f.secret())
	wantError(t, err, store.ErrNotFound)
}

func testCustomIngestKeys(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	other, _ := f.org(t)
	in := store.NewIngestKey{
		Name: "edge", Secret: f.secret(), Signals: []string{"traces", "logs"}, RateLimit: ptr(2.5), ExpiresAt: ptr(f.now().Add(time.Hour)),
		ResourceAttributes: []store.ResourceAttribute{{Key: "team", Value: "a", Mode: store.AttributeAlwaysSet}}, CreatedBy: user,
	}
	key, err := f.CreateIngestKey(ctx, org, in)
	if err != nil {
		t.Fatal(err)
	}
	want := store.IngestKey{
		ID: key.ID, Org: org, Kind: store.IngestKeyCustom, Name: "edge", KeyHash: in.Secret.Hash, KeyPrefix: in.Secret.Prefix,
		Signals: in.Signals, RateLimit: in.RateLimit, ResourceAttributes: in.ResourceAttributes,
		ExpiresAt: ptr(in.ExpiresAt.UTC()), CreatedAt: f.now().UTC(), CreatedBy: user,
	}
	if diff := cmp.Diff(want, key); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	f.advance(time.Second)
	second, err := f.CreateIngestKey(ctx, org, store.NewIngestKey{Name: "plain", Secret: f.secret()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.SetIngestKeyDisabled(ctx, other, key.ID, true)
	wantError(t, err, store.ErrNotFound)
	key, err = f.SetIngestKeyDisabled(ctx, org, key.ID, true)
	if want.DisabledAt = ptr(f.now().UTC()); err != nil || !cmp.Equal(want, key) {
		t.Errorf("disabled: %v %s", err, cmp.Diff(want, key))
	}
	list, err := f.ListIngestKeys(ctx, org)
	if diff := cmp.Diff([]store.IngestKey{second, key}, list); err != nil || diff != "" {
		t.Errorf("list: %v (-want +got):\n%s", err, diff)
	}
	if key, err = f.SetIngestKeyDisabled(ctx, org, key.ID, false); err != nil || key.DisabledAt != nil {
		t.Errorf("enabled: %+v, %v", key, err)
	}
	if list, err := f.ListIngestKeys(ctx, other); err != nil || len(list) != 0 {
		t.Errorf("the other organization lists %d, %v", len(list), err)
	}
}

// testIngestKeyRollRace: every roll announces the hash that it replaced, so that no old secret stays in a cache.
func testIngestKeyRollRace(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	first := f.secret()
	if _, err := f.CreateDefaultIngestKeys(ctx, org, store.DefaultIngestKeys{Public: first, Private: f.secret(), CreatedBy: user}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	dead := map[string]bool{}
	defer f.Subscribe(func(c store.Change) {
		mu.Lock()
		defer mu.Unlock()
		dead[c.Hash] = true
	})()
	hashes := map[string]bool{first.Hash: true}
	var wg sync.WaitGroup
	for range 8 {
		s := f.secret()
		hashes[s.Hash] = true
		wg.Go(func() {
			if _, err := f.RollDefaultIngestKey(ctx, org, store.IngestKeyPublic, s); err != nil {
				t.Errorf("roll: %v", err)
			}
		})
	}
	wg.Wait()
	for hash := range hashes {
		_, err := f.IngestKeyByHash(ctx, hash)
		if alive := err == nil; alive == dead[hash] {
			t.Errorf("%s: alive %t, announced as dead %t", hash, alive, dead[hash])
		}
	}
}
