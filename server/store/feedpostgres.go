package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/svc-observability/svc/server/limits"
)

const (
	// feedHeartbeat and feedTimeout together bound how long a silently dead connection goes unnoticed.
	feedHeartbeat = limits.ChangesSilent / 2
	feedTimeout   = limits.ChangesSilent - feedHeartbeat
)

// followPostgres listens on its own connection. It publishes SubjectAny after every interruption, and repeatedly while the
// connection is down.
func (s *Store) followPostgres(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		s.publish(Change{Subject: SubjectAny, Cause: err})
		wait(ctx, feedRetry)
	}
}

// listen returns when the connection fails.
func (s *Store) listen(ctx context.Context) (err error) {
	cfg, err := postgresConfig(s.url)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() {
		// Not ctx, which may have ended: the server must still learn that the connection closes.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), feedTimeout)
		defer cancel()
		err = errors.Join(err, conn.Close(ctx))
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if err := s.tryFeed(ctx, conn); err != nil {
		return err
	}
	// The feed may have missed commits before this moment.
	s.publish(Change{Subject: SubjectAny})
	for {
		if err := s.receive(ctx, conn); err != nil {
			return err
		}
	}
}

// tryFeed sends an announcement through the pool and waits for it to arrive. Behind a pooler that shares connections between
// transactions, LISTEN succeeds but nothing ever arrives.
func (s *Store) tryFeed(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, feedTimeout)
	defer cancel()
	if _, err := s.writeDB.ExecContext(ctx, "SELECT pg_notify($1, $2)", channel, `{"origin":"`+s.origin+`"}`); err != nil {
		return fmt.Errorf("try the feed: %w", err)
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("announcements do not arrive; PostgreSQL must be reached directly or through a pooler in session mode: %w", err)
		}
		var a announcement
		if json.Unmarshal([]byte(n.Payload), &a) == nil && a.Origin == s.origin {
			return nil
		}
	}
}

// receive waits for one announcement and publishes it. If none arrives, it checks that the connection is alive.
func (s *Store) receive(ctx context.Context, conn *pgx.Conn) error {
	idle, cancel := context.WithTimeout(ctx, feedHeartbeat)
	n, err := conn.WaitForNotification(idle)
	cancel()
	if err != nil {
		if ctx.Err() != nil || conn.IsClosed() || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		ping, cancel := context.WithTimeout(ctx, feedTimeout)
		defer cancel()
		return conn.Ping(ping)
	}
	var a announcement
	if err := json.Unmarshal([]byte(n.Payload), &a); err != nil {
		// The text comes from another program or from a newer version: something may have changed.
		s.publish(Change{Subject: SubjectAny})
		return nil
	}
	if a.Origin != s.origin {
		s.publish(Change{Subject: a.Subject, Org: a.Org, Hash: a.Hash, User: a.User, Gone: a.Gone})
	}
	return nil
}
