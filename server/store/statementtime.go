package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/svc-observability/svc/server/limits"
)

// errNoAnswer is not context.DeadlineExceeded: the caller's own deadline has not come, and another attempt can succeed.
var errNoAnswer = fmt.Errorf("no answer within %s", limits.Lasts(limits.DatabaseAnswer))

type waitsKey struct{}

// CallerWaits marks the context of a request. Each of its statements fails with ErrUnavailable when PostgreSQL sends nothing within
// limits.DatabaseAnswer, so the caller gets an error while there is time for another attempt. Statements of background work have no such
// bound, because some of them delete many rows.
func CallerWaits(ctx context.Context) context.Context {
	return context.WithValue(ctx, waitsKey{}, true)
}

// patient takes the mark away, for the statement of a request that may take long. The deadline of the request still holds.
func patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, waitsKey{}, false)
}

// hurried bounds the statements of requests on a pool.
type hurried struct {
	*entsql.Driver
	db *sql.DB
}

func newHurried(name string, db *sql.DB) *hurried {
	return &hurried{entsql.NewDriver(name, entsql.Conn{ExecQuerier: timed{db}}), db}
}

// Tx begins a transaction. A commit has no bound, because a caller could not tell whether it took place.
func (h *hurried) Tx(ctx context.Context) (dialect.Tx, error) { return h.BeginTx(ctx, nil) }

// BeginTx is Tx with options.
func (h *hurried) BeginTx(ctx context.Context, options *sql.TxOptions) (dialect.Tx, error) {
	tx, err := within(ctx, func(ctx context.Context) (*sql.Tx, error) { return h.db.BeginTx(ctx, options) })
	if err != nil {
		return nil, err
	}
	return &entsql.Tx{Conn: entsql.Conn{ExecQuerier: timed{tx}}, Tx: tx}, nil
}

func (h *hurried) Close() error { return h.db.Close() }

// DB returns the pool. That of the embedded driver looks for it behind timed, and panics.
func (h *hurried) DB() *sql.DB { return h.db }

// timed bounds each statement until its first row.
type timed struct{ entsql.ExecQuerier }

func (t timed) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return within(ctx, func(ctx context.Context) (sql.Result, error) { return t.ExecQuerier.ExecContext(ctx, query, args...) })
}

func (t timed) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return within(ctx, func(ctx context.Context) (*sql.Rows, error) { return t.ExecQuerier.QueryContext(ctx, query, args...) })
}

// within cancels do after limits.DatabaseAnswer if a caller waits. The context of do lives on with ctx, because rows and transactions
// use it after do has returned.
func within[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	if waits, _ := ctx.Value(waitsKey{}).(bool); !waits {
		return do(ctx)
	}
	bounded, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limits.DatabaseAnswer, func() { cancel(errNoAnswer) })
	out, err := do(bounded)
	timer.Stop()
	if err != nil {
		if errors.Is(context.Cause(bounded), errNoAnswer) {
			err = errNoAnswer
		}
		cancel(nil)
	}
	return out, err
}
