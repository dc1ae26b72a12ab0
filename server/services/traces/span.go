package traces

import (
	"context"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// GetSpan reads one complete span.
func (s *Service) GetSpan(ctx context.Context, req *svcv2.GetSpanRequest) (*svcv2.Span, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	traceID := strings.ToLower(req.GetTraceId())
	rows, err := read.All[reads.SpanRow](ctx, s.warehouse, org,
		reads.Span(traceID, strings.ToLower(req.GetSpanId()), near(req.GetTimestamp())))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, apierr.New(
			apierr.SpanNotFound,
			"This organization has no span with this id in this trace. Spans are kept for "+limits.Days(limits.TraceRetention)+".",
			apierr.Param("span_id"),
		)
	}
	return toSpan(traceID, rows[0]), nil
}
