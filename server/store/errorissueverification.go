package store

import (
	"context"
	"maps"
	"slices"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/errorissuepullrequest"
	"github.com/svc-observability/svc/ent/errorissueverification"
	"github.com/svc-observability/svc/server/principal"
)

// States of the check of a fix.
const (
	VerificationWaiting      = "waiting"
	VerificationRunning      = "running"
	VerificationVerified     = "verified"
	VerificationNotFixed     = "not_fixed"
	VerificationInconclusive = "inconclusive"
	VerificationAbandoned    = "abandoned"
)

// States of a pull request.
const (
	PullRequestOpen   = "open"
	PullRequestMerged = "merged"
	PullRequestClosed = "closed"
)

// loadVerifications reads the open checks of issues, which are given by the id of the check.
func loadVerifications(ctx context.Context, tx *ent.Tx, org principal.OrgID, of map[uuid.UUID]*IssueRecord) error {
	if len(of) == 0 {
		return nil
	}
	rows, err := tx.ErrorIssueVerification.Query().Where(
		errorissueverification.OrgID(string(org)), errorissueverification.IDIn(slices.Collect(maps.Keys(of))...),
	).All(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		v := toErrorIssueVerification(row)
		of[row.ID].Verification = &v
	}
	return nil
}

// saveVerifications writes the check of a record and the next one. The issue must exist.
func (s *Store) saveVerifications(ctx context.Context, tx *ent.Tx, r *IssueRecord) error {
	r.OpenVerificationID = nil
	if v := r.Verification; v != nil {
		if err := updateVerification(ctx, tx, v); err != nil {
			return err
		}
		if v.EndedAt == nil {
			r.OpenVerificationID = &v.ID
		}
	}
	if r.Next == nil {
		return nil
	}
	r.Next.Org, r.Next.IssueID, r.Next.Shard = r.Org, r.ID, ShardOf(WorkIssueChecks, string(r.Org))
	made, err := s.insertErrorIssueVerification(ctx, tx, *r.Next)
	if err != nil {
		return err
	}
	r.OpenVerificationID, r.Verification, r.Next = &made.ID, &made, nil
	return nil
}

// updateVerification writes a check that has not ended. One that has ended stays as it is.
func updateVerification(ctx context.Context, tx *ent.Tx, v *ErrorIssueVerification) error {
	u := tx.ErrorIssueVerification.Update().
		Where(errorissueverification.ID(v.ID), errorissueverification.OrgID(string(v.Org)), errorissueverification.EndedAtIsNil()).
		SetStatus(v.Status).SetNillableReason(v.Reason).SetNillableCheckedAt(utcPtr(v.CheckedAt)).SetNillableEndedAt(utcPtr(v.EndedAt))
	setOr(utcPtr(v.DeployedAt), u.SetDeployedAt, u.ClearDeployedAt)
	setOr(utcPtr(v.DueAt), u.SetDueAt, u.ClearDueAt)
	if len(v.Figures) > 0 {
		u.SetFigures(v.Figures)
	}
	return u.Exec(ctx)
}

// NoteVerification writes the figures of a check that goes on, and when it is due again, under the lease of its shard.
func (s *Store) NoteVerification(ctx context.Context, f Fence, v ErrorIssueVerification) error {
	return s.fenced(ctx, "note a verification", f, func(tx *ent.Tx) error { return updateVerification(ctx, tx, &v) })
}

// DueVerifications returns the checks of a shard whose next look at telemetry is due, the longest due first.
func (s *Store) DueVerifications(ctx context.Context, shard int, now time.Time, limit int) ([]ErrorIssueVerification, error) {
	rows, err := s.read.ErrorIssueVerification.Query().
		Where(errorissueverification.Shard(shard), errorissueverification.DueAtLTE(utc(now))).
		Order(errorissueverification.ByDueAt(), errorissueverification.ByID()).Limit(limit).All(ctx)
	return collect("list due verifications", toErrorIssueVerification, rows, err)
}

// ListErrorIssueVerifications returns the checks of an issue, the newest first.
func (s *Store) ListErrorIssueVerifications(
	ctx context.Context, org principal.OrgID, issue uuid.UUID, limit int,
) ([]ErrorIssueVerification, error) {
	rows, err := s.read.ErrorIssueVerification.Query().
		Where(errorissueverification.OrgID(string(org)), errorissueverification.IssueID(issue)).
		Order(errorissueverification.ByID(entsql.OrderDesc())).Limit(limit).All(ctx)
	return collect("list verifications", toErrorIssueVerification, rows, err)
}

// ChangeLinkedErrorIssue is ChangeErrorIssue for a change that needs the pull requests of the issue.
func (s *Store) ChangeLinkedErrorIssue(
	ctx context.Context, org principal.OrgID, id uuid.UUID, change func(*IssueRecord, []ErrorIssuePullRequest) error,
) (ErrorIssue, error) {
	return s.changeLinked(ctx, org, id, nil, change)
}

// LinkErrorIssue is ChangeLinkedErrorIssue for a link that no person made. The pull request has the addresses, of now and of before. It
// returns ErrUnlinked if somebody has taken it off the issue, or off one that was merged into it.
func (s *Store) LinkErrorIssue(
	ctx context.Context, org principal.OrgID, id uuid.UUID, addresses []string, change func(*IssueRecord, []ErrorIssuePullRequest) error,
) (ErrorIssue, error) {
	return s.changeLinked(ctx, org, id, func(tx *ent.Tx) error {
		off, err := wasUnlinked(ctx, tx, org, id, addresses)
		if err == nil && off {
			err = ErrUnlinked
		}
		return err
	}, change)
}

// changeLinked holds the issue while it asks whether it may, so nobody takes a link off meanwhile.
func (s *Store) changeLinked(
	ctx context.Context, org principal.OrgID, id uuid.UUID, may func(*ent.Tx) error, change func(*IssueRecord, []ErrorIssuePullRequest) error,
) (out ErrorIssue, err error) {
	err = s.tx(ctx, "change an error issue and its links", func(tx *ent.Tx) error {
		records, err := s.loadIssues(ctx, tx, org, []uuid.UUID{id})
		if err != nil {
			return err
		}
		r := records[id]
		if r == nil {
			return &ent.NotFoundError{}
		}
		rows, err := tx.ErrorIssuePullRequest.Query().
			Where(errorissuepullrequest.OrgID(string(org)), errorissuepullrequest.IssueID(id)).
			Order(errorissuepullrequest.ByID(entsql.OrderDesc())).All(ctx)
		if err != nil {
			return err
		}
		links := make([]ErrorIssuePullRequest, len(rows))
		for i, row := range rows {
			links[i] = toErrorIssuePullRequest(row)
		}
		if err := change(r, links); err != nil {
			return err
		}
		if may != nil {
			if err := may(tx); err != nil {
				return err
			}
		}
		if err := s.saveIssue(ctx, tx, r); err != nil {
			return err
		}
		out = r.ErrorIssue
		return nil
	})
	return out, err
}

// reportPullRequest writes the state of a link. The source host is asked about one that is not merged.
func (s *Store) reportPullRequest(ctx context.Context, tx *ent.Tx, org principal.OrgID, l *ErrorIssuePullRequest) error {
	u := tx.ErrorIssuePullRequest.Update().
		Where(errorissuepullrequest.ID(l.ID), errorissuepullrequest.OrgID(string(org))).SetState(l.State)
	setOr(utcPtr(l.MergedAt), u.SetMergedAt, u.ClearMergedAt)
	setOr(l.MergeCommitSha, u.SetMergeCommitSha, u.ClearMergeCommitSha)
	setOr(l.Etag, u.SetEtag, u.ClearEtag) // of the answer that has this state
	setOr(l.CheckProblem, u.SetCheckProblem, u.ClearCheckProblem)
	u.SetNillableTitle(l.Title).SetNillableAuthorLogin(l.AuthorLogin).SetNillableCheckedAt(utcPtr(l.CheckedAt))
	if l.State == PullRequestMerged && l.CheckedAt != nil {
		u.ClearDueAt()
	} else {
		u.SetDueAt(s.stamp())
	}
	return u.Exec(ctx)
}
