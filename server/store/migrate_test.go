package store

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/svc-observability/svc/server/store/pgtest"
)

func TestMigrationsSQLite(t *testing.T) {
	t.Parallel()
	testMigrations(t, func(t *testing.T) func() *Store {
		path := filepath.Join(t.TempDir(), "svc.db")
		return func() *Store {
			w, r, err := openSQLite(t.Context(), path)
			return unmigrated(t, &Store{dialect: "sqlite3", writeDB: w, readDB: r}, err)
		}
	})
}

func TestMigrationsPostgres(t *testing.T) {
	t.Parallel()
	pg := pgtest.Start(t)
	testMigrations(t, func(t *testing.T) func() *Store {
		url := pg.NewDatabase(t)
		return func() *Store {
			db, err := openPostgres(url)
			return unmigrated(t, &Store{dialect: "postgres", writeDB: db, readDB: db}, err)
		}
	})
}

// testMigrations runs each test on an empty database, which it may open several times.
func testMigrations(t *testing.T, database func(t *testing.T) func() *Store) {
	for name, test := range map[string]func(*testing.T, func() *Store){
		"steps":                  testMigrateTo,
		"failure leaves nothing": testMigrateFailure,
		"together":               testMigrateTogether,
		"drift is seen":          testSchemaDriftIsSeen,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, database(t))
		})
	}
}

func load(t *testing.T, files ...string) []migration {
	t.Helper()
	dir := fstest.MapFS{}
	for i, text := range files {
		dir["m/000"+string(rune('1'+i))+"_step.sql"] = &fstest.MapFile{Data: []byte(text)}
	}
	ms, err := loadMigrations(dir, "m")
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

const (
	step1 = "CREATE TABLE a (x text NOT NULL);\nINSERT INTO a VALUES ('one');\n"
	step2 = "CREATE TABLE b (y text NOT NULL);\n"
)

func testMigrateTo(t *testing.T, open func() *Store) {
	s := open()
	for _, ms := range [][]migration{load(t, step1), load(t, step1), load(t, step1, step2)} {
		if err := s.migrateTo(t.Context(), ms); err != nil {
			t.Fatal(err)
		}
	}
	if got := count(t, s, "a") + count(t, s, "b"); got != 1 {
		t.Errorf("%d rows, want 1: a migration ran twice or not at all", got)
	}
	// Older program, newer database.
	if err := s.migrateTo(t.Context(), load(t, step1)); !errors.Is(err, ErrNewerDatabase) || !strings.Contains(err.Error(), "0002_step.sql") {
		t.Errorf("newer database: %v", err)
	}
	// The file was edited after it was applied.
	if err := s.migrateTo(t.Context(), load(t, step1+" ", step2)); !errors.Is(err, ErrChangedMigration) ||
		!strings.Contains(err.Error(), "0001_step.sql") {
		t.Errorf("changed migration: %v", err)
	}
}

func testMigrateFailure(t *testing.T, open func() *Store) {
	s := open()
	err := s.migrateTo(t.Context(), load(t, step1, step2+"INSERT INTO missing VALUES (1);"))
	if err == nil || !strings.Contains(err.Error(), "0002_step.sql") || !errors.Is(err, ErrUnavailable) {
		t.Fatalf("error = %v, want one that names 0002_step.sql", err)
	}
	if got := count(t, s, "schema_migrations"); got != 1 {
		t.Errorf("%d migrations recorded, want 1", got)
	}
	// The first half of the failed file was rolled back, so the corrected file runs.
	if err := s.migrateTo(t.Context(), load(t, step1, step2)); err != nil {
		t.Errorf("mended: %v", err)
	}
}

func testMigrateTogether(t *testing.T, open func() *Store) {
	ms := load(t, step1, step2)
	var wg sync.WaitGroup
	stores := make([]*Store, 6)
	for i := range stores {
		stores[i] = open()
	}
	for _, s := range stores {
		wg.Go(func() {
			if err := s.migrateTo(t.Context(), ms); err != nil {
				t.Errorf("migrate: %v", err)
			}
		})
	}
	wg.Wait()
	if got := count(t, stores[0], "a"); got != 1 {
		t.Errorf("%d rows, want 1", got)
	}
}

// A migration of SQLite that replaces a table keeps the rows that refer to it, and a migration that leaves such a row without its
// target is rolled back.
func TestMigrationReplacesTable(t *testing.T) {
	t.Parallel()
	s := emptySQLite(t)
	const (
		tables = `CREATE TABLE a (id text PRIMARY KEY); INSERT INTO a VALUES ('x');
			CREATE TABLE b (a text NOT NULL REFERENCES a (id) ON DELETE CASCADE); INSERT INTO b VALUES ('x');`
		replace = `CREATE TABLE new_a (id text PRIMARY KEY, more text NULL); INSERT INTO new_a (id) SELECT id FROM a; DROP TABLE a; ALTER TABLE new_a RENAME TO a;`
		breaks  = `DELETE FROM a;`
	)
	if err := s.migrateTo(t.Context(), load(t, tables, replace)); err != nil {
		t.Fatal(err)
	}
	if n := count(t, s, "b"); n != 1 {
		t.Errorf("%d rows that refer to the replaced table, want 1", n)
	}
	if err := s.migrateTo(t.Context(), load(t, tables, replace, breaks)); err == nil ||
		!strings.Contains(err.Error(), "rows of the table b refer") {
		t.Errorf("a migration that breaks a reference: %v", err)
	}
	if n := count(t, s, "a"); n != 1 {
		t.Errorf("%d rows after the broken migration, want 1", n)
	}
	if _, err := s.writeDB.ExecContext(t.Context(), "INSERT INTO b VALUES ('missing')"); err == nil {
		t.Error("foreign keys are off after the migrations")
	}
}

func TestLoadMigrations(t *testing.T) {
	for name, tc := range map[string]struct {
		files []string
		want  string
	}{
		"good":     {[]string{"0001_a.sql", "0002_b_c.sql"}, ""},
		"gap":      {[]string{"0001_a.sql", "0003_b.sql"}, "0003_b.sql should have number 0002"},
		"twice":    {[]string{"0001_a.sql", "0001_b.sql"}, "0001_b.sql should have number 0002"},
		"bad name": {[]string{"0001_a.sql", "notes.txt"}, "notes.txt is not named NNNN_name.sql"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := fstest.MapFS{}
			for _, f := range tc.files {
				dir["m/"+f] = &fstest.MapFile{Data: []byte("SELECT 1;")}
			}
			_, err := loadMigrations(dir, "m")
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
		})
	}
	// Both databases get the same steps under the same names.
	lite, err := loadMigrations(migrationFiles, "migrations/sqlite")
	if err != nil {
		t.Fatal(err)
	}
	pg, err := loadMigrations(migrationFiles, "migrations/postgres")
	if err != nil || len(lite) != len(pg) || len(lite) == 0 {
		t.Fatalf("%d migrations for SQLite, %d for PostgreSQL, %v", len(lite), len(pg), err)
	}
	for i := range lite {
		if lite[i].name != pg[i].name {
			t.Errorf("migration %d is %s on SQLite and %s on PostgreSQL", i+1, lite[i].name, pg[i].name)
		}
	}
}

func testSchemaDriftIsSeen(t *testing.T, open func() *Store) {
	s := open()
	if err := s.migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.writeDB.ExecContext(t.Context(), `DROP INDEX ingestkey_org_id_default_kind`); err != nil {
		t.Fatal(err)
	}
	drift, err := s.SchemaDrift(t.Context())
	if err != nil || !strings.Contains(drift, "ingestkey_org_id_default_kind") {
		t.Errorf("drift = %q, %v; want the missing index", drift, err)
	}
}

func unmigrated(t *testing.T, s *Store, err error) *Store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	s.now = fixedNow
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func count(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	err := s.readDB.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	return n
}

// BenchmarkApiKeyByHash measures the lookup behind every request that no cache answers.
func BenchmarkApiKeyByHash(b *testing.B) {
	s, err := Open(b.Context(), Config{Path: filepath.Join(b.TempDir(), "svc.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	out, err := s.CreateOrganization(b.Context(), NewOrganization{
		Name: "n", Admin: &NewUser{Email: "a@example.com"}, ApiKey: &NewApiKey{
			Name: "k", Kind: ApiKeyStandard,
			Secret: Secret{Hash: "h", Prefix: "p"},
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if key, err := s.ApiKeyByHash(b.Context(), "h"); err != nil || key.ID != out.ApiKey.ID {
				b.Fatal(key, err)
			}
		}
	})
}

func TestSQLiteFileMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd name?#%25.db")
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want mode 0600", suffix, info, err)
		}
	}
}
