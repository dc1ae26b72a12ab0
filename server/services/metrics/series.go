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

// asking is the common part of both requests.
type asking interface {
	GetFilters() *svcv2.MetricFilters
	GetAggregation() string
	GetWhere() string
	GetGroupBy() string
	GetGroupByAttributeKey() string
	GetGroupByResourceAttributeKey() string
}

// signalQuery makes the engine's query from either request.
func signalQuery(in asking, window query.Window) (query.SignalQuery, error) {
	filter, err := query.MetricFilter(in.GetFilters())
	if err != nil {
		return query.SignalQuery{}, err
	}
	q := query.SignalQuery{
		Source: query.Metrics, Window: window, Aggregation: in.GetAggregation(), Filter: filter, Where: in.GetWhere(), GroupBy: in.GetGroupBy(),
		Metric: query.Metric{Name: in.GetFilters().GetMetricName(), Type: in.GetFilters().GetMetricType()},
	}
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
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), query.MaxTimeseriesWindow)
	if err != nil {
		return nil, err
	}
	q, err := signalQuery(req, window)
	if err != nil {
		return nil, err
	}
	q.BucketSeconds, q.SeriesLimit = req.BucketSeconds, req.SeriesLimit
	result, err := s.engine.SignalTimeseries(ctx, org, q, apierr.MetricQueryInvalid)
	if err != nil {
		return nil, err
	}
	unit, err := s.unit(ctx, org, q)
	if err != nil {
		return nil, err
	}
	return &svcv2.MetricTimeseries{
		Object: "metric_timeseries", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(window.Start),
		EndTime: timestamppb.New(window.End), BucketSeconds: int32(result.Bucket.Seconds()), GroupBy: req.GroupBy,
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
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), query.MaxBreakdownWindow)
	if err != nil {
		return nil, err
	}
	q, err := signalQuery(req, window)
	if err != nil {
		return nil, err
	}
	q.RowLimit = req.Limit
	result, err := s.engine.SignalBreakdown(ctx, org, q, apierr.MetricQueryInvalid)
	if err != nil {
		return nil, err
	}
	unit, err := s.unit(ctx, org, q)
	if err != nil {
		return nil, err
	}
	return &svcv2.MetricBreakdown{
		Object: "metric_breakdown", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(window.Start),
		EndTime: timestamppb.New(window.End), GroupBy: req.GetGroupBy(), Data: result.GroupsProto(), Truncated: result.Truncated,
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
