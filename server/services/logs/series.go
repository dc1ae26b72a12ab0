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
	q, err := query.SignalTimeseries(query.Logs, req, func() (query.Filter, error) { return query.LogFilter(req.GetFilters()) })
	if err != nil {
		return nil, err
	}
	result, err := s.engine.SignalTimeseries(ctx, org, q, apierr.LogQueryInvalid)
	if err != nil {
		return nil, err
	}
	return &svcv2.LogTimeseries{
		Object: "log_timeseries", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(q.Window.Start),
		EndTime: timestamppb.New(q.Window.End), BucketSeconds: int32(result.Bucket.Seconds()), GroupBy: req.GroupBy,
		Series: result.SeriesProto(), Truncated: result.Truncated, Warnings: result.Warnings,
	}, nil
}

// QueryLogBreakdown computes values of groups.
func (s *Service) QueryLogBreakdown(ctx context.Context, req *svcv2.QueryLogBreakdownRequest) (*svcv2.LogBreakdown, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	q, err := query.SignalBreakdown(query.Logs, req, func() (query.Filter, error) { return query.LogFilter(req.GetFilters()) })
	if err != nil {
		return nil, err
	}
	result, err := s.engine.SignalBreakdown(ctx, org, q, apierr.LogQueryInvalid)
	if err != nil {
		return nil, err
	}
	return &svcv2.LogBreakdown{
		Object: "log_breakdown", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(q.Window.Start),
		EndTime: timestamppb.New(q.Window.End), GroupBy: req.GetGroupBy(), Data: result.GroupsProto(), Truncated: result.Truncated,
		Warnings: result.Warnings,
	}, nil
}
