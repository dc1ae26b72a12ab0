package issues

import (
	"context"
	"errors"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Code reads pull requests and commits at the source hosts that an organization has connected.
type Code interface {
	// PullRequest reads a linked pull request. Its error is an *Unreadable, or one of the store.
	PullRequest(ctx context.Context, org principal.OrgID, link *store.ErrorIssuePullRequest) (PullRequest, error)
	// Contains reports whether a revision contains a commit of the repository of a pull request. known is false if the host does not tell.
	Contains(ctx context.Context, org principal.OrgID, link *store.ErrorIssuePullRequest, revision, commit string) (contains, known bool)
}

// PullRequest is a pull request as its host describes it. If Unchanged, nothing changed since the link's Etag, and the rest is empty.
type PullRequest struct {
	Unchanged                  bool
	State, Title, Author, Etag string
	MergedAt                   time.Time
	MergeCommit                string
}

// Unreadable says why a pull request cannot be read, and when it is worth to try again.
type Unreadable struct {
	Text  string
	Again time.Duration
}

func (u *Unreadable) Error() string { return u.Text }

// Told writes into a link what its host said. It reports whether the state, or the commit of the merge, is new.
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
	return old.State != link.State || link.MergeCommitSha != nil && !sameText(old.MergeCommitSha, link.MergeCommitSha)
}

// Untold writes into a link why its host did not say anything.
func Untold(link *store.ErrorIssuePullRequest, problem *Unreadable) {
	link.CheckProblem = &problem.Text
}

// Again is the time at which the host of a link is asked again; nil for never.
func Again(link *store.ErrorIssuePullRequest, problem *Unreadable, now time.Time) *time.Time {
	pause := limits.PullRequestEvery
	switch {
	case link.State == store.PullRequestMerged:
		return nil
	case problem != nil:
		pause = max(pause, problem.Again)
	case link.State == store.PullRequestClosed:
		pause = limits.PullRequestClosed // it may be opened again
	}
	next := now.Add(pause)
	return &next
}

// followPullRequests asks source hosts about the links of the shard that are due. One that cannot be read delays itself only.
func (s *CheckShard) followPullRequests(ctx context.Context, now time.Time) error {
	due, err := s.cfg.Store.DuePullRequests(ctx, s.fence.Number, now, limits.PullRequestRows)
	if err != nil {
		return err
	}
	for i := range due {
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
		Untold(link, problem)
	case err != nil:
		return err
	case Told(link, said, now):
		err := s.report(ctx, *link, now)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	link.DueAt = Again(link, problem, now)
	return s.cfg.Store.NotePullRequest(ctx, s.fence, *link, asked)
}

// report notes the state of a pull request at its issue. A merge begins the check of the fix.
func (s *CheckShard) report(ctx context.Context, link store.ErrorIssuePullRequest, now time.Time) error {
	_, err := s.cfg.Store.ChangeLinkedErrorIssue(ctx, link.Org, link.IssueID,
		func(r *store.IssueRecord, links []store.ErrorIssuePullRequest) error {
			for _, l := range links {
				if l.ID == link.ID {
					return Link(r, link, links, Act{At: now})
				}
			}
			return nil // unlinked meanwhile
		})
	if errors.Is(err, ErrMerged) {
		return nil // somebody reported the merge earlier than the host shows it
	}
	return err
}

// contained asks the source host which releases contain the commit of a fix, of those whose commits differ from it.
func (c *Checker) contained(ctx context.Context, v *store.ErrorIssueVerification, f *fix, all []ServiceRelease) error {
	if v.URL == nil || f.commit == "" {
		return nil
	}
	links, err := c.cfg.Store.ListErrorIssuePullRequests(ctx, v.Org, v.IssueID, limits.IssueLinks)
	if err != nil {
		return err
	}
	for i := range links {
		if links[i].URL != *v.URL {
			continue
		}
		call, cancel := context.WithTimeout(ctx, limits.PullRequestTime)
		defer cancel()
		for _, r := range all {
			if r.Commit == "" || !f.concerns(r.Environment) || sameCommit(f.commit, r.Commit) {
				continue
			}
			if _, asked := f.host[r.Commit]; asked {
				continue
			}
			if has, known := c.cfg.Code.Contains(call, v.Org, &links[i], r.Commit, f.commit); known {
				f.host[r.Commit] = has
			}
		}
	}
	return ctx.Err()
}
