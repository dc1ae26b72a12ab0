// Package engine runs requests of the query language: it plans each query, reads the warehouse within the organization's share, and makes
// one result of the rows, with gaps filled, formulas computed and an earlier period beside it.
package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
)

// Config is what an Engine needs. Zero fields have defaults.
type Config struct {
	// Warehouse is a *read.Gate where results are to be kept.
	Warehouse read.Warehouse
	Now       func() time.Time
	// PerOrganization is how many statements of one organization run at once, within those that the gate lets through.
	PerOrganization int
	// Rollups is what may be read instead of rows.
	Rollups query.Rollups
}

const defaultPerOrganization = 4

// TimeLimit is how long a request may take, waiting included.
const TimeLimit = 30 * time.Second

// Engine is safe for concurrent use.
type Engine struct {
	warehouse read.Warehouse
	now       func() time.Time
	shares    *read.Shares
	keys      keysCache
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
	return &Engine{warehouse: cfg.Warehouse, now: cfg.Now, shares: read.NewShares(cfg.PerOrganization), rollups: cfg.Rollups}
}

// answer is what the rows of one query were made into.
type answer struct {
	plan   query.Plan
	series []query.SeriesRow
	groups []query.GroupRow
}

// Rollups are those that the engine's reads may use instead of rows.
func (e *Engine) Rollups() query.Rollups { return e.rollups }

// Timeseries runs a request over time. An error is an *apierr.Error, or a *query.Invalid that names a field of the request.
func (e *Engine) Timeseries(ctx context.Context, org principal.OrgID, r *query.Request) (*query.Timeseries, error) {
	if err := r.Validate(false); err != nil {
		return nil, err
	}
	buckets, err := query.Buckets(r.Window, r.Bucket)
	if err != nil {
		return nil, err
	}
	bucket := r.Bucket
	if bucket == 0 {
		bucket = query.AutoBucket(r.Window, query.AboutBuckets)
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

// Total runs a request over the whole window without its groups: one row at most. It reads what a timeseries of the request would, and may
// be as long. Its errors are those of Timeseries.
func (e *Engine) Total(ctx context.Context, org principal.OrgID, r *query.Request) (*query.Breakdown, error) {
	if err := r.Validate(false); err != nil {
		return nil, err
	}
	whole := *r
	whole.Queries = slices.Clone(r.Queries)
	for i := range whole.Queries {
		if q := &whole.Queries[i]; len(q.GroupBy) > 0 {
			q.GroupBy, q.Having = nil, nil // a condition on the value of a group is none on that of all
		}
	}
	return e.groups(ctx, org, &whole)
}

func (e *Engine) groups(ctx context.Context, org principal.OrgID, r *query.Request) (*query.Breakdown, error) {
	joined := len(r.Queries) > 1 || r.Comparison.Previous
	now, before, warnings, err := e.run(ctx, org, r, r.Window.End.Sub(r.Window.Start), func(q *query.Spec, w query.Window) (query.Plan, error) {
		if joined {
			// Columns are joined by group: what is first in one may be far back in another, or was a period ago.
			wide := *q
			wide.Limit = query.MaxLimit
			q = &wide
		}
		return query.PlanBreakdown(q, w)
	})
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

// others reads what the queries whose values do not add up have of all groups but those with the keys.
func (e *Engine) others(ctx context.Context, org principal.OrgID, r *query.Request, columns []*column, keys []string, groups map[string][]string) error {
	ctx, cancel := context.WithTimeout(ctx, TimeLimit)
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
				a := answer{}
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
			one(periodBefore(r.Window, r.Window.End.Sub(r.Window.Start)), &c.othersBefore)
		}
	}
	return g.Wait()
}

// run reads every query over the window and, for a comparison, over the one that is shift earlier.
func (e *Engine) run(
	ctx context.Context, org principal.OrgID, r *query.Request, shift time.Duration, plan func(*query.Spec, query.Window) (query.Plan, error),
) (now, before []answer, warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, TimeLimit)
	defer cancel()
	windows := []query.Window{r.Window}
	if r.Comparison.Previous {
		windows = append(windows, periodBefore(r.Window, shift))
	}
	answers := make([]answer, len(windows)*len(r.Queries))
	for i := range answers {
		q, w := r.Queries[i%len(r.Queries)].Spec, windows[i/len(r.Queries)]
		q.Rollups = e.rollups
		if w != r.Window {
			// What a group was before is shown beside what it is, whether it would have passed or not.
			q.SeriesLimit, q.Having = query.MaxSeriesLimit, nil
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
	var unknown, ofMetrics []string
	g.Go(func() (err error) {
		ofMetrics, err = e.checkMetrics(gctx, org, r)
		return err
	})
	g.Go(func() error {
		// A key that nobody sends is worth a word, but no failure.
		unknown = e.unknownKeys(gctx, org, r)
		return nil
	})
	if err := g.Wait(); err != nil {
		return nil, nil, nil, err
	}
	n := len(r.Queries)
	return answers[:n], answers[n:], append(append(warnings, ofMetrics...), unknown...), nil
}

// periodBefore is the window that is shift earlier. Both ends of a window belong to it, so that it ends just before the other one starts.
func periodBefore(w query.Window, shift time.Duration) query.Window {
	end := w.End.Add(-shift)
	if last := w.Start.Add(-time.Nanosecond); end.After(last) {
		end = last
	}
	return query.Window{Start: w.Start.Add(-shift), End: end}
}

// fetched is what a query read. It belongs to many when it was kept.
type fetched struct {
	series []query.SeriesRow
	groups []query.GroupRow
}

// read fills the rows of an answer, from those that the gate keeps where it may.
func (e *Engine) read(ctx context.Context, org principal.OrgID, end time.Time, a *answer) (err error) {
	var out fetched
	g, gated := e.warehouse.(*read.Gate)
	keep := time.Duration(0)
	if gated {
		keep = g.KeepFor(ctx, end)
	}
	if keep == 0 {
		out, err = e.fetch(ctx, org, a.plan)
	} else {
		out, err = read.Once(ctx, g, read.KeyOf("series", org, a.plan.Statement), keep, func() (fetched, int, error) {
			out, err := e.fetch(ctx, org, a.plan)
			if err != nil || len(out.series)+len(out.groups) == 0 { // what is not there yet may be there at once
				return out, 0, err
			}
			return out, out.size(), nil
		})
	}
	a.series, a.groups = out.series, out.groups
	return err
}

func (e *Engine) fetch(ctx context.Context, org principal.OrgID, p query.Plan) (out fetched, err error) {
	release, err := e.shares.Acquire(ctx, org)
	if err != nil {
		return out, err
	}
	defer release()
	if p.Timeseries {
		out.series, err = e.seriesOnce(ctx, org, p)
	} else {
		out.groups, err = read.All[query.GroupRow](read.Shared(ctx, 0), e.warehouse, org, p.Statement)
	}
	return out, err
}

// size is about what rows take.
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

// seriesRows reads rows one by one: there may be a hundred thousand, and read.All finds the fields of each by reflection.
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

// seriesOnce reads a timeseries the quick way, and the thorough one when there are more groups than series.
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

// groupsOf counts the groups of rows, up to one more than most.
func groupsOf(rows []query.SeriesRow, most int) int {
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[groupKey(r.Group, false)] = true; len(seen) > most {
			break
		}
	}
	return len(seen)
}

// inQuery adds the place of a query to what its plan says is wrong with it.
func inQuery(r *query.Request, i int, err error) error {
	var bad *query.Invalid
	if errors.As(err, &bad) && len(r.Queries) > 0 {
		return &query.Invalid{Field: fmt.Sprintf("queries[%d].%s", i, bad.Field), Message: bad.Message}
	}
	return err
}
