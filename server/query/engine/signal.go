package engine

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// SignalTimeseries answers the timeseries method of a signal for the organization of the caller. complete adds the conditions, and the
// fields that only this signal has. A fault in the request is an error with the tag `invalid`.
func (e *Engine) SignalTimeseries(
	ctx context.Context, s query.Source, req query.TimeseriesRequest, complete func(*query.SignalQuery) error, invalid apierr.Tag,
) (query.SignalQuery, *query.Timeseries, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return query.SignalQuery{}, nil, err
	}
	q, err := query.SignalTimeseries(s, req, complete)
	if err != nil {
		return q, nil, err
	}
	r, err := q.Request()
	if err != nil {
		return q, nil, query.Explain(err, invalid)
	}
	result, err := e.Timeseries(ctx, org, r)
	return q, result, query.Explain(err, invalid)
}

// SignalBreakdown answers the breakdown method of a signal, like SignalTimeseries.
func (e *Engine) SignalBreakdown(
	ctx context.Context, s query.Source, req query.BreakdownRequest, complete func(*query.SignalQuery) error, invalid apierr.Tag,
) (query.SignalQuery, *query.Breakdown, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return query.SignalQuery{}, nil, err
	}
	q, err := query.SignalBreakdown(s, req, complete)
	if err != nil {
		return q, nil, err
	}
	if q.RowLimit == 0 {
		q.RowLimit = limits.DefaultSignalBreakdownRows
	}
	r, err := q.Request()
	if err != nil {
		return q, nil, query.Explain(err, invalid)
	}
	result, err := e.Breakdown(ctx, org, r)
	return q, result, query.Explain(err, invalid)
}

// Facets counts the values that people filter the rows of a signal by. statement is that of TraceFacets or LogFacets.
func (e *Engine) Facets(
	ctx context.Context, w query.Window, f query.Filter, statement func(query.Window, query.Filter, query.Rollups) sqlbuild.Statement,
) (*svcv2.FacetList, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.FacetRow](ctx, e.warehouse, org, statement(w, f, e.rollups).Until(w.End))
	if err != nil {
		return nil, err
	}
	res := &svcv2.FacetList{Object: "list"}
	for _, r := range reads.CutFacets(rows) {
		res.Data = append(res.Data, &svcv2.Facet{FacetType: r.Type, Name: r.Name, Count: r.Count})
	}
	return res, nil
}
