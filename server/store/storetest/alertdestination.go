package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func (f *fixture) destination(t *testing.T, org principal.OrgID) store.AlertDestination {
	t.Helper()
	d, _, err := f.CreateAlertDestination(t.Context(), org, store.NewAlertDestination{
		ID: uuid.Must(uuid.NewV7()), Name: "hook " + f.name(), Type: "webhook", Enabled: true,
		Config: json.RawMessage(`{"url":"https://hooks.example.com/secret-path"}`), Secret: []byte("sealed"), CreatedBy: "user_x",
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func testAlertDestinations(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	other, _ := f.org(t)
	d := f.destination(t, org)
	_, _, err := f.CreateAlertDestination(ctx, org, store.NewAlertDestination{
		ID: uuid.Must(uuid.NewV7()), Name: d.Name, Type: "webhook", Config: json.RawMessage("{}"), CreatedBy: user,
	})
	wantError(t, err, store.ErrConflict)
	rename := func(newest store.AlertDestination) (store.AlertDestinationChange, error) {
		return store.AlertDestinationChange{
			Name: "renamed", Enabled: newest.Enabled, Config: json.RawMessage(`{"url":"https://hooks.example.com/other-path"}`),
		}, nil
	}
	for name, call := range map[string]func() error{
		"get":    func() error { _, err := f.GetAlertDestination(ctx, other, d.ID); return err },
		"edit":   func() error { _, _, err := f.EditAlertDestination(ctx, other, d.ID, user, rename); return err },
		"delete": func() error { _, err := f.DeleteAlertDestination(ctx, other, d.ID); return err },
		"test":   func() error { return f.RecordDestinationTest(ctx, other, d.ID, f.now(), "x") },
	} {
		t.Run(name, func(t *testing.T) { wantError(t, call(), store.ErrNotFound) })
	}
	if err := f.RecordDestinationTest(ctx, org, d.ID, f.now(), "no answer"); err != nil {
		t.Fatal(err)
	}
	got, txid, err := f.EditAlertDestination(ctx, org, d.ID, user, rename)
	if err != nil || txid == "" || got.Name != "renamed" || string(got.Secret) != "sealed" || got.LastTestError == nil ||
		got.UpdatedBy != user {
		t.Fatalf("%+v %s %v", got, txid, err)
	}
	if _, txid, err = f.EditAlertDestination(ctx, org, d.ID, user, rename); err != nil || txid != "" {
		t.Errorf("the same change again: %q, %v", txid, err)
	}
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{ResourceType: "alert_destination"}, 0, 10)
	text, _ := json.Marshal(entries)
	if err != nil || len(entries) != 3 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	for _, secret := range []string{"secret-path", "other-path", "sealed"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the audit log holds %s: %s", secret, text)
		}
	}
	if _, err := f.DeleteAlertDestination(ctx, org, d.ID); err != nil {
		t.Fatal(err)
	}
	wantError(t, func() error { _, err := f.GetAlertDestination(ctx, org, d.ID); return err }(), store.ErrNotFound)
}

// testOutbox takes deliveries through their states, under the lease of a shard and without it.
func testOutbox(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	d := f.destination(t, org)
	node := store.WorkNode{ID: uuid.Must(uuid.NewV7()), Kinds: []string{store.WorkOutbox}}
	if err := f.JoinWork(ctx, node); err != nil {
		t.Fatal(err)
	}
	held, err := f.BeatWork(ctx, node)
	if err != nil || len(held) != store.WorkShards(store.WorkOutbox) {
		t.Fatalf("%d shards, %v", len(held), err)
	}
	shard := store.ShardOf(store.WorkOutbox, string(org))
	fence := held[shard]
	incident, rule := uuid.New(), uuid.New()
	enqueue := func(event string, at time.Time) {
		t.Helper()
		in := store.NewDelivery{
			Subject: store.SubjectAlert, RuleID: &rule, IncidentID: &incident, DestinationID: d.ID, DestinationName: d.Name,
			DestinationType: d.Type, DeliveryKey: fmt.Sprint(incident, event, at.Unix()), EventType: event, Payload: json.RawMessage("{}"),
			ScheduledAt: at,
		}
		for range 2 { // the second time changes nothing
			if err := f.Enqueue(ctx, org, in); err != nil {
				t.Fatal(err)
			}
		}
	}
	due := func() []store.Delivery {
		t.Helper()
		rows, err := f.DueDeliveries(ctx, shard, f.now(), store.OutboxBusy{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	same := func(h store.DestinationHealth) store.DestinationHealth { return h }
	enqueue("trigger", f.now())
	enqueue("resolve", f.now().Add(time.Minute))
	rows := due()
	if len(rows) != 1 || rows[0].EventType != "trigger" {
		t.Fatalf("due: %+v", rows)
	}
	first := rows[0]
	old := fence
	old.Token--
	if _, _, _, err := f.BeginDelivery(ctx, old, first.ID, f.now()); !errors.Is(err, store.ErrFenced) {
		t.Errorf("under an old lease: %v", err)
	}
	got, to, ok, err := f.BeginDelivery(ctx, fence, first.ID, f.now())
	if err != nil || !ok || got.Status != store.DeliveryProcessing || to.ID != d.ID {
		t.Fatalf("%+v %v %v", got, ok, err)
	}
	if rows := due(); len(rows) != 1 || rows[0].ID != first.ID {
		t.Errorf("a delivery that was begun and not ended must be found again, alone: %+v", rows)
	}
	later := f.now().Add(time.Minute)
	pause := f.now().Add(30 * time.Second)
	for range 2 { // the second record changes nothing
		err = f.EndDelivery(ctx, fence, first.ID, store.DeliveryEnd{
			Status: store.DeliveryFailed, ErrorMessage: "no\x00answer", ResponseCode: 503, DueAt: later,
			Health: func(h store.DestinationHealth) store.DestinationHealth {
				return store.DestinationHealth{Failures: h.Failures + 1, PausedUntil: pause}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	all, err := f.ListDeliveries(ctx, org, store.DeliveryFilter{Incident: &incident}, 0, 10)
	if err != nil || len(all) != 3 || all[0].EventType != "resolve" || all[1].AttemptNumber != 2 || all[2].Status != store.DeliveryFailed {
		t.Fatalf("%+v %v", all, err)
	}
	if rows := due(); len(rows) != 0 {
		t.Errorf("the resolve overtakes its trigger: %+v", rows)
	}
	f.advance(time.Minute)
	if rows := due(); len(rows) != 1 || rows[0].EventType != "trigger" || rows[0].AttemptNumber != 2 {
		t.Fatalf("after a minute: %+v", rows)
	}
	for _, busy := range []store.OutboxBusy{
		{Deliveries: []uuid.UUID{all[1].ID}}, {Organizations: []principal.OrgID{org}}, {Destinations: []uuid.UUID{d.ID}},
	} {
		if rows, err := f.DueDeliveries(ctx, shard, f.now(), busy, 10); err != nil || len(rows) != 0 {
			t.Errorf("%+v: %d rows, %v", busy, len(rows), err)
		}
	}
	if _, _, ok, err = f.BeginDelivery(ctx, fence, all[1].ID, f.now()); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := f.EndDelivery(ctx, fence, all[1].ID, store.DeliveryEnd{Status: store.DeliverySuccess, Health: same}); err != nil {
		t.Fatal(err)
	}
	rows = due()
	if len(rows) != 1 || rows[0].EventType != "resolve" {
		t.Fatalf("after the trigger: %+v", rows)
	}
	if _, _, ok, err = f.BeginDelivery(ctx, fence, rows[0].ID, f.now()); err != nil || !ok {
		t.Fatal(ok, err)
	}
	err = f.EndDelivery(ctx, fence, rows[0].ID, store.DeliveryEnd{
		Status: store.DeliveryFailed,
		Health: func(store.DestinationHealth) store.DestinationHealth {
			return store.DestinationHealth{DisabledReason: "It is gone."}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d, err = f.GetAlertDestination(ctx, org, d.ID); err != nil || d.Enabled || d.DisabledReason == nil {
		t.Errorf("%+v %v", d, err)
	}
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{Action: "alert_destination.disabled"}, 0, 10)
	if err != nil || len(entries) != 1 || entries[0].ActorType != store.ActorSystem {
		t.Errorf("%+v %v", entries, err)
	}
	// A disabled destination gets nothing.
	enqueue("renotify", f.now())
	rows = due()
	if _, _, ok, err := f.BeginDelivery(ctx, fence, rows[0].ID, f.now()); err != nil || ok {
		t.Error(ok, err)
	}
	if list, err := f.ListDeliveries(ctx, other, store.DeliveryFilter{}, 0, 10); err != nil || len(list) != 0 {
		t.Errorf("the other organization lists %d, %v", len(list), err)
	}
}
