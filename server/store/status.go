package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// MigrationStatus is the state of one migration.
type MigrationStatus struct {
	Name      string
	Applied   bool
	AppliedAt time.Time
	// Changed is true when the migration differs from the one that was applied.
	Changed bool
}

// MigrationStatuses lists the migrations of this program, then the applied migrations that only a newer program knows, with
// Changed set. It changes nothing: a SQLite file that does not exist is not created.
func MigrationStatuses(ctx context.Context, cfg Config) (statuses []MigrationStatus, err error) {
	folder := "migrations/postgres"
	if cfg.URL == "" {
		folder = "migrations/sqlite"
	}
	ms, err := loadMigrations(migrationFiles, folder)
	if err != nil {
		return nil, err
	}
	for _, m := range ms {
		statuses = append(statuses, MigrationStatus{Name: m.name})
	}
	db, exists, err := openReadOnly(cfg)
	if err != nil || db == nil {
		return statuses, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	fail := func(err error) error {
		return fmt.Errorf("store: read migrations: %w: %w", ErrUnavailable, err)
	}
	var found int
	if err := db.QueryRowContext(ctx, exists).Scan(&found); err != nil {
		return nil, fail(err)
	}
	if found == 0 {
		return statuses, nil
	}
	rows, err := db.QueryContext(ctx, `SELECT version, name, checksum, applied_at FROM schema_migrations ORDER BY version`)
	if err != nil {
		return nil, fail(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var version int
		var name, checksum, at string
		if err := rows.Scan(&version, &name, &checksum, &at); err != nil {
			return nil, fail(err)
		}
		applied := MigrationStatus{Name: name, Applied: true, Changed: true}
		if applied.AppliedAt, err = time.Parse(time.RFC3339, at); err != nil {
			return nil, fail(err)
		}
		if version < 1 || version > len(ms) {
			statuses = append(statuses, applied)
			continue
		}
		applied.Changed = ms[version-1].checksum != checksum
		statuses[version-1] = applied
	}
	if err := rows.Err(); err != nil {
		return nil, fail(err)
	}
	return statuses, nil
}

// openReadOnly returns the database and the query that counts its recorded migrations. The database is nil if the file does not
// exist.
func openReadOnly(cfg Config) (*sql.DB, string, error) {
	if cfg.URL != "" {
		db, err := openPostgres(cfg.URL)
		return db, `SELECT count(*) FROM (SELECT to_regclass('schema_migrations') AS r) t WHERE r IS NOT NULL`, err
	}
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, "", fmt.Errorf("store: %w", err)
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, "", nil
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, "", fmt.Errorf("store: open the SQLite file: %w", err)
	}
	return db, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'`, nil
}
