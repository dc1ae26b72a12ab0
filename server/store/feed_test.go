package store_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// heard collects the changes that a store publishes.
type heard struct {
	mu   sync.Mutex
	list []store.Change
}

func listen(t *testing.T, s *store.Store) *heard {
	h := &heard{}
	t.Cleanup(s.Subscribe(func(c store.Change) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.list = append(h.list, c)
	}))
	return h
}

// await waits until a change fulfils the condition, and then discards all collected changes.
func (h *heard) await(t *testing.T, what string, ok func(store.Change) bool) time.Duration {
	t.Helper()
	start := time.Now()
	for time.Since(start) < 20*time.Second {
		h.mu.Lock()
		found := slices.ContainsFunc(h.list, ok)
		if found {
			h.list = nil
		}
		h.mu.Unlock()
		if found {
			return time.Since(start)
		}
		time.Sleep(time.Millisecond)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t.Fatalf("%s was not heard; only %+v", what, h.list)
	return 0
}

// only checks that the collected changes are these, and then discards them.
func (h *heard) only(t *testing.T, want ...store.Change) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if diff := cmp.Diff(want, h.list, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	h.list = nil
}

// until waits for a change and keeps all of them.
func (h *heard) until(t *testing.T, want store.Change) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		h.mu.Lock()
		found, list := slices.Contains(h.list, want), slices.Clone(h.list)
		h.mu.Unlock()
		if found {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%+v was not heard; only %+v", want, list)
		}
	}
}

func organization(t *testing.T, s *store.Store) store.CreatedOrganization {
	t.Helper()
	out, err := s.CreateOrganization(t.Context(), store.NewOrganization{
		Name: "one", Admin: &store.NewUser{Email: "a@example.com"},
		IngestKeys: &store.DefaultIngestKeys{
			Public:  store.Secret{Hash: "public", Prefix: "p"},
			Private: store.Secret{Hash: "private", Prefix: "p"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFeedSQLite: the feed reports writes of another store, but not the store's own writes.
func TestFeedSQLite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testFeedSQLite)
}

// testFeedSQLite runs in a bubble: its pauses are long enough for the polls of the feed, however slow the machine is.
func testFeedSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "svc.db")
	server, admin := open(t, store.Config{Path: path}), open(t, store.Config{Path: path})
	org := organization(t, admin)
	h := listen(t, server)
	time.Sleep(300 * time.Millisecond)
	h.only(t)
	for i := range 3 {
		if _, err := admin.RollDefaultIngestKey(t.Context(), org.Organization.ID, store.IngestKeyPublic,
			store.Secret{Hash: string(rune('a' + i)), Prefix: "p"}); err != nil {
			t.Fatal(err)
		}
		took := h.await(t, "the other's roll", func(c store.Change) bool { return c == store.Change{Subject: store.SubjectAny} })
		t.Logf("heard after %s", took.Round(time.Millisecond))
	}
	if err := server.AddIngestUsage(t.Context(), []store.UsageDelta{{
		Org: org.Organization.ID, Day: time.Now(), Signal: "logs",
		KeyID: "k",
	}}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	h.only(t)
}

// TestFeedPostgres: the feed reports the named changes of another store and, after an interruption, an unnamed change.
func TestFeedPostgres(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).NewDatabase(t)
	server, admin := open(t, store.Config{URL: url}), open(t, store.Config{URL: url})
	org := organization(t, admin)
	id := org.Organization.ID
	h := listen(t, server)
	isUp := func(c store.Change) bool { return c.Subject == store.SubjectAny && c.Cause == nil }
	h.await(t, "the start of the feed", isUp)

	for i := range 3 {
		old := []string{"public", "a", "b"}[i]
		if _, err := admin.RollDefaultIngestKey(t.Context(), id, store.IngestKeyPublic,
			store.Secret{Hash: string(rune('a' + i)), Prefix: "p"}); err != nil {
			t.Fatal(err)
		}
		want := store.Change{Subject: store.SubjectIngestKey, Org: id, Hash: old, Gone: true}
		took := h.await(t, "the other's roll", func(c store.Change) bool { return c == want })
		t.Logf("heard after %s", took.Round(time.Millisecond))
	}
	// A change that is rolled back is not reported.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := admin.RollDefaultIngestKey(ctx, id, store.IngestKeyPublic, store.Secret{Hash: "x", Prefix: "p"}); err == nil {
		t.Error("a cancelled roll succeeded")
	}
	// PostgreSQL reports changes in the order of their commits. So a further change of the other store shows that no report is on its way.
	last := "c"
	further := func() store.Change {
		t.Helper()
		next := last + "'"
		if _, err := admin.RollDefaultIngestKey(t.Context(), id, store.IngestKeyPublic, store.Secret{Hash: next, Prefix: "p"}); err != nil {
			t.Fatal(err)
		}
		change := store.Change{Subject: store.SubjectIngestKey, Org: id, Hash: last, Gone: true}
		last = next
		h.until(t, change)
		return change
	}
	h.only(t, further())
	// The store's own change is reported once and immediately.
	if _, err := server.PutPlan(t.Context(), id, store.PlanParams{Name: "p"}); err != nil {
		t.Fatal(err)
	}
	h.only(t, store.Change{Subject: store.SubjectIngestPolicy, Org: id})
	h.only(t, further())

	// Cut the listening connection. Changes made meanwhile are not named; the store reports that anything may have changed.
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	cut := func() {
		t.Helper()
		var n int
		err := db.QueryRowContext(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND (query LIKE 'LISTEN%' OR query = '-- ping')`).Scan(&n)
		if err != nil || n == 0 {
			t.Fatalf("%d connections cut, %v", n, err)
		}
	}
	cut()
	took := h.await(t, "the interruption", func(c store.Change) bool { return c.Subject == store.SubjectAny && c.Cause != nil })
	t.Logf("interruption heard after %s", took.Round(time.Millisecond))
	took = h.await(t, "the new feed", isUp)
	t.Logf("feed again after %s", took.Round(time.Millisecond))
	if _, err := admin.RollDefaultIngestKey(t.Context(), id, store.IngestKeyPrivate, store.Secret{Hash: "z", Prefix: "p"}); err != nil {
		t.Fatal(err)
	}
	h.await(t, "a roll after the interruption", func(c store.Change) bool { return c.Hash == "private" })
	// After an unknown message the store reports that anything may have changed.
	if _, err := db.ExecContext(t.Context(), `SELECT pg_notify('svc_changes', 'hello')`); err != nil {
		t.Fatal(err)
	}
	h.await(t, "doubt", isUp)
}

// TestFeedDown: while the database does not answer, subscribers repeatedly get the reason, until Close.
func TestFeedDown(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(t *testing.T) *store.Store{
		"sqlite": func(t *testing.T) *store.Store {
			return open(t, store.Config{Path: filepath.Join(t.TempDir(), "svc.db")})
		},
		"postgres": func(t *testing.T) *store.Store {
			return open(t, store.Config{URL: pgtest.Start(t).NewDatabase(t)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := broken(t)
			s.BreakForTest()
			h := listen(t, s)
			for range 2 {
				h.await(t, "trouble", func(c store.Change) bool { return c.Subject == store.SubjectAny && c.Cause != nil })
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			h.only(t)
			if err := s.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("ping after close: %v", err)
			}
		})
	}
}

// BenchmarkSQLiteFeed measures one check of the file. The feed makes ten checks a second.
func BenchmarkSQLiteFeed(b *testing.B) {
	s, err := store.Open(b.Context(), store.Config{Path: filepath.Join(b.TempDir(), "svc.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for b.Loop() {
		if err := s.LookForTest(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
