package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/alertcursor"
	"github.com/svc-observability/svc/ent/alertincident"
	"github.com/svc-observability/svc/ent/alertrule"
	"github.com/svc-observability/svc/ent/alertrulestate"
	"github.com/svc-observability/svc/server/principal"
)

// AlertCursor says how far the rules of an organization are evaluated.
type AlertCursor struct {
	Org principal.OrgID
	// ScheduledThrough is the last minute whose evaluation began, EvaluatedThrough the last one whose results are stored.
	ScheduledThrough, EvaluatedThrough *time.Time
	LastError                          *string
	// Rules is the number of rules, Edits is the sum of their versions, and Changed the time of the last edit. Together they show whether a
	// copy of the rules is current: a rule that replaces a deleted one may have its version.
	Rules, Edits int
	Changed      string
}

// Lacks reports whether a minute is not evaluated yet. Nothing was ever due at the zero time.
func (c AlertCursor) Lacks(minute time.Time) bool {
	return !minute.IsZero() && (c.EvaluatedThrough == nil || c.EvaluatedThrough.Before(minute))
}

// ensureAlertCursor gives the organization a cursor when its first rule is created.
func (s *Store) ensureAlertCursor(ctx context.Context, tx *ent.Tx, org principal.OrgID) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	err = tx.AlertCursor.Create().SetID(id).SetOrgID(string(org)).SetShard(ShardOf(WorkAlerts, string(org))).
		OnConflict(entsql.ConflictColumns(alertcursor.FieldOrgID), entsql.DoNothing()).Exec(ctx)
	if errorIsNoRows(err) {
		return nil
	}
	return err
}

// GetAlertCursor returns the cursor of an organization. It returns ErrNotFound if it never had a rule.
func (s *Store) GetAlertCursor(ctx context.Context, org principal.OrgID) (AlertCursor, error) {
	row, err := s.read.AlertCursor.Query().Where(alertcursor.OrgID(string(org))).Only(ctx)
	return single("get alert cursor", toAlertCursor, row, err)
}

func toAlertCursor(r *ent.AlertCursor) AlertCursor {
	return AlertCursor{
		Org: principal.OrgID(r.OrgID), ScheduledThrough: utcPtr(r.ScheduledThrough), EvaluatedThrough: utcPtr(r.EvaluatedThrough),
		LastError: r.LastError,
	}
}

// AlertCursors returns the cursors of the organizations of a shard, in order of their ids.
func (s *Store) AlertCursors(ctx context.Context, shard int) ([]AlertCursor, error) {
	rows, err := s.read.AlertCursor.Query().Where(alertcursor.Shard(shard)).Order(alertcursor.ByOrgID()).All(ctx)
	out, err := collect("list alert cursors", toAlertCursor, rows, err)
	if err != nil || len(out) == 0 {
		return out, err
	}
	ids := make([]string, len(out))
	for i, c := range out {
		ids[i] = string(c.Org)
	}
	var sums []struct {
		Org   string `sql:"org_id"`
		Rules int    `sql:"rules"`
		Edits int    `sql:"edits"`
		Last  string `sql:"last"`
	}
	for part := range slices.Chunk(ids, usageRows) {
		sums = sums[:0]
		err = s.read.AlertRule.Query().Where(alertrule.OrgIDIn(part...)).GroupBy(alertrule.FieldOrgID).
			Aggregate(
				ent.As(ent.Count(), "rules"), ent.As(ent.Sum(alertrule.FieldVersion), "edits"), ent.As(ent.Max(alertrule.FieldUpdatedAt), "last"),
			).Scan(ctx, &sums)
		if err != nil {
			return nil, mapError("count alert rules", err)
		}
		for _, sum := range sums {
			i, found := slices.BinarySearchFunc(out, principal.OrgID(sum.Org), func(c AlertCursor, org principal.OrgID) int {
				return compareOrgs(c.Org, org)
			})
			if found {
				out[i].Rules, out[i].Edits, out[i].Changed = sum.Rules, sum.Edits, sum.Last
			}
		}
	}
	return out, nil
}

func compareOrgs(a, b principal.OrgID) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// AlertMemory is the knowledge of an evaluation about the rules of an organization.
type AlertMemory struct {
	// Rules are all rules, with those that are disabled, in the order of their creation.
	Rules []AlertRule
	// States are those of groups with a memory, by rule and group.
	States map[uuid.UUID]map[string]json.RawMessage
	// Open are the open incidents, by rule and group.
	Open map[uuid.UUID]map[string]AlertIncident
}

// AlertMemory reads the rules of an organization with their states and open incidents, as of one moment.
func (s *Store) AlertMemory(ctx context.Context, org principal.OrgID) (AlertMemory, error) {
	var out AlertMemory
	err := s.tx(ctx, "read alert rules with their states", func(tx *ent.Tx) error {
		out = AlertMemory{States: map[uuid.UUID]map[string]json.RawMessage{}, Open: map[uuid.UUID]map[string]AlertIncident{}}
		rules, err := tx.AlertRule.Query().Where(alertrule.OrgID(string(org))).
			Order(alertrule.ByCreatedAt(), alertrule.ByID()).All(ctx)
		if err != nil {
			return err
		}
		for _, r := range rules {
			out.Rules = append(out.Rules, toAlertRule(r))
		}
		states, err := tx.AlertRuleState.Query().Where(alertrulestate.OrgID(string(org))).All(ctx)
		if err != nil {
			return err
		}
		for _, r := range states {
			if out.States[r.RuleID] == nil {
				out.States[r.RuleID] = map[string]json.RawMessage{}
			}
			out.States[r.RuleID][r.GroupKey] = r.State
		}
		open, err := tx.AlertIncident.Query().Where(alertincident.OrgID(string(org)), alertincident.Status(IncidentOpen)).All(ctx)
		if err != nil {
			return err
		}
		for _, r := range open {
			if out.Open[r.RuleID] == nil {
				out.Open[r.RuleID] = map[string]AlertIncident{}
			}
			out.Open[r.RuleID][r.GroupKey] = toAlertIncident(r)
		}
		return nil
	})
	return out, err
}
