package issues

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/store"
)

func opened(at time.Time, severity string) *store.ErrorSum {
	return &store.ErrorSum{
		Org: "org_a", Hash: "alert:alrt_1:web", Service: "web", Type: "Too slow", Label: "Too slow", Message: "p95 latency is 3 s", Count: 1,
		Weight: 1,
		First:  at, Last: at, Alert: &store.AlertSum{Rule: "alrt_1", Group: "web", Severity: severity, Opened: []uuid.UUID{uuid.New()}},
	}
}

func ended(at time.Time) *store.ErrorSum {
	return &store.ErrorSum{
		Org: "org_a", Hash: "alert:alrt_1:web", First: at.Add(-time.Minute), Last: at.Add(-time.Minute),
		Alert: &store.AlertSum{Rule: "alrt_1", Group: "web", EndedAt: &at},
	}
}

// TestAlertIssue follows the issue of an alert through two incidents, a person who closes it, and a third.
func TestAlertIssue(t *testing.T) {
	prints := map[string]*store.IssuePrint{}
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	apply := func(now time.Time, sums ...*store.ErrorSum) *store.IssueRecord {
		t.Helper()
		must(t, Apply(batch(prints, sums...), now))
		p := prints["alert:alrt_1:web"]
		if p == nil {
			return nil
		}
		r := p.Issue
		r.IsNew, r.Events = false, nil
		if r.Incident != nil && r.Incident.Status != incidentOpen {
			r.Incident = nil // the store does so
		}
		return r
	}
	if r := apply(at(0), ended(at(0))); r != nil {
		t.Fatalf("an end without a beginning made %+v", r)
	}
	r := apply(at(1), opened(at(1), "critical"))
	if r.Kind != store.IssueKindAlert || r.ServiceName != "web" || r.ExceptionType != "Too slow" ||
		r.ExceptionMessage != "p95 latency is 3 s" ||
		*r.Severity != "critical" || *r.SeveritySource != "detector" || !r.Told || r.Incident == nil || r.OccurrenceCount != 1 ||
		string(r.SourceRef) != `{"alert_rule_id":"alrt_1","group_key":"web"}` {
		t.Fatalf("opened: %+v", r)
	}
	if Quiet(r, at(100)) {
		t.Error("an incident of an alert that still fires ended by itself")
	}
	if r = apply(at(100), ended(at(99))); r.Incident != nil || r.WorkflowState != store.IssueTriage || !r.LastSeenAt.Equal(at(98)) {
		t.Errorf("ended: %+v", r)
	}
	critical := "critical"
	r.Severity, r.SeveritySource = &critical, new(sourceManual)
	if r = apply(at(120), opened(at(110), "medium"), ended(at(115))); r.Incident != nil || r.OccurrenceCount != 2 ||
		*r.Severity != "critical" {
		t.Errorf("a short incident: %+v", r)
	}
	must(t, Move(r, store.IssueDone, Act{At: at(130)}))
	if r = apply(at(140), opened(at(125), "medium")); r.WorkflowState != store.IssueDone || r.Incident != nil {
		t.Errorf("an incident from before it was done: %+v", r)
	}
	if r = apply(at(150), opened(at(150), "medium")); r.WorkflowState != store.IssueRegressed || r.Incident == nil || !r.Told {
		t.Errorf("it is back: %+v", r)
	}
}

// TestAlertSums joins the sums of one batch: the last state counts, and the facts of an opening stay.
func TestAlertSums(t *testing.T) {
	for name, tc := range map[string]struct {
		sums  []*store.ErrorSum
		count int64
		ended bool
	}{
		"opened, ended": {[]*store.ErrorSum{opened(start, "medium"), ended(start.Add(5 * time.Minute))}, 1, true},
		"ended, opened": {[]*store.ErrorSum{ended(start.Add(-time.Hour)), opened(start, "medium")}, 1, false},
		"opened, ended, opened": {
			[]*store.ErrorSum{opened(start.Add(-time.Hour), "critical"), ended(start.Add(-30 * time.Minute)), opened(start, "medium")}, 2, false,
		},
	} {
		sum := tc.sums[0]
		for _, next := range tc.sums[1:] {
			sum.Add(next)
		}
		if sum.Count != tc.count || (sum.Alert.EndedAt != nil) != tc.ended || sum.Message == "" || sum.Service != "web" ||
			sum.Alert.Severity != "medium" || len(sum.Alert.Opened) != int(tc.count) {
			t.Errorf("%s: %+v %+v", name, sum, sum.Alert)
		}
	}
}
