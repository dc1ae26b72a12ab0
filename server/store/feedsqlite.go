package store

import (
	"context"
	"errors"
	"time"
)

// sqlitePoll is the interval at which the feed checks the file. A check costs about 10 µs and reads only shared memory.
const sqlitePoll = 100 * time.Millisecond

// sqliteVersion names a state of the file as one connection sees it.
type sqliteVersion struct {
	// connection is needed because versions of different connections cannot be compared.
	connection any
	version    int64
}

// sqliteVersion changes when another process has committed. It asks the writer's connection, which does not count its own
// commits. All commits of this process are made on that connection.
func (s *Store) sqliteVersion(ctx context.Context) (v sqliteVersion, err error) {
	conn, err := s.writeDB.Conn(ctx)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.Raw(func(c any) error { v.connection = c; return nil }); err != nil {
		return v, err
	}
	return v, conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&v.version)
}

// followSQLite publishes SubjectAny whenever another process, such as `svc admin`, has committed. SQLite does not say which rows have
// changed. Such commits are rare, and reading again is cheap.
func (s *Store) followSQLite(ctx context.Context, last sqliteVersion, err error) {
	for interval := sqlitePoll; ; {
		if err != nil {
			s.publish(Change{Subject: SubjectAny, Cause: err})
			interval = feedRetry
		}
		if !wait(ctx, interval) {
			return
		}
		failed := err != nil
		var now sqliteVersion
		if now, err = s.sqliteVersion(ctx); ctx.Err() != nil {
			return
		}
		if err == nil {
			interval = sqlitePoll
			if failed || now != last {
				s.publish(Change{Subject: SubjectAny})
			}
			last = now
		}
	}
}
