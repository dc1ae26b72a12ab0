package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/source/gittest"
)

// TestPullRequests: the list has the texts of the pull requests. With the ETag of an unchanged list, the host answers without a list.
func TestPullRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bench, git *gittest.Repository) {
		ctx := t.Context()
		git.Branch(t, "feature/x")
		git.Commit(t, "Round\n\nto cents", map[string]string{"price.go": "package shop\n"})
		head := git.Commit(t, "Test it", nil)
		git.Git(t, "checkout", "-q", "main")
		list := func(l source.PullRequestList) source.PullRequestPage {
			t.Helper()
			if l.Limit == 0 {
				l.Limit = 10
			}
			return must[source.PullRequestPage](t)(b.host.PullRequests(ctx, repo, l))
		}
		if got := list(source.PullRequestList{}); len(got.List) != 0 || got.Unchanged {
			t.Errorf("without pull requests: %+v", got)
		}
		before := time.Now().Add(-time.Minute)
		b.propose("feature/x")
		first := list(source.PullRequestList{Since: before})
		if len(first.List) != 1 {
			t.Fatalf("the list: %+v", first)
		}
		p := first.List[0]
		if p.Number != 1 || p.State != "open" || p.Title != "Round prices" || p.Branch != "feature/x" || p.Head != head || p.Body != "" ||
			p.Foreign ||
			p.AuthorLogin != "ada" || p.HTMLURL == "" || p.UpdatedAt.Before(before) {
			t.Errorf("open: %+v", p)
		}
		if got := list(source.PullRequestList{Since: before, ETag: first.ETag}); !got.Unchanged || len(got.List) != 0 {
			t.Errorf("unchanged: %+v", got)
		}
		b.edit("It fixes an issue.", true)
		got := list(source.PullRequestList{Since: before, ETag: first.ETag})
		if got.Unchanged || len(got.List) != 1 || got.List[0].Body != "It fixes an issue." || !got.List[0].Foreign {
			t.Errorf("edited: %+v", got)
		}
		if got := list(source.PullRequestList{Since: time.Now().Add(time.Minute)}); len(got.List) != 0 {
			t.Errorf("since later: %+v", got)
		}
		merged := git.Commit(t, "Round prices (#1)", map[string]string{"price.go": "package shop\n"})
		at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
		b.merge(merged, at)
		if p := list(source.PullRequestList{}).List[0]; p.State != "merged" || p.MergeCommit != merged || !p.MergedAt.Equal(at) {
			t.Errorf("merged: %+v", p)
		}
		messages := must[[]string](t)(b.host.PullRequestCommits(ctx, repo, 1))
		slices.Sort(messages)
		if len(messages) != 2 || messages[0][:5] != "Round" || messages[1][:7] != "Test it" {
			t.Errorf("the commits: %q", messages)
		}
		_, err := b.host.PullRequestCommits(ctx, repo, 7)
		wantKind(t, "an unknown pull request", err, integrations.NotFound)
		for range 70 {
			b.propose("feature/x")
		}
		if got := list(source.PullRequestList{Limit: 65}); len(got.List) != 65 {
			t.Errorf("at most 65 of 71: %d", len(got.List))
		}
		if got := list(source.PullRequestList{Limit: 100}); len(got.List) != 71 {
			t.Errorf("all of 71: %d", len(got.List))
		}
	})
}

// TestDeployments: deployments have their states and the time at which they were ready; settled ones are left out.
func TestDeployments(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bench, git *gittest.Repository) {
		sha := git.Git(t, "rev-parse", "HEAD")
		now := time.Now().UTC().Truncate(time.Second)
		b.deploy(sha, "ready", now.Add(-40*24*time.Hour))
		b.deploy(sha, "ready", now.Add(-3*time.Hour))
		b.deploy(sha, "failed", now.Add(-2*time.Hour))
		b.deploy(sha, "building", now.Add(-time.Hour))
		list := must[[]source.Deployment](t)(b.host.Deployments(t.Context(), repo, source.DeploymentList{Since: now.Add(-24 * time.Hour), Newest: 10}))
		if len(list) != 3 {
			t.Fatalf("deployments: %+v", list)
		}
		for i, want := range []string{source.DeploymentBuilding, source.DeploymentError, source.DeploymentReady} {
			d := list[i]
			began := now.Add(-time.Duration(i+1) * time.Hour)
			if d.State != want || d.Environment != "production" || d.CommitSHA != sha || d.Ref != "main" || d.HostState == "" || d.Preview ||
				!d.StartedAt.Equal(began) {
				t.Errorf("deployment %d: %+v, want %s since %s", i, d, want, began)
			}
			if ready := d.ReadyAt.Equal(began.Add(time.Minute)); ready != (want == source.DeploymentReady) {
				t.Errorf("deployment %d was ready at %v", i, d.ReadyAt)
			}
		}
		rest := must[[]source.Deployment](t)(b.host.Deployments(t.Context(), repo, source.DeploymentList{
			Since: now.Add(-24 * time.Hour), Newest: 10, Settled: map[string]bool{list[2].ID: true},
		}))
		if len(rest) != 2 || rest[0].ID == list[2].ID || rest[1].ID == list[2].ID {
			t.Errorf("without a settled one: %+v", rest)
		}
		if got := must[[]source.Deployment](t)(b.host.Deployments(t.Context(), repo, source.DeploymentList{Newest: 1})); len(got) != 1 {
			t.Errorf("the newest: %+v", got)
		}
	})
}
