package store

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/alertcursor"
	"github.com/svc-observability/svc/ent/alertrule"
	"github.com/svc-observability/svc/ent/delivery"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// TestWorkDue counts late evaluations and late messages over all organizations, and removes old records of messages.
func TestWorkDue(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		testWorkDue(t, openWork(t, Config{Path: filepath.Join(t.TempDir(), "svc.db")}))
	})
	t.Run("postgres", func(t *testing.T) {
		testWorkDue(t, openWork(t, Config{URL: pgtest.Start(t).NewDatabase(t)}))
	})
}

func testWorkDue(t *testing.T, s *Store) {
	ctx := t.Context()
	created, err := s.CreateOrganization(ctx, NewOrganization{Name: "Due", Admin: &NewUser{Email: "due@example.com", Name: "Due"}})
	if err != nil {
		t.Fatal(err)
	}
	org := created.Organization.ID
	rule := func() AlertRule {
		t.Helper()
		r, _, err := s.CreateAlertRule(ctx, org, created.Admin.ID, AlertRule{
			Name: "r", Enabled: true, Severity: "warning", SignalType: "throughput", Comparator: "gt", WindowMinutes: 5,
			ConsecutiveBreachesRequired: 1, ConsecutiveHealthyRequired: 1, RenotifyIntervalMinutes: 30,
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	now := s.stamp()
	r := rule()
	late := func(before time.Time) Overdue {
		t.Helper()
		o, err := s.LateAlerts(ctx, before)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := late(now.Add(-3 * time.Minute)); o.Count != 0 {
		t.Errorf("a new rule is late: %+v", o)
	}
	change := func(do func(tx *ent.Tx) error) {
		t.Helper()
		if err := s.tx(ctx, "test", do); err != nil {
			t.Fatal(err)
		}
	}
	change(func(tx *ent.Tx) error {
		return tx.AlertRule.Update().Where(alertrule.ID(r.ID)).SetEnabledAt(now.Add(-time.Hour)).Exec(ctx)
	})
	if o := late(now.Add(-3 * time.Minute)); o.Count != 1 || !o.Oldest.Equal(now.Add(-3*time.Minute)) {
		t.Errorf("an old rule that was never evaluated: %+v", o)
	}
	through := now.Add(-10 * time.Minute)
	change(func(tx *ent.Tx) error {
		return tx.AlertCursor.Update().Where(alertcursor.OrgID(string(org))).SetEvaluatedThrough(through).Exec(ctx)
	})
	if o := late(now.Add(-3 * time.Minute)); o.Count != 1 || !o.Oldest.Equal(through) {
		t.Errorf("evaluated ten minutes ago: %+v", o)
	}
	if o := late(now.Add(-11 * time.Minute)); o.Count != 0 {
		t.Errorf("evaluated in time: %+v", o)
	}

	// A rule that takes the place of another one changes what the cursor says, although number and versions are the same.
	cursor := func() AlertCursor {
		t.Helper()
		list, err := s.AlertCursors(ctx, ShardOf(WorkAlerts, string(org)))
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0]
	}
	before := cursor()
	if _, err := s.DeleteAlertRule(ctx, org, r.ID, func(AlertRule, []AlertIncident) ([]NewDelivery, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	rule()
	if after := cursor(); after.Rules != before.Rules || after.Edits != before.Edits || after.Changed == before.Changed {
		t.Errorf("the cursor before %+v and after %+v", before, after)
	}

	d, _, err := s.CreateAlertDestination(ctx, org, NewAlertDestination{
		ID: uuid.Must(uuid.NewV7()), Name: "hook", Type: "webhook", Enabled: true, Config: json.RawMessage("{}"), CreatedBy: created.Admin.ID,
	})
	if err != nil {
		t.Fatal(err)
	}
	change(func(tx *ent.Tx) error {
		var list []NewDelivery
		for _, key := range []string{"sent", "failed", "queued"} {
			list = append(list, NewDelivery{
				Subject: SubjectAlert, DestinationID: d.ID, DestinationName: d.Name, DestinationType: d.Type, DeliveryKey: key, EventType: "trigger",
				Payload: []byte(`{}`), ScheduledAt: now.Add(-time.Hour),
			})
		}
		return s.enqueueDeliveries(ctx, tx, org, list...)
	})
	change(func(tx *ent.Tx) error {
		if err := tx.Delivery.Update().Where(delivery.DeliveryKey("sent")).SetStatus(DeliverySuccess).Exec(ctx); err != nil {
			return err
		}
		if err := tx.Delivery.Update().Where(delivery.DeliveryKey("failed")).SetStatus(DeliveryFailed).Exec(ctx); err != nil {
			return err
		}
		return tx.Delivery.Update().SetDueAt(now.Add(-time.Minute)).Exec(ctx)
	})
	if o, err := s.OverdueDeliveries(ctx, now); err != nil || o.Count != 1 || !o.Oldest.Equal(now.Add(-time.Minute)) {
		t.Errorf("overdue: %+v, %v", o, err)
	}
	if o, err := s.OverdueDeliveries(ctx, now.Add(-time.Hour)); err != nil || o.Count != 0 {
		t.Errorf("overdue an hour ago: %+v, %v", o, err)
	}
	for _, want := range []int{1, 1, 0} {
		if n, err := s.SweepDeliveries(ctx, now.Add(time.Hour), 1); err != nil || n != want {
			t.Errorf("swept %d, want %d, %v", n, want, err)
		}
	}
	if o, err := s.OverdueDeliveries(ctx, now); err != nil || o.Count != 1 {
		t.Errorf("the waiting message is gone: %+v, %v", o, err)
	}
}
