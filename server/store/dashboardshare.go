package store

import (
	"context"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/dashboardshare"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// Modes of shares.
const (
	SharePublic = string(dashboardshare.ModePublic)
	ShareOrg    = string(dashboardshare.ModeOrg)
)

// ShareToken makes a token for the share with the given id and returns its stored form.
type ShareToken func(share uuid.UUID) (sealed, hash string)

// ListDashboardShares returns the shares of a dashboard: first the share of the dashboard itself, then the shares of its widgets,
// by widget id.
func (s *Store) ListDashboardShares(ctx context.Context, org principal.OrgID, id uuid.UUID) ([]DashboardShare, error) {
	if err := s.dashboardExists(ctx, org, id); err != nil {
		return nil, err
	}
	rows, err := s.read.DashboardShare.Query().Where(dashboardshare.OrgID(string(org)), dashboardshare.DashboardID(id)).
		Order(dashboardshare.ByWidgetID()).All(ctx)
	return collect("list dashboard shares", toDashboardShare, rows, err)
}

// GetDashboardShare returns the share of a dashboard or of a widget, or nil if there is no share. It returns ErrNotFound if there is no
// such dashboard.
func (s *Store) GetDashboardShare(ctx context.Context, org principal.OrgID, id uuid.UUID, widget string) (*DashboardShare, error) {
	if err := s.dashboardExists(ctx, org, id); err != nil {
		return nil, err
	}
	row, err := s.read.DashboardShare.Query().
		Where(dashboardshare.OrgID(string(org)), dashboardshare.DashboardID(id), dashboardshare.WidgetID(widget)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, mapError("get dashboard share", err)
	}
	share := toDashboardShare(row)
	return &share, nil
}

// DashboardShareByHash finds a share by its token, in any organization.
func (s *Store) DashboardShareByHash(ctx context.Context, hash string) (DashboardShare, error) {
	row, err := s.read.DashboardShare.Query().Where(dashboardshare.TokenHash(hash)).Only(ctx)
	return single("find dashboard share", toDashboardShare, row, err)
}

// UpsertDashboardShare creates a share, or changes the mode of an existing share and keeps its token.
func (s *Store) UpsertDashboardShare(
	ctx context.Context,
	org principal.OrgID,
	id uuid.UUID,
	widget, mode string,
	by principal.UserID,
	token ShareToken,
) (share DashboardShare, err error) {
	err = s.tx(ctx, "share dashboard", func(tx *ent.Tx) error {
		row, err := s.lockShare(ctx, tx, org, id, widget)
		now := s.stamp()
		switch {
		case err != nil:
			return err
		case row == nil:
			key, err := uuid.NewV7()
			if err != nil {
				return err
			}
			sealed, hash := token(key)
			share, err = s.insertDashboardShare(ctx, tx, DashboardShare{
				ID: key, Org: org, Dashboard: id, Widget: widget, Mode: mode, Token: sealed, Hash: hash, CreatedAt: now, CreatedBy: by,
			})
			if err != nil {
				return err
			}
			return s.audit(ctx, tx, org, share.event("created", nil, map[string]any{"mode": mode}))
		case string(row.Mode) == mode:
			share = toDashboardShare(row)
			return nil
		default:
			before := map[string]any{"mode": string(row.Mode)}
			if row, err = row.Update().SetMode(dashboardshare.Mode(mode)).SetUpdatedAt(now).Save(ctx); err != nil {
				return err
			}
			share = toDashboardShare(row)
			return s.audit(ctx, tx, org, share.event("updated", before, map[string]any{"mode": mode}))
		}
	})
	return share, err
}

// RotateDashboardShare gives a share a new token. It returns nil if there is no share.
func (s *Store) RotateDashboardShare(
	ctx context.Context,
	org principal.OrgID,
	id uuid.UUID,
	widget string,
	token ShareToken,
) (share *DashboardShare, err error) {
	err = s.tx(ctx, "rotate dashboard share", func(tx *ent.Tx) error {
		row, err := s.lockShare(ctx, tx, org, id, widget)
		if err != nil || row == nil {
			return err
		}
		sealed, hash := token(row.ID)
		if row, err = row.Update().SetToken(sealed).SetTokenHash(hash).SetUpdatedAt(s.stamp()).Save(ctx); err != nil {
			return err
		}
		changed := toDashboardShare(row)
		share = &changed
		return s.audit(ctx, tx, org, share.event("rotated", nil, nil))
	})
	return share, err
}

// DeleteDashboardShare ends a share, if there is one.
func (s *Store) DeleteDashboardShare(ctx context.Context, org principal.OrgID, id uuid.UUID, widget string) error {
	return s.tx(ctx, "revoke dashboard share", func(tx *ent.Tx) error {
		row, err := s.lockShare(ctx, tx, org, id, widget)
		if err != nil || row == nil {
			return err
		}
		share := toDashboardShare(row)
		if err := s.audit(ctx, tx, org, share.event("deleted", nil, nil)); err != nil {
			return err
		}
		return tx.DashboardShare.DeleteOne(row).Exec(ctx)
	})
}

// lockShare locks the dashboard, so that its shares change one after the other, and reads the share. It returns nil if there is
// no share.
func (s *Store) lockShare(ctx context.Context, tx *ent.Tx, org principal.OrgID, id uuid.UUID, widget string) (*ent.DashboardShare, error) {
	if _, err := s.lockDashboard(ctx, tx, org, id); err != nil {
		return nil, err
	}
	q := tx.DashboardShare.Query().Where(dashboardshare.OrgID(string(org)), dashboardshare.DashboardID(id), dashboardshare.WidgetID(widget))
	if s.dialect == dialect.Postgres {
		q.ForUpdate()
	}
	row, err := q.Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	return row, err
}

func (d *DashboardShare) event(verb string, before, after map[string]any) AuditEvent {
	var widget any // null for the whole dashboard, as in the share itself
	if d.Widget != "" {
		widget = d.Widget
	}
	return AuditEvent{
		Action: "dashboard_share." + verb, ResourceID: publicid.Encode(publicid.DashboardShare, d.ID), Before: before, After: after,
		Metadata: map[string]any{"mode": d.Mode, "dashboard_id": publicid.Encode(publicid.Dashboard, d.Dashboard), "widget_id": widget},
	}
}
