// Package productanalytics answers the methods of svc.v2.ProductEventAnalyticsService: product events over time and by group.
package productanalytics

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
)

// Service implements svcv2connect.ProductEventAnalyticsServiceHandler. It is safe for concurrent use.
type Service struct {
	engine *engine.Engine
}

// New returns the service.
func New(e *engine.Engine) *Service { return &Service{engine: e} }

// QueryProductEventTimeseries computes values over time.
func (s *Service) QueryProductEventTimeseries(
	ctx context.Context, req *svcv2.QueryProductEventTimeseriesRequest,
) (*svcv2.ProductEventTimeseries, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), query.MaxTimeseriesWindow)
	if err != nil {
		return nil, err
	}
	result, err := s.engine.SignalTimeseries(ctx, org, query.SignalQuery{
		Source: query.ProductEvents, Window: window, Aggregation: req.GetAggregation(), Filter: named(req.GetEventNames()), Where: req.GetWhere(),
		GroupBy: req.GetGroupBy(), GroupByKey: req.GetGroupByAttributeKey(), BucketSeconds: req.BucketSeconds, SeriesLimit: req.SeriesLimit,
	}, apierr.QueryEngineValidation)
	if err != nil {
		return nil, err
	}
	return &svcv2.ProductEventTimeseries{
		Object: "product_event_timeseries", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(window.Start),
		EndTime: timestamppb.New(window.End), BucketSeconds: int32(result.Bucket.Seconds()), GroupBy: req.GroupBy,
		Series: result.SeriesProto(), Truncated: result.Truncated, Warnings: result.Warnings,
	}, nil
}

// QueryProductEventBreakdown computes values of groups.
func (s *Service) QueryProductEventBreakdown(
	ctx context.Context, req *svcv2.QueryProductEventBreakdownRequest,
) (*svcv2.ProductEventBreakdown, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), query.MaxBreakdownWindow)
	if err != nil {
		return nil, err
	}
	group := "event_name"
	if req.GroupBy != nil {
		group = req.GetGroupBy()
	}
	result, err := s.engine.SignalBreakdown(ctx, org, query.SignalQuery{
		Source: query.ProductEvents, Window: window, Aggregation: req.GetAggregation(), Filter: named(req.GetEventNames()), Where: req.GetWhere(),
		GroupBy: group, GroupByKey: req.GetGroupByAttributeKey(), RowLimit: req.Limit,
	}, apierr.QueryEngineValidation)
	if err != nil {
		return nil, err
	}
	return &svcv2.ProductEventBreakdown{
		Object: "product_event_breakdown", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(window.Start),
		EndTime: timestamppb.New(window.End), GroupBy: group, Data: result.GroupsProto(), Truncated: result.Truncated,
		Warnings: result.Warnings,
	}, nil
}

// named is the condition that an event has one of these names.
func named(names []string) query.Filter {
	if len(names) == 0 {
		return query.Filter{}
	}
	return query.Filter{Match: &query.Match{Field: query.Field{Key: "event.name"}, Op: query.OpIn, Values: names}}
}
