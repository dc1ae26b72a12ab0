package diagnose

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

const (
	// newOperationSpans is the number of spans that a new operation needs to be a cause.
	newOperationSpans = 10
	// newOperationShare is the part of the time of all spans of the service that it needs.
	newOperationShare = 0.05
)

// spanOperation is an operation of any spans of a service, not only of its entry spans.
type spanOperation struct {
	name string
	// count and before are numbers of spans in the two periods, corrected for sampling.
	count, before float64
	// average is the mean duration in milliseconds. share is the part of the durations of all spans of the service.
	average, share float64
}

// spanOperations reads the busiest operations of a service in a period, with the numbers of their spans in an earlier one. It also
// returns the number of all spans of the service in the earlier period.
func (e *Engine) spanOperations(ctx context.Context, s Scope, now, prev Period) (list []spanOperation, before float64, err error) {
	ask := func(p Period, aggregations ...string) (map[string][]float64, error) {
		req := &svcv2.QueryBreakdownRequest{StartTime: p.start(), EndTime: p.end()}
		for i, aggregation := range aggregations {
			req.Queries = append(req.Queries, &svcv2.QuerySpec{
				Name: string(rune('a' + i)), Source: "traces", Aggregation: aggregation, Filter: s.Filter(), GroupBy: []string{"span.name"},
				Limit: new(int32(busiestOperations)),
			})
		}
		out, err := e.read.Query.QueryBreakdown(ctx, req)
		rows := map[string][]float64{}
		for _, r := range out.GetData() {
			if g := r.GetGroup(); len(g) == 1 && !r.GetOther() {
				for _, v := range r.GetValues() {
					rows[g[0]] = append(rows[g[0]], v.GetValue())
				}
			}
		}
		return rows, err
	}
	rows, err := ask(now, "count", "avg_duration")
	if err != nil || len(rows) == 0 {
		return nil, 0, err
	}
	earlier, err := ask(prev, "count")
	if err != nil || len(earlier) == busiestOperations {
		return nil, 0, err // a service with that many operations has names that vary, and new ones all the time
	}
	total := 0.0
	for name, v := range rows {
		if len(v) == 2 {
			o := spanOperation{name: name, count: v[0], average: v[1]}
			if was := earlier[name]; len(was) > 0 {
				o.before = was[0]
			}
			total += o.count * o.average
			list = append(list, o)
		}
	}
	for i := range list {
		list[i].share = list[i].count * list[i].average / max(total, 1e-9)
	}
	for _, was := range earlier {
		before += was[0]
	}
	return list, before, nil
}
