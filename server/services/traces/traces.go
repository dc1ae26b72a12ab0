// Package traces answers the methods of svc.v2.TracesService.
package traces

import (
	"context"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// maxSpans is the highest number of a trace's spans that GetTrace returns.
const maxSpans = limits.TraceSpans

// Service implements svcv2connect.TracesServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
	engine    *engine.Engine
}

// New returns the service. It shares the engine, and so the cache and each organization's share, with other services.
func New(w read.Warehouse, e *engine.Engine) *Service {
	return &Service{warehouse: w, engine: e}
}

// GetTrace reads one trace with complete spans.
func (s *Service) GetTrace(ctx context.Context, req *svcv2.GetTraceRequest) (*svcv2.Trace, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	id := strings.ToLower(req.GetTraceId())
	// One read finds almost every trace whole. Only a larger trace needs a second read for its extent.
	rows, err := read.All[reads.SpanRow](ctx, s.warehouse, org, reads.TraceSpans(id, near(req.GetTimestamp()), maxSpans+1))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, notFound()
	}
	extent := extentOf(rows)
	if len(rows) > maxSpans || rows[0].Matching > uint64(len(rows)) {
		if extent, err = read.One[reads.TraceExtentRow](ctx, s.warehouse, org, reads.TraceExtent(id)); err != nil {
			return nil, err
		}
		rows = rows[:min(len(rows), maxSpans)]
	}
	return toTrace(id, extent, rows), nil
}

// near is the time around which spans are searched. Zero means any time.
func near(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// extentOf computes the result of reads.TraceExtent from the spans of a trace. The spans must be complete and in the order of
// their start.
func extentOf(rows []reads.SpanRow) reads.TraceExtentRow {
	services := map[string]bool{}
	extent := reads.TraceExtentRow{
		SpanCount: uint64(len(rows)), Start: rows[0].Timestamp, LastStart: rows[len(rows)-1].Timestamp, End: rows[0].Timestamp,
	}
	for _, r := range rows {
		services[r.ServiceName] = true
		if end := r.Timestamp.Add(time.Duration(min(r.DurationNano, math.MaxInt64))); end.After(extent.End) {
			extent.End = end
		}
	}
	extent.ServiceCount = uint64(len(services))
	return extent
}

func notFound() error {
	return apierr.New(
		apierr.TraceNotFound,
		"This organization has no trace with this id. Spans are kept for "+limits.Days(limits.TraceRetention)+".",
		apierr.Param("trace_id"),
	)
}
