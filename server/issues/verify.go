package issues

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// begin makes the check of a fix the next one of an issue. A check that has not ended is replaced by it.
func begin(r *store.IssueRecord, next store.ErrorIssueVerification, at time.Time) {
	supersede(r, at)
	next.Attempt, next.Status, next.DueAt = max(next.Attempt, 1), store.VerificationWaiting, &at
	r.Next = &next
}

// supersede ends the check of a fix when something else decides.
func supersede(r *store.IssueRecord, at time.Time) {
	if r.Verification != nil && r.Verification.EndedAt == nil {
		finish(r.Verification, store.VerificationAbandoned, reasonSuperseded, at)
	}
	r.Next = nil
}

func finish(v *store.ErrorIssueVerification, status, reason string, at time.Time) {
	v.Status, v.EndedAt, v.DueAt = status, &at, nil
	if reason != "" {
		v.Reason = &reason
	}
}

// checked says whether the check of a fix decides about regressions in named versions.
func checked(r *store.IssueRecord) bool {
	return r.Verification != nil && r.Verification.EndedAt == nil
}

// Await begins the check of a fix that was named with a move to done, by its version, its commit, or both.
func Await(r *store.IssueRecord, version, commit *string, act Act) {
	begin(r, store.ErrorIssueVerification{Version: version, Commit: commit, FixedAt: act.At, StartedAt: act.At}, act.At)
	note(r, EventVerifying, "", "", &Act{Actor: act.Actor}, fixPayload(r.Next))
}

// merged moves an issue to verifying when one of its pull requests is merged. An issue that is set aside stays there.
func merged(r *store.IssueRecord, link *store.ErrorIssuePullRequest, act Act) {
	payload := map[string]any{"url": link.URL, "merged_at": link.MergedAt.UTC().Format(time.RFC3339)}
	if link.MergeCommitSha != nil {
		payload["merge_commit_sha"] = *link.MergeCommitSha
	}
	note(r, EventPullMerged, "", "", &act, payload)
	if quiet(r.WorkflowState) {
		return
	}
	from, to := r.WorkflowState, store.IssueVerifying
	if from == to {
		from, to = "", ""
	} else {
		enter(r, to, &act)
	}
	begin(r, store.ErrorIssueVerification{
		URL: &link.URL, Commit: link.MergeCommitSha, FixedAt: *link.MergedAt, StartedAt: *link.MergedAt,
	}, act.At)
	note(r, EventVerifying, from, to, &Act{}, fixPayload(r.Next))
}

func fixPayload(v *store.ErrorIssueVerification) map[string]any {
	out := map[string]any{"attempt": v.Attempt}
	for name, value := range map[string]*string{"url": v.URL, "commit_sha": v.Commit, "version": v.Version} {
		if value != nil {
			out[name] = *value
		}
	}
	return out
}

// outcome is the end of a check.
type outcome struct {
	status, reason string
	figures        Figures
	// without are the versions that ran and do not have the fix.
	without []string
}

// conclude ends the check of a fix: its verdict is an event, and moves the issue. It reports whether the fix does not hold.
func conclude(r *store.IssueRecord, o outcome, at time.Time) (broken bool, err error) {
	v := r.Verification
	if v.Figures, err = json.Marshal(o.figures); err != nil {
		return false, err
	}
	again := o.status == store.VerificationInconclusive && v.Attempt < limits.IssueVerdictAttempts
	status := o.status
	if status == store.VerificationInconclusive && !again {
		status = store.VerificationAbandoned
	}
	v.CheckedAt = &at
	finish(v, status, o.reason, at)
	from, act := r.WorkflowState, &Act{At: at}
	to := verdictState(r, status)
	payload := verdictPayload(v, &o)
	if status == store.VerificationVerified && from == store.IssueVerifying && to == "" {
		payload["stays"] = "a person decides, because the severity is " + *r.Severity
	}
	if to == "" {
		from = ""
	} else {
		enter(r, to, act)
	}
	note(r, EventVerdict, from, to, act, payload)
	switch {
	case status == store.VerificationVerified && r.WorkflowState == store.IssueDone:
		r.ResolvedVersions = without(known(o.without, r.ResolvedVersions), o.figures.Releases)
	case status == store.VerificationNotFixed && r.WorkflowState == store.IssueDone:
		regress(r, failing(o.figures.Releases), at)
	case again:
		next := store.ErrorIssueVerification{
			Attempt: v.Attempt + 1, URL: v.URL, Commit: v.Commit, Version: v.Version, FixedAt: v.FixedAt, StartedAt: at,
		}
		begin(r, next, at)
		note(r, EventVerifying, "", "", act, fixPayload(r.Next))
	}
	return status == store.VerificationNotFixed, nil
}

// verdictState is the state that a verdict moves an issue to; empty for none.
func verdictState(r *store.IssueRecord, status string) string {
	if r.WorkflowState != store.IssueVerifying {
		return ""
	}
	switch status {
	case store.VerificationVerified:
		if store.SeverityRank(r.Severity) <= mediumRank {
			return store.IssueDone
		}
	case store.VerificationNotFixed:
		return store.IssueTodo
	case store.VerificationAbandoned:
		return store.IssueInReview
	}
	return ""
}

// mediumRank is the rank of the most severe issues that a verified fix closes.
const mediumRank = 2

func verdictPayload(v *store.ErrorIssueVerification, o *outcome) map[string]any {
	verdict := v.Status
	if verdict == store.VerificationAbandoned {
		verdict = store.VerificationInconclusive
	}
	out := fixPayload(v)
	out["verdict"], out["status"] = verdict, v.Status
	if o.reason != "" {
		out["reason"] = o.reason
	}
	if o.figures.DeployedBy == "" {
		return out
	}
	var versions []string
	for _, r := range o.figures.Releases {
		versions = append(versions, r.Version)
	}
	out["deployed_by"], out["versions"] = o.figures.DeployedBy, known(versions)
	out["estimated_span_count"], out["span_share"] = o.figures.Spans, o.figures.Share
	out["expected_occurrence_count"], out["occurrence_count"] = o.figures.Expected, o.figures.Occurrences
	out["other_occurrence_count"] = o.figures.Others
	return out
}

// without leaves versions with the fix out: an occurrence in them is a regression at once.
func without(versions []string, fixed []FixedRelease) []string {
	return slices.DeleteFunc(slices.Clone(versions), func(v string) bool {
		return slices.ContainsFunc(fixed, func(r FixedRelease) bool { return r.Version == v })
	})
}

// failing is the version with the fix that has most occurrences.
func failing(fixed []FixedRelease) string {
	version, most := "", 0.0
	for _, r := range fixed {
		if r.Occurrences > most {
			version, most = r.Version, r.Occurrences
		}
	}
	return version
}
