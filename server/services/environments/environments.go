// Package environments answers the methods of svc.v2.EnvironmentsService.
package environments

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// Service implements svcv2connect.EnvironmentsServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
}

// New returns the service.
func New(w read.Warehouse) *Service { return &Service{warehouse: w} }

// ListEnvironments lists the deployment environments of a window.
func (s *Service) ListEnvironments(ctx context.Context, req *svcv2.ListEnvironmentsRequest) (*svcv2.ListEnvironmentsResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.ServiceWindow)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.EnvironmentRow](ctx, s.warehouse, org, reads.ListEnvironments(window).Until(window.End))
	if err != nil {
		return nil, err
	}
	res := &svcv2.ListEnvironmentsResponse{Object: "list"}
	for _, row := range rows {
		res.Data = append(res.Data, &svcv2.Environment{
			Object: "environment", Name: row.Name, SpanCount: float64(row.Spans), ServiceCount: int32(row.Services),
		})
	}
	return res, nil
}
