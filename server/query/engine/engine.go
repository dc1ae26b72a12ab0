// Package engine runs requests of the query language: it plans each query, reads the warehouse within the organization's share, and makes
// one result of the rows, with gaps filled, formulas computed and an earlier period beside it.
package engine

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/warehouse"
)

// Config is what an Engine needs. Zero fields have defaults.
type Config struct {
	Warehouse read.Warehouse
	Now       func() time.Time
	// PerOrganization is how many statements of one organization run at once.
	PerOrganization int
	// CacheBytes bounds the memory that results of closed windows take.
	CacheBytes int
	// Rollups is what may be read instead of rows.
	Rollups query.Rollups
}

// Defaults of Config.
const (
	defaultPerOrganization = 4
	defaultCacheBytes      = 32 << 20
)

// TimeLimit is how long a request may take, waiting included.
const TimeLimit = 30 * time.Second

// Engine is safe for concurrent use.
type Engine struct {
	warehouse read.Warehouse
	now       func() time.Time
	shares    *shares
	cache     *cache
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
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = defaultCacheBytes
	}
	return &Engine{warehouse: cfg.Warehouse, now: cfg.Now, shares: newShares(cfg.PerOrganization), cache: newCache(cfg.CacheBytes, cfg.Now), rollups: cfg.Rollups}
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
	several := len(r.Queries) > 1
	now, before, warnings, err := e.run(ctx, org, r, r.Window.End.Sub(r.Window.Start), func(q *query.Spec, w query.Window) (query.Plan, error) {
		if several || w != r.Window {
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
	assembleGroups(out, r, now, before)
	return out, nil
}

// run reads every query over the window and, for a comparison, over the one that is shift earlier.
func (e *Engine) run(
	ctx context.Context, org principal.OrgID, r *query.Request, shift time.Duration, plan func(*query.Spec, query.Window) (query.Plan, error),
) (now, before []answer, warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, TimeLimit)
	defer cancel()
	windows := []query.Window{r.Window}
	if r.Comparison.Previous {
		windows = append(windows, query.Window{Start: r.Window.Start.Add(-shift), End: r.Window.End.Add(-shift)})
	}
	answers := make([]answer, len(windows)*len(r.Queries))
	for i := range answers {
		q, w := r.Queries[i%len(r.Queries)].Spec, windows[i/len(r.Queries)]
		q.Rollups = e.rollups
		if w != r.Window {
			q.SeriesLimit = query.MaxSeriesLimit
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

// read fills the rows of an answer, from the cache where the window is closed.
func (e *Engine) read(ctx context.Context, org principal.OrgID, end time.Time, a *answer) error {
	key := ""
	if e.now().Sub(end) >= settled {
		key = cacheKey(org, a.plan.Statement)
		if found, ok := e.cache.get(key); ok {
			a.series, a.groups = found.series, found.groups
			return nil
		}
	}
	release, err := e.shares.acquire(ctx, org)
	if err != nil {
		return err
	}
	defer release()
	if a.plan.Timeseries {
		a.series, err = e.seriesOnce(ctx, org, a.plan)
	} else {
		a.groups, err = read.All[query.GroupRow](ctx, e.warehouse, org, a.plan.Statement)
	}
	if err == nil && key != "" {
		e.cache.put(key, *a)
	}
	return err
}

// seriesRows reads rows one by one: there may be a hundred thousand, and read.All finds the fields of each by reflection.
func (e *Engine) seriesRows(ctx context.Context, org principal.OrgID, s query.Statement) (out []query.SeriesRow, err error) {
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
			return nil, apierr.New(apierr.WarehouseQuery, "The telemetry store answered in an unexpected form.", apierr.Cause(err))
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
		rows, err := e.seriesRows(ctx, org, query.Statement{SQL: p.Quick, Args: p.Args})
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
