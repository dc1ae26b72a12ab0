package metrics

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// asking is the part of both requests that only metrics have.
type asking interface {
	GetFilters() *svcv2.MetricFilters
	GetGroupByAttributeKey() string
	GetGroupByResourceAttributeKey() string
}

// ofMetric adds the conditions, the metric and the key of the group.
func ofMetric(q *query.SignalQuery, in asking) (err error) {
	if q.Filter, err = query.MetricFilter(in.GetFilters()); err != nil {
		return err
	}
	q.Metric = query.Metric{Name: in.GetFilters().GetMetricName(), Type: in.GetFilters().GetMetricType()}
	// Each scope of attributes has its own field for the key.
	keys := map[string]string{"attribute": in.GetGroupByAttributeKey(), "resource_attribute": in.GetGroupByResourceAttributeKey()}
	q.GroupByKey = keys[q.GroupBy]
	for scope, key := range keys {
		field := "group_by_" + scope + "_key"
		switch {
		case key != "" && scope != q.GroupBy:
			return (&query.Invalid{Field: field, Message: "is allowed only with the group " + scope}).API(apierr.MetricQueryInvalid)
		case key == "" && scope == q.GroupBy:
			return (&query.Invalid{
				Field: field, Message: "is required for the group " + scope + ": the name of the attribute",
			}).API(apierr.MetricQueryInvalid)
		}
	}
	return nil
}

// QueryMetricsTimeseries computes values over time.
func (s *Service) QueryMetricsTimeseries(ctx context.Context, req *svcv2.QueryMetricsTimeseriesRequest) (*svcv2.MetricTimeseries, error) {
	complete := func(q *query.SignalQuery) error { return ofMetric(q, req) }
	q, result, err := s.engine.SignalTimeseries(ctx, query.Metrics, req, complete, apierr.MetricQueryInvalid)
	if err != nil {
		return nil, err
	}
	unit, err := s.unit(ctx, q)
	if err != nil {
		return nil, err
	}
	return &svcv2.MetricTimeseries{
		Object: "metric_timeseries", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(q.Window.Start),
		EndTime: timestamppb.New(q.Window.End), BucketSeconds: int32(result.Bucket.Seconds()), GroupBy: req.GroupBy,
		Series: result.SeriesProto(), Truncated: result.Truncated, Warnings: result.Warnings,
		Unit: unit,
	}, nil
}

// QueryMetricBreakdown computes values of groups.
func (s *Service) QueryMetricBreakdown(ctx context.Context, req *svcv2.QueryMetricBreakdownRequest) (*svcv2.MetricBreakdown, error) {
	complete := func(q *query.SignalQuery) error { return ofMetric(q, req) }
	q, result, err := s.engine.SignalBreakdown(ctx, query.Metrics, req, complete, apierr.MetricQueryInvalid)
	if err != nil {
		return nil, err
	}
	unit, err := s.unit(ctx, q)
	if err != nil {
		return nil, err
	}
	return &svcv2.MetricBreakdown{
		Object: "metric_breakdown", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(q.Window.Start),
		EndTime: timestamppb.New(q.Window.End), GroupBy: req.GetGroupBy(), Data: result.GroupsProto(), Truncated: result.Truncated,
		Warnings: result.Warnings, Unit: unit,
	}, nil
}

// unit is the unit of the requested metric.
func (s *Service) unit(ctx context.Context, q query.SignalQuery) (string, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return "", err
	}
	kinds, err := read.All[reads.MetricKindRow](ctx, s.warehouse, org, reads.MetricKinds(q.Window, q.Metric.Name, q.Filter.Service()))
	for _, k := range kinds {
		if k.MetricType == q.Metric.Type {
			return k.Unit, err
		}
	}
	return "", err
}
