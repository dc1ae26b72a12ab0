// Package store keeps all relational data on SQLite or PostgreSQL: organizations, users, memberships, credentials, sessions, and
// the settings and counters of ingest. It is the only package that knows ent and a SQL driver.
//
// Every method on data of an organization takes that organization right after the context, and finds no data of another
// organization. Errors are ErrInvalid, ErrNotFound, ErrConflict or, for everything else, ErrUnavailable; all carry their cause.
// Times are UTC with microseconds on both databases.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/svc-observability/svc/ent"
)

// Config says where the data is. Exactly one field is set.
type Config struct {
	// URL is a PostgreSQL URL, `postgres://user:password@host:port/database`.
	URL string
	// Path is a SQLite file, created when missing. Other processes may have it open at the same time.
	Path string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Store is safe for concurrent use.
type Store struct {
	dialect string
	// SQLite has one writer connection and several readers; on PostgreSQL both are the same pool.
	writeDB, readDB *sql.DB
	write, read     *ent.Client
	// leaseDB has one connection for the leases of background work, so that a full pool does not end them.
	leaseDB *sql.DB
	lease   *ent.Client
	now     func() time.Time
	changes changes
	feed    feed
	// origin distinguishes this store's announcements from those of other stores.
	origin string
	// url is the configured URL, for the connection of the feed.
	url string
}

// Open connects, brings the schema up to date and returns the store. Several processes may open the same database at once.
// Neither the error nor anything else shows the password of the URL.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s := &Store{now: cfg.Now, origin: rand.Text(), url: cfg.URL}
	if s.now == nil {
		s.now = time.Now
	}
	var err error
	switch {
	case cfg.URL != "" && cfg.Path != "":
		return nil, errors.New("store: give either a database URL or a SQLite path, not both")
	case cfg.URL != "":
		s.dialect = dialect.Postgres
		s.writeDB, err = openPostgres(cfg.URL)
		s.readDB = s.writeDB
		if err == nil {
			s.leaseDB, err = openPostgres(cfg.URL)
		}
	case cfg.Path != "":
		s.dialect = dialect.SQLite
		s.writeDB, s.readDB, err = openSQLite(ctx, cfg.Path)
	default:
		return nil, errors.New("store: no database URL and no SQLite path")
	}
	if err != nil {
		return nil, err
	}
	if s.dialect == dialect.Postgres {
		s.write = ent.NewClient(ent.Driver(newHurried(s.dialect, s.writeDB)))
	} else {
		s.write = ent.NewClient(ent.Driver(entsql.OpenDB(s.dialect, s.writeDB)))
	}
	s.read = s.write
	if s.readDB != s.writeDB {
		s.read = ent.NewClient(ent.Driver(entsql.OpenDB(s.dialect, s.readDB)))
	}
	s.lease = s.write
	if s.leaseDB != nil {
		s.leaseDB.SetMaxOpenConns(1)
		s.lease = ent.NewClient(ent.Driver(entsql.OpenDB(s.dialect, s.leaseDB)))
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.readDB.PingContext(ctx); err != nil {
		return mapError("ping", err)
	}
	return nil
}

// Close ends the feed of changes and releases the connections. Calls in flight fail.
func (s *Store) Close() error {
	s.feed.close()
	err := s.writeDB.Close()
	if s.readDB != s.writeDB {
		err = errors.Join(err, s.readDB.Close())
	}
	if s.leaseDB != nil {
		err = errors.Join(err, s.leaseDB.Close())
	}
	return err
}

// Dialect names the database: "sqlite3" or "postgres".
func (s *Store) Dialect() string { return s.dialect }

// txAttempts is how often to try a transaction that PostgreSQL aborts because of another one.
const txAttempts = 4

// tx runs fn in one transaction. On SQLite the transaction holds the write lock from the start, so it never fails half way
// because of a missing lock. On PostgreSQL tx repeats a transaction that was aborted because of another one, so fn must be able
// to run more than once.
func (s *Store) tx(ctx context.Context, op string, fn func(*ent.Tx) error) error {
	return txOn(ctx, s.write, op, fn)
}

func txOn(ctx context.Context, client *ent.Client, op string, fn func(*ent.Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := txOnce(ctx, client, op, fn)
		if err == nil || attempt == txAttempts || !gaveWay(err) {
			return err
		}
		// Wait, so that the other transaction gets its locks before this one runs again.
		select {
		case <-time.After(time.Duration(5+mathrand.IntN(20)) * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

func txOnce(ctx context.Context, client *ent.Client, op string, fn func(*ent.Tx) error) error {
	tx, err := client.Tx(ctx)
	if err != nil {
		return mapError(op, err)
	}
	if err := fn(tx); err != nil {
		return errors.Join(mapError(op, err), rollback(tx))
	}
	if err := tx.Commit(); err != nil {
		return mapError(op, err)
	}
	return nil
}

// rollback ignores the "already over" error that follows a cancelled context: database/sql has rolled back by then.
func rollback(tx *ent.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}

// stamp is the current time, in the precision of both databases.
func (s *Store) stamp() time.Time { return utc(s.now()) }

func utc(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func utcPtr(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := utc(*t)
	return &u
}

// single converts the row of a query and maps its error.
func single[R, T any](op string, convert func(*R) T, row *R, err error) (T, error) {
	if err != nil {
		var none T
		return none, mapError(op, err)
	}
	return convert(row), nil
}

// collect converts the rows of a query and maps its error.
func collect[R, T any](op string, convert func(*R) T, rows []*R, err error) ([]T, error) {
	if err != nil {
		return nil, mapError(op, err)
	}
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = convert(row)
	}
	return out, nil
}

// orZero is the value of a column that can be NULL, and nonZero is the reverse.
func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func nonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// normalEmail is the form in which addresses are stored and compared.
func normalEmail(s string) string { return strings.ToLower(strings.TrimSpace(s)) }
