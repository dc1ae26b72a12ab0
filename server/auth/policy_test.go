package auth

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/svc-observability/svc/server/store"
)

func (f *fixture) mapping(t *testing.T, name string) store.AttributeMapping {
	t.Helper()
	m, err := f.CreateAttributeMapping(t.Context(), f.org, store.NewAttributeMapping{
		Name: name, SourceContext: store.AttributeMappingSourceContextSpan, SourceKey: "a", TargetKey: "b",
		Operation: store.AttributeMappingOperationCopy,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// names lists the mappings that apply to data sent with the key.
func (f *fixture) names(t *testing.T, secret string) (names []string) {
	t.Helper()
	key, err := f.ingest.Lookup(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range key.Policy.Mappings {
		names = append(names, m.Name)
	}
	return names
}

func TestIngestPolicyChanges(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	public, private, _ := f.defaultKeys(t)
	if got := f.names(t, public); got != nil {
		t.Errorf("mappings %v, want none", got)
	}
	// In one process, everything takes effect at once.
	m := f.mapping(t, "one")
	f.mapping(t, "two")
	if diff := cmp.Diff([]string{"one", "two"}, f.names(t, public)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := f.DeleteAttributeMapping(ctx, f.org, m.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.PutPlan(ctx, f.org, store.PlanParams{Name: "off"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.PutSamplingPolicy(ctx, f.org, store.SamplingPolicyParams{TraceSampleRatio: 0.5}); err != nil {
		t.Fatal(err)
	}
	before := f.policies.Load()
	for _, secret := range []string{public, private, public} {
		key, err := f.ingest.Lookup(ctx, secret)
		if err != nil || len(key.Policy.Mappings) != 1 || key.Policy.Plan == nil || key.Policy.Plan.Active ||
			key.Policy.Sampling.TraceSampleRatio != 0.5 {
			t.Errorf("policy %+v, %v", key.Policy, err)
		}
	}
	if n := f.policies.Load() - before; n != 1 {
		t.Errorf("%d lookups of one organization's policy, want 1", n)
	}
	// The copy expires even without a message from the process that changed the policy.
	f.ingest.unsubscribe()
	if err := f.RemovePlan(ctx, f.org); err != nil {
		t.Fatal(err)
	}
	f.advance(ingestKeyTTL)
	if key, err := f.ingest.Lookup(ctx, public); err != nil || key.Policy.Plan != nil {
		t.Errorf("policy %+v, %v", key.Policy, err)
	}
}

// TestIngestPolicyDatabaseDown checks that ingest continues, with the known policy or without a policy.
func TestIngestPolicyDatabaseDown(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	public, _, _ := f.defaultKeys(t)
	f.mapping(t, "one")
	if got := f.names(t, public); len(got) != 1 {
		t.Fatalf("mappings %v", got)
	}
	f.down.Store(true)
	// A policy that was never seen: no mapping, no sampling, no limit, and few lookups.
	before := f.policies.Load()
	for range 100 {
		got, err := f.ingest.Policy(ctx, "org_other")
		if err != nil || len(got.Mappings) != 0 || got.Plan != nil || !cmp.Equal(store.DefaultSamplingPolicy(), got.Sampling) {
			t.Fatalf("unknown organization: %+v, %v", got, err)
		}
	}
	if n := f.policies.Load() - before; n != 1 {
		t.Errorf("%d questions to a database that is down, want 1", n)
	}
	// A policy that was seen before.
	for range 3 {
		f.advance(time.Hour)
		if diff := cmp.Diff([]string{"one"}, f.names(t, public)); diff != "" {
			t.Errorf("known organization (-want +got):\n%s", diff)
		}
	}
}

// TestDoubt checks the message that anything may have changed. Every copy is then looked up again, and no copy is lost while the
// database is down.
func TestDoubt(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	public, private, _ := f.defaultKeys(t)
	custom := NewSecret(PrefixCustomKey)
	key, err := f.CreateIngestKey(ctx, f.org, store.NewIngestKey{Name: "n", Secret: f.hasher.Secret(custom), Signals: []string{"logs"}})
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{public, private, custom}
	lookups := func(want int64) {
		t.Helper()
		before := f.lookups.Load()
		for range 3 {
			for _, secret := range secrets {
				if _, err := f.ingest.Lookup(ctx, secret); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := f.lookups.Load() - before; n != want {
			t.Errorf("%d lookups, want %d", n, want)
		}
	}
	lookups(3)
	lookups(0)
	up, cut := store.Change{Subject: store.SubjectAny}, store.Change{Subject: store.SubjectAny, Cause: errors.New("connection reset")}
	f.ingest.changed(up)
	lookups(3)
	// The database is down, and the feed reports this repeatedly. Every key is looked up once and then served from the copy.
	f.down.Store(true)
	f.ingest.changed(cut)
	lookups(3)
	for range 4 {
		f.advance(time.Second)
		f.ingest.changed(cut)
		lookups(0)
	}
	// A key that somebody with access to the database edited meanwhile stays known too. A key that was deleted does not.
	f.ingest.changed(store.Change{Subject: store.SubjectIngestKey, Hash: f.hasher.Hash(custom)})
	lookups(1)
	f.ingest.changed(store.Change{Subject: store.SubjectIngestKey, Hash: f.hasher.Hash(custom), Gone: true})
	if _, err := f.ingest.Lookup(ctx, custom); !errors.Is(err, ErrLookupUnavailable) || errors.Is(err, ErrUnknownKey) {
		t.Errorf("a key that was rolled, while the database is down: %v", err)
	}
	// The database and the feed are back. No copy is served without a lookup, not even in the pause after the last failure.
	f.down.Store(false)
	f.ingest.changed(up)
	lookups(3)
	if _, err := f.EditIngestKey(ctx, f.org, key.ID, store.IngestKeyEdit{Enabled: store.Set(false)}); err != nil {
		t.Fatal(err)
	}
	_, err = f.ingest.Lookup(ctx, custom)
	wantRefused(t, err, f.org, key.ID, "ingest key refused: it is disabled")
}

func TestIngestKeyLastUsed(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	public, _, keys := f.defaultKeys(t)
	use := func() {
		t.Helper()
		for range 3 {
			if _, err := f.ingest.Lookup(ctx, public); err != nil {
				t.Fatal(err)
			}
		}
	}
	used := func(want time.Time) {
		t.Helper()
		deadline := time.Now().Add(10 * time.Second)
		for {
			key, err := f.GetIngestKey(ctx, f.org, keys[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			if key.LastUsedAt != nil && key.LastUsedAt.Equal(want) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("last used at %v, want %s", key.LastUsedAt, want)
			}
			time.Sleep(time.Millisecond)
		}
	}
	first := f.now()
	use()
	used(first)
	f.advance(store.TouchInterval - time.Second)
	use()
	used(first)
	f.advance(time.Second)
	use()
	used(f.now())
}
