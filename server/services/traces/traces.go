// Package traces answers the methods of svc.v2.TracesService (rest-wire.md section 9).
package traces

import (
	"context"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
)

// maxSpans is how many spans of a trace GetTrace gives.
const maxSpans = 5000

// Service implements svcv2connect.TracesServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
}

// New returns the service.
func New(w read.Warehouse) *Service { return &Service{warehouse: w} }

// GetTrace reads one trace with everything its spans carry.
func (s *Service) GetTrace(ctx context.Context, req *svcv2.GetTraceRequest) (*svcv2.Trace, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	id := strings.ToLower(req.GetTraceId())
	extent, err := read.One[query.TraceExtentRow](ctx, s.warehouse, org, query.TraceExtent(id))
	if err != nil {
		return nil, err
	}
	if extent.SpanCount == 0 {
		return nil, notFound()
	}
	rows, err := read.All[query.SpanRow](ctx, s.warehouse, org, query.TraceSpans(id, query.Window{Start: extent.Start, End: extent.LastStart}, maxSpans))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 { // it expired between the two reads
		return nil, notFound()
	}
	return toTrace(id, extent, rows), nil
}

func notFound() error {
	return apierr.New(apierr.TraceNotFound, "This organization has no trace with this id, or no longer. Spans are kept for 30 days.", apierr.Param("trace_id"))
}
