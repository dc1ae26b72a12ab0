package store

import (
	"context"
	"encoding/json"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/dashboard"
	"github.com/svc-observability/svc/ent/dashboardversion"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// DashboardVersion is the state of a dashboard after a change.
type DashboardVersion struct {
	ID        uuid.UUID
	Dashboard uuid.UUID
	Number    int
	// Name and Snapshot are the name and the definition of the dashboard. Lists omit Snapshot.
	Name     string
	Snapshot json.RawMessage
	Kind     string
	Summary  *string
	Restored *uuid.UUID
	// CreatedAt is also the time of the change.
	CreatedAt time.Time
	CreatedBy principal.UserID
}

// MaxDashboardVersions is how many versions a dashboard keeps. A definition can be large, and programs change dashboards often.
const MaxDashboardVersions = limits.DashboardVersions

// addDashboardVersion adds the newest version and deletes the oldest versions beyond the limit.
func addDashboardVersion(ctx context.Context, tx *ent.Tx, d Dashboard, in DashboardChange) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	if oldest := d.Version - MaxDashboardVersions; oldest > 0 {
		_, err := tx.DashboardVersion.Delete().Where(dashboardversion.DashboardID(d.ID), dashboardversion.VersionNumberLTE(oldest)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return tx.DashboardVersion.Create().SetID(id).SetOrgID(string(d.Org)).SetDashboardID(d.ID).SetVersionNumber(d.Version).
		SetSnapshot(d.Definition).SetName(d.Name).SetChangeKind(in.Kind).SetNillableChangeSummary(in.Summary).
		SetNillableSourceVersionID(in.Restored).SetCreatedAt(d.UpdatedAt).SetCreatedBy(string(d.UpdatedBy)).Exec(ctx)
}

// ListDashboardVersions returns versions, newest first, without their snapshots. It returns versions with numbers less than
// below; 0 starts at the newest. ErrNotFound: there is no such dashboard.
func (s *Store) ListDashboardVersions(ctx context.Context, org principal.OrgID, id uuid.UUID, below, limit int) ([]DashboardVersion, error) {
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
	if err != nil {
		return nil, mapError("list dashboard versions", err)
	}
	out := make([]DashboardVersion, len(rows))
	for i, row := range rows {
		out[i] = toDashboardVersion(row)
	}
	return out, nil
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
	if err != nil {
		return DashboardVersion{}, mapError("get dashboard version", err)
	}
	return toDashboardVersion(row), nil
}

func toDashboardVersion(row *ent.DashboardVersion) DashboardVersion {
	return DashboardVersion{
		ID: row.ID, Dashboard: row.DashboardID, Number: row.VersionNumber, Name: row.Name, Snapshot: row.Snapshot, Kind: row.ChangeKind,
		Summary: row.ChangeSummary, Restored: row.SourceVersionID, CreatedAt: utc(row.CreatedAt), CreatedBy: principal.UserID(row.CreatedBy),
	}
}
