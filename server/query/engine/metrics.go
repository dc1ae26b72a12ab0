package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/nearest"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// typed fills in the type of the metric where a query names none. It refuses a metric of several types. A metric without data
// gets a type that fits the aggregation.
func (e *Engine) typed(ctx context.Context, org principal.OrgID, r *query.Request) (*query.Request, error) {
	untyped := func(q query.Query) bool { return q.Source == query.Metrics && q.Metric.Type == "" }
	if !slices.ContainsFunc(r.Queries, untyped) {
		return r, nil
	}
	out := *r
	out.Queries = slices.Clone(r.Queries)
	for i := range out.Queries {
		q := &out.Queries[i]
		if !untyped(*q) {
			continue
		}
		kinds, err := e.metricKinds(ctx, org, r.Window, q.Metric.Name, q.Filter.Service())
		if err != nil {
			return nil, err
		}
		if len(kinds) > 1 {
			types := make([]string, len(kinds))
			for j, k := range kinds {
				types[j] = k.MetricType
			}
			return nil, inQuery(r, i, &query.Invalid{
				Field:   "metric.type",
				Message: fmt.Sprintf("is required for %q, which was received as %s in this window", q.Metric.Name, strings.Join(types, " and ")),
			})
		}
		f := q.Aggregation.Func
		switch {
		case len(kinds) == 1:
			q.Metric.Type = kinds[0].MetricType
		case f == query.Rate || f == query.Increase: // nobody sends the metric: the answer has no values, with a warning
			q.Metric.Type = query.SumMetric
		default:
			q.Metric.Type = query.GaugeMetric
		}
	}
	return &out, nil
}

// checkMetrics refuses the rate of a sum that can fall. It warns about metrics that were not received in the form that the
// request asks for. units has the unit of the metric of each query.
func (e *Engine) checkMetrics(ctx context.Context, org principal.OrgID, r *query.Request) (warnings, units []string, err error) {
	units = make([]string, len(r.Queries))
	for i := range r.Queries {
		q := &r.Queries[i].Spec
		if q.Source != query.Metrics {
			continue
		}
		kinds, err := e.metricKinds(ctx, org, r.Window, q.Metric.Name, q.Filter.Service())
		if err != nil {
			return nil, nil, err
		}
		at := slices.IndexFunc(kinds, func(k reads.MetricKindRow) bool { return k.MetricType == q.Metric.Type })
		switch {
		case len(kinds) == 0:
			warnings = append(warnings, e.unknownMetric(ctx, org, r.Window, q))
			continue
		case at < 0:
			warnings = append(
				warnings,
				fmt.Sprintf("The metric %q was received as %s in this window, not as %s.", q.Metric.Name, kinds[0].MetricType, q.Metric.Type),
			)
			continue
		}
		k := kinds[at]
		units[i] = k.Unit
		if f := q.Aggregation.Func; q.Metric.Type == "histogram" && (f == query.Max || f == query.Min) {
			warning, err := e.unsentExtremes(ctx, org, r.Window, q)
			if err != nil {
				return nil, nil, err
			}
			warnings = append(warnings, warning...)
		}
		grows := len(k.Falling) == 0
		switch f := q.Aggregation.Func; {
		case f != query.Rate && f != query.Increase:
			if q.Metric.Type == "sum" && grows && f != query.Count {
				warnings = append(
					warnings,
					fmt.Sprintf("%q only grows, so %s is computed over running totals. Use rate or increase to see the change.",
						q.Metric.Name, q.Aggregation),
				)
			}
		case len(k.Falling) == len(k.Services):
			return nil, nil, inQuery(r, i, &query.Invalid{
				Field: "aggregation",
				Message: fmt.Sprintf(
					"cannot be %s: the sum %q can fall as well as grow (it is not monotonic); use avg, min, max or sum",
					f,
					q.Metric.Name,
				),
			})
		case !grows:
			warnings = append(
				warnings,
				fmt.Sprintf("%q is left out for %s: their sums can fall, and have no %s.", q.Metric.Name, strings.Join(k.Falling, ", "), f),
			)
		}
	}
	return warnings, units, nil
}

// unknownMetric warns about a metric without data points in a window. It names the time that has some, or else the names that were
// probably meant.
func (e *Engine) unknownMetric(ctx context.Context, org principal.OrgID, w query.Window, q *query.Spec) string {
	name := q.Metric.Name
	text := fmt.Sprintf("No data points of the metric %q were received in this window", name)
	if at := e.MetricElsewhere(ctx, org, w, name, q.Filter.Service()); at != "" {
		return text + ". " + at
	}
	known, _, err := e.names(ctx, org, reads.NamedMetric, w, true)
	near := nearest.Few(name, known, nearNames)
	switch {
	case err != nil || len(near) == 0 || slices.Contains(known, name): // another service or type sent it
		return text + "."
	default:
		return text + meant(near)
	}
}

// MetricElsewhere is a sentence about the data of a metric before and after a window, with a window to read instead. It is empty if
// the metric has no such data.
func (e *Engine) MetricElsewhere(ctx context.Context, org principal.OrgID, w query.Window, name string, service *string) string {
	wide := query.Window{Start: w.Start.Add(-limits.MetricWindow), End: w.End.Add(limits.MetricWindow)}
	kinds, err := e.metricKinds(ctx, org, wide, name, service)
	if err != nil || len(kinds) == 0 {
		return ""
	}
	first, last := kinds[0].First, kinds[0].Last
	for _, k := range kinds[1:] {
		if k.First.Before(first) {
			first = k.First
		}
		if k.Last.After(last) {
			last = k.Last
		}
	}
	end := last.Truncate(time.Second).Add(time.Second)
	start := end.Add(-w.Length())
	if start.Before(first) {
		start = first.Truncate(time.Second)
	}
	clock := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	return fmt.Sprintf("It has data from %s to %s: give start_time=%s and end_time=%s.", clock(first), clock(last), clock(start), clock(end))
}

func (e *Engine) metricKinds(
	ctx context.Context, org principal.OrgID, w query.Window, name string, service *string,
) ([]reads.MetricKindRow, error) {
	release, err := e.slots.Acquire(ctx, org)
	if err != nil {
		return nil, err
	}
	defer release()
	return read.All[reads.MetricKindRow](ctx, e.warehouse, org, reads.MetricKinds(w, name, service))
}

// unsentExtremes warns about the max or min of histograms whose senders do not report it.
func (e *Engine) unsentExtremes(ctx context.Context, org principal.OrgID, w query.Window, q *query.Spec) ([]string, error) {
	release, err := e.slots.Acquire(ctx, org)
	if err != nil {
		return nil, err
	}
	defer release()
	rows, err := read.All[query.UnsentExtremeRow](ctx, e.warehouse, org, query.UnsentExtremes(q, w))
	if err != nil || len(rows) == 0 || rows[0].Unsent == 0 {
		return nil, err
	}
	bound, rest := "upper", "; a group with observations above the last bound has no value"
	if q.Aggregation.Func == query.Min {
		bound, rest = "lower", ", and 0 below the first bound"
	}
	return []string{fmt.Sprintf("%d of %d data points of %q came without a %s: of these it is the %s bound of a bucket%s.",
		rows[0].Unsent, rows[0].Points, q.Metric.Name, q.Aggregation.Func, bound, rest)}, nil
}
