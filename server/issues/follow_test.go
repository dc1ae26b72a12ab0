package issues

import (
	"log/slog"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// TestFollowPullRequests follows a pull request at its source host: unknown, open, closed, open again, merged.
func TestFollowPullRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bed) {
		now := time.Now().UTC().Truncate(time.Minute)
		b.send(t, occurrences(b.org, "11", 50, now.Add(-2*time.Hour)))
		b.step(t, b.org)
		issue := b.list(t, b.org, store.IssueFilter{})[0].ID
		_, err := b.ChangeLinkedErrorIssue(t.Context(), b.org, issue, func(r *store.IssueRecord, links []store.ErrorIssuePullRequest) error {
			return Link(r, store.ErrorIssuePullRequest{
				Provider: "github", RepoFullName: "shop/web", Number: 7, URL: "https://github.com/shop/web/pull/7", LinkSource: "agent",
			}, links, Act{At: now})
		})
		must(t, err)
		s := &script{org: b.org}
		c := NewChecker(CheckConfig{
			Store: b.Store, Telemetry: s, Code: s, Teller: b.teller, Events: testEvents, Logger: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return now },
		})
		shard := c.Shard(b.fences[place{store.WorkIssueChecks, store.ShardOf(store.WorkIssueChecks, string(b.org))}])
		// look moves the clock and steps. It returns the link.
		look := func(after time.Duration) store.ErrorIssuePullRequest {
			t.Helper()
			now = now.Add(after)
			_, err := shard.Step(t.Context())
			must(t, err)
			links, err := b.ListErrorIssuePullRequests(t.Context(), b.org, issue, 10)
			must(t, err)
			if len(links) != 1 {
				t.Fatalf("links: %+v", links)
			}
			return links[0]
		}
		counts := func(open, merged int) store.ErrorIssue {
			t.Helper()
			i, err := b.GetErrorIssue(t.Context(), b.org, issue)
			must(t, err)
			if i.OpenPullRequestCount != open || i.MergedPullRequestCount != merged {
				t.Errorf("%d open, %d merged; want %d and %d", i.OpenPullRequestCount, i.MergedPullRequestCount, open, merged)
			}
			return i
		}
		due := func(l store.ErrorIssuePullRequest, in time.Duration) {
			t.Helper()
			if l.DueAt == nil || !l.DueAt.Equal(now.Add(in)) {
				t.Errorf("due at %v, want %s after %s", l.DueAt, in, now)
			}
		}

		l := look(time.Minute)
		if l.State != "open" || l.CheckProblem == nil || l.CheckedAt != nil {
			t.Errorf("without an account: %+v", l)
		}
		due(l, limits.PullRequestEvery)
		s.pull = PullRequest{State: "open", Title: "Round the total", Author: "ada", Etag: "1"}
		if l = look(time.Minute); l.Title != nil {
			t.Errorf("it was asked before it was due: %+v", l)
		}
		if l = look(limits.PullRequestEvery); l.CheckProblem != nil || l.CheckedAt == nil || l.Title == nil || *l.Title != "Round the total" ||
			*l.Etag != "1" {
			t.Errorf("open: %+v", l)
		}
		due(l, limits.PullRequestEvery)
		counts(1, 0)

		s.pull.State = "closed"
		look(limits.PullRequestEvery)
		l = look(0)
		counts(0, 0)
		due(l, limits.PullRequestClosed)
		s.pull.State = "open"
		look(limits.PullRequestClosed)
		counts(1, 0)

		s.pull.State, s.pull.MergedAt, s.pull.MergeCommit = "merged", now, merge
		l = look(limits.PullRequestEvery)
		if l.State != "merged" || l.DueAt != nil || *l.MergeCommitSha != merge || !l.MergedAt.Equal(s.pull.MergedAt) {
			t.Errorf("merged: %+v", l)
		}
		if i := counts(0, 1); i.WorkflowState != store.IssueVerifying || i.OpenVerificationID == nil {
			t.Errorf("after the merge: %s", i.WorkflowState)
		}
		events, err := b.ListErrorIssueEvents(t.Context(), b.org, issue, 0, 100)
		must(t, err)
		merges := 0
		for _, e := range events {
			if e.Type == EventPullMerged {
				merges++
			}
		}
		look(limits.PullRequestEvery)
		if merges != 1 {
			t.Errorf("%d events of the merge", merges)
		}
	})
}
