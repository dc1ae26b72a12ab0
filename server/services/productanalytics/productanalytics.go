// Package productanalytics answers the methods of svc.v2.ProductEventAnalyticsService: product events over time and by group.
package productanalytics

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
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
	q, result, err := s.engine.SignalTimeseries(ctx, query.ProductEvents, req, func(q *query.SignalQuery) error {
		q.Filter = named(req.GetEventNames())
		return nil
	}, apierr.QueryEngineValidation)
	if err != nil {
		return nil, err
	}
	return &svcv2.ProductEventTimeseries{
		Object: "product_event_timeseries", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(q.Window.Start),
		EndTime: timestamppb.New(q.Window.End), BucketSeconds: int32(result.Bucket.Seconds()), GroupBy: req.GroupBy,
		Series: result.SeriesProto(), Truncated: result.Truncated, Warnings: result.Warnings,
	}, nil
}

// QueryProductEventBreakdown computes values of groups.
func (s *Service) QueryProductEventBreakdown(
	ctx context.Context, req *svcv2.QueryProductEventBreakdownRequest,
) (*svcv2.ProductEventBreakdown, error) {
	q, result, err := s.engine.SignalBreakdown(ctx, query.ProductEvents, req, func(q *query.SignalQuery) error {
		q.Filter = named(req.GetEventNames())
		if req.GroupBy == nil {
			q.GroupBy = "event_name"
		}
		return nil
	}, apierr.QueryEngineValidation)
	if err != nil {
		return nil, err
	}
	return &svcv2.ProductEventBreakdown{
		Object: "product_event_breakdown", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(q.Window.Start),
		EndTime: timestamppb.New(q.Window.End), GroupBy: q.GroupBy, Data: result.GroupsProto(), Truncated: result.Truncated,
		Warnings: result.Warnings,
	}, nil
}

// named is the condition that an event has one of these names.
func named(names []string) query.Filter {
	if len(names) == 0 {
		return query.Filter{}
	}
	return query.Where("event.name", query.OpIn, names...)
}
