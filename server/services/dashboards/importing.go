package dashboards

import (
	"context"
	"errors"
	"fmt"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/services/dashboards/perses"
)

// ImportExternalDashboard creates a dashboard from one of Perses.
func (s *Service) ImportExternalDashboard(ctx context.Context, req *svcv2.ImportExternalDashboardRequest) (*svcv2.DashboardPersesImport, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	def, warnings, err := perses.Convert(req.GetDashboard(), objection)
	var bad *perses.Error
	if errors.As(err, &bad) {
		return nil, invalid([]apierr.Violation{{Field: "dashboard." + bad.Path, Message: bad.Reason}})
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

// objection says why a widget cannot have a statement; empty when it can.
func objection(sql string) string {
	if len(sql) > maxLongBytes {
		return fmt.Sprintf("has %d bytes; at most %d are allowed", len(sql), maxLongBytes)
	}
	c := &checker{}
	c.sql("sql", sql)
	if len(c.violations) == 0 {
		return ""
	}
	return c.violations[0].Message
}
