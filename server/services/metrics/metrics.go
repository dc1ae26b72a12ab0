// Package metrics answers the methods of svc.v2.MetricsService.
package metrics

import (
	"context"
	"math"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// Service implements svcv2connect.MetricsServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
	engine    *engine.Engine
}

// New returns the service. It shares the engine, and so the cache and each organization's share, with other services.
func New(w read.Warehouse, e *engine.Engine) *Service {
	return &Service{warehouse: w, engine: e}
}

// ListMetrics lists the metrics that received data points in a window, by name, type and service.
func (s *Service) ListMetrics(ctx context.Context, req *svcv2.ListMetricsRequest) (*svcv2.ListMetricsResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.MetricWindow)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.MetricRow](ctx, s.warehouse, org, reads.ListMetrics(reads.MetricList{
		Window: window, ServiceName: req.ServiceName, MetricType: req.MetricType, Search: req.Search, Offset: page.Offset, Limit: page.Want(),
	}))
	if err != nil {
		return nil, err
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListMetricsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, toProto(row))
	}
	return res, nil
}

// SummarizeMetrics counts the metrics of a window by type.
func (s *Service) SummarizeMetrics(ctx context.Context, req *svcv2.SummarizeMetricsRequest) (*svcv2.SummarizeMetricsResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.MetricWindow)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.MetricCountRow](ctx, s.warehouse, org, reads.CountMetrics(window, req.ServiceName))
	if err != nil {
		return nil, err
	}
	res := &svcv2.SummarizeMetricsResponse{}
	for _, r := range rows {
		res.Data = append(res.Data, &svcv2.MetricTypeFigures{
			Type: r.MetricType, MetricCount: int32(min(r.Metrics, math.MaxInt32)), DataPointCount: float64(r.DataPoints),
		})
	}
	return res, nil
}

func toProto(row reads.MetricRow) *svcv2.Metric {
	return &svcv2.Metric{
		Object: "metric", Name: row.MetricName, Type: row.MetricType, ServiceName: row.ServiceName, Description: row.Description, Unit: row.Unit,
		IsMonotonic: row.IsMonotonic, DataPointCount: float64(row.DataPointCount),
		FirstSeen: timestamppb.New(row.FirstSeen), LastSeen: timestamppb.New(row.LastSeen),
	}
}
