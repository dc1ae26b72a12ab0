package logs

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
)

// QueryLogTimeseries computes values over time.
func (s *Service) QueryLogTimeseries(ctx context.Context, req *svcv2.QueryLogTimeseriesRequest) (*svcv2.LogTimeseries, error) {
	q, result, err := s.engine.SignalTimeseries(ctx, query.Logs, req, func(q *query.SignalQuery) (err error) {
		q.Filter, err = query.LogFilter(req.GetFilters())
		return err
	}, apierr.LogQueryInvalid)
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
	q, result, err := s.engine.SignalBreakdown(ctx, query.Logs, req, func(q *query.SignalQuery) (err error) {
		q.Filter, err = query.LogFilter(req.GetFilters())
		return err
	}, apierr.LogQueryInvalid)
	if err != nil {
		return nil, err
	}
	return &svcv2.LogBreakdown{
		Object: "log_breakdown", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(q.Window.Start),
		EndTime: timestamppb.New(q.Window.End), GroupBy: req.GetGroupBy(), Data: result.GroupsProto(), Truncated: result.Truncated,
		Warnings: result.Warnings,
	}, nil
}
