package metrics

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
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

// ofMetric adds the metric and the key of the group.
func ofMetric(q query.SignalQuery, in asking) (query.SignalQuery, error) {
	q.Metric = query.Metric{Name: in.GetFilters().GetMetricName(), Type: in.GetFilters().GetMetricType()}
	// Each scope of attributes has its own field for the key.
	keys := map[string]string{"attribute": in.GetGroupByAttributeKey(), "resource_attribute": in.GetGroupByResourceAttributeKey()}
	q.GroupByKey = keys[q.GroupBy]
	for scope, key := range keys {
		field := "group_by_" + scope + "_key"
		switch {
		case key != "" && scope != q.GroupBy:
			return q, (&query.Invalid{Field: field, Message: "is allowed only with the group " + scope}).API(apierr.MetricQueryInvalid)
		case key == "" && scope == q.GroupBy:
			return q, (&query.Invalid{
				Field: field, Message: "is required for the group " + scope + ": the name of the attribute",
			}).API(apierr.MetricQueryInvalid)
		}
	}
	return q, nil
}

// QueryMetricsTimeseries computes values over time.
func (s *Service) QueryMetricsTimeseries(ctx context.Context, req *svcv2.QueryMetricsTimeseriesRequest) (*svcv2.MetricTimeseries, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	q, err := query.SignalTimeseries(query.Metrics, req, func() (query.Filter, error) { return query.MetricFilter(req.GetFilters()) })
	if err != nil {
		return nil, err
	}
	if q, err = ofMetric(q, req); err != nil {
		return nil, err
	}
	result, err := s.engine.SignalTimeseries(ctx, org, q, apierr.MetricQueryInvalid)
	if err != nil {
		return nil, err
	}
	unit, err := s.unit(ctx, org, q)
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
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	q, err := query.SignalBreakdown(query.Metrics, req, func() (query.Filter, error) { return query.MetricFilter(req.GetFilters()) })
	if err != nil {
		return nil, err
	}
	if q, err = ofMetric(q, req); err != nil {
		return nil, err
	}
	result, err := s.engine.SignalBreakdown(ctx, org, q, apierr.MetricQueryInvalid)
	if err != nil {
		return nil, err
	}
	unit, err := s.unit(ctx, org, q)
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
func (s *Service) unit(ctx context.Context, org principal.OrgID, q query.SignalQuery) (string, error) {
	kinds, err := read.All[reads.MetricKindRow](ctx, s.warehouse, org, reads.MetricKinds(q.Window, q.Metric.Name, q.Filter.Service()))
	for _, k := range kinds {
		if k.MetricType == q.Metric.Type {
			return k.Unit, err
		}
	}
	return "", err
}
