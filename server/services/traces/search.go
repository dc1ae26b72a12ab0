package traces

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// SearchTraces finds the latest traces of a window.
func (s *Service) SearchTraces(ctx context.Context, req *svcv2.SearchTracesRequest) (*svcv2.SearchTracesResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	limit := paging.Limit(req.Limit)
	before, err := paging.ParseTrace(req.Cursor)
	if err != nil {
		return nil, err
	}
	filter, err := filterOf(req)
	if err != nil {
		return nil, err
	}
	rows, err := (&finder{s, org, before, filter}).latest(ctx, window, limit+1)
	if err != nil {
		return nil, err
	}
	rows, next := paging.CutAfter(limit, rows, func(last reads.TraceRow) string {
		return paging.FormatTrace(paging.TraceKey{Start: last.Start, TraceID: last.TraceID})
	})
	res := &svcv2.SearchTracesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, toSummary(row))
	}
	if len(rows) == 0 && before == nil {
		res.Warnings = s.engine.Unmatched(ctx, org, window, query.Traces, filter)
	}
	return res, nil
}

// filterOf is the filter of a request with conditions and further ones as text.
func filterOf(req interface {
	GetFilters() *svcv2.TraceFilters
	GetWhere() string
},
) (query.Filter, error) {
	conditions, err := query.TraceFilter(req.GetFilters())
	if err != nil {
		return conditions, err
	}
	return query.Narrowed(query.Traces, conditions, req.GetWhere(), apierr.TraceQueryInvalid)
}
