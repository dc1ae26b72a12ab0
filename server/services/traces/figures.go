package traces

import (
	"context"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// SummarizeTraces describes the contents of some traces.
func (s *Service) SummarizeTraces(ctx context.Context, req *svcv2.SummarizeTracesRequest) (*svcv2.SummarizeTracesResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow+2*reads.TraceReach)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(req.GetTraceIds()))
	for i, id := range req.GetTraceIds() {
		ids[i] = strings.ToLower(id)
	}
	rows, err := read.All[reads.TraceFiguresRow](ctx, s.warehouse, org, reads.TraceFigures(window, ids))
	if err != nil {
		return nil, err
	}
	res := &svcv2.SummarizeTracesResponse{}
	for _, r := range rows {
		res.Data = append(res.Data, &svcv2.TraceFigures{
			Id: r.TraceID, SpanCount: int32(r.Spans), ErrorCount: int32(r.Errors), Services: r.Services, ErrorMessage: r.Message,
		})
	}
	return res, nil
}
