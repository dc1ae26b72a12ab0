package traces

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
)

// QueryTraceTimeseries computes values over time.
func (s *Service) QueryTraceTimeseries(ctx context.Context, req *svcv2.QueryTraceTimeseriesRequest) (*svcv2.TraceTimeseries, error) {
	q, result, err := s.engine.SignalTimeseries(ctx, query.Traces, req, func(q *query.SignalQuery) (err error) {
		q.Filter, err = query.TraceFilter(req.GetFilters())
		return err
	}, apierr.TraceQueryInvalid)
	if err != nil {
		return nil, err
	}
	return &svcv2.TraceTimeseries{
		Object: "trace_timeseries", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(q.Window.Start),
		EndTime: timestamppb.New(q.Window.End), BucketSeconds: int32(result.Bucket.Seconds()), GroupBy: req.GroupBy,
		Series: result.SeriesProto(), Truncated: result.Truncated, Warnings: result.Warnings,
	}, nil
}

// QueryTraceBreakdown computes values of groups.
func (s *Service) QueryTraceBreakdown(ctx context.Context, req *svcv2.QueryTraceBreakdownRequest) (*svcv2.TraceBreakdown, error) {
	q, result, err := s.engine.SignalBreakdown(ctx, query.Traces, req, func(q *query.SignalQuery) (err error) {
		q.Filter, err = query.TraceFilter(req.GetFilters())
		return err
	}, apierr.TraceQueryInvalid)
	if err != nil {
		return nil, err
	}
	return &svcv2.TraceBreakdown{
		Object: "trace_breakdown", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(q.Window.Start),
		EndTime: timestamppb.New(q.Window.End), GroupBy: req.GetGroupBy(), Data: result.GroupsProto(), Truncated: result.Truncated,
		Warnings: result.Warnings,
	}, nil
}
