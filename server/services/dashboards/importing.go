package dashboards

import (
	"context"
	"errors"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/services/dashboards/definition"
	"github.com/svc-observability/svc/server/services/dashboards/perses"
)

// ImportExternalDashboard creates a dashboard from a Perses dashboard.
func (s *Service) ImportExternalDashboard(
	ctx context.Context, req *svcv2.ImportExternalDashboardRequest,
) (*svcv2.DashboardPersesImport, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	def, warnings, err := perses.Convert(req.GetDashboard(), definition.CheckStatement)
	var bad *perses.Error
	if errors.As(err, &bad) {
		return nil, definition.Invalid([]apierr.Violation{{Field: "dashboard." + bad.Path, Message: bad.Reason}})
	}
	if err != nil {
		return nil, err
	}
	d, err := s.create(ctx, caller, def)
	if err != nil {
		return nil, err
	}
	return &svcv2.DashboardPersesImport{Object: "dashboard_import", Dashboard: d, Warnings: warnings}, nil
}
