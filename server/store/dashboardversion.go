package store

import (
	"context"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/dashboard"
	"github.com/svc-observability/svc/ent/dashboardversion"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// MaxDashboardVersions is how many versions a dashboard keeps. A definition can be large, and programs change dashboards often.
const MaxDashboardVersions = limits.DashboardVersions

// addDashboardVersion adds the newest version and deletes the oldest versions beyond the limit.
func (s *Store) addDashboardVersion(ctx context.Context, tx *ent.Tx, d Dashboard, in DashboardChange) error {
	if oldest := d.Version - MaxDashboardVersions; oldest > 0 {
		_, err := tx.DashboardVersion.Delete().Where(dashboardversion.DashboardID(d.ID), dashboardversion.VersionNumberLTE(oldest)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	_, err := s.insertDashboardVersion(ctx, tx, DashboardVersion{
		Org: d.Org, Dashboard: d.ID, Number: d.Version, Snapshot: d.Definition, Name: d.Name, Kind: in.Kind, Summary: in.Summary,
		Restored: in.Restored, CreatedAt: d.UpdatedAt, CreatedBy: d.UpdatedBy,
	})
	return err
}

// ListDashboardVersions returns versions, newest first, without their snapshots. It returns versions with numbers less than below; 0 starts
// at the newest. It returns ErrNotFound if there is no such dashboard.
func (s *Store) ListDashboardVersions(
	ctx context.Context, org principal.OrgID, id uuid.UUID, below, limit int,
) ([]DashboardVersion, error) {
	if err := s.dashboardExists(ctx, org, id); err != nil {
		return nil, err
	}
	q := s.read.DashboardVersion.Query().Where(dashboardversion.OrgID(string(org)), dashboardversion.DashboardID(id))
	if below > 0 {
		q.Where(dashboardversion.VersionNumberLT(below))
	}
	q.Order(dashboardversion.ByVersionNumber(entsql.OrderDesc())).Limit(limit)
	rows, err := q.Select(
		dashboardversion.FieldID, dashboardversion.FieldDashboardID, dashboardversion.FieldVersionNumber, dashboardversion.FieldName,
		dashboardversion.FieldChangeKind, dashboardversion.FieldChangeSummary, dashboardversion.FieldSourceVersionID,
		dashboardversion.FieldCreatedAt, dashboardversion.FieldCreatedBy,
	).All(ctx)
	return collect("list dashboard versions", toDashboardVersion, rows, err)
}

func (s *Store) dashboardExists(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	found, err := s.read.Dashboard.Query().Where(dashboard.ID(id), dashboard.OrgID(string(org))).Exist(ctx)
	if err != nil {
		return mapError("find dashboard", err)
	}
	if !found {
		return ErrNotFound
	}
	return nil
}

// GetDashboardVersion returns one version of a dashboard.
func (s *Store) GetDashboardVersion(ctx context.Context, org principal.OrgID, id, version uuid.UUID) (DashboardVersion, error) {
	row, err := s.read.DashboardVersion.Query().
		Where(dashboardversion.ID(version), dashboardversion.OrgID(string(org)), dashboardversion.DashboardID(id)).Only(ctx)
	return single("get dashboard version", toDashboardVersion, row, err)
}
