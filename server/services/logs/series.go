package logs

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
)

// QueryLogTimeseries computes values over time.
func (s *Service) QueryLogTimeseries(ctx context.Context, req *svcv2.QueryLogTimeseriesRequest) (*svcv2.LogTimeseries, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), query.MaxTimeseriesWindow)
	if err != nil {
		return nil, err
	}
	filter, err := query.LogFilter(req.GetFilters())
	if err != nil {
		return nil, err
	}
	result, err := s.engine.SignalTimeseries(ctx, org, query.SignalQuery{
		Source: query.Logs, Window: window, Aggregation: req.GetAggregation(), Filter: filter, Where: req.GetWhere(),
		GroupBy: req.GetGroupBy(), BucketSeconds: req.BucketSeconds, SeriesLimit: req.SeriesLimit,
	}, apierr.LogQueryInvalid)
	if err != nil {
		return nil, err
	}
	return &svcv2.LogTimeseries{
		Object: "log_timeseries", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(window.Start),
		EndTime: timestamppb.New(window.End), BucketSeconds: int32(result.Bucket.Seconds()), GroupBy: req.GroupBy,
		Series: result.SeriesProto(), Truncated: result.Truncated, Warnings: result.Warnings,
	}, nil
}

// QueryLogBreakdown computes values of groups.
func (s *Service) QueryLogBreakdown(ctx context.Context, req *svcv2.QueryLogBreakdownRequest) (*svcv2.LogBreakdown, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), query.MaxBreakdownWindow)
	if err != nil {
		return nil, err
	}
	filter, err := query.LogFilter(req.GetFilters())
	if err != nil {
		return nil, err
	}
	result, err := s.engine.SignalBreakdown(ctx, org, query.SignalQuery{
		Source: query.Logs, Window: window, Aggregation: req.GetAggregation(), Filter: filter, Where: req.GetWhere(),
		GroupBy: req.GetGroupBy(), RowLimit: req.Limit,
	}, apierr.LogQueryInvalid)
	if err != nil {
		return nil, err
	}
	return &svcv2.LogBreakdown{
		Object: "log_breakdown", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(window.Start),
		EndTime: timestamppb.New(window.End), GroupBy: req.GetGroupBy(), Data: result.GroupsProto(), Truncated: result.Truncated,
		Warnings: result.Warnings,
	}, nil
}
