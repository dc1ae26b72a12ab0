package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/dashboard"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// DashboardChange is the new state of a dashboard, with the data for its history and the audit log.
type DashboardChange struct {
	Name       string
	Definition json.RawMessage
	Kind       string
	Summary    *string
	// Restored is the version that was restored.
	Restored *uuid.UUID
	// Action is the verb of the audit entry; Before and After are its fields.
	Action        string
	Before, After map[string]any
}

// CreateDashboard creates a dashboard with its first version. The second result is the number of the transaction.
func (s *Store) CreateDashboard(
	ctx context.Context,
	org principal.OrgID,
	by principal.UserID,
	in DashboardChange,
) (d Dashboard, txid string, err error) {
	err = s.tx(ctx, "create dashboard", func(tx *ent.Tx) (err error) {
		d, err = s.insertDashboard(
			ctx,
			tx,
			Dashboard{Org: org, Name: in.Name, Definition: in.Definition, Version: 1, CreatedBy: by, UpdatedBy: by},
		)
		if err != nil {
			return err
		}
		txid, err = s.recordDashboard(ctx, tx, d, in)
		return err
	})
	if err != nil {
		return Dashboard{}, "", err
	}
	return d, txid, nil
}

// recordDashboard writes the version and the audit entry that every change of a dashboard leaves.
func (s *Store) recordDashboard(ctx context.Context, tx *ent.Tx, d Dashboard, in DashboardChange) (txid string, err error) {
	if err := s.addDashboardVersion(ctx, tx, d, in); err != nil {
		return "", err
	}
	err = s.audit(ctx, tx, d.Org, AuditEvent{
		Action: "dashboard." + in.Action, ResourceID: publicid.Encode(publicid.Dashboard, d.ID), Before: in.Before, After: in.After,
		Metadata: map[string]any{"version_number": d.Version},
	})
	if err != nil {
		return "", err
	}
	return nextTxid(ctx, tx)
}

// ListDashboards returns dashboards, newest change first, ties by id. Request one more than a page to learn whether there is
// another page.
func (s *Store) ListDashboards(ctx context.Context, org principal.OrgID, offset, limit int) ([]Dashboard, error) {
	rows, err := s.read.Dashboard.Query().Where(dashboard.OrgID(string(org))).
		Order(dashboard.ByUpdatedAt(entsql.OrderDesc()), dashboard.ByID(entsql.OrderDesc())).Offset(offset).Limit(limit).All(ctx)
	return collect("list dashboards", toDashboard, rows, err)
}

// EditDashboard calls change with the newest state of a dashboard and stores the result. The dashboard stays locked meanwhile, so
// the second of two concurrent changes starts from the result of the first. change must be quick. If it returns nil, there is
// nothing to change. An error of change ends the edit, and the returned error wraps it. The second result is the number of the
// transaction, empty when nothing was changed.
func (s *Store) EditDashboard(
	ctx context.Context, org principal.OrgID, id uuid.UUID, by principal.UserID, change func(newest Dashboard) (*DashboardChange, error),
) (d Dashboard, txid string, err error) {
	err = s.tx(ctx, "edit dashboard", func(tx *ent.Tx) error {
		row, err := s.lockDashboard(ctx, tx, org, id)
		if err != nil {
			return err
		}
		d = toDashboard(row)
		in, err := change(d)
		if err != nil || in == nil {
			return err
		}
		now := s.stamp()
		if !now.After(d.UpdatedAt) {
			now = d.UpdatedAt.Add(time.Microsecond) // so that any two states have different times
		}
		n, err := tx.Dashboard.Update().Where(dashboard.ID(id), dashboard.Version(d.Version)).SetName(in.Name).SetDefinition(in.Definition).
			SetVersion(d.Version + 1).SetUpdatedAt(now).SetUpdatedBy(string(by)).Save(ctx)
		if err != nil {
			return err
		}
		if n != 1 {
			return fmt.Errorf("version %d of the locked dashboard is gone", d.Version)
		}
		d.Name, d.Definition, d.Version, d.UpdatedAt, d.UpdatedBy = in.Name, in.Definition, d.Version+1, now, by
		txid, err = s.recordDashboard(ctx, tx, d, *in)
		return err
	})
	if err != nil {
		return Dashboard{}, "", err
	}
	return d, txid, nil
}

// DeleteDashboard deletes a dashboard with its versions and shares.
func (s *Store) DeleteDashboard(ctx context.Context, org principal.OrgID, id uuid.UUID) (txid string, err error) {
	err = s.tx(ctx, "delete dashboard", func(tx *ent.Tx) error {
		row, err := s.lockDashboard(ctx, tx, org, id)
		if err != nil {
			return err
		}
		err = s.audit(ctx, tx, org, AuditEvent{
			Action: "dashboard.deleted", ResourceID: publicid.Encode(publicid.Dashboard, id), Before: map[string]any{"name": row.Name},
		})
		if err != nil {
			return err
		}
		if err := tx.Dashboard.DeleteOne(row).Exec(ctx); err != nil {
			return err
		}
		txid, err = nextTxid(ctx, tx)
		return err
	})
	return txid, err
}
