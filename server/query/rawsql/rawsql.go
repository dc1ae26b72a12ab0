// Package rawsql runs SELECT statements that users wrote. It expands their macros, confines them to the organization, and turns
// failures into errors that are safe to show.
package rawsql

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/confine"
)

// Warehouse is the part of *warehouse.Warehouse that this package needs.
type Warehouse interface {
	SelectConfined(ctx context.Context, org principal.OrgID, sql string, limits warehouse.TenantLimits) (*warehouse.TenantResult, error)
	SQLSchemas(ctx context.Context) ([]warehouse.SQLSchema, error)
}

// changing matches functions that give a different result on each call.
var changing = regexp.MustCompile(`(?i)\b(now\w*|today|yesterday|current_\w+|utc_?timestamp|rand\w*|generate\w+|random\w*)\b`)

// repeats reports whether a statement gives the same result again over the same closed window.
func repeats(sql string) bool {
	bounded := strings.Contains(sql, "$__timeFilter") || strings.Contains(sql, "$__endTime")
	return bounded && !changing.MatchString(sql)
}

// Request is a statement with the values of its macros.
type Request struct {
	SQL    string
	Window query.Window
	// Interval is the length of the buckets. Zero means AutoInterval of the window.
	Interval time.Duration
	// Variables are the values of $name and ${name}. Several values are written as a list with commas.
	Variables map[string][]string
	// MaxRows and Time have defaults if they are zero.
	MaxRows int
	Time    time.Duration
	// Param is the field that errors in the statement name. Empty means `sql`.
	Param string
}

// Result is the result of a statement, with the values of its macros.
type Result struct {
	*warehouse.TenantResult
	ExpandedSQL string
	Interval    time.Duration
}

// Run runs a statement over the rows of the organization.
func Run(ctx context.Context, w Warehouse, org principal.OrgID, req Request) (*Result, error) {
	if req.Param == "" {
		req.Param = "sql"
	}
	if req.Interval == 0 {
		req.Interval = AutoInterval(req.Window)
	}
	expanded, err := expand(req)
	if err != nil {
		return nil, refused(err, req.Param)
	}
	bounds := warehouse.DefaultTenantLimits()
	if req.MaxRows > 0 {
		bounds.MaxRows = min(req.MaxRows, limits.SQLRows)
	}
	if req.Time > 0 {
		bounds.Time = req.Time
	}
	if repeats(req.SQL) && read.Settled(req.Window.End, time.Now()) {
		ctx = read.AllowStale(ctx, limits.SQLResultKept)
	}
	result, err := w.SelectConfined(ctx, org, expanded, bounds)
	if err != nil {
		return nil, failure(ctx, w, err, expanded, req.Param)
	}
	return &Result{result, expanded, req.Interval}, nil
}

func refused(err error, param string) error {
	var r *confine.Refusal
	if !errors.As(err, &r) {
		return err
	}
	return apierr.New(
		apierr.WarehouseInvalidSql,
		r.Message,
		apierr.Param(param),
		apierr.Violations(apierr.Violation{Field: param, Message: string(r.Code) + ": " + r.Message}),
	)
}

// failure describes an error in this package's own words, because the engine's text can contain stored values.
func failure(ctx context.Context, w Warehouse, err error, sql, param string) error {
	var r *confine.Refusal
	var e *warehouse.Error
	limit := func(message string) error {
		return apierr.New(apierr.WarehouseQuotaExceeded, message, apierr.Param(param), apierr.Cause(err))
	}
	switch {
	case errors.As(err, &r) && r.Code == confine.ResourceLimit:
		return limit(r.Message)
	case errors.As(err, &r):
		return refused(err, param)
	case errors.Is(err, warehouse.ErrTenantBusy):
		return apierr.New(
			apierr.RateLimit,
			"Too many SQL statements of this organization are running. Try again when one has ended.",
			apierr.RetryAfter(2*time.Second),
			apierr.Cause(err),
		)
	case errors.Is(err, warehouse.ErrTenantNotSetUp):
		return apierr.New(
			apierr.WarehouseConfig,
			"SQL is not set up on this server: an operator adds sql_role to the warehouse URL, see `svc doctor --warehouse-grants`.",
			apierr.Cause(err),
		)
	case errors.Is(err, warehouse.ErrFence):
		return unfenced(err)
	case errors.Is(err, warehouse.ErrResultTooLarge):
		return limit("The result is larger than " + limits.Size(limits.SQLResult) + ". Select fewer columns, or aggregate.")
	case errors.Is(err, warehouse.ErrTimeout):
		return apierr.New(
			apierr.QueryEngineTimeout,
			"The statement exceeded its time limit. Narrow the time range, or read a table of aggregates.",
			apierr.Param(param),
			apierr.Cause(err),
		)
	case errors.Is(err, warehouse.ErrMemory):
		return limit("The statement needs more memory than it may. Group by fewer values, or narrow the time range.")
	case errors.Is(err, warehouse.ErrTooCostly):
		return limit("The statement reads or gives more rows than it may. Narrow the time range or add a LIMIT.")
	case errors.As(err, &e) && e.Code != 0 && !e.Own:
		message, known := explain(ctx, w, e.Code, sql)
		if !known {
			break
		}
		return apierr.New(
			apierr.WarehouseInvalidSql,
			message,
			apierr.Param(param),
			apierr.Violations(apierr.Violation{Field: param, Message: message}),
			apierr.Cause(err),
		)
	}
	return read.Failure(ctx, err)
}

func unfenced(err error) error {
	return apierr.New(
		apierr.WarehouseScope,
		"SQL is switched off: the row policies that keep organizations apart are not in place.",
		apierr.Cause(err),
	)
}

// Tables describes the tables that statements may read.
func Tables(ctx context.Context, w Warehouse) ([]warehouse.SQLSchema, error) {
	tables, err := w.SQLSchemas(ctx)
	if errors.Is(err, warehouse.ErrFence) {
		return nil, unfenced(err)
	}
	if err != nil {
		return nil, read.Failure(ctx, err)
	}
	return tables, nil
}
