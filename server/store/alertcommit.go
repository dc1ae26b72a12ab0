package store

import (
	"context"
	"encoding/json"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/alertcursor"
	"github.com/svc-observability/svc/ent/alertincident"
	"github.com/svc-observability/svc/ent/alertrule"
	"github.com/svc-observability/svc/ent/alertrulestate"
	"github.com/svc-observability/svc/server/principal"
)

// AlertCommit has the changes of the evaluation of one organization.
type AlertCommit struct {
	// Through is the last evaluated minute.
	Through time.Time
	// Rules are the results of rules that changed something. Results of a rule that was edited or deleted meanwhile are dropped.
	Rules []AlertResult
	// Error is the failure that all rules met, such as a warehouse that does not answer; nil without one.
	Error *string
	// Checks are the results of all rules as compressed JSON, for the warehouse; nil without any.
	Checks []AlertChecks
}

// AlertChecks are results of one minute.
type AlertChecks struct {
	At   time.Time
	Rows []byte
}

// AlertResult has the changes of the evaluation of one rule.
type AlertResult struct {
	Rule    uuid.UUID
	Version int
	// States are the new states of groups; nil removes one.
	States map[string]json.RawMessage
	// Opened are new incidents, and Updated ones that existed.
	Opened, Updated []AlertIncident
	// Issues are those of new incidents.
	Issues []AlertIssue
	// Deliveries are messages to send.
	Deliveries []NewDelivery
	// Error is the failure of this rule; nil after a success. It is written when SetError is true.
	SetError    bool
	Error       *string
	EvaluatedAt *time.Time
}

// CommitAlerts stores the changes of the evaluation of an organization, in one transaction under the lease of the shard. After a crash, the
// same evaluation gives the same incidents and deliveries, which are stored once. It returns the rules whose results were dropped, because
// the rule was edited or deleted meanwhile. It returns ErrNotFound if the organization is gone.
func (s *Store) CommitAlerts(ctx context.Context, f Fence, org principal.OrgID, c AlertCommit) (dropped []uuid.UUID, err error) {
	err = s.fenced(ctx, "commit alerts", f, func(tx *ent.Tx) error {
		dropped = nil
		n, err := tx.AlertCursor.Update().Where(alertcursor.OrgID(string(org)), alertcursor.Shard(f.Number)).
			SetScheduledThrough(utc(c.Through)).SetEvaluatedThrough(utc(c.Through)).SetNillableLastError(c.Error).Save(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			return &ent.NotFoundError{}
		}
		if c.Error == nil {
			err := tx.AlertCursor.Update().Where(alertcursor.OrgID(string(org)), alertcursor.LastErrorNotNil()).ClearLastError().Exec(ctx)
			if err != nil {
				return err
			}
		}
		current, err := s.ruleVersions(ctx, tx, org, c.Rules)
		if err != nil {
			return err
		}
		for i := range c.Rules {
			r := &c.Rules[i]
			if v, ok := current[r.Rule]; !ok || v != r.Version {
				dropped = append(dropped, r.Rule)
				continue
			}
			if err := s.commitRule(ctx, tx, org, r); err != nil {
				return err
			}
		}
		for _, batch := range c.Checks {
			id, err := uuid.NewV7()
			if err != nil {
				return err
			}
			err = tx.AlertCheckBatch.Create().SetID(id).SetShard(f.Number).SetEvaluatedAt(utc(batch.At)).SetRows(batch.Rows).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return dropped, err
}

// ruleVersions returns the present versions of rules. On PostgreSQL an edit of one waits for the transaction.
func (s *Store) ruleVersions(ctx context.Context, tx *ent.Tx, org principal.OrgID, results []AlertResult) (map[uuid.UUID]int, error) {
	out := map[uuid.UUID]int{}
	if len(results) == 0 {
		return out, nil
	}
	ids := make([]uuid.UUID, len(results))
	for i := range results {
		ids[i] = results[i].Rule
	}
	q := tx.AlertRule.Query().Where(alertrule.OrgID(string(org)), alertrule.IDIn(ids...)).Order(alertrule.ByID())
	if s.dialect == dialect.Postgres {
		q.ForShare()
	}
	rows, err := q.Select(alertrule.FieldID, alertrule.FieldVersion).All(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		out[row.ID] = row.Version
	}
	return out, nil
}

func (s *Store) commitRule(ctx context.Context, tx *ent.Tx, org principal.OrgID, r *AlertResult) error {
	for group, state := range r.States {
		if err := s.setAlertState(ctx, tx, org, r.Rule, group, state); err != nil {
			return err
		}
	}
	for i := range r.Opened {
		in := r.Opened[i]
		in.Org, in.RuleID = org, r.Rule
		if _, err := s.insertAlertIncident(ctx, tx, in); err != nil {
			return err
		}
	}
	for i := range r.Updated {
		if err := updateIncident(ctx, tx, org, &r.Updated[i]); err != nil {
			return err
		}
	}
	if err := s.queueErrorSums(ctx, tx, alertSums(org, r)); err != nil {
		return err
	}
	if err := s.enqueueDeliveries(ctx, tx, org, r.Deliveries...); err != nil {
		return err
	}
	if !r.SetError {
		return nil
	}
	u := tx.AlertRule.Update().Where(alertrule.ID(r.Rule), alertrule.OrgID(string(org)))
	if r.Error == nil {
		u.ClearLastEvaluationError().ClearLastEvaluatedAt()
	} else {
		u.SetLastEvaluationError(plainText(*r.Error, maxTextLength)).SetNillableLastEvaluatedAt(utcPtr(r.EvaluatedAt))
	}
	return u.Exec(ctx)
}

func (s *Store) setAlertState(
	ctx context.Context, tx *ent.Tx, org principal.OrgID, rule uuid.UUID, group string, state json.RawMessage,
) error {
	if state == nil {
		_, err := tx.AlertRuleState.Delete().Where(alertrulestate.RuleID(rule), alertrulestate.GroupKey(group)).Exec(ctx)
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	return tx.AlertRuleState.Create().SetID(id).SetOrgID(string(org)).SetRuleID(rule).SetGroupKey(group).SetState(state).
		SetUpdatedAt(s.stamp()).
		OnConflict(entsql.ConflictColumns(alertrulestate.FieldRuleID, alertrulestate.FieldGroupKey),
			entsql.ResolveWith(func(u *entsql.UpdateSet) {
				u.SetExcluded(alertrulestate.FieldState).SetExcluded(alertrulestate.FieldUpdatedAt)
			})).Exec(ctx)
}

func updateIncident(ctx context.Context, tx *ent.Tx, org principal.OrgID, in *AlertIncident) error {
	u := tx.AlertIncident.Update().Where(alertincident.ID(in.ID), alertincident.OrgID(string(org)), alertincident.Status(IncidentOpen)).
		SetStatus(in.Status).SetLastTriggeredAt(utc(in.LastTriggeredAt)).SetTriggerTold(in.TriggerTold).
		SetNillableResolvedAt(utcPtr(in.ResolvedAt)).SetNillableResolveReason(in.ResolveReason).
		SetNillableLastDeliveredEventType(in.LastDeliveredEventType).SetNillableLastNotifiedAt(utcPtr(in.LastNotifiedAt))
	if in.LastObservedValue == nil {
		u.ClearLastObservedValue()
	} else {
		u.SetLastObservedValue(*in.LastObservedValue)
	}
	if in.LastSampleCount == nil {
		u.ClearLastSampleCount()
	} else {
		u.SetLastSampleCount(*in.LastSampleCount)
	}
	if in.HoldReason == nil {
		u.ClearHoldReason().ClearHeldSince()
	} else {
		u.SetHoldReason(*in.HoldReason).SetNillableHeldSince(utcPtr(in.HeldSince))
	}
	if in.Status != IncidentOpen {
		u.ClearOpenKey()
	}
	return u.Exec(ctx)
}
