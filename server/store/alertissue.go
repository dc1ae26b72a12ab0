package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/alertincident"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// AlertSum says which incidents of an alert rule an ErrorSum is about.
type AlertSum struct {
	// Rule is the public id of the rule.
	Rule  string `json:"rule"`
	Group string `json:"group"`
	// Severity is that of the issue.
	Severity string `json:"severity,omitempty"`
	// Opened are new incidents.
	Opened []uuid.UUID `json:"opened,omitempty"`
	// EndedAt is the time at which the last incident ended; nil while it is open.
	EndedAt *time.Time `json:"ended_at,omitempty"`
}

// addAlert adds the facts of an alert that only one of two sums may have: a sum about an end has none.
func (e *ErrorSum) addAlert(o *ErrorSum) {
	e.Alert.Opened = append(e.Alert.Opened, o.Alert.Opened...)
	e.Alert.EndedAt = o.Alert.EndedAt
	if o.Count > 0 {
		e.Service, e.Type, e.Label, e.Message, e.Alert.Severity = o.Service, o.Type, o.Label, o.Message, o.Alert.Severity
	}
}

// AlertIssue is the issue of an incident that opened.
type AlertIssue struct {
	Incident uuid.UUID
	// Service is empty when the incident is not about one service.
	Service string
	// Summary says in a sentence what was observed.
	Summary string
	// Severity is that of the issue.
	Severity string
}

// alertSum is the sum of an incident without occurrences.
func alertSum(org principal.OrgID, rule uuid.UUID, group string, at time.Time) ErrorSum {
	public := publicid.Encode(publicid.AlertRule, rule)
	return ErrorSum{Org: org, Hash: "alert:" + public + ":" + group, First: at, Last: at, Alert: &AlertSum{Rule: public, Group: group}}
}

// alertSums are the sums for the issues of incidents that opened or ended in the evaluation of a rule.
func alertSums(org principal.OrgID, r *AlertResult) []ErrorSum {
	var out []ErrorSum
	add := func(in *AlertIncident) {
		for i := range r.Issues {
			issue := &r.Issues[i]
			if issue.Incident != in.ID {
				continue
			}
			sum := alertSum(org, r.Rule, in.GroupKey, in.FirstTriggeredAt)
			sum.Service, sum.Type, sum.Label, sum.Message, sum.Count, sum.Weight = issue.Service, in.RuleName, in.RuleName, issue.Summary, 1, 1
			sum.Alert.Severity, sum.Alert.Opened = issue.Severity, []uuid.UUID{in.ID}
			out = append(out, sum)
		}
		if in.Status == IncidentResolved && in.ResolvedAt != nil {
			sum := alertSum(org, r.Rule, in.GroupKey, in.LastTriggeredAt)
			sum.Alert.EndedAt = in.ResolvedAt
			out = append(out, sum)
		}
	}
	for i := range r.Updated {
		add(&r.Updated[i])
	}
	for i := range r.Opened {
		add(&r.Opened[i])
	}
	return out
}

// endAlertIssues queues the end of the open incidents of a rule that goes away.
func (s *Store) endAlertIssues(ctx context.Context, tx *ent.Tx, org principal.OrgID, rule uuid.UUID) error {
	rows, err := tx.AlertIncident.Query().
		Where(alertincident.OrgID(string(org)), alertincident.RuleID(rule), alertincident.Status(IncidentOpen)).All(ctx)
	if err != nil {
		return err
	}
	now := s.stamp()
	var sums []ErrorSum
	for _, row := range rows {
		sum := alertSum(org, rule, row.GroupKey, row.LastTriggeredAt)
		sum.Alert.EndedAt = &now
		sums = append(sums, sum)
	}
	return s.queueErrorSums(ctx, tx, sums)
}

// linkAlertIncidents writes the issues of incidents into these.
func linkAlertIncidents(ctx context.Context, tx *ent.Tx, b *IssueBatch) error {
	for _, sum := range b.Sums {
		p := b.Prints[sum.Hash]
		if sum.Alert == nil || p == nil || len(sum.Alert.Opened) == 0 {
			continue
		}
		err := tx.AlertIncident.Update().Where(alertincident.OrgID(string(b.Org)), alertincident.IDIn(sum.Alert.Opened...)).
			SetErrorIssueID(publicid.Encode(publicid.ErrorIssue, p.Issue.ID)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}
