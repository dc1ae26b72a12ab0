package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// orgPlace is the placeholder of the organization whose rows are read. Every statement of Query must contain it.
const orgPlace = "{org:String}"

// Query runs a SELECT for one organization. The statement must select by `OrgId = {org:String}`, which Query fills in; other
// values come as Named arguments for {name:Type} placeholders and are never part of the text. The caller closes the rows. The
// statement is killed when ctx ends.
func (w *Warehouse) Query(ctx context.Context, org principal.OrgID, sql string, args ...Arg) (*Rows, error) {
	return w.QueryLimited(ctx, org, w.limits, sql, args...)
}

// QueryLimited is Query within the given limits. Fields that are zero take the value of DefaultLimits.
func (w *Warehouse) QueryLimited(ctx context.Context, org principal.OrgID, limits Limits, sql string, args ...Arg) (*Rows, error) {
	if err := w.usable(); err != nil {
		return nil, err
	}
	if org == "" {
		return nil, scopeError("the statement has no organization")
	}
	if !strings.Contains(sql, orgPlace) {
		return nil, scopeError("the statement does not select by OrgId = %s", orgPlace)
	}
	params, err := formatArgs(append(args, Named("org", string(org))))
	if err != nil {
		return nil, &Error{Kind: ErrMalformed, Message: err.Error(), cause: err}
	}
	qctx := clickhouse.Context(ctx, clickhouse.WithSettings(limits.withDefaults().settings()), clickhouse.WithParameters(params))
	rows, err := w.conn.Query(qctx, sql)
	if restarts(mapError(ctx, err)) {
		rows, err = w.conn.Query(qctx, sql)
	}
	if err != nil {
		return nil, mapError(ctx, err)
	}
	return &Rows{ctx: ctx, rows: rows}, nil
}

// restarts reports whether the embedded engine stopped a statement because it restarts. The same statement may be sent again: dial
// waits for the next process.
func restarts(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == chdb.CodeRestarting
}

// OfWork marks a statement of background work. The embedded engine has places of their own for these.
func OfWork() Arg { return Named(chdb.WorkParameter, "1") }

// QueryRow runs a SELECT of one row and scans it. It returns sql.ErrNoRows when there is no row.
func (w *Warehouse) QueryRow(ctx context.Context, org principal.OrgID, sql string, args []Arg, dest ...any) error {
	rows, err := w.Query(ctx, org, sql, args...)
	if err != nil {
		return err
	}
	return rows.one(dest...)
}

// Rows is the result of a Query, as in database/sql: Next, Scan, then Err and Close.
type Rows struct {
	ctx    context.Context
	rows   driver.Rows
	closed func()
}

// OnClose registers a function that is called once, when the rows are closed.
func (r *Rows) OnClose(f func()) { r.closed = f }

// Next moves to the next row. It returns false at the end or after a failure, which Err returns.
func (r *Rows) Next() bool { return r.rows.Next() }

// Scan reads the columns of the row in their order.
func (r *Rows) Scan(dest ...any) error { return scanned(r.rows.Scan(dest...)) }

// ScanStruct reads the row into a struct by its `ch:"Column"` tags.
func (r *Rows) ScanStruct(dest any) error { return scanned(r.rows.ScanStruct(dest)) }

func scanned(err error) error {
	if err != nil {
		return decodeError(err)
	}
	return nil
}

// Columns are the names of the columns.
func (r *Rows) Columns() []string { return r.rows.Columns() }

// Err returns the error that ended the rows early.
func (r *Rows) Err() error { return mapError(r.ctx, r.rows.Err()) }

// Close reads the remaining rows and releases the connection. To stop early, cancel the context of the query first.
func (r *Rows) Close() error {
	err := mapError(r.ctx, r.rows.Close())
	if r.closed != nil {
		r.closed()
		r.closed = nil
	}
	return err
}

// RawQuery runs an operator's read-only statement, over all organizations, and writes the output in the ClickHouse format with
// that name. The default format is TabSeparated.
func (w *Warehouse) RawQuery(ctx context.Context, sql, format string, out io.Writer) error {
	if format == "" {
		format = "TabSeparated"
	}
	if !namePattern.MatchString(format) {
		return fmt.Errorf("format %q: use the name of a ClickHouse format such as TSV, JSONEachRow or PrettyCompact", format)
	}
	params := url.Values{}
	params.Set("database", w.endpoint.database)
	params.Set("default_format", format)
	params.Set("readonly", "1")
	res, err := w.post(ctx, params, strings.NewReader(sql))
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	return copyAnswer(ctx, out, res)
}
