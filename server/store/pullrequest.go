package store

import (
	"context"
	"time"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/errorissuepullrequest"
	"github.com/svc-observability/svc/ent/integrationconnection"
)

// makePullRequestsDue makes the links to a pull request due, in every organization that connected the account of a delivery.
func (s *Store) makePullRequestsDue(ctx context.Context, tx *ent.Tx, in NewWebhookDelivery, now time.Time) (int, error) {
	orgs, err := tx.IntegrationConnection.Query().Where(
		integrationconnection.Provider(in.Provider), integrationconnection.BaseURL(in.BaseURL), integrationconnection.ExternalID(in.Account),
	).Select(integrationconnection.FieldOrgID).Strings(ctx)
	if err != nil || len(orgs) == 0 {
		return 0, err
	}
	return tx.ErrorIssuePullRequest.Update().Where(
		errorissuepullrequest.OrgIDIn(orgs...), errorissuepullrequest.Provider(in.Provider), errorissuepullrequest.Number(in.PullRequest),
		errorissuepullrequest.RepoFullNameEqualFold(in.Repository), errorissuepullrequest.StateNEQ(PullRequestMerged),
	).SetDueAt(now).Save(ctx)
}

// DuePullRequests returns the links of a shard whose source host has to be asked, the longest due first.
func (s *Store) DuePullRequests(ctx context.Context, shard int, now time.Time, limit int) ([]ErrorIssuePullRequest, error) {
	rows, err := s.read.ErrorIssuePullRequest.Query().
		Where(errorissuepullrequest.Shard(shard), errorissuepullrequest.DueAtLTE(utc(now))).
		Order(errorissuepullrequest.ByDueAt(), errorissuepullrequest.ByID()).Limit(limit).All(ctx)
	return collect("list due pull requests", toErrorIssuePullRequest, rows, err)
}

// NotePullRequest stores what the source host said about a pull request, besides its state, and when it is asked again. A delivery that
// came or a state that was reported, since the row was read leaves the link due, and does not take the ETag of an older answer.
func (s *Store) NotePullRequest(ctx context.Context, f Fence, l ErrorIssuePullRequest, asked *time.Time) error {
	return s.fenced(ctx, "note a pull request", f, func(tx *ent.Tx) error {
		u := tx.ErrorIssuePullRequest.Update().
			Where(errorissuepullrequest.ID(l.ID), errorissuepullrequest.OrgID(string(l.Org))).
			SetNillableTitle(l.Title).SetNillableAuthorLogin(l.AuthorLogin).SetNillableCheckedAt(utcPtr(l.CheckedAt))
		setOr(l.CheckProblem, u.SetCheckProblem, u.ClearCheckProblem)
		if err := u.Exec(ctx); err != nil {
			return err
		}
		again := tx.ErrorIssuePullRequest.Update().Where(
			errorissuepullrequest.ID(l.ID), errorissuepullrequest.OrgID(string(l.Org)), errorissuepullrequest.DueAtEQ(utc(*asked)),
		)
		setOr(utcPtr(l.DueAt), again.SetDueAt, again.ClearDueAt)
		setOr(l.Etag, again.SetEtag, again.ClearEtag)
		return again.Exec(ctx)
	})
}
