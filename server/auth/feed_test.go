package auth

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// TestChangesOfOtherProcesses runs two nodes on one database, each with its own store. A change by one node applies on the other
// within a second. An outage of the database refuses no known key.
func TestChangesOfOtherProcesses(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(t *testing.T) store.Config{
		"sqlite":   func(t *testing.T) store.Config { return store.Config{Path: filepath.Join(t.TempDir(), "svc.db")} },
		"postgres": func(t *testing.T) store.Config { return store.Config{URL: pgtest.Start(t).NewDatabase(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testChangesOfOthers(t, config(t))
		})
	}
}

func testChangesOfOthers(t *testing.T, cfg store.Config) {
	ctx := t.Context()
	open := func() *store.Store {
		s, err := store.Open(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	admin, node := open(), &faultyStore{Store: open()}
	hasher, err := NewHasher([]byte(strings.Repeat("p", PepperSize)))
	if err != nil {
		t.Fatal(err)
	}
	up := make(chan struct{}, 100)
	t.Cleanup(node.Store.Subscribe(func(c store.Change) {
		if c.Subject == store.SubjectAny && c.Cause == nil {
			up <- struct{}{}
		}
	}))
	ingest := NewIngest(IngestConfig{Store: node, Hasher: hasher})
	t.Cleanup(ingest.Close)
	secrets := map[store.IngestKeyKind]string{
		store.IngestKeyPublic: NewSecret(PrefixPublicKey), store.IngestKeyPrivate: NewSecret(PrefixPrivateKey),
		store.IngestKeyCustom: NewSecret(PrefixCustomKey),
	}
	out, err := admin.CreateOrganization(ctx, store.NewOrganization{
		Name: "one", Admin: &store.NewUser{Email: "a@example.com"},
		IngestKeys: &store.DefaultIngestKeys{
			Public: hasher.Secret(secrets[store.IngestKeyPublic]), Private: hasher.Secret(secrets[store.IngestKeyPrivate]),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	org := out.Organization.ID
	custom, err := admin.CreateIngestKey(ctx, org, store.NewIngestKey{
		Name: "n", Secret: hasher.Secret(secrets[store.IngestKeyCustom]), Signals: []string{"logs"},
	})
	if err != nil {
		t.Fatal(err)
	}
	// within waits until the node notices a change, and returns how long that took.
	within := func(what string, noticed func() bool) {
		t.Helper()
		start := time.Now()
		for !noticed() {
			if time.Since(start) > 30*time.Second {
				t.Fatalf("%s: not noticed", what)
			}
			time.Sleep(time.Millisecond)
		}
		t.Logf("%s: noticed after %s", what, time.Since(start).Round(time.Millisecond))
	}
	lookup := func(kind store.IngestKeyKind) (IngestKey, error) { return ingest.Lookup(ctx, secrets[kind]) }
	for kind := range secrets {
		if _, err := lookup(kind); err != nil {
			t.Fatal(err)
		}
	}
	if cfg.URL != "" { // the feed of PostgreSQL starts beside the store, and says when it is up
		select {
		case <-up:
		case <-time.After(30 * time.Second):
			t.Fatal("the feed does not start")
		}
	}
	for kind := range secrets {
		if _, err := lookup(kind); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := admin.RollDefaultIngestKey(ctx, org, store.IngestKeyPublic, hasher.Secret(NewSecret(PrefixPublicKey))); err != nil {
		t.Fatal(err)
	}
	within("roll of a default key", func() bool { _, err := lookup(store.IngestKeyPublic); return errors.Is(err, ErrUnknownKey) })
	if _, err := admin.EditIngestKey(ctx, org, custom.ID, store.IngestKeyEdit{Signals: store.Set([]string{"traces"})}); err != nil {
		t.Fatal(err)
	}
	within("edit of a custom key", func() bool {
		k, err := lookup(store.IngestKeyCustom)
		return err == nil && slices.Contains(k.Signals, "traces")
	})
	if _, err := admin.EditIngestKey(ctx, org, custom.ID, store.IngestKeyEdit{Enabled: store.Set(false)}); err != nil {
		t.Fatal(err)
	}
	within("disabling a custom key", func() bool { _, err := lookup(store.IngestKeyCustom); return errors.Is(err, ErrUnknownKey) })
	if _, err := admin.EditIngestKey(ctx, org, custom.ID, store.IngestKeyEdit{Enabled: store.Set(true)}); err != nil {
		t.Fatal(err)
	}
	within("enabling a custom key", func() bool { _, err := lookup(store.IngestKeyCustom); return err == nil })
	if _, err := admin.PutPlan(ctx, org, store.PlanParams{Name: "p"}); err != nil {
		t.Fatal(err)
	}
	within("a plan", func() bool { k, err := lookup(store.IngestKeyPrivate); return err == nil && k.Policy.Plan != nil })

	// Outage: the node's database fails, and so does its feed.
	node.down.Store(true)
	ingest.changed(store.Change{Subject: store.SubjectAny, Cause: errDown})
	for range 20 {
		for _, kind := range []store.IngestKeyKind{store.IngestKeyPrivate, store.IngestKeyCustom} {
			if _, err := lookup(kind); err != nil {
				t.Errorf("known key of kind %s in an outage: %v", kind, err)
			}
		}
		if _, err := lookup(store.IngestKeyPublic); !errors.Is(err, ErrLookupUnavailable) || errors.Is(err, ErrUnknownKey) {
			t.Errorf("unknown key in an outage: %v", err)
		}
	}
	// The key was rolled while the feed was down: it is refused as soon as the feed is back.
	if _, err := admin.RollDefaultIngestKey(ctx, org, store.IngestKeyPrivate, hasher.Secret(NewSecret(PrefixPrivateKey))); err != nil {
		t.Fatal(err)
	}
	node.down.Store(false)
	ingest.changed(store.Change{Subject: store.SubjectAny})
	if _, err := lookup(store.IngestKeyPrivate); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("a key that was rolled in an outage, after it: %v", err)
	}
}
