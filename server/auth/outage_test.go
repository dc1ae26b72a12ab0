package auth

import (
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// breakable is a database that the test can break under a running server and repair.
type breakable struct {
	cfg        store.Config
	take, give func(t *testing.T)
}

// breakableSQLite removes the table of keys: every lookup fails, and so does the writer.
func breakableSQLite(t *testing.T) breakable {
	path := filepath.Join(t.TempDir(), "svc.db")
	exec := func(statement string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=busy_timeout(5000)")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return breakable{
		store.Config{Path: path},
		exec(`ALTER TABLE ingest_keys RENAME TO taken`),
		exec(`ALTER TABLE taken RENAME TO ingest_keys`),
	}
}

// breakablePostgres refuses connections and closes the open ones, including that of the feed.
func breakablePostgres(t *testing.T) breakable {
	pg := pgtest.Start(t)
	text, other := pg.NewDatabase(t), pg.NewDatabase(t)
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	exec := func(statements ...string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			db, err := sql.Open("pgx", other)
			if err != nil {
				t.Fatal(err)
			}
			for _, statement := range statements {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return breakable{
		store.Config{URL: text},
		exec(`ALTER DATABASE "`+name+`" ALLOW_CONNECTIONS false`, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '`+name+
			`'`),
		exec(`ALTER DATABASE "` + name + `" ALLOW_CONNECTIONS true`),
	}
}

// TestBrokenDatabase really breaks the database. Known keys keep working, other keys cannot be checked, and everything recovers
// by itself.
func TestBrokenDatabase(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) breakable{"sqlite": breakableSQLite, "postgres": breakablePostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testBrokenDatabase(t, open(t))
		})
	}
}

func testBrokenDatabase(t *testing.T, db breakable) {
	ctx := t.Context()
	s, err := store.Open(ctx, db.cfg)
	if err != nil {
		t.Fatal(err)
	}
	hasher, err := NewHasher([]byte(strings.Repeat("p", PepperSize)))
	if err != nil {
		t.Fatal(err)
	}
	following := make(chan struct{}, 1)
	defer s.Subscribe(func(c store.Change) {
		if c.Subject == store.SubjectAny && c.Cause == nil {
			select {
			case following <- struct{}{}:
			default:
			}
		}
	})()
	ingest := NewIngest(IngestConfig{Store: s, Hasher: hasher})
	t.Cleanup(func() {
		ingest.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	public, private := NewSecret(PrefixPublicKey), NewSecret(PrefixPrivateKey)
	out, err := s.CreateOrganization(ctx, store.NewOrganization{
		Name: "one", Admin: &store.NewUser{Email: "a@example.com"},
		IngestKeys: &store.DefaultIngestKeys{Public: hasher.Secret(public), Private: hasher.Secret(private)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if db.cfg.URL != "" {
		<-following // PostgreSQL reports that changes can be followed now. Every key is then asked for once more.
	}
	// A key is not kept if the notice of its creation arrives while it is looked up.
	for known := false; !known; _, known = ingest.keys.cache.GetIfPresent(hasher.Hash(public)) {
		if _, err := ingest.Lookup(ctx, public); err != nil {
			t.Fatal(err)
		}
	}
	db.take(t)
	// This is long enough for the feed to report the failure twice.
	for start := time.Now(); time.Since(start) < 2500*time.Millisecond; time.Sleep(20 * time.Millisecond) {
		if _, err := ingest.Lookup(ctx, public); err != nil {
			t.Fatalf("a known key after %s: %v", time.Since(start), err)
		}
		for _, secret := range []string{private, NewSecret(PrefixPublicKey)} {
			if _, err := ingest.Lookup(ctx, secret); !errors.Is(err, ErrLookupUnavailable) || errors.Is(err, ErrUnknownKey) {
				t.Fatalf("a key that this server has not seen, after %s: %v", time.Since(start), err)
			}
		}
	}
	db.give(t)
	rolled := NewSecret(PrefixPublicKey)
	if _, err := s.RollDefaultIngestKey(ctx, out.Organization.ID, store.IngestKeyPublic, hasher.Secret(rolled)); err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Lookup(ctx, public); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("a key that was rolled after the outage: %v", err)
	}
	for _, secret := range []string{rolled, private} {
		if _, err := ingest.Lookup(ctx, secret); err != nil {
			t.Errorf("after the outage: %v", err)
		}
	}
}
