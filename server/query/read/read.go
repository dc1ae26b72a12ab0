// Package read runs statements of package query for the services, and gives failures of the warehouse their API error.
package read

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
)

// Warehouse is the part of *warehouse.Warehouse that a service needs.
type Warehouse interface {
	Query(ctx context.Context, org principal.OrgID, sql string, args ...warehouse.Arg) (*warehouse.Rows, error)
}

// Org is the organization of the caller. The rpc chain lets no call without one through, so its absence is a defect.
func Org(ctx context.Context) (principal.OrgID, error) {
	caller, ok := principal.From(ctx)
	if !ok || caller.Org == "" {
		return "", errors.New("a read of telemetry has no organization")
	}
	return caller.Org, nil
}

// All reads every row into a T by its `ch` tags. The statement bounds the number of rows. A Reader may return the rows of an earlier
// equal read (see KeepFor), so callers must not change their contents. The slice belongs to the caller.
func All[T any](ctx context.Context, w Warehouse, org principal.OrgID, s sqlbuild.Statement) ([]T, error) {
	r, ok := w.(*Reader)
	if !ok {
		return all[T](ctx, w, org, s)
	}
	keep := r.KeepFor(ctx, s.End)
	if keep == 0 {
		return all[T](ctx, w, org, s)
	}
	rows, err := Coalesce(ctx, r, KeyOf(fmt.Sprintf("%T", *new(T)), org, s), keep, func() ([]T, int, error) {
		rows, err := all[T](ctx, w, org, s)
		if err != nil || len(rows) == 0 { // rows may arrive at any moment
			return nil, 0, err
		}
		return rows, sizeOf(reflect.ValueOf(rows)), nil
	})
	return slices.Clone(rows), err
}

func all[T any](ctx context.Context, w Warehouse, org principal.OrgID, s sqlbuild.Statement) (out []T, err error) {
	rows, err := w.Query(ctx, org, s.SQL, s.Args...)
	if err != nil {
		return nil, Failure(ctx, err)
	}
	defer func() {
		if closeErr := rows.Close(); err == nil && closeErr != nil {
			out, err = nil, Failure(ctx, closeErr)
		}
	}()
	for rows.Next() {
		var row T
		if err := rows.ScanStruct(&row); err != nil {
			return nil, Failure(ctx, err)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, Failure(ctx, err)
	}
	return out, nil
}

// One reads the only row.
func One[T any](ctx context.Context, w Warehouse, org principal.OrgID, s sqlbuild.Statement) (row T, err error) {
	all, err := All[T](ctx, w, org, s)
	if err != nil {
		return row, err
	}
	if len(all) != 1 {
		return row, Unreadable(fmt.Errorf("%d rows instead of one", len(all)))
	}
	return all[0], nil
}

// Unreadable is the error for rows that do not have the form that the statement asked for.
func Unreadable(cause error) error {
	return apierr.New(
		apierr.WarehouseResultDecode,
		"The telemetry store answered in an unexpected form. The request id finds the reason in our logs.",
		apierr.Cause(cause),
	)
}

// refusals are the kinds of failures for which neither another attempt nor another request helps.
func refusals() []refusal {
	return []refusal{
		{
			warehouse.ErrAuth,
			apierr.WarehouseAuth,
			"The telemetry store refuses the server's credentials. The operator of this server can fix that: `svc doctor` says more.",
		},
		{
			warehouse.ErrConfig,
			apierr.WarehouseConfig,
			"The telemetry store denies a permission that the server needs. The operator of this server can fix that: `svc doctor` says more.",
		},
		{
			warehouse.ErrSchema,
			apierr.WarehouseSchemaDrift,
			"The telemetry store lacks a table, a column or a function that this version of the server needs. The operator of this server can fix " +
				"that: `svc doctor` says more.",
		},
		{
			warehouse.ErrMalformed,
			apierr.WarehouseMalformedQuery,
			"The server built a query that cannot be read. The request id finds it in our logs.",
		},
		{
			warehouse.ErrClient,
			apierr.WarehouseClient,
			"The server at the address of the telemetry store does not speak its protocol. The request id finds the reason in our logs.",
		},
		{
			warehouse.ErrScope,
			apierr.WarehouseScope,
			"The query did not run: the server could not prove that it reads only rows of the organization. The request id finds the reason in our logs.",
		},
	}
}

type refusal struct {
	kind    error
	tag     apierr.Tag
	message string
}

// retryAfter is how long to wait before another attempt, as the warehouse asks.
func retryAfter(err error) time.Duration {
	var e *warehouse.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return time.Second
}

// Failure gives an error of the warehouse its tag. The text of the warehouse can hold stored values, so it stays private.
func Failure(ctx context.Context, err error) error {
	var e *warehouse.Error
	var known *apierr.Error
	switch {
	case errors.As(err, &known): // of a Reader
		return err
	case errors.Is(err, warehouse.ErrTimeout):
		return apierr.New(apierr.QueryEngineTimeout, "The query took too long. Narrow the time range or add a filter.", apierr.Cause(err))
	case errors.Is(err, warehouse.ErrMemory), errors.Is(err, warehouse.ErrTooCostly):
		return apierr.New(
			apierr.WarehouseQuotaExceeded,
			"The query needs too much memory or reads too many rows. Narrow the time range or add a filter.",
			apierr.Cause(err),
		)
	case errors.Is(err, warehouse.ErrBusy):
		return apierr.New(
			apierr.RateLimit,
			"Earlier reads of this organization still run. Try again when they have ended, with a shorter time range or fewer at once.",
			apierr.RetryAfter(retryAfter(err)),
			apierr.Cause(err),
		)
	case errors.Is(err, warehouse.ErrUnavailable):
		opts := []apierr.Option{apierr.Cause(err)}
		if errors.As(err, &e) && e.RetryAfter > 0 {
			opts = append(opts, apierr.RetryAfter(e.RetryAfter))
		}
		return apierr.New(apierr.WarehouseUpstream, "The telemetry store does not answer at the moment. Try again.", opts...)
	case errors.Is(err, warehouse.ErrDecode):
		return Unreadable(err)
	}
	for _, r := range refusals() {
		if errors.Is(err, r.kind) {
			return apierr.New(r.tag, r.message, apierr.Cause(err))
		}
	}
	switch {
	case errors.As(err, &e):
		return apierr.New(
			apierr.WarehouseQuery,
			"The telemetry store refused the query. The request id finds the reason in our logs.",
			apierr.Cause(err),
		)
	case ctx.Err() != nil:
		return apierr.From(ctx.Err())
	default:
		return apierr.New(
			apierr.WarehouseQuery,
			"The telemetry store did not answer the query. The request id finds the reason in our logs.",
			apierr.Cause(err),
		)
	}
}
