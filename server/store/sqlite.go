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

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	sqliteReaders     = 8
	sqliteBusyTimeout = 5 * time.Second
)

// openSQLite opens one writer connection and several readers. Transactions of the writer take the write lock at once, and the
// write-ahead log keeps readers from blocking it. Without this split, a read that turns into a write fails with "database is
// locked".
func openSQLite(ctx context.Context, path string) (write, read *sql.DB, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, nil, fmt.Errorf("store: %w", err)
	}
	// The file holds hashes of credentials: only its owner may read it. SQLite gives its side files the same mode.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("store: open the SQLite file: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, nil, fmt.Errorf("store: open the SQLite file: %w", err)
	}
	if write, err = sqliteDB(path, 1, "_txlock", "immediate"); err != nil {
		return nil, nil, err
	}
	// The writer goes first: it switches the file to the write-ahead log.
	if err := pingSQLite(ctx, write); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("store: open SQLite file %s: %w: %w", path, ErrUnavailable, err), write.Close())
	}
	if read, err = sqliteDB(path, sqliteReaders, "_pragma", "query_only(1)"); err != nil {
		return nil, nil, errors.Join(err, write.Close())
	}
	return write, read, nil
}

func sqliteDB(path string, connections int, key, value string) (*sql.DB, error) {
	q := url.Values{
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", sqliteBusyTimeout.Milliseconds()),
			"journal_mode(WAL)",
			"synchronous(FULL)",
			"foreign_keys(1)",
		},
		"_time_format": {"sqlite"},
	}
	q.Add(key, value)
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("store: open the SQLite file: %w", err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// pingSQLite waits while another process switches the same new file to the write-ahead log. SQLite reports this as busy at once,
// whatever the busy timeout is.
func pingSQLite(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, sqliteBusyTimeout)
	defer cancel()
	for {
		err := db.PingContext(ctx)
		var se *sqlite.Error
		if err == nil || !errors.As(err, &se) || se.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}
