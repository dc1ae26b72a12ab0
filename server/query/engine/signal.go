package engine

import (
	"context"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
)

// SignalTimeseries answers the timeseries method of a signal. A fault in the request is an error with the tag `invalid`.
func (e *Engine) SignalTimeseries(
	ctx context.Context,
	org principal.OrgID,
	q query.SignalQuery,
	invalid apierr.Tag,
) (*query.Timeseries, error) {
	r, err := q.Request()
	if err != nil {
		return nil, query.Explain(err, invalid)
	}
	result, err := e.Timeseries(ctx, org, r)
	if err != nil {
		return nil, query.Explain(err, invalid)
	}
	return result, nil
}

// SignalBreakdown answers the breakdown method of a signal, like SignalTimeseries.
func (e *Engine) SignalBreakdown(
	ctx context.Context,
	org principal.OrgID,
	q query.SignalQuery,
	invalid apierr.Tag,
) (*query.Breakdown, error) {
	if q.RowLimit == 0 {
		q.RowLimit = limits.DefaultSignalBreakdownRows
	}
	r, err := q.Request()
	if err != nil {
		return nil, query.Explain(err, invalid)
	}
	result, err := e.Breakdown(ctx, org, r)
	if err != nil {
		return nil, query.Explain(err, invalid)
	}
	return result, nil
}
