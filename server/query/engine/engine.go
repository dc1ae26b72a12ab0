// Package engine runs requests of the query language. It plans each query, reads the warehouse within the organization's share,
// and combines the rows into one result. It fills gaps, computes formulas, and adds the values of an earlier period.
package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
)

// Config holds the dependencies of an Engine. Zero fields have defaults.
type Config struct {
	// Warehouse is a *read.Reader if results are to be cached.
	Warehouse read.Warehouse
	Now       func() time.Time
	// PerOrganization is the number of statements that one organization may run at once. The gate's own limit applies too.
	PerOrganization int
	// Shared has as many places on all nodes together. Nil means one node.
	Shared read.Places
	// Rollups says which rollups may be read instead of rows.
	Rollups query.Rollups
}

const defaultPerOrganization = limits.ChartReadsOfOrganization

// Engine is safe for concurrent use.
type Engine struct {
	warehouse read.Warehouse
	now       func() time.Time
	slots     *read.OrgSlots
	keys      *cache.Cache[keysOf, []reads.AttributeKeyRow]
	named     *cache.Cache[keysOf, []string]
	rollups   query.Rollups
}

// New returns an engine.
func New(cfg Config) *Engine {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.PerOrganization == 0 {
		cfg.PerOrganization = defaultPerOrganization
	}
	return &Engine{
		warehouse: cfg.Warehouse,
		now:       cfg.Now,
		slots:     read.NewOrgSlots(cfg.PerOrganization, cfg.Shared),
		rollups:   cfg.Rollups,
		keys:      cache.New[keysOf, []reads.AttributeKeyRow](maxKeyLists, cfg.Now),
		named:     cache.New[keysOf, []string](maxKeyLists, cfg.Now),
	}
}

// queryAnswer holds the result of one query.
type queryAnswer struct {
	plan   query.Plan
	unit   string
	series []query.SeriesRow
	groups []query.GroupRow
}

// Rollups returns the rollups that the engine's reads may use instead of rows.
func (e *Engine) Rollups() query.Rollups { return e.rollups }

// Timeseries runs a request over time. An error is an *apierr.Error, or a *query.Invalid that names a field of the request.
func (e *Engine) Timeseries(ctx context.Context, org principal.OrgID, r *query.Request) (*query.Timeseries, error) {
	if err := r.Validate(false); err != nil {
		return nil, err
	}
	r, err := e.typed(ctx, org, r)
	if err != nil {
		return nil, err
	}
	buckets, err := query.Buckets(r.Window, r.Bucket)
	if err != nil {
		return nil, err
	}
	bucket := r.Bucket
	if bucket == 0 {
		bucket = query.AutoBucket(r.Window, limits.DefaultBuckets)
	}
	out := &query.Timeseries{Window: r.Window, Bucket: bucket, Buckets: buckets}
	now, before, warnings, err := e.run(ctx, org, r, periodShift(r.Window, bucket), func(q *query.Spec, w query.Window) (query.Plan, error) {
		return query.PlanTimeseries(q, w, bucket)
	})
	if err != nil {
		return nil, err
	}
	out.Warnings = warnings
	assembleSeries(out, r, now, before)
	return out, nil
}

// Breakdown runs a request over the whole window. Its errors are those of Timeseries.
func (e *Engine) Breakdown(ctx context.Context, org principal.OrgID, r *query.Request) (*query.Breakdown, error) {
	if err := r.Validate(true); err != nil {
		return nil, err
	}
	return e.groups(ctx, org, r)
}

// Total runs a request over the whole window without its groups, so the result has at most one row. Its window may be as long as
// that of a timeseries, and it reads as much. Its errors are those of Timeseries.
func (e *Engine) Total(ctx context.Context, org principal.OrgID, r *query.Request) (*query.Breakdown, error) {
	if err := r.Validate(false); err != nil {
		return nil, err
	}
	whole := *r
	whole.Queries = slices.Clone(r.Queries)
	for i := range whole.Queries {
		if q := &whole.Queries[i]; len(q.GroupBy) > 0 {
			q.GroupBy, q.Having = nil, nil // a condition on the value of a group does not apply to the total
		}
	}
	return e.groups(ctx, org, &whole)
}

func (e *Engine) groups(ctx context.Context, org principal.OrgID, r *query.Request) (*query.Breakdown, error) {
	r, err := e.typed(ctx, org, r)
	if err != nil {
		return nil, err
	}
	joined := len(r.Queries) > 1 || r.Comparison.Previous
	now, before, warnings, err := e.run(
		ctx,
		org,
		r,
		r.Window.Length(),
		func(q *query.Spec, w query.Window) (query.Plan, error) {
			if joined {
				// Columns are joined by group. The first groups of one column may rank low in another column, or in the period
				// before.
				q = q.Widest()
			}
			return query.PlanBreakdown(q, w)
		},
	)
	if err != nil {
		return nil, err
	}
	out := &query.Breakdown{Window: r.Window, Warnings: warnings}
	t, keys, groups := assembleGroups(out, r, now, before)
	if out.Truncated {
		if err := e.others(ctx, org, r, t.columns, keys, groups); err != nil {
			return nil, err
		}
	}
	t.fill(out, keys, groups)
	return out, nil
}

// others reads the values of all groups together except those with the given keys, for queries whose values do not add up.
func (e *Engine) others(
	ctx context.Context,
	org principal.OrgID,
	r *query.Request,
	columns []*column,
	keys []string,
	groups map[string][]string,
) error {
	ctx, cancel := context.WithTimeout(ctx, limits.ReadTime)
	defer cancel()
	g, gctx := errgroup.WithContext(ctx)
	for i := range r.Queries {
		spec, c := r.Queries[i].Spec, columns[i]
		if c.additive || len(spec.Having) > 0 || len(spec.GroupBy) == 0 || !slices.Equal(spec.GroupBy, r.Queries[0].GroupBy) {
			continue
		}
		for _, key := range keys {
			spec.Without = append(spec.Without, groups[key])
		}
		spec.Rollups = e.rollups
		one := func(w query.Window, to *float64) {
			g.Go(func() error {
				a := queryAnswer{}
				var err error
				if a.plan, err = query.PlanBreakdown(&spec, w); err != nil {
					return inQuery(r, i, err)
				}
				if err = e.read(gctx, org, w.End, &a); err == nil && len(a.groups) == 1 {
					*to = a.groups[0].Value
				}
				return err
			})
		}
		one(r.Window, &c.others)
		if r.Comparison.Previous {
			one(r.Window.Before(), &c.othersBefore)
		}
	}
	return g.Wait()
}

// run reads every query over the window. For a comparison it also reads the window that is shift earlier.
func (e *Engine) run(
	ctx context.Context, org principal.OrgID, r *query.Request, shift time.Duration, plan func(*query.Spec, query.Window) (query.Plan, error),
) (now, before []queryAnswer, warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limits.ReadTime)
	defer cancel()
	windows := []query.Window{r.Window}
	if r.Comparison.Previous {
		windows = append(windows, r.Window.Earlier(shift))
	}
	answers := make([]queryAnswer, len(windows)*len(r.Queries))
	for i := range answers {
		q, w := r.Queries[i%len(r.Queries)].Spec, windows[i/len(r.Queries)]
		q.Rollups = e.rollups
		if w != r.Window {
			// A group's earlier value is shown beside its current one, even if the earlier value fails the condition.
			q.SeriesLimit, q.Having = limits.Series, nil
		}
		if answers[i].plan, err = plan(&q, w); err != nil {
			return nil, nil, nil, inQuery(r, i%len(r.Queries), err)
		}
		if i < len(r.Queries) {
			warnings = append(warnings, answers[i].plan.Warnings...)
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	for i := range answers {
		closed := windows[i/len(r.Queries)].End
		g.Go(func() error { return e.read(gctx, org, closed, &answers[i]) })
	}
	var unknown, ofMetrics, units []string
	g.Go(func() (err error) {
		ofMetrics, units, err = e.checkMetrics(gctx, org, r)
		return err
	})
	g.Go(func() error {
		// An attribute key that nobody sends gives a warning, not an error.
		unknown = e.unknownKeys(gctx, org, r)
		return nil
	})
	if err := g.Wait(); err != nil {
		return nil, nil, nil, err
	}
	n := len(r.Queries)
	unknown = append(unknown, e.unknownNames(ctx, org, r, answers[:n])...)
	for i := range n {
		answers[i].unit = r.Queries[i].Unit(units[i])
	}
	return answers[:n], answers[n:], append(append(warnings, ofMetrics...), unknown...), nil
}

// fetched holds the rows that a query read. Several requests may share it through the cache, so nobody may change it.
type fetched struct {
	series []query.SeriesRow
	groups []query.GroupRow
}

// read fills in the rows of an answer. It takes them from the cache if it can.
func (e *Engine) read(ctx context.Context, org principal.OrgID, end time.Time, a *queryAnswer) (err error) {
	var out fetched
	g, gated := e.warehouse.(*read.Reader)
	keep := time.Duration(0)
	if gated {
		keep = g.KeepFor(ctx, end)
	}
	if keep == 0 {
		out, err = e.fetch(ctx, org, a.plan)
	} else {
		out, err = read.Coalesce(ctx, g, read.KeyOf("series", org, a.plan.Statement), keep, func() (fetched, int, error) {
			out, err := e.fetch(ctx, org, a.plan)
			if err != nil || len(out.series)+len(out.groups) == 0 { // an empty result is not cached: data may arrive at any moment
				return out, 0, err
			}
			return out, out.size(), nil
		})
	}
	a.series, a.groups = out.series, out.groups
	return err
}

func (e *Engine) fetch(ctx context.Context, org principal.OrgID, p query.Plan) (out fetched, err error) {
	release, err := e.slots.Acquire(ctx, org)
	if err != nil {
		return out, err
	}
	defer release()
	if p.Timeseries {
		out.series, err = e.seriesOnce(ctx, org, p)
	} else {
		out.groups, err = read.All[query.GroupRow](read.AllowStale(ctx, 0), e.warehouse, org, p.Statement)
	}
	return out, err
}

// size estimates the memory that the rows take.
func (r fetched) size() int {
	n := 512
	for _, row := range r.series {
		n += 96 + textSize(row.Group)
	}
	for _, row := range r.groups {
		n += 96 + textSize(row.Group)
	}
	return n
}

func textSize(list []string) int {
	n := 0
	for _, s := range list {
		n += 16 + len(s)
	}
	return n
}

// seriesRows reads rows one at a time. There may be a hundred thousand of them, and read.All finds the fields of each row by
// reflection.
func (e *Engine) seriesRows(ctx context.Context, org principal.OrgID, s sqlbuild.Statement) (out []query.SeriesRow, err error) {
	rows, err := e.warehouse.Query(ctx, org, s.SQL, s.Args...)
	if err != nil {
		return nil, read.Failure(ctx, err)
	}
	defer func() {
		if closeErr := rows.Close(); err == nil && closeErr != nil {
			out, err = nil, read.Failure(ctx, closeErr)
		}
	}()
	for rows.Next() {
		var row query.SeriesRow
		if err := rows.Scan(&row.Bucket, &row.Group, &row.Other, &row.Value); err != nil {
			return nil, read.Failure(ctx, err)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, read.Failure(ctx, err)
	}
	return out, nil
}

// seriesOnce reads a timeseries with the quick statement, and with the thorough one if there are more groups than the series
// limit.
func (e *Engine) seriesOnce(ctx context.Context, org principal.OrgID, p query.Plan) ([]query.SeriesRow, error) {
	if p.Quick != "" {
		rows, err := e.seriesRows(ctx, org, sqlbuild.Statement{SQL: p.Quick, Args: p.Args})
		if err == nil && groupsOf(rows, p.SeriesLimit) <= p.SeriesLimit {
			return rows, nil
		}
		if err != nil && !errors.Is(err, warehouse.ErrTooCostly) {
			return nil, err
		}
	}
	return e.seriesRows(ctx, org, p.Statement)
}

// groupsOf counts the groups of rows and stops at most + 1.
func groupsOf(rows []query.SeriesRow, most int) int {
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[groupKey(r.Group, false)] = true; len(seen) > most {
			break
		}
	}
	return len(seen)
}

// inQuery adds the position of a query to the error of its plan.
func inQuery(r *query.Request, i int, err error) error {
	var bad *query.Invalid
	if errors.As(err, &bad) && len(r.Queries) > 0 {
		return &query.Invalid{Field: fmt.Sprintf("queries[%d].%s", i, bad.Field), Message: bad.Message}
	}
	return err
}
