package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func testSessions(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	_, otherUser := f.org(t)
	s, err := f.CreateSession(ctx, store.NewSession{
		User: user, Org: org, TokenHash: "h1", UserAgent: "test",
		ExpiresAt: f.now().Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := store.Session{
		ID: s.ID, User: user, Org: org, TokenHash: "h1", UserAgent: "test",
		CreatedAt: f.now().UTC(), LastSeenAt: f.now().UTC(), ExpiresAt: f.now().Add(time.Hour).UTC(),
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	_, err = f.CreateSession(ctx, store.NewSession{User: user, TokenHash: "h1", ExpiresAt: f.now()})
	wantError(t, err, store.ErrConflict)
	_, err = f.CreateSession(ctx, store.NewSession{User: "user_none", TokenHash: "h2", ExpiresAt: f.now()})
	wantError(t, err, store.ErrNotFound)

	got, err := f.SessionByHash(ctx, "h1")
	if err != nil || got.Session != s || got.Email == "" || len(got.Memberships) != 1 || got.Memberships[0].Role != principal.RoleAdmin {
		t.Errorf("by hash = %+v, %v", got, err)
	}
	_, err = f.SessionByHash(ctx, "none")
	wantError(t, err, store.ErrNotFound)

	for _, step := range []struct{ at, want time.Duration }{{time.Second, 0}, {store.TouchInterval, store.TouchInterval}} {
		if err := f.TouchSession(ctx, s.ID, f.now().Add(step.at)); err != nil {
			t.Fatal(err)
		}
		if got, err := f.SessionByHash(ctx, "h1"); err != nil || !got.LastSeenAt.Equal(f.now().Add(step.want)) {
			t.Errorf("last seen %s, %v; want +%s", got.LastSeenAt, err, step.want)
		}
	}

	wantError(t, f.RevokeSession(ctx, otherUser, s.ID), store.ErrNotFound)
	wantError(t, f.RevokeSession(ctx, user, uuid.New()), store.ErrNotFound)
	revoked := f.now()
	for range 2 {
		if err := f.RevokeSession(ctx, user, s.ID); err != nil {
			t.Fatal(err)
		}
		f.advance(time.Minute)
	}
	if got, err := f.SessionByHash(ctx, "h1"); err != nil || got.RevokedAt == nil || !got.RevokedAt.Equal(revoked) {
		t.Errorf("revoked = %+v, %v", got.RevokedAt, err)
	}
}

func testChangePassword(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	other, stranger := f.org(t)
	if err := f.CreateMembership(ctx, other, user, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	open := func(of principal.UserID, hash string) store.Session {
		s, err := f.CreateSession(ctx, store.NewSession{User: of, TokenHash: hash, ExpiresAt: f.now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	kept, theirs := open(user, f.name()+"kept"), open(stranger, f.name()+"theirs")
	hashes := []string{f.name() + "one", f.name() + "two"}
	for _, h := range hashes {
		open(user, h)
	}
	got, unsubscribe := watch(f)
	defer unsubscribe()
	if n, err := f.ChangePassword(ctx, user, "new", kept.ID); err != nil || n != len(hashes) {
		t.Fatalf("ended %d, %v", n, err)
	}
	var gone []string
	for _, c := range got() {
		if c.Subject == store.SubjectSession && c.Gone && c.User == user {
			gone = append(gone, c.Hash)
		}
	}
	slices.Sort(gone)
	slices.Sort(hashes)
	if diff := cmp.Diff(hashes, gone); diff != "" {
		t.Errorf("announced (-want +got):\n%s", diff)
	}
	for hash, want := range map[string]bool{kept.TokenHash: false, theirs.TokenHash: false, hashes[0]: true, hashes[1]: true} {
		if s, err := f.SessionByHash(ctx, hash); err != nil || (s.RevokedAt != nil) != want {
			t.Errorf("%s: revoked at %v, %v", hash, s.RevokedAt, err)
		}
	}
	for _, o := range []principal.OrgID{org, other} {
		entries, err := f.ListAuditLogEntries(ctx, o, store.AuditFilter{Action: "user.password_changed"}, 0, 10)
		if err != nil || len(entries) != 1 || entries[0].AffectedUser == nil || *entries[0].AffectedUser != string(user) {
			t.Errorf("audit log of %s: %+v, %v", o, entries, err)
		}
	}
	if n, err := f.ChangePassword(ctx, user, "newer", uuid.Nil); err != nil || n != 1 {
		t.Errorf("ended %d, %v; want the one that was kept before", n, err)
	}
}

func testChanges(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	got, unsubscribe := watch(f)
	other, err := f.CreateUser(ctx, store.NewUser{Email: f.name() + "@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CreateMembership(ctx, org, other.ID, principal.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	key := f.apiKey(t, org)
	rolled, _, err := f.RollApiKey(ctx, org, key.ID, store.RollParams{Secret: f.secret()})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.RevokeApiKey(ctx, org, rolled.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.SetRole(ctx, org, user, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	s, err := f.CreateSession(ctx, store.NewSession{User: user, TokenHash: "h", ExpiresAt: f.now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.RevokeSession(ctx, user, s.ID); err != nil {
		t.Fatal(err)
	}
	unsubscribe()
	if _, err := f.SetRole(ctx, org, user, principal.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	want := []store.Change{
		{Subject: store.SubjectMembership, Org: org, User: other.ID},
		{Subject: store.SubjectAPIKey, Org: org, Hash: key.SecretHash, Gone: true},
		{Subject: store.SubjectAPIKey, Org: org, Hash: rolled.SecretHash, Gone: true},
		{Subject: store.SubjectMembership, Org: org, User: user},
		{Subject: store.SubjectSession, Hash: "h", User: user, Gone: true},
	}
	if diff := cmp.Diff(want, got()); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// testTimes: microseconds survive, finer parts are truncated, and every time is returned in UTC.
func testTimes(t *testing.T, f *fixture) {
	org, _ := f.org(t)
	zone := time.FixedZone("east", 5*3600+1800)
	for _, at := range []time.Time{
		time.Date(2026, 1, 2, 3, 4, 5, 123456789, zone),
		time.Date(2026, 1, 2, 3, 4, 5, 120000000, zone),
		time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		time.Date(1971, 1, 1, 0, 0, 0, 1000, time.UTC),
		time.Date(2999, 12, 31, 23, 59, 59, 999999000, time.UTC),
	} {
		key, _, err := f.CreateApiKey(t.Context(), org, store.NewApiKey{
			Name: "n", Kind: store.ApiKeyStandard, Secret: f.secret(),
			ExpiresAt: &at,
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.GetApiKey(t.Context(), org, key.ID)
		want := at.UTC().Truncate(time.Microsecond)
		if err != nil || got.ExpiresAt == nil || *got.ExpiresAt != want || *key.ExpiresAt != want {
			t.Errorf("%s came back as %s (%v)", at, got.ExpiresAt, err)
		}
	}
}

// testConcurrentUse mixes everything that services do concurrently. No call may fail because of a lock.
func testConcurrentUse(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 3 {
				key, _, err := f.CreateApiKey(ctx, org, store.NewApiKey{Name: "n", Kind: store.ApiKeyStandard, Secret: f.secret(), CreatedBy: user})
				if err != nil {
					t.Errorf("create: %v", err)
					return
				}
				if _, err := f.ListApiKeys(ctx, org, 0, 20); err != nil {
					t.Errorf("list: %v", err)
				}
				if err := f.TouchApiKey(ctx, org, key.ID, f.now()); err != nil {
					t.Errorf("touch: %v", err)
				}
				if _, _, err := f.RollApiKey(ctx, org, key.ID, store.RollParams{Secret: f.secret()}); err != nil {
					t.Errorf("roll: %v", err)
				}
				// A caller reads its own writes.
				if got, err := f.GetApiKey(ctx, org, key.ID); err != nil || got.RevokedAt == nil {
					t.Errorf("read back: %+v, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
	if keys, err := f.ListApiKeys(ctx, org, 0, 1000); err != nil || len(keys) != 48 {
		t.Errorf("%d keys, %v; want 48", len(keys), err)
	}
}
