package callhours

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
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
	// longestWait bounds the time between two counts of an hour for which late spans trickle in. An hour is counted once more in lastChance,
	// the time before its spans may go.
	longestWait = 5 * 24 * time.Hour
	lastChance  = 26 * time.Hour
	// longestPause bounds the pause of an hour that cannot be counted.
	longestPause = 6 * time.Hour
)

// Turn lets one count of a process join at a time, so that the other reads of background work always have a place.
type Turn chan struct{}

// NewTurn returns a turn for the counters of a process.
func NewTurn() Turn { return make(Turn, 1) }

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
	Turn          Turn
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
	// paused are the hours that could not be counted: until when, and for how long.
	paused map[hourID]pause
}

type hourID struct {
	org  principal.OrgID
	hour int64
}

type pause struct {
	until  time.Time
	length time.Duration
}

// NewCounter returns a counter for the organizations that mine accepts. One goroutine may use it.
func NewCounter(cfg Config, mine func(principal.OrgID) bool) *Counter {
	return &Counter{
		cfg: cfg, mine: mine, due: map[principal.OrgID]time.Time{}, full: map[principal.OrgID]time.Time{},
		paused: map[hourID]pause{},
	}
}

// Step counts the hours that are due, and returns the time of the next step. A count that two processes make at the same time does no harm:
// reads take the later one.
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
		next, err := c.organization(ctx, org, now)
		if ctx.Err() != nil {
			return time.Time{}, ctx.Err()
		}
		if err != nil {
			c.cfg.Logger.Warn("the calls between services could not be counted; reads find them in the spans until then", "org_id", org, "error",
				err)
		}
		c.due[org] = next
	}
	return c.cfg.Now().Add(lookEvery), nil
}

// organization counts the hours of an organization that need it, the latest first. It returns when the organization is due again: now if
// hours are left, after the pause of an hour that cannot be counted, or when the next hour is over.
func (c *Counter) organization(ctx context.Context, org principal.OrgID, now time.Time) (next time.Time, err error) {
	over := now.Add(-limits.CallHourSettled).Truncate(time.Hour) // the hours before this time are over
	window := query.Window{Start: over.Add(-recent), End: over.Add(-1)}
	all := now.Sub(c.full[org]) >= allEvery
	if all {
		window.Start = now.Add(-countable).Truncate(time.Hour).Add(time.Hour)
	}
	hours, counts, err := state(ctx, c.cfg.Warehouse, org, window, false)
	if err != nil {
		return now.Add(lookEvery), err
	}
	next = over.Add(time.Hour + limits.CallHourSettled)
	var failed []error
	left, waited := batch, false
	for _, h := range slices.Backward(hours.list) {
		count, counted := counts[h.Hour.Unix()]
		id := hourID{org, h.Hour.Unix()}
		switch {
		case h.Hour.Before(window.Start) || h.Hour.After(window.End):
			continue
		case counted && (count.Spans == hours.seen(h.Hour) || waits(h.Hour, count.CountedAt, now)):
			continue
		case c.paused[id].until.After(now):
			next = earlier(next, c.paused[id].until)
			continue
		case left == 0:
			return now, errors.Join(failed...)
		}
		if !waited {
			select {
			case <-time.After(quiet):
			case <-ctx.Done():
				return next, ctx.Err()
			}
			waited = true
		}
		left--
		if err := c.count(ctx, org, h, hours.seen(h.Hour)); err != nil {
			if ctx.Err() != nil {
				return next, err
			}
			length := min(max(2*c.paused[id].length, lookEvery), longestPause)
			c.paused[id] = pause{now.Add(length), length}
			next = earlier(next, now.Add(length))
			failed = append(failed, fmt.Errorf("hour %s: %w", h.Hour.Format(time.RFC3339), err))
			continue
		}
		delete(c.paused, id)
	}
	if all {
		c.full[org] = now
		maps.DeleteFunc(c.paused, func(id hourID, p pause) bool { return id.org == org && now.Sub(p.until) > allEvery })
	}
	return next, errors.Join(failed...)
}

func earlier(x, y time.Time) time.Time {
	if y.Before(x) {
		return y
	}
	return x
}

// waits says whether an hour for which late spans arrived waits for its next count: until it is twice as old as at the last one.
func waits(hour, counted, now time.Time) bool {
	if last := hour.Add(countable - lastChance); now.After(last) && counted.Before(last) {
		return false
	}
	return now.Sub(counted) < min(counted.Sub(hour), longestWait)
}

var (
	errUnseen = errors.New("not all spans that were counted on arrival are visible")
	errMany   = fmt.Errorf("it has more than %d pairs of services", reads.MaxCallRows)
)

// count finds the calls of an hour and stores them.
func (c *Counter) count(ctx context.Context, org principal.OrgID, h reads.SpanHourRow, seen uint64) error {
	select {
	case c.cfg.Turn <- struct{}{}:
		defer func() { <-c.cfg.Turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	// The numbers of spans come from a table that ingest fills beside the spans.
	visible, err := read.One[reads.SpanCountRow](ctx, c.cfg.Warehouse, org, reads.SpansOfCallHour(h.Hour))
	if err != nil {
		return err
	}
	if visible.Spans < seen {
		return errUnseen
	}
	sum := Sum{}
	for _, p := range Parts(query.Window{Start: h.Hour, End: h.Hour.Add(time.Hour - 1)}, []reads.SpanHourRow{h}) {
		rows, err := read.All[reads.CallHourRow](ctx, c.cfg.Warehouse, org, reads.CallsByEnvironment(p.Window))
		if err != nil {
			return err
		}
		if len(rows) == reads.MaxCallRows {
			return errMany // there may be more: reads find them by environment
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
