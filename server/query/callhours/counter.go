package callhours

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	// lookEvery is the pause between two looks for organizations that are due.
	lookEvery = time.Minute
	// recent is the age of the hours that every look has in view. Once in allEvery, a look has all hours whose spans exist in view.
	recent   = 26 * time.Hour
	allEvery = 24 * time.Hour
	// batch is the number of hours of an organization that are counted before the next organization has its turn.
	batch = 24
	// quiet is the time between the look at the numbers of spans and the join. In it, an insert that has begun becomes visible as a whole.
	quiet = 200 * time.Millisecond
)

// Organizations lists those of an installation. *store.Store does.
type Organizations interface {
	OrganizationIDs(ctx context.Context) ([]principal.OrgID, error)
	DeletedOrganizations(ctx context.Context, orgs []principal.OrgID) ([]principal.OrgID, error)
}

// Inserter stores rows in the warehouse. *warehouse.Warehouse is one.
type Inserter interface {
	InsertRows(ctx context.Context, table string, columns []string, rows [][]any, token string) error
}

// Config configures a Counter. All fields are required.
type Config struct {
	Organizations Organizations
	Warehouse     read.Warehouse
	Into          Inserter
	Logger        *slog.Logger
	Now           func() time.Time
}

// Counter counts the calls of hours that are over.
type Counter struct {
	cfg Config
	// mine says whether an organization belongs to the counter.
	mine func(principal.OrgID) bool
	due  map[principal.OrgID]time.Time
	full map[principal.OrgID]time.Time // when all hours were looked at
	last time.Time                     // of the last count: no two counts have the same time
}

// NewCounter returns a counter for the organizations that mine accepts. One goroutine may use it.
func NewCounter(cfg Config, mine func(principal.OrgID) bool) *Counter {
	return &Counter{cfg: cfg, mine: mine, due: map[principal.OrgID]time.Time{}, full: map[principal.OrgID]time.Time{}}
}

// Step counts what is due, and returns the time of the next step. A count that two processes make at the same time does no harm: reads
// take the later one.
func (c *Counter) Step(ctx context.Context) (time.Time, error) {
	orgs, err := c.cfg.Organizations.OrganizationIDs(ctx)
	if err != nil {
		return time.Time{}, err
	}
	for _, org := range orgs {
		now := c.cfg.Now()
		if !c.mine(org) || c.due[org].After(now) {
			continue
		}
		more, err := c.organization(ctx, org, now)
		switch {
		case ctx.Err() != nil:
			return time.Time{}, ctx.Err()
		case err != nil:
			c.cfg.Logger.Warn("the calls between services could not be counted; reads find them in the spans until then", "org_id", org, "error", err)
			c.due[org] = now.Add(lookEvery)
		case more:
			c.due[org] = now // after the others
		default:
			c.due[org] = now.Add(-limits.CallHourSettled).Truncate(time.Hour).Add(time.Hour + limits.CallHourSettled)
		}
	}
	return c.cfg.Now().Add(lookEvery), nil
}

// organization counts the hours of an organization that need it, the latest first. It reports whether more are left.
func (c *Counter) organization(ctx context.Context, org principal.OrgID, now time.Time) (more bool, err error) {
	over := now.Add(-limits.CallHourSettled).Truncate(time.Hour) // the hours before this time are over
	window := query.Window{Start: over.Add(-recent), End: over.Add(-1)}
	all := now.Sub(c.full[org]) >= allEvery
	if all {
		window.Start = now.Add(-countable).Truncate(time.Hour).Add(time.Hour)
	}
	hours, counts, err := state(ctx, c.cfg.Warehouse, org, window)
	if err != nil {
		return false, err
	}
	left, waited := batch, false
	for _, h := range slices.Backward(hours.list) {
		count, counted := counts[h.Hour.Unix()]
		switch {
		case h.Hour.Before(window.Start) || h.Hour.After(window.End):
			continue
		case counted && count.Spans == hours.seen(h.Hour):
			continue
		case counted && now.Sub(h.Hour) < 2*count.CountedAt.Sub(h.Hour):
			continue // late spans trickle in: the count is repeated when the hour is twice as old
		case left == 0:
			return true, nil
		}
		if !waited {
			select {
			case <-time.After(quiet):
			case <-ctx.Done():
				return false, ctx.Err()
			}
			waited = true
		}
		left--
		if err := c.count(ctx, org, h, hours.seen(h.Hour)); err != nil {
			return false, err
		}
	}
	if all {
		c.full[org] = now
	}
	return false, nil
}

// count finds the calls of an hour and stores them.
func (c *Counter) count(ctx context.Context, org principal.OrgID, h reads.SpanHourRow, seen uint64) error {
	sum := Sum{}
	for _, p := range Parts(query.Window{Start: h.Hour, End: h.Hour.Add(time.Hour - 1)}, []reads.SpanHourRow{h}) {
		rows, err := read.All[reads.CallHourRow](ctx, c.cfg.Warehouse, org, reads.CallsByEnvironment(p.Window))
		if err != nil {
			return err
		}
		for _, r := range rows {
			sum.Add(r.Environment, r.CallRow)
		}
	}
	deleted, err := c.cfg.Organizations.DeletedOrganizations(ctx, []principal.OrgID{org})
	if err != nil || len(deleted) > 0 {
		return err
	}
	at := c.cfg.Now().UTC().Truncate(time.Microsecond)
	if !at.After(c.last) {
		at = c.last.Add(time.Microsecond)
	}
	c.last = at
	row := func(of Ends, s reads.CallStats, seen uint64) []any {
		return []any{
			string(org), h.Hour.UTC(), at, of.Environment, of.Source, of.Target, seen,
			s.Calls, s.EstimatedCalls, s.Errors, s.EstimatedErrors, s.EstimatedNano, s.MaxNano,
		}
	}
	// The row without a service says that the hour is counted. All rows of a count are one block, so a reader sees all of them or none.
	rows := [][]any{row(Ends{}, reads.CallStats{}, seen)}
	for of, stats := range sum {
		rows = append(rows, row(of, *stats, 0))
	}
	token, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	err = c.cfg.Into.InsertRows(ctx, "call_hours", columns(), rows, token.String())
	return errors.Join(err, ctx.Err())
}

func columns() []string {
	return []string{
		"OrgId", "Hour", "CountedAt", "Environment", "SourceService", "TargetService", "SeenSpanCount",
		"CallCount", "EstimatedCallCount", "ErrorCount", "EstimatedErrorCount", "EstimatedDurationNano", "MaxDurationNano",
	}
}
