// Package metrics answers the methods of svc.v2.MetricsService (rest-wire.md section 9).
package metrics

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
)

// Service implements svcv2connect.MetricsServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
}

// New returns the service.
func New(w read.Warehouse) *Service { return &Service{warehouse: w} }

// ListMetrics lists the metrics that received data points in a window, by name, type and service.
func (s *Service) ListMetrics(ctx context.Context, req *svcv2.ListMetricsRequest) (*svcv2.ListMetricsResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), query.MaxMetricsWindow)
	if err != nil {
		return nil, err
	}
	limit, err := paging.Limit(req.Limit)
	if err != nil {
		return nil, err
	}
	offset, err := paging.ParseOffset(req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[query.MetricRow](ctx, s.warehouse, org, query.ListMetrics(query.MetricList{
		Window: window, ServiceName: req.ServiceName, MetricType: req.MetricType, Search: req.Search, Offset: offset, Limit: limit + 1,
	}))
	if err != nil {
		return nil, err
	}
	res := &svcv2.ListMetricsResponse{Object: "list", HasMore: len(rows) > limit}
	if res.HasMore {
		rows = rows[:limit]
		next := paging.FormatOffset(offset + limit)
		res.NextCursor = &next
	}
	for _, row := range rows {
		res.Data = append(res.Data, toProto(row))
	}
	return res, nil
}

func toProto(row query.MetricRow) *svcv2.Metric {
	return &svcv2.Metric{
		Object: "metric", Name: row.MetricName, Type: row.MetricType, ServiceName: row.ServiceName, Description: row.Description, Unit: row.Unit,
		IsMonotonic: row.IsMonotonic, DataPointCount: float64(row.DataPointCount),
		FirstSeen: timestamppb.New(row.FirstSeen), LastSeen: timestamppb.New(row.LastSeen),
	}
}
