package issues

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Code reads pull requests and commits at the source hosts that an organization has connected.
type Code interface {
	// PullRequest reads a linked pull request. Its error is an *Unreadable, or one of the store.
	PullRequest(ctx context.Context, org principal.OrgID, link *store.ErrorIssuePullRequest) (PullRequest, error)
	// Contains says of revisions whether they contain a commit of the repository of a pull request. It leaves out those that the host does not
	// know. Its error is an *Unreadable, or one of the store; then some answers are missing that the host may give later.
	Contains(ctx context.Context, org principal.OrgID, link *store.ErrorIssuePullRequest, commit string, revisions []string) (
		map[string]bool, error)
}

// PullRequest is a pull request as its host describes it. If Unchanged, nothing changed since the link's Etag, and the rest is empty.
type PullRequest struct {
	Unchanged                  bool
	State, Title, Author, Etag string
	MergedAt                   time.Time
	MergeCommit                string
}

// Unreadable is the reason why a pull request cannot be read.
type Unreadable struct {
	Text string
	// Again is the time before the next attempt.
	Again time.Duration
}

func (u *Unreadable) Error() string { return u.Text }

// Told writes the answer of its host into a link. It reports whether the state, or the commit of the merge, is new.
func Told(link *store.ErrorIssuePullRequest, said PullRequest, at time.Time) bool {
	link.CheckedAt, link.CheckProblem = &at, nil
	if said.Unchanged {
		return false
	}
	old := *link
	link.Title, link.AuthorLogin, link.Etag, link.State = &said.Title, &said.Author, &said.Etag, said.State
	if said.State == store.PullRequestMerged {
		link.MergedAt, link.MergeCommitSha = &said.MergedAt, nil
		if said.MergeCommit != "" {
			link.MergeCommitSha = &said.MergeCommit
		}
	}
	return old.State != link.State || link.MergeCommitSha != nil && !sameMerge(old.MergeCommitSha, link.MergeCommitSha)
}

// Schedule sets the time at which the host of a link is asked again; nil for never. With a problem, it notes the reason. A merge that was
// reported while the host did not answer is asked about until its deployment is given up.
func Schedule(link *store.ErrorIssuePullRequest, problem *Unreadable, now time.Time) {
	pause := limits.PullRequestEvery
	if link.State == store.PullRequestClosed {
		pause = limits.PullRequestClosed // it may be opened again
	}
	if problem != nil {
		link.CheckProblem = &problem.Text
		pause = max(pause, problem.Again)
	}
	if link.State == store.PullRequestMerged && (problem == nil || link.MergedAt == nil || now.Sub(*link.MergedAt) > limits.IssueDeployWait) {
		link.DueAt = nil
		return
	}
	next := now.Add(pause)
	link.DueAt = &next
}

// followPullRequests asks source hosts about the links of the shard that are due. One that cannot be read delays itself only.
func (s *CheckShard) followPullRequests(ctx context.Context, now time.Time) error {
	due, err := s.cfg.Store.DuePullRequests(ctx, s.fence.Number, now, limits.PullRequestRows)
	if err != nil {
		return err
	}
	for i := range due {
		if s.cfg.Now().Sub(now) > limits.PullRequestLook {
			return nil // the rest is still due
		}
		if err := s.followPullRequest(ctx, &due[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *CheckShard) followPullRequest(ctx context.Context, link *store.ErrorIssuePullRequest) error {
	asked := link.DueAt
	call, cancel := context.WithTimeout(ctx, limits.PullRequestTime)
	said, err := s.cfg.Code.PullRequest(call, link.Org, link)
	cancel()
	now := s.cfg.Now().UTC()
	var problem *Unreadable
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &problem):
	case err != nil:
		s.cfg.Logger.Warn("a pull request could not be read; svc tries again", "organization", link.Org, "link", link.ID, "error", err)
		problem = &Unreadable{Text: "The server could not read the pull request."}
	case Told(link, said, now):
		if found, err := s.report(ctx, *link, now); err != nil || !found {
			return err // moved to another issue: it is still due there
		}
	}
	Schedule(link, problem, now)
	return s.cfg.Store.NotePullRequest(ctx, s.fence, *link, asked)
}

// report notes the state of a pull request at its issue. A merge begins the check of the fix. found is false if the issue no longer has the
// link.
func (s *CheckShard) report(ctx context.Context, link store.ErrorIssuePullRequest, now time.Time) (found bool, err error) {
	_, err = s.cfg.Store.ChangeLinkedErrorIssue(ctx, link.Org, link.IssueID,
		func(r *store.IssueRecord, links []store.ErrorIssuePullRequest) error {
			found = slices.ContainsFunc(links, func(l store.ErrorIssuePullRequest) bool { return l.ID == link.ID })
			if !found {
				return nil
			}
			return Link(r, link, links, Act{At: now})
		})
	switch {
	case errors.Is(err, ErrMerged): // somebody reported the merge earlier than the host shows it
		return true, nil
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	}
	return found, err
}

// contained asks the source host which releases contain the commit of a fix, of those whose commits differ from it and that ran after it. A
// host that may answer later delays the check, so that no verdict rests on an answer that is missing for a moment.
func (c *Checker) contained(ctx context.Context, v *store.ErrorIssueVerification, f *fix, all []ServiceRelease) error {
	if v.URL == nil || f.commit == "" {
		return nil
	}
	var revisions []string
	for _, r := range slices.Backward(all) {
		if r.Commit != "" && f.concerns(r.Environment) && !sameCommit(f.commit, r.Commit) && !r.Last.Before(v.FixedAt) &&
			!slices.Contains(revisions, r.Commit) {
			revisions = append(revisions, r.Commit)
		}
	}
	if len(revisions) == 0 {
		return nil
	}
	links, err := c.cfg.Store.ListErrorIssuePullRequests(ctx, v.Org, v.IssueID, limits.IssueLinks)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(links, func(l store.ErrorIssuePullRequest) bool { return l.URL == *v.URL })
	if at < 0 {
		return nil
	}
	call, cancel := context.WithTimeout(ctx, limits.PullRequestTime)
	defer cancel()
	f.host, err = c.cfg.Code.Contains(call, v.Org, &links[at], f.commit, revisions)
	if err != nil && c.cfg.Now().Sub(v.StartedAt) < limits.IssueVerdictMost {
		return fmt.Errorf("ask which releases contain the fix: %w", err)
	}
	return ctx.Err()
}
