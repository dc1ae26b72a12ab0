package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/store"
)

func testDashboardShares(t *testing.T, f *fixture) {
	org, user := f.org(t)
	other, _ := f.org(t)
	ctx := t.Context()
	d, _, err := f.CreateDashboard(ctx, org, user, newDashboard("shared"))
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	token := func(id uuid.UUID) (string, string) {
		made++
		return "sealed for " + id.String(), f.name() + strconv.Itoa(made)
	}
	if share, err := f.GetDashboardShare(ctx, org, d.ID, ""); err != nil || share != nil {
		t.Errorf("before it is shared: %v %+v", err, share)
	}
	if share, err := f.RotateDashboardShare(ctx, org, d.ID, "", token); err != nil || share != nil || made != 0 {
		t.Errorf("rotated before it is shared: %v %+v", err, share)
	}
	board, err := f.UpsertDashboardShare(ctx, org, d.ID, "", store.SharePublic, user, token)
	if err != nil || board.Token != "sealed for "+board.ID.String() || board.Mode != store.SharePublic {
		t.Fatalf("share: %v %+v", err, board)
	}
	widget, err := f.UpsertDashboardShare(ctx, org, d.ID, "w", store.ShareOrg, user, token)
	if err != nil || widget.ID == board.ID || widget.Hash == board.Hash {
		t.Fatalf("share of a widget: %v %+v", err, widget)
	}
	f.advance(time.Minute)
	closed, err := f.UpsertDashboardShare(ctx, org, d.ID, "", store.ShareOrg, user, token)
	if err != nil || made != 2 || closed.Hash != board.Hash || closed.Token != board.Token || closed.Mode != store.ShareOrg ||
		!closed.UpdatedAt.After(board.UpdatedAt) {
		t.Errorf("another mode: %v %+v", err, closed)
	}
	rotated, err := f.RotateDashboardShare(ctx, org, d.ID, "", token)
	if err != nil || rotated.ID != board.ID || rotated.Hash == board.Hash {
		t.Fatalf("rotated: %v %+v", err, rotated)
	}
	_, err = f.DashboardShareByHash(ctx, board.Hash)
	wantError(t, err, store.ErrNotFound)
	if found, err := f.DashboardShareByHash(ctx, rotated.Hash); err != nil || found.ID != board.ID || found.Org != org ||
		found.Dashboard != d.ID {
		t.Errorf("by hash: %v %+v", err, found)
	}
	if list, err := f.ListDashboardShares(ctx, org, d.ID); err != nil || len(list) != 2 || list[0].Widget != "" || list[1].Widget != "w" {
		t.Errorf("list: %v %+v", err, list)
	}

	_, err = f.ListDashboardShares(ctx, other, d.ID)
	wantError(t, err, store.ErrNotFound)
	_, err = f.GetDashboardShare(ctx, other, d.ID, "")
	wantError(t, err, store.ErrNotFound)
	_, err = f.UpsertDashboardShare(ctx, other, d.ID, "", store.SharePublic, user, token)
	wantError(t, err, store.ErrNotFound)
	_, err = f.RotateDashboardShare(ctx, other, d.ID, "", token)
	wantError(t, err, store.ErrNotFound)
	wantError(t, f.DeleteDashboardShare(ctx, other, d.ID, ""), store.ErrNotFound)

	for range 2 {
		if err := f.DeleteDashboardShare(ctx, org, d.ID, ""); err != nil {
			t.Errorf("revoke: %v", err)
		}
	}
	if _, err := f.DeleteDashboard(ctx, org, d.ID); err != nil {
		t.Fatal(err)
	}
	_, err = f.DashboardShareByHash(ctx, widget.Hash)
	wantError(t, err, store.ErrNotFound)
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{ResourceType: "dashboard_share"}, 0, 20)
	if err != nil || len(entries) != 5 {
		t.Errorf("audit: %v, %d entries", err, len(entries))
	}
}
