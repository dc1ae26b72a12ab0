package issues

import (
	"encoding/json"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// sourceDetector is the source of a severity that a rule gives.
const sourceDetector = "detector"

// alert applies incidents of an alert rule to the issue of its group. An incident that opens is an occurrence; when it ends, that of the
// issue ends, too. Issues of alerts send no news: the rule does that. Beyond the bounds of issues, an alert has none.
func alert(b *store.IssueBatch, p *store.IssuePrint, sum *store.ErrorSum, at time.Time) {
	if p == nil {
		if sum.Count == 0 || b.New >= limits.IssuesAMinute || b.Open >= limits.OpenIssues {
			return
		}
		p = create(b, sum)
		// A map of texts has always a JSON form.
		ref, _ := json.Marshal(map[string]string{"alert_rule_id": sum.Alert.Rule, "group_key": sum.Alert.Group})
		p.Issue.Kind, p.Issue.SourceRef, p.Issue.Told = store.IssueKindAlert, ref, true
	}
	r := p.Issue
	if sum.Count > 0 {
		count(p, sum)
		occur(r, sum, at)
		if r.Kind == store.IssueKindAlert {
			r.Told = true // also when it is back
		}
		if r.SeveritySource == nil || *r.SeveritySource == sourceDetector {
			severity, by := sum.Alert.Severity, sourceDetector
			r.Severity, r.SeveritySource = &severity, &by
		}
	}
	if sum.Last.After(r.LastSeenAt) {
		r.LastSeenAt = sum.Last
	}
	if sum.Alert.EndedAt != nil && r.Incident != nil && r.Kind == store.IssueKindAlert {
		resolve(r.Incident, *sum.Alert.EndedAt)
	}
}
