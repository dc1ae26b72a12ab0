package store

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
)

// TestDestinationInUse: a destination that rules name is not deleted, and the error names those rules of the organization.
func TestDestinationInUse(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, Config{Path: filepath.Join(t.TempDir(), "svc.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	out, err := s.CreateOrganization(ctx, NewOrganization{Name: "Org", Admin: &NewUser{Email: "a@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	org := out.Organization.ID
	d, _, err := s.CreateAlertDestination(ctx, org, NewAlertDestination{
		ID: uuid.Must(uuid.NewV7()), Name: "hook", Type: "webhook", Enabled: true, Config: json.RawMessage("{}"), CreatedBy: out.Admin.ID,
	})
	if err != nil {
		t.Fatal(err)
	}
	rule := func(name string, destinations ...string) {
		t.Helper()
		err := s.tx(ctx, "add a rule", func(tx *ent.Tx) error {
			_, err := s.insertAlertRule(ctx, tx, AlertRule{
				Org: org, Name: name, Severity: "warning", SignalType: "error_rate", Comparator: "gt", WindowMinutes: 5, ConsecutiveBreachesRequired: 1,
				ConsecutiveHealthyRequired: 1, RenotifyIntervalMinutes: 30, DestinationIds: destinations, CreatedBy: "user_x", UpdatedBy: "user_x",
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rule("uses it", uuid.NewString(), d.ID.String())
	rule("uses another", uuid.NewString())
	_, err = s.DeleteAlertDestination(ctx, org, d.ID)
	var used *DestinationInUseError
	if !errors.As(err, &used) || len(used.Rules) != 1 || used.Rules[0].Name != "uses it" || !errors.Is(err, ErrConflict) {
		t.Fatalf("%v", err)
	}
	if _, err := s.GetAlertDestination(ctx, org, d.ID); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	if entries, err := s.ListAuditLogEntries(ctx, org, AuditFilter{Action: "alert_destination.deleted"}, 0, 1); err != nil ||
		len(entries) != 0 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	if err := s.RecordDestinationTest(ctx, org, d.ID, time.Now(), ""); err != nil {
		t.Error(err)
	}
}
