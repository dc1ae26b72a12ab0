package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/alertdestination"
	"github.com/svc-observability/svc/ent/alertincident"
	"github.com/svc-observability/svc/ent/alertrule"
	"github.com/svc-observability/svc/ent/delivery"
	"github.com/svc-observability/svc/server/principal"
)

// ErrNoDestination reports that a rule names a destination that the organization does not have. Its text names it.
var ErrNoDestination = errors.New("no such destination")

// checkTexts trims the texts of a rule and checks what the store promises about them. The service checks what the rule means.
func (r *AlertRule) checkTexts() error {
	var c checker
	c.name("name", &r.Name)
	if r.Notes != nil {
		notes := *r.Notes
		c.text("notes", notes, 4000)
	}
	r.Tags = plainTags(r.Tags)
	return c.err()
}

// plainTags trims tags, writes them in lower case and drops repetitions.
func plainTags(tags []string) []string {
	var out []string
	for _, t := range tags {
		if t = strings.ToLower(strings.TrimSpace(t)); t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// CreateAlertRule creates a rule. The fields that the store writes are ignored. It returns ErrConflict if the name is taken. It can return
// ErrNoDestination: see its comment. txid numbers the change.
func (s *Store) CreateAlertRule(ctx context.Context, org principal.OrgID, by principal.UserID, in AlertRule) (AlertRule, string, error) {
	if err := in.checkTexts(); err != nil {
		return AlertRule{}, "", err
	}
	var txid string
	err := s.tx(ctx, "create alert rule", func(tx *ent.Tx) error {
		if err := s.checkDestinations(ctx, tx, org, in.DestinationIds); err != nil {
			return err
		}
		if err := s.ensureAlertCursor(ctx, tx, org); err != nil {
			return err
		}
		now := s.stamp()
		in.ID, in.Org, in.Version, in.CreatedAt, in.UpdatedAt = uuid.Nil, org, 1, now, now
		in.CreatedBy, in.UpdatedBy = by, by
		in.EnabledAt = nil
		if in.Enabled {
			in.EnabledAt = &now
		}
		var err error
		if in, err = s.insertAlertRule(ctx, tx, in); err != nil {
			return err
		}
		if err := s.audit(ctx, tx, org, in.event("created", nil, in.auditFields())); err != nil {
			return err
		}
		txid, err = nextTxid(ctx, tx)
		return err
	})
	return in, txid, err
}

func (s *Store) checkDestinations(ctx context.Context, tx *ent.Tx, org principal.OrgID, ids []string) error {
	for _, text := range ids {
		id, err := uuid.Parse(text)
		if err != nil {
			return fmt.Errorf("store: destination %q: %w", text, ErrNoDestination)
		}
		q := tx.AlertDestination.Query().Where(alertdestination.ID(id), alertdestination.OrgID(string(org)))
		if s.dialect == dialect.Postgres {
			q.ForShare() // it must not be deleted before the rule is stored
		}
		if _, err := q.OnlyID(ctx); ent.IsNotFound(err) {
			return fmt.Errorf("store: destination %s: %w", id, ErrNoDestination)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// ListAlertRules returns rules, the newest first.
func (s *Store) ListAlertRules(ctx context.Context, org principal.OrgID, offset, limit int) ([]AlertRule, error) {
	rows, err := s.read.AlertRule.Query().Where(alertrule.OrgID(string(org))).
		Order(alertrule.ByCreatedAt(entsql.OrderDesc()), alertrule.ByID(entsql.OrderDesc())).Offset(offset).Limit(limit).All(ctx)
	return collect("list alert rules", toAlertRule, rows, err)
}

// EditAlertRules changes rules of an organization in one transaction: all of them, or none. edit gets a rule as it is and changes it. An
// edit that changes nothing writes nothing. The errors are those of CreateAlertRule, ErrNotFound, and those of edit.
func (s *Store) EditAlertRules(
	ctx context.Context, org principal.OrgID, by principal.UserID, ids []uuid.UUID, verb string, edit func(*AlertRule) error,
) (out []AlertRule, txid string, err error) {
	err = s.tx(ctx, "edit alert rules", func(tx *ent.Tx) error {
		out = nil
		for _, id := range ids {
			row, err := s.lockAlertRule(ctx, tx, org, id)
			if err != nil {
				return err
			}
			old := toAlertRule(row)
			r := toAlertRule(row)
			if err := edit(&r); err != nil {
				return err
			}
			if err := r.checkTexts(); err != nil {
				return err
			}
			if reflect.DeepEqual(old, r) {
				out = append(out, r)
				continue
			}
			if !slices.Equal(old.DestinationIds, r.DestinationIds) {
				if err := s.checkDestinations(ctx, tx, org, r.DestinationIds); err != nil {
					return err
				}
			}
			now := s.stamp()
			switch {
			case !r.Enabled:
				r.EnabledAt = nil
			case !old.Enabled:
				r.EnabledAt = &now
			}
			r.Version, r.UpdatedAt, r.UpdatedBy = old.Version+1, now, by
			if err := saveAlertRule(ctx, row, &r); err != nil {
				return err
			}
			if err := s.audit(ctx, tx, org, r.event(verb, old.auditFields(), r.auditFields())); err != nil {
				return err
			}
			out = append(out, r)
		}
		txid, err = nextTxid(ctx, tx)
		return err
	})
	return out, txid, err
}

func saveAlertRule(ctx context.Context, row *ent.AlertRule, r *AlertRule) error {
	u := row.Update().SetName(r.Name).SetEnabled(r.Enabled).SetSeverity(r.Severity).SetServiceNames(r.ServiceNames).
		SetExcludeServiceNames(r.ExcludeServiceNames).SetEnvironments(r.Environments).SetTags(r.Tags).
		SetSignalType(r.SignalType).SetComparator(r.Comparator).SetThreshold(r.Threshold).SetWindowMinutes(r.WindowMinutes).
		SetMinimumSampleCount(r.MinimumSampleCount).SetConsecutiveBreachesRequired(r.ConsecutiveBreachesRequired).
		SetConsecutiveHealthyRequired(r.ConsecutiveHealthyRequired).SetRenotifyIntervalMinutes(r.RenotifyIntervalMinutes).
		SetAlertOnNoData(r.AlertOnNoData).SetDestinationIds(r.DestinationIds).SetVersion(r.Version).
		SetUpdatedAt(r.UpdatedAt).SetUpdatedBy(string(r.UpdatedBy))
	setOr(r.Notes, u.SetNotes, u.ClearNotes)
	setOr(r.ThresholdUpper, u.SetThresholdUpper, u.ClearThresholdUpper)
	setOr(r.ResolveThreshold, u.SetResolveThreshold, u.ClearResolveThreshold)
	setOr(r.ApdexThresholdMs, u.SetApdexThresholdMs, u.ClearApdexThresholdMs)
	setOr(r.RawQuerySQL, u.SetRawQuerySQL, u.ClearRawQuerySQL)
	setOr(r.RawQueryReducer, u.SetRawQueryReducer, u.ClearRawQueryReducer)
	setOr(r.MutedUntil, u.SetMutedUntil, u.ClearMutedUntil)
	setOr(r.EnabledAt, u.SetEnabledAt, u.ClearEnabledAt)
	setOr(present(r.GroupBy), u.SetGroupBy, u.ClearGroupBy)
	setOr(presentJSON(r.NotificationTemplate), u.SetNotificationTemplate, u.ClearNotificationTemplate)
	setOr(presentJSON(r.QueryBuilderDraft), u.SetQueryBuilderDraft, u.ClearQueryBuilderDraft)
	setOr(presentJSON(r.Burn), u.SetBurn, u.ClearBurn)
	setOr(presentJSON(r.Baseline), u.SetBaseline, u.ClearBaseline)
	return u.Exec(ctx)
}

func setOr[T, U any](v *T, set func(T) U, unset func() U) {
	if v == nil {
		unset()
		return
	}
	set(*v)
}

func present(list []string) *[]string {
	if len(list) == 0 {
		return nil
	}
	return &list
}

func presentJSON(text json.RawMessage) *json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	return &text
}

// DeleteAlertRule deletes a rule with its states, incidents and deliveries. farewell gets the open incidents about which a message was
// sent, and returns the messages about their end; they are sent, but not listed.
func (s *Store) DeleteAlertRule(
	ctx context.Context, org principal.OrgID, id uuid.UUID, farewell func(AlertRule, []AlertIncident) ([]NewDelivery, error),
) (txid string, err error) {
	err = s.tx(ctx, "delete alert rule", func(tx *ent.Tx) error {
		row, err := s.lockAlertRule(ctx, tx, org, id)
		if err != nil {
			return err
		}
		old := toAlertRule(row)
		told, err := toldIncidents(ctx, tx, org, id)
		if err != nil {
			return err
		}
		threads, err := threadsOf(ctx, tx, org, id)
		if err != nil {
			return err
		}
		if err := deleteDeliveries(ctx, tx, org, id); err != nil {
			return err
		}
		if len(told) > 0 {
			messages, err := farewell(old, told)
			if err != nil {
				return err
			}
			for i, m := range messages {
				if messages[i].Payload, err = threads.within(m); err != nil {
					return err
				}
				messages[i].Subject, messages[i].RuleID, messages[i].IncidentID = SubjectFarewell, nil, nil
			}
			if err := s.enqueueDeliveries(ctx, tx, org, messages...); err != nil {
				return err
			}
		}
		if err := s.endAlertIssues(ctx, tx, org, id); err != nil {
			return err
		}
		if err := tx.AlertRule.DeleteOne(row).Exec(ctx); err != nil {
			return err
		}
		if err := s.audit(ctx, tx, org, old.event("deleted", old.auditFields(), nil)); err != nil {
			return err
		}
		txid, err = nextTxid(ctx, tx)
		return err
	})
	return txid, err
}

func toldIncidents(ctx context.Context, tx *ent.Tx, org principal.OrgID, rule uuid.UUID) ([]AlertIncident, error) {
	rows, err := tx.AlertIncident.Query().Where(
		alertincident.OrgID(string(org)), alertincident.RuleID(rule), alertincident.Status(IncidentOpen), alertincident.TriggerTold(true),
	).All(ctx)
	return collect("list told incidents", toAlertIncident, rows, err)
}

// threads holds the references that chats gave the messages about incidents of a rule.
type threads map[thread]string

type thread struct{ incident, destination uuid.UUID }

func threadsOf(ctx context.Context, tx *ent.Tx, org principal.OrgID, rule uuid.UUID) (threads, error) {
	rows, err := tx.Delivery.Query().Where(
		delivery.OrgID(string(org)), delivery.RuleID(rule), delivery.DestinationType(destinationChat), delivery.IncidentIDNotNil(),
		delivery.Status(DeliverySuccess), delivery.ProviderReferenceNotNil(),
	).Order(delivery.ByScheduledAt(), delivery.ByID()).All(ctx)
	if err != nil {
		return nil, err
	}
	out := threads{}
	for _, row := range rows {
		out[thread{*row.IncidentID, row.DestinationID}] = *row.ProviderReference
	}
	return out, nil
}

// within puts the reference of its thread into a message, whose earlier messages are about to be deleted.
func (t threads) within(m NewDelivery) (json.RawMessage, error) {
	if m.IncidentID == nil || t[thread{*m.IncidentID, m.DestinationID}] == "" {
		return m.Payload, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(m.Payload, &fields); err != nil {
		return nil, fmt.Errorf("store: message of an alert: %w", err)
	}
	reference, err := json.Marshal(t[thread{*m.IncidentID, m.DestinationID}])
	if err != nil {
		return nil, err
	}
	fields["thread"] = reference
	return json.Marshal(fields)
}

func deleteDeliveries(ctx context.Context, tx *ent.Tx, org principal.OrgID, rule uuid.UUID) error {
	_, err := tx.Delivery.Delete().Where(delivery.OrgID(string(org)), delivery.RuleID(rule)).Exec(ctx)
	return err
}

// SubjectFarewell marks the last messages of a rule that was deleted.
const SubjectFarewell = "alert farewell"

func (r *AlertRule) auditFields() map[string]any {
	fields := map[string]any{
		"name": r.Name, "enabled": r.Enabled, "severity": r.Severity, "service_names": r.ServiceNames,
		"exclude_service_names": r.ExcludeServiceNames,
		"environments":          r.Environments, "tags": r.Tags, "group_by": r.GroupBy, "signal_type": r.SignalType, "comparator": r.Comparator,
		"threshold": r.Threshold, "window_minutes": r.WindowMinutes, "minimum_sample_count": r.MinimumSampleCount,
		"consecutive_breaches_required": r.ConsecutiveBreachesRequired, "consecutive_healthy_required": r.ConsecutiveHealthyRequired,
		"renotify_interval_minutes": r.RenotifyIntervalMinutes, "alert_on_no_data": r.AlertOnNoData, "destination_ids": r.DestinationIds,
	}
	for name, v := range map[string]*float64{
		"threshold_upper": r.ThresholdUpper, "resolve_threshold": r.ResolveThreshold, "apdex_threshold_ms": r.ApdexThresholdMs,
	} {
		if v != nil {
			fields[name] = *v
		}
	}
	for name, v := range map[string]*string{"notes": r.Notes, "raw_query_sql": r.RawQuerySQL, "raw_query_reducer": r.RawQueryReducer} {
		if v != nil {
			fields[name] = *v
		}
	}
	for name, v := range map[string]json.RawMessage{
		"notification_template": r.NotificationTemplate, "query_builder_draft": r.QueryBuilderDraft, "burn": r.Burn,
		"baseline": r.Baseline,
	} {
		if len(v) > 0 {
			fields[name] = string(v)
		}
	}
	if r.MutedUntil != nil {
		fields["muted_until"] = r.MutedUntil.Format(time.RFC3339)
	}
	return fields
}
