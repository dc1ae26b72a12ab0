package issues

import (
	"maps"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// Apply applies sums of occurrences to the issues of an organization. Groups beyond the bounds of new and of open issues count on one issue
// a service, so that no occurrence is lost.
func Apply(b *store.IssueBatch, at time.Time) error {
	for _, sum := range b.Sums {
		p := b.Prints[sum.Hash]
		if sum.Alert != nil {
			alert(b, p, sum, at)
			continue
		}
		if p == nil && (b.New >= limits.IssuesAMinute || b.Open >= limits.OpenIssues) {
			many := *sum
			many.Hash, many.Label, many.Type, many.Frame, many.Message, many.Grouping = store.OverflowFingerprint(sum.Service), store.OverflowLabel,
				"", "", "", nil
			sum = &many
			var err error
			if p, err = b.Print(sum.Hash); err != nil {
				return err
			}
		}
		if p == nil {
			p = create(b, sum)
		}
		count(p, sum)
		occur(p.Issue, sum, at)
	}
	return nil
}

func create(b *store.IssueBatch, sum *store.ErrorSum) *store.IssuePrint {
	r := &store.IssueRecord{IsNew: true, ErrorIssue: store.ErrorIssue{
		Org: b.Org, Kind: store.IssueKindError, FingerprintHash: sum.Hash, ServiceName: sum.Service, ExceptionType: sum.Type,
		ExceptionMessage: sum.Message, ErrorLabel: sum.Label, TopFrame: sum.Frame, WorkflowState: store.IssueTriage, Priority: 3,
		FirstSeenAt: sum.First, LastSeenAt: sum.Last,
	}}
	p := &store.IssuePrint{IsNew: true, Issue: r, ErrorIssueFingerprint: store.ErrorIssueFingerprint{
		Org: b.Org, Hash: sum.Hash, ServiceName: sum.Service, ExceptionType: sum.Type, ExceptionMessage: sum.Message,
		ErrorLabel: sum.Label, TopFrame: sum.Frame, Grouping: sum.Grouping, FirstSeenAt: sum.First, LastSeenAt: sum.Last,
	}}
	b.Prints[sum.Hash] = p
	b.New++
	b.Open++
	note(r, EventCreated, "", store.IssueTriage, &Act{}, nil)
	return p
}

// count adds a sum to its fingerprint.
func count(p *store.IssuePrint, sum *store.ErrorSum) {
	p.OccurrenceCount += sum.Count
	p.EstimatedCount += sum.Weight
	if sum.First.Before(p.FirstSeenAt) {
		p.FirstSeenAt = sum.First
	}
	if !sum.Last.Before(p.LastSeenAt) {
		p.LastSeenAt, p.ExceptionMessage = sum.Last, sum.Message
	}
}

// occur adds occurrences to an issue: counts, a regression, an incident.
func occur(r *store.IssueRecord, sum *store.ErrorSum, at time.Time) {
	seen, first := r.LastSeenAt, r.IsNew && r.OccurrenceCount == 0
	r.OccurrenceCount += sum.Count
	r.EstimatedCount += sum.Weight
	if sum.First.Before(r.FirstSeenAt) {
		r.FirstSeenAt = sum.First
	}
	if !sum.Last.Before(r.LastSeenAt) {
		r.LastSeenAt = sum.Last
		if sum.Message != "" {
			r.ExceptionMessage = sum.Message
		}
	}
	r.Versions = names(r.Versions, sum.Versions)
	r.Environments = names(r.Environments, sum.Environments)
	reason := reasonFirstSeen
	if r.WorkflowState == store.IssueDone {
		version, again := regressed(r, sum)
		if !again {
			return
		}
		regress(r, version, at)
		reason = reasonRegression
	}
	switch {
	case quiet(r.WorkflowState):
		return
	case r.Incident != nil:
		r.Incident.OccurrenceCount += sum.Count
		if sum.Last.After(r.Incident.LastTriggeredAt) {
			r.Incident.LastTriggeredAt = sum.Last
		}
	case first || reason == reasonRegression || sum.Last.After(seen):
		// Late occurrences from before the last one belong to a time whose incident is over.
		r.Incident = &store.ErrorIncident{
			Status: incidentOpen, Reason: reason, FirstTriggeredAt: sum.First, LastTriggeredAt: sum.Last, OccurrenceCount: sum.Count,
		}
	}
}

// names puts the names of a sum before those that an issue has.
func names(have []string, seen map[string]time.Time) []string {
	now := slices.SortedFunc(maps.Keys(seen), func(a, b string) int {
		if c := seen[b].Compare(seen[a]); c != 0 {
			return c
		}
		return compareText(a, b)
	})
	out := slices.Clone(now)
	for _, name := range have {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	out = slices.DeleteFunc(out, func(s string) bool { return s == "" })
	return head(out)
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

func head(list []string) []string { return list[:min(len(list), limits.IssueNames)] }

// regressed says whether occurrences mean that a fix does not hold: they came after it, in a version that did not run when it was made.
// A version that ran then counts, too, when it still fails days later: else a version that never changes would hide the error for ever.
// It returns the version.
func regressed(r *store.IssueRecord, sum *store.ErrorSum) (version string, again bool) {
	if r.ResolvedAt == nil {
		return "", false
	}
	if sum.Alert != nil {
		return "", sum.Last.After(*r.ResolvedAt)
	}
	for _, v := range slices.Sorted(maps.Keys(sum.Versions)) {
		last := sum.Versions[v]
		switch {
		case !last.After(*r.ResolvedAt):
		case v != "" && checked(r): // the check knows which releases have the fix, and sees this occurrence, too
		case v == "" && last.After(r.ResolvedAt.Add(graceWithoutName)),
			v != "" && !slices.Contains(r.ResolvedVersions, v),
			v != "" && last.After(r.ResolvedAt.Add(staticVersionAfter)):
			return v, true
		}
	}
	return "", false
}

func regress(r *store.IssueRecord, version string, at time.Time) {
	payload := map[string]any{}
	if version != "" {
		payload["version"] = version
		if slices.Contains(r.ResolvedVersions, version) {
			payload["still_in"] = version
		}
	}
	enter(r, store.IssueRegressed, &Act{At: at})
	r.RegressionCount++
	r.LastRegressedAt = &at
	r.Told = false
	note(r, EventRegressed, store.IssueDone, store.IssueRegressed, &Act{}, payload)
}

// Quiet ends the incident of an issue that did not occur for a while. It returns false if there is nothing to end.
func Quiet(r *store.IssueRecord, at time.Time) bool {
	if r.Incident == nil || r.Kind == store.IssueKindAlert || at.Sub(r.Incident.LastTriggeredAt) < limits.IssueQuiet {
		return false
	}
	resolve(r.Incident, r.Incident.LastTriggeredAt.Add(limits.IssueQuiet))
	return true
}

// Archive archives an issue that was done long ago. It returns false if it is not to be archived.
func Archive(r *store.IssueRecord, at time.Time) bool {
	if r.WorkflowState != store.IssueDone || r.ArchivedAt != nil || r.ResolvedAt == nil || at.Sub(*r.ResolvedAt) < limits.IssueArchive {
		return false
	}
	r.ArchivedAt = &at
	return true
}
