package metrics

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
)

// WithEngine makes the service share an engine with others, and with it the organizations' shares and the cache.
func (s *Service) WithEngine(e *engine.Engine) *Service {
	s.engine = e
	return s
}

// asking is what both requests have.
type asking interface {
	GetFilters() *svcv2.MetricFilters
	GetAggregation() string
	GetWhere() string
	GetGroupBy() string
	GetGroupByAttributeKey() string
	GetGroupByResourceAttributeKey() string
}

// request makes the request for the engine. limits sets what only one of the methods has.
func request(in asking, window query.Window, limits func(*query.SignalQuery)) (*query.Request, error) {
	filter, err := query.MetricFilter(in.GetFilters())
	if err != nil {
		return nil, err
	}
	q := query.SignalQuery{
		Source: query.Metrics, Window: window, Aggregation: in.GetAggregation(), Filter: filter, Where: in.GetWhere(), GroupBy: in.GetGroupBy(),
		Metric: query.Metric{Name: in.GetFilters().GetMetricName(), Type: in.GetFilters().GetMetricType()},
	}
	// Each scope of attributes has a key of its own.
	keys := map[string]string{"attribute": in.GetGroupByAttributeKey(), "resource_attribute": in.GetGroupByResourceAttributeKey()}
	q.GroupByKey = keys[q.GroupBy]
	for scope, key := range keys {
		field := "group_by_" + scope + "_key"
		switch {
		case key != "" && scope != q.GroupBy:
			return nil, (&query.Invalid{Field: field, Message: "belongs to the group " + scope}).API(apierr.MetricQueryInvalid)
		case key == "" && scope == q.GroupBy:
			return nil, (&query.Invalid{Field: field, Message: "is required for the group " + scope + ": the name of the attribute"}).API(apierr.MetricQueryInvalid)
		}
	}
	limits(&q)
	r, err := q.Request()
	if err != nil {
		return nil, query.Explain(err, apierr.MetricQueryInvalid)
	}
	return r, nil
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
	r, err := request(req, window, func(q *query.SignalQuery) { q.BucketSeconds, q.SeriesLimit = req.BucketSeconds, req.SeriesLimit })
	if err != nil {
		return nil, err
	}
	result, err := s.engine.Timeseries(ctx, org, r)
	if err != nil {
		return nil, query.Explain(err, apierr.MetricQueryInvalid)
	}
	unit, err := s.unit(ctx, org, r)
	if err != nil {
		return nil, err
	}
	return &svcv2.MetricTimeseries{
		Object: "metric_timeseries", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(window.Start), EndTime: timestamppb.New(window.End),
		BucketSeconds: int32(result.Bucket.Seconds()), GroupBy: req.GroupBy, Series: result.SeriesProto(), Truncated: result.Truncated, Warnings: result.Warnings,
		Unit: unit,
	}, nil
}

// defaultBreakdown is how many rows a breakdown has without a limit.
const defaultBreakdown int32 = 20

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
	limit := defaultBreakdown
	if req.Limit != nil {
		limit = req.GetLimit()
	}
	r, err := request(req, window, func(q *query.SignalQuery) { q.RowLimit = &limit })
	if err != nil {
		return nil, err
	}
	result, err := s.engine.Breakdown(ctx, org, r)
	if err != nil {
		return nil, query.Explain(err, apierr.MetricQueryInvalid)
	}
	unit, err := s.unit(ctx, org, r)
	if err != nil {
		return nil, err
	}
	return &svcv2.MetricBreakdown{
		Object: "metric_breakdown", Aggregation: req.GetAggregation(), StartTime: timestamppb.New(window.Start), EndTime: timestamppb.New(window.End),
		GroupBy: req.GetGroupBy(), Data: result.GroupsProto(), Truncated: result.Truncated, Warnings: result.Warnings, Unit: unit,
	}, nil
}

// unit is the unit of the metric that a request asks for.
func (s *Service) unit(ctx context.Context, org principal.OrgID, r *query.Request) (string, error) {
	q := &r.Queries[0].Spec
	kinds, err := read.All[query.MetricKindRow](ctx, s.warehouse, org, query.MetricKinds(r.Window, q.Metric.Name, q.Filter.Service()))
	for _, k := range kinds {
		if k.MetricType == q.Metric.Type {
			return k.Unit, err
		}
	}
	return "", err
}
