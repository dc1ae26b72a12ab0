package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"

	"entgo.io/ent/dialect"
)

//go:embed migrations
var migrationFiles embed.FS

// advisoryLock is the PostgreSQL lock that lets one node at a time migrate. Any constant will do.
const advisoryLock = 0x7376_6301

var (
	// ErrNewerDatabase means that a newer version of the program has migrated this database.
	ErrNewerDatabase = errors.New("the database was migrated by a newer version of svc; start that version, or restore a backup")
	// ErrChangedMigration means that the database holds a migration whose content differs from the file in this program.
	ErrChangedMigration = errors.New("a migration that was already applied has a different content in this version of svc")
)

type migration struct {
	version  int
	name     string
	sql      string
	checksum string
}

var migrationName = regexp.MustCompile(`^(\d{4})_[a-z0-9_]+\.sql$`)

// loadMigrations reads the migrations of one database, which are numbered 1, 2, 3 … without a gap.
func loadMigrations(files fs.FS, dir string) ([]migration, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("store: read migrations: %w", err)
	}
	var ms []migration
	for _, e := range entries {
		m := migrationName.FindStringSubmatch(e.Name())
		if m == nil {
			return nil, fmt.Errorf("store: migration file %s is not named NNNN_name.sql", e.Name())
		}
		version, _ := strconv.Atoi(m[1])
		if version != len(ms)+1 {
			return nil, fmt.Errorf("store: migration file %s should have number %04d", e.Name(), len(ms)+1)
		}
		text, err := fs.ReadFile(files, path.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("store: read migrations: %w", err)
		}
		sum := sha256.Sum256(text)
		ms = append(ms, migration{version: version, name: e.Name(), sql: string(text), checksum: hex.EncodeToString(sum[:])})
	}
	return ms, nil
}

func (s *Store) migrate(ctx context.Context) error {
	ms, err := loadMigrations(
		migrationFiles,
		"migrations/"+map[string]string{dialect.SQLite: "sqlite", dialect.Postgres: "postgres"}[s.dialect],
	)
	if err != nil {
		return err
	}
	return s.migrateTo(ctx, ms)
}

// migrateTo applies the missing migrations, each in its own transaction. Each transaction takes the lock and then reads which
// migrations are applied, so nodes that start together share the work without harm.
func (s *Store) migrateTo(ctx context.Context, ms []migration) error {
	for done := false; !done; {
		if err := s.migrateOne(ctx, ms, &done); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) migrateOne(ctx context.Context, ms []migration, done *bool) (err error) {
	fail := func(what string, err error) error {
		return fmt.Errorf("store: migrate: %s: %w: %w", what, ErrUnavailable, err)
	}
	conn, err := s.writeDB.Conn(ctx)
	if err != nil {
		return fail("connect", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if s.dialect == dialect.SQLite {
		// A migration may replace a table by a changed copy. With foreign keys on, dropping the old table would delete the rows that refer
		// to it.
		if _, err := conn.ExecContext(ctx, "PRAGMA foreign_keys = off"); err != nil {
			return fail("suspend foreign keys", err)
		}
		defer func() {
			if _, rerr := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA foreign_keys = on"); rerr != nil {
				err = errors.Join(err, fail("restore foreign keys", rerr))
			}
		}()
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fail("begin", err)
	}
	defer func() {
		if rerr := tx.Rollback(); rerr != nil && !errors.Is(rerr, sql.ErrTxDone) {
			err = errors.Join(err, fail("roll back", rerr))
		}
	}()
	// On SQLite the transaction itself is the lock (BEGIN IMMEDIATE).
	if s.dialect == dialect.Postgres {
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", advisoryLock); err != nil {
			return fail("lock", err)
		}
	}
	const create = `CREATE TABLE IF NOT EXISTS schema_migrations (version bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at text NOT NULL)`
	if _, err := tx.ExecContext(ctx, create); err != nil {
		return fail("create schema_migrations", err)
	}
	applied, err := checkApplied(ctx, tx, ms)
	if err != nil {
		return err
	}
	if applied == len(ms) {
		*done = true
	} else if err := s.apply(ctx, tx, ms[applied]); err != nil {
		return fail(ms[applied].name, err)
	}
	if err := tx.Commit(); err != nil {
		return fail("commit", err)
	}
	return nil
}

// apply runs a migration and records it.
func (s *Store) apply(ctx context.Context, tx *sql.Tx, m migration) error {
	if _, err := tx.ExecContext(ctx, m.sql); err != nil {
		return err
	}
	if s.dialect == dialect.SQLite {
		var table string
		switch err := tx.QueryRowContext(ctx, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`).Scan(&table); {
		case err == nil:
			return fmt.Errorf("rows of the table %s refer to rows that are missing", table)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	const record = `INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)`
	_, err := tx.ExecContext(ctx, record, m.version, m.name, m.checksum, s.stamp().Format("2006-01-02T15:04:05.000000Z"))
	return err
}

// checkApplied counts the applied migrations and compares each with the one in this program.
func checkApplied(ctx context.Context, tx *sql.Tx, ms []migration) (n int, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT version, name, checksum FROM schema_migrations ORDER BY version`)
	if err != nil {
		return 0, fmt.Errorf("store: migrate: read schema_migrations: %w: %w", ErrUnavailable, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var version int
		var name, checksum string
		if err := rows.Scan(&version, &name, &checksum); err != nil {
			return 0, fmt.Errorf("store: migrate: read schema_migrations: %w: %w", ErrUnavailable, err)
		}
		if n >= len(ms) {
			return 0, fmt.Errorf("store: migration %s: %w", name, ErrNewerDatabase)
		}
		if version != ms[n].version || checksum != ms[n].checksum {
			return 0, fmt.Errorf("store: migration %s: %w", name, ErrChangedMigration)
		}
		n++
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("store: migrate: read schema_migrations: %w: %w", ErrUnavailable, err)
	}
	return n, nil
}
