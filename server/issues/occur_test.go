package issues

import (
	"fmt"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

func sum(hash string, n int64, first, last time.Time, versions ...string) *store.ErrorSum {
	s := &store.ErrorSum{
		Hash: hash, Service: "web", Type: "Oops", Message: "m", Count: n, Weight: float64(2 * n), First: first, Last: last,
		Versions: map[string]time.Time{},
	}
	for _, v := range versions {
		s.Versions[v] = last
	}
	if len(versions) == 0 {
		s.Versions[""] = last
	}
	return s
}

func batch(prints map[string]*store.IssuePrint, sums ...*store.ErrorSum) *store.IssueBatch {
	b := &store.IssueBatch{Org: "org_a", Sums: sums, Prints: prints}
	b.Print = func(hash string) (*store.IssuePrint, error) { return prints[hash], nil }
	return b
}

// TestRegressions tries occurrences after the end of an issue.
func TestRegressions(t *testing.T) {
	after := func(d time.Duration) time.Time { return start.Add(d) }
	for name, tc := range map[string]struct {
		sum   *store.ErrorSum
		again bool
	}{
		"a new version":                   {sum("1", 1, after(time.Minute), after(time.Minute), "1.2"), true},
		"an old version":                  {sum("1", 1, after(time.Hour), after(time.Hour), "1.1"), false},
		"an old and a new version":        {sum("1", 2, after(time.Hour), after(time.Hour), "1.1", "1.2"), true},
		"a late batch of a new version":   {sum("1", 1, after(-time.Hour), after(-time.Hour), "1.2"), false},
		"a version that never changes":    {sum("1", 1, after(73*time.Hour), after(73*time.Hour), "1.1"), true},
		"no version, at once":             {sum("1", 1, after(time.Minute), after(time.Minute)), false},
		"no version, after a while":       {sum("1", 1, after(6*time.Minute), after(6*time.Minute)), true},
		"no version, before it was ended": {sum("1", 1, after(-6*time.Minute), after(-6*time.Minute)), false},
	} {
		r := in(store.IssueDone)
		r.ResolvedVersions, r.FirstSeenAt, r.LastSeenAt, r.Told = []string{"1.0", "1.1"}, after(-24*time.Hour), after(-time.Hour), true
		p := &store.IssuePrint{Issue: r, ErrorIssueFingerprint: store.ErrorIssueFingerprint{
			Hash: "1", FirstSeenAt: r.FirstSeenAt,
			LastSeenAt: r.LastSeenAt,
		}}
		must(t, Apply(batch(map[string]*store.IssuePrint{"1": p}, tc.sum), after(100*time.Hour)))
		if again := r.WorkflowState == store.IssueRegressed; again != tc.again || again != (r.Incident != nil) || again == r.Told {
			t.Errorf("%s: state %s, incident %v, told %v", name, r.WorkflowState, r.Incident, r.Told)
		}
		if tc.again && (r.RegressionCount != 1 || r.Incident.Reason != "regression" || r.Events[0].Type != EventRegressed) {
			t.Errorf("%s: %+v", name, r)
		}
		if r.OccurrenceCount != tc.sum.Count || p.OccurrenceCount != tc.sum.Count {
			t.Errorf("%s: counts %d and %d", name, r.OccurrenceCount, p.OccurrenceCount)
		}
	}
}

// TestIncidents follows an issue through quiet times.
func TestIncidents(t *testing.T) {
	prints := map[string]*store.IssuePrint{}
	at := start
	apply := func(s *store.ErrorSum) *store.IssueRecord {
		must(t, Apply(batch(prints, s), at))
		r := prints[s.Hash].Issue
		r.IsNew = false
		return r
	}
	r := apply(sum("7", 3, at, at.Add(time.Second), "1.0"))
	if r.WorkflowState != store.IssueTriage || r.Incident == nil || r.Incident.Reason != "first_seen" || r.Incident.OccurrenceCount != 3 ||
		r.OccurrenceCount != 3 || r.EstimatedCount != 6 || len(r.Events) != 1 || r.Events[0].Type != EventCreated {
		t.Fatalf("a new issue: %+v", r)
	}
	if Quiet(r, at.Add(29*time.Minute)) || !Quiet(r, at.Add(31*time.Minute)) || r.Incident.Status != store.IncidentResolved {
		t.Fatalf("quiet: %+v", r.Incident)
	}
	r.Incident = nil
	if apply(sum("7", 1, at.Add(-time.Hour), at.Add(-time.Hour), "1.0")); r.Incident != nil || r.OccurrenceCount != 4 ||
		!r.FirstSeenAt.Equal(at.Add(-time.Hour)) {
		t.Fatalf("late occurrences: %+v", r)
	}
	if apply(sum("7", 2, at.Add(time.Hour), at.Add(time.Hour), "1.0")); r.Incident == nil || r.Incident.Reason != "first_seen" {
		t.Fatalf("it is back: %+v", r)
	}
	must(t, Move(r, store.IssueWontfix, Act{At: at}))
	if r.Incident.Status != store.IncidentResolved {
		t.Fatalf("the incident of an issue that nobody mends is open")
	}
	r.Incident = nil
	if apply(sum("7", 5, at.Add(2*time.Hour), at.Add(2*time.Hour), "1.0")); r.Incident != nil || r.OccurrenceCount != 11 {
		t.Fatalf("occurrences of a wontfix: %+v", r)
	}
}

// TestManyGroups sends more new groups than an organization may have in a minute. All occurrences are counted.
func TestManyGroups(t *testing.T) {
	prints := map[string]*store.IssuePrint{}
	var sums []*store.ErrorSum
	for i := range limits.IssuesAMinute + 40 {
		sums = append(sums, sum(fmt.Sprint(i), 2, start, start))
	}
	must(t, Apply(batch(prints, sums...), start))
	if len(prints) != limits.IssuesAMinute+1 {
		t.Fatalf("%d fingerprints", len(prints))
	}
	over := prints[store.OverflowFingerprint("web")]
	if over == nil || over.OccurrenceCount != 80 || over.Issue.OccurrenceCount != 80 || over.Issue.ErrorLabel != store.OverflowLabel {
		t.Fatalf("overflow: %+v", over)
	}
	total := int64(0)
	for _, p := range prints {
		total += p.Issue.OccurrenceCount
	}
	if total != int64(2*len(sums)) {
		t.Fatalf("%d of %d occurrences", total, 2*len(sums))
	}
}
