package auth

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func (f *fixture) defaultKeys(t testing.TB) (public, private string, keys []store.IngestKey) {
	t.Helper()
	public, private = NewSecret(PrefixPublicKey), NewSecret(PrefixPrivateKey)
	keys, err := f.CreateDefaultIngestKeys(t.Context(), f.org, store.DefaultIngestKeys{
		Public: f.hasher.Secret(public), Private: f.hasher.Secret(private), CreatedBy: f.admin.ID,
	})
	if err != nil {
		t.Fatal(err)
	}
	return public, private, keys
}

func TestIngestLookup(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	public, private, keys := f.defaultKeys(t)
	custom := NewSecret(PrefixCustomKey)
	rate, expires := 2.5, f.now().Add(time.Minute).UTC()
	attrs := []store.ResourceAttribute{{Key: "team", Value: "a", Mode: store.AttributeIfMissing}}
	key, err := f.CreateIngestKey(ctx, f.org, store.NewIngestKey{
		Name: "edge", Secret: f.hasher.Secret(custom), Signals: []string{"traces"}, RateLimit: &rate, ExpiresAt: &expires,
		ResourceAttributes: attrs,
	})
	if err != nil {
		t.Fatal(err)
	}
	api, _ := f.apiKey(t, nil)
	policy, err := f.Store.IngestPolicy(ctx, f.org)
	if err != nil {
		t.Fatal(err)
	}
	want := func(row store.IngestKey) IngestKey {
		return IngestKey{IngestKey: &row, PublicID: publicid.Encode("ingk", row.ID), Policy: &policy}
	}
	for name, tc := range map[string]struct {
		secret string
		want   IngestKey
		says   string
	}{
		"public":   {public, want(keys[0]), ""},
		"private":  {private, want(keys[1]), ""},
		"custom":   {custom, want(key), ""},
		"test":     {"SVC_TEST", IngestKey{}, "not an ingest key"}, // the ingest endpoints know it
		"unknown":  {NewSecret(PrefixPublicKey), IngestKey{}, "does not know the key"},
		"API key":  {api, IngestKey{}, "use an ingest key"},
		"text":     {"secret", IngestKey{}, "not an ingest key"},
		"empty":    {"", IngestKey{}, "not an ingest key"},
		"cut":      {public[:30], IngestKey{}, "not an ingest key"},
		"own hash": {f.hasher.Hash(public), IngestKey{}, "not an ingest key"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := f.ingest.Lookup(ctx, tc.secret)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tc.says == "" && err != nil || tc.says != "" && (!errors.Is(err, ErrUnknownKey) || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("error = %v, want %q", err, tc.says)
			}
		})
	}
	f.advance(time.Minute)
	_, err = f.ingest.Lookup(ctx, custom)
	wantRefused(t, err, f.org, key.ID, "ingest key refused: it has expired")
}

// wantRefused checks that the sender learns that the key is refused, and that the organization can learn which key it was.
func wantRefused(t *testing.T, err error, org principal.OrgID, id uuid.UUID, message string) {
	t.Helper()
	var refused *RefusedKeyError
	if !errors.As(err, &refused) || !errors.Is(err, ErrUnknownKey) {
		t.Fatalf("error = %v, want a refusal of a known key", err)
	}
	if refused.Org != org || refused.KeyID != publicid.Encode(publicid.IngestKey, id) || refused.Kind != store.IngestKeyCustom ||
		err.Error() != message {
		t.Errorf("refusal = %+v, %q", refused, err)
	}
}

func TestIngestKeyChanges(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	public, private, _ := f.defaultKeys(t)
	custom := NewSecret(PrefixCustomKey)
	key, err := f.CreateIngestKey(ctx, f.org, store.NewIngestKey{Name: "edge", Secret: f.hasher.Secret(custom), Signals: []string{"logs"}})
	if err != nil {
		t.Fatal(err)
	}
	check := func(secret string, want error) {
		t.Helper()
		if _, err := f.ingest.Lookup(ctx, secret); !errors.Is(err, want) {
			t.Errorf("lookup: %v, want %v", err, want)
		}
	}
	check(public, nil)
	check(custom, nil)
	fresh := NewSecret(PrefixPublicKey)
	check(fresh, ErrUnknownKey) // this lookup comes too early; the failure is not remembered
	if _, err := f.RollDefaultIngestKey(ctx, f.org, store.IngestKeyPublic, f.hasher.Secret(fresh)); err != nil {
		t.Fatal(err)
	}
	check(public, ErrUnknownKey)
	check(fresh, nil)
	check(private, nil)
	for _, disabled := range []bool{true, false} {
		if _, err := f.EditIngestKey(ctx, f.org, key.ID, store.IngestKeyEdit{Enabled: store.Set(!disabled)}); err != nil {
			t.Fatal(err)
		}
		check(custom, map[bool]error{true: ErrUnknownKey}[disabled])
	}

	// A change by another process counts within the minute that the contract allows.
	f.ingest.unsubscribe()
	if _, err := f.EditIngestKey(ctx, f.org, key.ID, store.IngestKeyEdit{Enabled: store.Set(false)}); err != nil {
		t.Fatal(err)
	}
	check(custom, nil)
	f.advance(ingestKeyTTL)
	check(custom, ErrUnknownKey)
}

func TestIngestDatabaseDown(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	public, private, _ := f.defaultKeys(t)
	if _, err := f.ingest.Lookup(ctx, public); err != nil {
		t.Fatal(err)
	}
	f.down.Store(true)
	if _, err := f.ingest.Lookup(ctx, private); !errors.Is(err, ErrLookupUnavailable) || !errors.Is(err, errDown) {
		t.Errorf("an unknown key: %v", err)
	}
	// The known key keeps working for a long time, with few lookups.
	before := f.lookups.Load()
	for range 100 {
		f.advance(time.Minute)
		for range 10 {
			if _, err := f.ingest.Lookup(ctx, public); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := f.lookups.Load() - before; n > 100 {
		t.Errorf("%d lookups for 1000 calls on a database that is down", n)
	}
	// The copy recovers by itself, although no caller waits for it.
	f.down.Store(false)
	before = f.lookups.Load()
	deadline := time.Now().Add(5 * time.Second)
	for {
		f.advance(retryInterval)
		if _, err := f.ingest.Lookup(ctx, public); err != nil {
			t.Fatal(err)
		}
		if e, ok := f.ingest.keys.cache.GetIfPresent(f.hasher.Hash(public)); ok && e.retryAt.Load() == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("not refreshed; %d lookups since recovery", f.lookups.Load()-before)
		}
		time.Sleep(time.Millisecond)
	}
	// The copy does not last forever.
	f.down.Store(true)
	f.advance(ingestMaxStale)
	if _, err := f.ingest.Lookup(ctx, public); !errors.Is(err, ErrLookupUnavailable) {
		t.Errorf("after a day: %v", err)
	}
}

// TestStampede checks that callers who look up the same key at once share one lookup.
func TestStampede(t *testing.T) {
	f := newFixture(t)
	secret, _ := f.apiKey(t, nil)
	gate := make(chan struct{})
	hook := func() { <-gate }
	f.beforeAnswer.Store(&hook)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if r := f.auth.Authenticate(t.Context(), bearerHeader(secret)); r.Err != nil {
				t.Error(r.Err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	close(gate)
	wg.Wait()
	if n := f.lookups.Load(); n != 1 {
		t.Errorf("%d lookups, want 1", n)
	}
}

func BenchmarkIngestLookup(b *testing.B) {
	f := newFixture(b)
	public, _, _ := f.defaultKeys(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := f.ingest.Lookup(b.Context(), public); err != nil {
				b.Fatal(err)
			}
		}
	})
}
