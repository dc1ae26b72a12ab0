// Package catalog answers the methods of svc.v2.ServicesService.
package catalog

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// Service implements svcv2connect.ServicesServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
	rollups   query.Rollups
}

// New returns the service. Without the rollups, latencies are not weighted and long windows are read by minute.
func New(w read.Warehouse, r query.Rollups) *Service { return &Service{warehouse: w, rollups: r} }

// ListServices lists the services of a window, busiest first.
func (s *Service) ListServices(ctx context.Context, req *svcv2.ListServicesRequest) (*svcv2.ListServicesResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.ServiceWindow)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.ServiceRow](ctx, s.warehouse, org, reads.ListServices(reads.ServiceList{
		Window: window, DeploymentEnvironment: req.DeploymentEnvironment, ServiceNamespace: req.ServiceNamespace, Offset: page.Offset,
		Limit: page.Want(), Rollups: s.rollups,
	}))
	if err != nil {
		return nil, err
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListServicesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	seconds := window.Length().Seconds()
	for _, row := range rows {
		res.Data = append(res.Data, toProto(row, seconds))
	}
	return res, nil
}
