package traces

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
)

// QueryTraceTimeseries computes values over time.
func (s *Service) QueryTraceTimeseries(ctx context.Context, req *svcv2.QueryTraceTimeseriesRequest) (*svcv2.TraceTimeseries, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), query.MaxTimeseriesWindow)
	if err != nil {
		return nil, err
	}
	filter, err := query.TraceFilter(req.GetFilters())
	if err != nil {
		return nil, err
	}
	result, err := s.engine.SignalTimeseries(ctx, org, query.SignalQuery{
		Source: query.Traces, Window: window, Aggregation: req.GetAggregation(), ApdexThresholdMs: req.ApdexThresholdMs, Filter: filter,
		Where: req.GetWhere(), GroupBy: req.GetGroupBy(), GroupByKey: req.GetGroupByAttributeKey(), BucketSeconds: req.BucketSeconds,
		SeriesLimit: req.SeriesLimit,
	}, apierr.TraceQueryInvalid)
	if err != nil {
		return nil, err
	}
	return &svcv2.TraceTimeseries{
		Object: "trace_timeseries", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(window.Start),
		EndTime: timestamppb.New(window.End), BucketSeconds: int32(result.Bucket.Seconds()), GroupBy: req.GroupBy,
		Series: result.SeriesProto(), Truncated: result.Truncated, Warnings: result.Warnings,
	}, nil
}

// QueryTraceBreakdown computes values of groups.
func (s *Service) QueryTraceBreakdown(ctx context.Context, req *svcv2.QueryTraceBreakdownRequest) (*svcv2.TraceBreakdown, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), query.MaxBreakdownWindow)
	if err != nil {
		return nil, err
	}
	filter, err := query.TraceFilter(req.GetFilters())
	if err != nil {
		return nil, err
	}
	result, err := s.engine.SignalBreakdown(ctx, org, query.SignalQuery{
		Source: query.Traces, Window: window, Aggregation: req.GetAggregation(), ApdexThresholdMs: req.ApdexThresholdMs, Filter: filter,
		Where: req.GetWhere(), GroupBy: req.GetGroupBy(), GroupByKey: req.GetGroupByAttributeKey(), RowLimit: req.Limit,
	}, apierr.TraceQueryInvalid)
	if err != nil {
		return nil, err
	}
	return &svcv2.TraceBreakdown{
		Object: "trace_breakdown", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(window.Start),
		EndTime: timestamppb.New(window.End), GroupBy: req.GetGroupBy(), Data: result.GroupsProto(), Truncated: result.Truncated,
		Warnings: result.Warnings,
	}, nil
}
