package alerting

import (
	"slices"

	"github.com/svc-observability/svc/server/store"
)

// issues returns the error issues for the incidents that an evaluation opened, at most the given number.
func (s *Shard) issues(e *evaluation, most int) []store.AlertIssue {
	var out []store.AlertIssue
	for _, c := range e.order {
		if !c.opened || len(out) >= most {
			continue
		}
		i := c.incident
		n := Notice{
			Rule: &e.rule.AlertRule, Incident: i, Event: Trigger, At: i.FirstTriggeredAt, Value: c.opening.Value,
			Samples: c.opening.Samples,
		}
		out = append(out, store.AlertIssue{
			Incident: i.ID, Service: serviceOf(&e.rule.AlertRule, i.GroupKey), Summary: s.cfg.Summary(n), Severity: issueSeverity(i.Severity),
		})
	}
	return out
}

// serviceOf is the service of a group, else the first that the rule names.
func serviceOf(r *store.AlertRule, group string) string {
	switch {
	case slices.Contains(r.ServiceNames, group), slices.Equal(r.GroupBy, []string{"service.name"}) && group != TotalGroup:
		return group
	case len(r.ServiceNames) > 0:
		return r.ServiceNames[0]
	default:
		return ""
	}
}

// issueSeverity is the severity of an issue for that of a rule.
func issueSeverity(rule string) string {
	if rule == "critical" {
		return rule
	}
	return "medium"
}
