package storetest

import (
	"math"
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
		CreatedAt: f.now().UTC(), UpdatedAt: f.now().UTC(), CreatedBy: user,
	}
	if diff := cmp.Diff(want, public); diff != "" {
		t.Errorf("public (-want +got):\n%s", diff)
	}
	if entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{Action: "ingest_key.created"}, 0, 10); err != nil ||
		len(entries) != 2 {
		t.Errorf("audit: %d entries, %v", len(entries), err)
	}
	// Each organization has exactly one pair.
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
	want.KeyHash, want.KeyPrefix, want.RotatedAt, want.UpdatedAt = secret.Hash, secret.Prefix, new(f.now().UTC()), f.now().UTC()
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
	start := f.now().UTC()
	in := store.NewIngestKey{
		Name: " edge ", Description: new("of the\ncdn"), Secret: f.secret(), Signals: []string{"traces", "logs"}, RateLimit: new(2.5),
		ExpiresAt:          new(f.now().Add(time.Hour)),
		ResourceAttributes: []store.ResourceAttribute{{Key: "team", Value: "a", Mode: store.AttributeAlwaysSet}}, CreatedBy: user,
	}
	key, err := f.CreateIngestKey(ctx, org, in)
	if err != nil {
		t.Fatal(err)
	}
	want := store.IngestKey{
		ID: key.ID, Org: org, Kind: store.IngestKeyCustom, Name: "edge", Description: in.Description, KeyHash: in.Secret.Hash,
		KeyPrefix: in.Secret.Prefix, Signals: in.Signals, RateLimit: in.RateLimit, ResourceAttributes: in.ResourceAttributes,
		ExpiresAt: new(in.ExpiresAt.UTC()), CreatedAt: f.now().UTC(), UpdatedAt: f.now().UTC(), CreatedBy: user,
	}
	if diff := cmp.Diff(want, key); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	f.advance(time.Second)
	second, err := f.CreateIngestKey(ctx, org, store.NewIngestKey{
		Name: "plain", Disabled: true, Secret: f.secret(),
		Signals: []string{"events"},
	})
	if err != nil || second.DisabledAt == nil {
		t.Fatal(second, err)
	}
	changes, unsubscribe := watch(f)
	gone := store.Change{Subject: store.SubjectIngestKey, Org: org, Hash: in.Secret.Hash, Gone: true}
	edited := gone
	edited.Gone = false
	var told []store.Change
	for _, step := range []struct {
		edit store.IngestKeyEdit
		want func()
		told *store.Change
	}{
		{store.IngestKeyEdit{Enabled: store.Set(false)}, func() { want.DisabledAt = new(f.now().UTC()) }, &gone},
		{store.IngestKeyEdit{Enabled: store.Set(false)}, nil, nil}, // keeps the first time
		{store.IngestKeyEdit{Enabled: store.Set(true)}, func() { want.DisabledAt = nil }, &edited},
		{
			store.IngestKeyEdit{Name: store.Set("cdn"), Description: store.Set[*string](nil)},
			func() { want.Name, want.Description = "cdn", nil },
			&edited,
		},
		{
			store.IngestKeyEdit{Signals: store.Set([]string{"metrics"}), RateLimit: store.Set(new(7.0))},
			func() { want.Signals, want.RateLimit = []string{"metrics"}, new(7.0) }, &edited,
		},
		{
			store.IngestKeyEdit{RateLimit: store.Set[*float64](nil), ResourceAttributes: store.Set([]store.ResourceAttribute{})},
			func() { want.RateLimit, want.ResourceAttributes = nil, nil }, &edited,
		},
		{
			store.IngestKeyEdit{ExpiresAt: store.Set(new(start.Add(2 * time.Hour)))},
			func() { want.ExpiresAt = new(start.Add(2 * time.Hour)) },
			&edited,
		},
		{store.IngestKeyEdit{ExpiresAt: store.Set[*time.Time](nil)}, func() { want.ExpiresAt = nil }, &edited},
		{store.IngestKeyEdit{}, nil, nil},
	} {
		if step.want != nil {
			step.want()
			want.UpdatedAt = f.now().UTC()
			told = append(told, *step.told)
		}
		key, err = f.EditIngestKey(ctx, org, key.ID, step.edit)
		if diff := cmp.Diff(want, key); err != nil || diff != "" {
			t.Errorf("edit %+v: %v (-want +got):\n%s", step.edit, err, diff)
		}
		f.advance(time.Second)
	}
	secret := f.secret()
	want.KeyHash, want.KeyPrefix, want.RotatedAt, want.UpdatedAt = secret.Hash, secret.Prefix, new(f.now().UTC()), f.now().UTC()
	key, err = f.RollIngestKey(ctx, org, key.ID, secret)
	if diff := cmp.Diff(want, key); err != nil || diff != "" {
		t.Errorf("rolled: %v (-want +got):\n%s", err, diff)
	}
	_, err = f.IngestKeyByHash(ctx, in.Secret.Hash)
	wantError(t, err, store.ErrNotFound)
	list, err := f.ListIngestKeys(ctx, org)
	if diff := cmp.Diff([]store.IngestKey{second, key}, list); err != nil || diff != "" {
		t.Errorf("list: %v (-want +got):\n%s", err, diff)
	}
	for name, call := range map[string]func(org principal.OrgID, id uuid.UUID) error{
		"get": func(org principal.OrgID, id uuid.UUID) error { _, err := f.GetIngestKey(ctx, org, id); return err },
		"edit": func(org principal.OrgID, id uuid.UUID) error {
			_, err := f.EditIngestKey(ctx, org, id, store.IngestKeyEdit{Enabled: store.Set(false)})
			return err
		},
		"roll": func(org principal.OrgID, id uuid.UUID) error {
			_, err := f.RollIngestKey(ctx, org, id, f.secret())
			return err
		},
		"delete": func(org principal.OrgID, id uuid.UUID) error { return f.DeleteIngestKey(ctx, org, id) },
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, call(other, key.ID), store.ErrNotFound)
			wantError(t, call(org, uuid.New()), store.ErrNotFound)
		})
	}
	if got, err := f.GetIngestKey(ctx, org, key.ID); err != nil || !cmp.Equal(want, got) {
		t.Errorf("get: %v %s", err, cmp.Diff(want, got))
	}
	if list, err := f.ListIngestKeys(ctx, other); err != nil || len(list) != 0 {
		t.Errorf("the other organization lists %d, %v", len(list), err)
	}
	if err := f.DeleteIngestKey(ctx, org, key.ID); err != nil {
		t.Error(err)
	}
	_, err = f.IngestKeyByHash(ctx, secret.Hash)
	wantError(t, err, store.ErrNotFound)
	deleted := gone
	deleted.Hash = secret.Hash
	expect(t, changes, unsubscribe, append(told, gone, deleted)...)
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{
		ResourceType: "ingest_key",
		ResourceID:   publicid.Encode(publicid.IngestKey, key.ID),
	}, 0, 100)
	var actions []string
	for _, e := range entries {
		actions = append(actions, e.Action)
	}
	if got, want := strings.Join(actions, " "), "ingest_key.deleted ingest_key.rolled"+strings.Repeat(" ingest_key.updated", len(told))+
		" ingest_key.created"; err != nil || got != want {
		t.Errorf("audit log: %v %s, want %s", err, got, want)
	}

	// The default keys cannot be edited, rolled or deleted by their id.
	defaults, err := f.CreateDefaultIngestKeys(ctx, org, store.DefaultIngestKeys{Public: f.secret(), Private: f.secret()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.EditIngestKey(ctx, org, defaults[0].ID, store.IngestKeyEdit{Enabled: store.Set(false)})
	wantError(t, err, store.ErrNotFound)
	_, err = f.RollIngestKey(ctx, org, defaults[0].ID, f.secret())
	wantError(t, err, store.ErrNotFound)
	wantError(t, f.DeleteIngestKey(ctx, org, defaults[0].ID), store.ErrNotFound)
}

func testIngestKeyRules(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	attr := func(key, value string, mode store.AttributeMode) store.ResourceAttribute {
		return store.ResourceAttribute{Key: key, Value: value, Mode: mode}
	}
	for name, tc := range map[string]struct {
		change func(*store.NewIngestKey)
		want   string
	}{
		"name":        {func(k *store.NewIngestKey) { k.Name = " \t" }, "name must not be empty"},
		"long name":   {func(k *store.NewIngestKey) { k.Name = strings.Repeat("n", 201) }, "name has 201 characters; at most 200 are allowed"},
		"control":     {func(k *store.NewIngestKey) { k.Name = "a\x1bb" }, "name contains a control character"},
		"utf8":        {func(k *store.NewIngestKey) { k.Name = "a\xff" }, "name is not valid UTF-8"},
		"description": {func(k *store.NewIngestKey) { k.Description = new("a\x00b") }, "description contains a NUL character"},
		"no signal": {
			func(k *store.NewIngestKey) { k.Signals = nil },
			"allowed_signals must name at least one of traces, logs, metrics, sessions, events",
		},
		"bad signal": {
			func(k *store.NewIngestKey) { k.Signals = []string{"logs", "Traces"} },
			`allowed_signals[1] "Traces" is not a signal; use traces, logs, metrics, sessions, events`,
		},
		"signal twice": {func(k *store.NewIngestKey) { k.Signals = []string{"logs", "logs"} }, `allowed_signals[1] "logs" appears twice`},
		"rate 0": {
			func(k *store.NewIngestKey) { k.RateLimit = new(0.0) },
			"rate_limit_per_second must be greater than 0, or null for no limit",
		},
		"rate NaN": {
			func(k *store.NewIngestKey) { k.RateLimit = new(math.NaN()) },
			"rate_limit_per_second must be greater than 0, or null for no limit",
		},
		"rate infinite": {
			func(k *store.NewIngestKey) { k.RateLimit = new(math.Inf(1)) },
			"rate_limit_per_second must be greater than 0, or null for no limit",
		},
		"expired": {func(k *store.NewIngestKey) { k.ExpiresAt = new(f.now()) }, "expires_at must be in the future, or null for never"},
		"attribute key": {func(k *store.NewIngestKey) {
			k.ResourceAttributes = []store.ResourceAttribute{attr(" ", "", "always_set")}
		}, "resource_attributes[0].key must not be empty"},
		"reserved": {func(k *store.NewIngestKey) {
			k.ResourceAttributes = []store.ResourceAttribute{attr("SVC_org_id", "", "always_set"), attr("Org_ID", "", "if_missing")}
		}, "resource_attributes[0].key is reserved: names that begin with svc_, and org_id, are written by the server; " +
			"resource_attributes[1].key is reserved: names that begin with svc_, and org_id, are written by the server"},
		"attribute twice": {func(k *store.NewIngestKey) {
			k.ResourceAttributes = []store.ResourceAttribute{attr("a", "", "always_set"), attr("a", "", "if_missing")}
		}, `resource_attributes[1].key "a" appears twice`},
		"attribute value": {func(k *store.NewIngestKey) {
			k.ResourceAttributes = []store.ResourceAttribute{attr("a", strings.Repeat("v", 4097), "always_set")}
		}, "resource_attributes[0].value has 4097 characters; at most 4096 are allowed"},
		"mode": {func(k *store.NewIngestKey) {
			k.ResourceAttributes = []store.ResourceAttribute{attr("a", "", "never")}
		}, `resource_attributes[0].mode "never" is not a mode; use always_set or if_missing`},
		"many attributes": {
			func(k *store.NewIngestKey) { k.ResourceAttributes = make([]store.ResourceAttribute, 51) },
			"resource_attributes has 51 attributes; at most 50 are allowed",
		},
		"several": {
			func(k *store.NewIngestKey) { k.Name, k.Signals = "", []string{""} },
			`name must not be empty; allowed_signals[0] "" is not a signal; use traces, logs, metrics, sessions, events`,
		},
	} {
		in := store.NewIngestKey{Name: "n", Secret: f.secret(), Signals: []string{"logs"}}
		tc.change(&in)
		_, err := f.CreateIngestKey(ctx, org, in)
		wantInvalid(t, name, err, tc.want)
	}
	if list, err := f.ListIngestKeys(ctx, org); err != nil || len(list) != 0 {
		t.Errorf("%d keys were created from bad input, %v", len(list), err)
	}

	// Stored fields are not checked again: an expired key can be renamed.
	key, err := f.CreateIngestKey(ctx, org, store.NewIngestKey{
		Name: "n", Secret: f.secret(), Signals: []string{"logs"},
		ExpiresAt: new(f.now().Add(time.Second)),
	})
	if err != nil {
		t.Fatal(err)
	}
	f.advance(time.Minute)
	if key, err = f.EditIngestKey(ctx, org, key.ID, store.IngestKeyEdit{Name: store.Set("m")}); err != nil || key.Name != "m" {
		t.Error(key, err)
	}
	_, err = f.EditIngestKey(ctx, org, key.ID, store.IngestKeyEdit{Signals: store.Set([]string{}), RateLimit: store.Set(new(-1.0))})
	wantInvalid(t, "edit", err, "allowed_signals must name at least one of traces, logs, metrics, sessions, events; rate_limit_per_second "+
		"must be greater than 0, or null for no limit")
}

func testIngestKeyTouch(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	key, err := f.CreateIngestKey(ctx, org, store.NewIngestKey{Name: "n", Secret: f.secret(), Signals: []string{"logs"}})
	if err != nil {
		t.Fatal(err)
	}
	start := f.now().UTC()
	if err := f.TouchIngestKey(ctx, other, key.ID, start); err != nil {
		t.Error(err)
	}
	if got, err := f.GetIngestKey(ctx, org, key.ID); err != nil || got.LastUsedAt != nil {
		t.Errorf("another organization touched the key: %v, %v", got.LastUsedAt, err)
	}
	for _, step := range []struct{ at, want time.Duration }{
		{0, 0}, {store.TouchInterval - 1, 0}, {store.TouchInterval, store.TouchInterval}, {0, store.TouchInterval},
	} {
		if err := f.TouchIngestKey(ctx, org, key.ID, start.Add(step.at)); err != nil {
			t.Fatal(err)
		}
		if got, err := f.GetIngestKey(ctx, org, key.ID); err != nil || got.LastUsedAt == nil || !got.LastUsedAt.Equal(start.Add(step.want)) {
			t.Errorf("after a touch at +%s: %v, %v; want +%s", step.at, got.LastUsedAt, err, step.want)
		}
	}
}

// testIngestKeyRollRace: every roll announces the hash that it replaced, so that no old secret stays in a cache.
func testIngestKeyRollRace(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	first := f.secret()
	if _, err := f.CreateDefaultIngestKeys(ctx, org, store.DefaultIngestKeys{
		Public: first, Private: f.secret(),
		CreatedBy: user,
	}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	dead := map[string]bool{}
	defer f.Subscribe(func(c store.Change) {
		mu.Lock()
		defer mu.Unlock()
		dead[c.Hash] = c.Gone
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
