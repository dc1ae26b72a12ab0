package issues

import (
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// Fix is a proposed fix.
type Fix struct {
	Summary   string
	URL       string
	Artifacts []string
}

// Propose records a fix, takes the lease and moves the issue to in_review, on the way through in_progress where the table demands it.
func Propose(r *store.IssueRecord, fix Fix, act Act) error {
	from := r.WorkflowState
	switch {
	case from == store.IssueInReview, Allowed(from, store.IssueInReview, false):
	case Allowed(from, store.IssueInProgress, false) && Allowed(store.IssueInProgress, store.IssueInReview, false):
	default:
		return &TransitionError{From: from, To: store.IssueInReview}
	}
	if err := lease(r, &act, 0); err != nil {
		return err
	}
	payload := map[string]any{"patch_summary": fix.Summary}
	if fix.URL != "" {
		payload["pr_url"] = fix.URL
	}
	if len(fix.Artifacts) > 0 {
		payload["artifacts"] = fix.Artifacts
	}
	to := ""
	if from == store.IssueInReview {
		from = ""
	} else {
		to = store.IssueInReview
		enter(r, to, &act)
	}
	note(r, EventFixProposed, from, to, &act, payload)
	return nil
}

// Comment adds a comment, or the note of an agent.
func Comment(r *store.IssueRecord, body, visibility string, agentNote bool, act Act) {
	kind := EventComment
	if agentNote {
		kind = EventAgentNote
	}
	r.CommentCount++
	note(r, kind, "", "", &act, map[string]any{"body": body, "visibility": visibility})
	renew(r, &act)
}

// Assign names the actor that is to solve an issue.
func Assign(r *store.IssueRecord, to *uuid.UUID, act Act) {
	if same(r.AssignedActorID, to) {
		return
	}
	payload := map[string]any{"from_actor_id": text(r.AssignedActorID), "to_actor_id": text(to)}
	r.AssignedActorID = to
	note(r, EventAssigned, "", "", &act, payload)
	renew(r, &act)
}

func same(a, b *uuid.UUID) bool { return a == b || a != nil && b != nil && *a == *b }

func text(id *uuid.UUID) any {
	if id == nil {
		return nil
	}
	return publicid.Encode(publicid.Actor, *id)
}

// SetSeverity sets or clears the severity. by is the source of the choice, `ai` or `manual`. It returns false if a person's choice stays.
func SetSeverity(r *store.IssueRecord, severity *string, by string, act Act) bool {
	if by != sourceManual && r.SeveritySource != nil && *r.SeveritySource == sourceManual {
		return false
	}
	before := r.Severity
	if (before == nil) == (severity == nil) && (before == nil || *before == *severity) && r.SeveritySource != nil && *r.SeveritySource == by {
		return true
	}
	r.Severity, r.SeveritySource = severity, &by
	if severity == nil {
		r.SeveritySource = nil
	}
	note(r, EventSeverity, "", "", &act, map[string]any{"from_severity": value(before), "to_severity": value(severity), "source": by})
	renew(r, &act)
	return true
}

func value(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// SeverityBy is the source of a severity that an actor sets.
func SeverityBy(agent bool) string {
	if agent {
		return sourceAI
	}
	return sourceManual
}

// ErrMerged reports a pull request that is said not to be merged although it was.
var ErrMerged = errors.New("a merged pull request stays merged")

// Link links a pull request, or notes the state of one that is linked. links are those that the issue has. A link without a state is open
// when it is new, and otherwise changes nothing. A merge moves the issue to verifying.
func Link(r *store.IssueRecord, link store.ErrorIssuePullRequest, links []store.ErrorIssuePullRequest, act Act) error {
	at := slices.IndexFunc(links, func(l store.ErrorIssuePullRequest) bool { return l.URL == link.URL })
	if at < 0 {
		if link.State == "" {
			link.State = store.PullRequestOpen
		}
		link.LinkedByActorID = act.Actor
		r.Links = append(r.Links, link)
		pullRequests(r, link.State, 1)
		note(r, EventLinked, "", "", &act, linkPayload(&link))
	} else {
		old := links[at]
		switch {
		case link.State == "", old.State == link.State && (link.MergeCommitSha == nil || sameMerge(old.MergeCommitSha, link.MergeCommitSha)):
			if link.CheckedAt != nil || link.CheckProblem != nil { // what the host said besides
				link.ID, link.State, link.MergedAt, link.MergeCommitSha = old.ID, old.State, old.MergedAt, old.MergeCommitSha
				r.Reported = append(r.Reported, link)
			}
			renew(r, &act)
			return nil
		case old.State == store.PullRequestMerged && link.State != store.PullRequestMerged:
			return ErrMerged
		case old.State == store.PullRequestMerged:
			link.MergedAt = old.MergedAt // only its commit is new
			if Closed(r.WorkflowState) { // the fix is checked, or was given up
				link.ID = old.ID
				r.Reported = append(r.Reported, link)
				return nil
			}
		}
		link.ID = old.ID
		r.Reported = append(r.Reported, link)
		pullRequests(r, old.State, -1)
		pullRequests(r, link.State, 1)
	}
	if link.State == store.PullRequestMerged {
		merged(r, &link, act)
	}
	renew(r, &act)
	return nil
}

// linkPayload describes a new link. One that nobody made says so.
func linkPayload(link *store.ErrorIssuePullRequest) map[string]any {
	out := map[string]any{"url": link.URL}
	if link.LinkSource == LinkAuto {
		out["link_source"] = LinkAuto
	}
	return out
}

// sameMerge compares commits of a merge, of which one may be shortened.
func sameMerge(a, b *string) bool { return a != nil && b != nil && sameCommit(*a, *b) }

// pullRequests counts a pull request by its state. One that was closed counts nowhere.
func pullRequests(r *store.IssueRecord, state string, n int) {
	switch state {
	case store.PullRequestOpen:
		r.OpenPullRequestCount += n
	case store.PullRequestMerged:
		r.MergedPullRequestCount += n
	}
}

// Unlink takes a link away.
func Unlink(r *store.IssueRecord, link store.ErrorIssuePullRequest, act Act) {
	pullRequests(r, link.State, -1)
	note(r, EventUnlinked, "", "", &act, map[string]any{"url": link.URL})
	renew(r, &act)
}

// Merge notes that issues were merged into one. It keeps the most severe severity, and the occurrences of the open incidents.
func Merge(into *store.IssueRecord, from []*store.IssueRecord, public func(uuid.UUID) string, act Act) {
	var ids []string
	for _, f := range from {
		ids = append(ids, public(f.ID))
		if store.SeverityRank(f.Severity) > store.SeverityRank(into.Severity) && into.SeveritySource == nil {
			into.Severity, into.SeveritySource = f.Severity, f.SeveritySource
		}
		into.Versions = head(known(into.Versions, f.Versions))
		into.Environments = head(known(into.Environments, f.Environments))
		into.CommentCount += f.CommentCount
		if f.Incident != nil {
			resolve(f.Incident, act.At)
		}
		drop(f)
		supersede(f, act.At)
		note(f, EventMerged, "", "", &act, map[string]any{"into": public(into.ID)})
	}
	note(into, EventMerged, "", "", &act, map[string]any{"from": ids})
	renew(into, &act)
}

// Split notes that fingerprints were taken out of an issue into a new one.
func Split(from, made *store.IssueRecord, hashes []string, public func(uuid.UUID) string, act Act) {
	note(from, EventSplit, "", "", &act, map[string]any{"into": public(made.ID), "fingerprint_hashes": hashes})
	note(made, EventCreated, "", made.WorkflowState, &act, map[string]any{"split_from": public(from.ID), "fingerprint_hashes": hashes})
	renew(from, &act)
}
