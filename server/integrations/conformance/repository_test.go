package conformance

import (
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/source/gittest"
)

// TestRepository: a repository is followed by its id, through a new name and its archive, to its end.
func TestRepository(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bench, _ *gittest.Repository) {
		ctx := t.Context()
		r, changed, err := b.host.Repository(ctx, b.id, "")
		if err != nil || !changed || r.ETag == "" {
			t.Fatalf("first: %+v %v %v", r, changed, err)
		}
		etag := r.ETag
		r.ETag = ""
		if want := (source.Repository{
			ExternalID: b.id, FullName: repo, HTMLURL: b.web + "/" + repo, DefaultBranch: "main",
			Private: true,
		}); r != want {
			t.Errorf("the repository is %+v, want %+v", r, want)
		}
		if _, changed, err := b.host.Repository(ctx, b.id, etag); err != nil || changed {
			t.Errorf("an unchanged repository: %v %v", changed, err)
		}
		b.set(change{name: "acme/store", archived: true})
		if r, changed, err = b.host.Repository(ctx, b.id, etag); err != nil || !changed || r.FullName != "acme/store" || !r.Archived {
			t.Errorf("renamed and archived: %+v %v %v", r, changed, err)
		}
		if sha, err := b.host.Resolve(ctx, "acme/store", "main"); err != nil || len(sha) != 40 {
			t.Errorf("under its new name: %q %v", sha, err)
		}
		b.set(change{name: "acme/store", removed: true})
		_, _, err = b.host.Repository(ctx, b.id, r.ETag)
		wantKind(t, "removed", err, integrations.NotFound)
		_, err = b.host.Resolve(ctx, "acme/store", "main")
		wantKind(t, "a commit of a removed repository", err, integrations.NotFound)
		_, _, err = b.host.Repository(ctx, "999999", "")
		wantKind(t, "an unknown id", err, integrations.NotFound)
	})
}

// TestCommits: commits are found by branch, tag and id, and listed by file.
func TestCommits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bench, git *gittest.Repository) {
		ctx := t.Context()
		first := git.Git(t, "rev-parse", "HEAD")
		git.Tag(t, "v1.0.0")
		git.Branch(t, "feature/x")
		second := git.Commit(t, "Round the total\n\nIt was not.", map[string]string{
			"checkout/cart.go": cart + "// rounded\n",
			"a b/ü.txt":        "x\n",
		})
		git.Git(t, "mv", "README.md", "LIESMICH.md")
		third := git.Commit(t, "Rename", nil)

		for ref, want := range map[string]string{"main": first, "v1.0.0": first, "feature/x": third, second[:8]: second, third: third} {
			if sha, err := b.host.Resolve(ctx, repo, ref); sha != want || err != nil {
				t.Errorf("%s is %q (%v), want %s", ref, sha, err, want)
			}
		}
		for _, ref := range []string{"nobody", "feature", "0123456789012345678901234567890123456789"} {
			_, err := b.host.Resolve(ctx, repo, ref)
			wantKind(t, ref, err, integrations.NotFound)
		}
		for branch, want := range map[string]bool{"main": true, "feature/x": true, "v1.0.0": false, "feature": false} {
			if has, err := b.host.HasBranch(ctx, repo, branch); has != want || err != nil {
				t.Errorf("branch %s: %v %v", branch, has, err)
			}
		}

		c := must[source.Commit](t)(b.host.Commit(ctx, repo, second))
		if c.SHA != second || c.Message != "Round the total\n\nIt was not." || c.AuthorName != "Ada" || c.AuthorEmail != "ada@example.com" ||
			c.Parents != 1 || time.Since(c.CommittedAt) > time.Hour || c.AuthoredAt.IsZero() || c.HTMLURL == "" {
			t.Errorf("commit: %+v", c)
		}
		_, err := b.host.Commit(ctx, repo, "0123456789012345678901234567890123456789")
		wantKind(t, "an unknown commit", err, integrations.NotFound)

		list := must[[]source.Commit](t)(b.host.CommitsOf(ctx, repo, source.CommitList{From: third, Path: "checkout/cart.go", Limit: 10}))
		if len(list) != 2 || list[0].SHA != second || list[1].SHA != first || list[1].Parents != 0 {
			t.Errorf("commits of a file: %+v", list)
		}
		if list := must[[]source.Commit](t)(b.host.CommitsOf(ctx, repo, source.CommitList{From: third, Path: "checkout/cart.go", Limit: 1})); len(list) != 1 {
			t.Errorf("one commit of a file: %+v", list)
		}
		since := source.CommitList{From: third, Path: "checkout/cart.go", Limit: 10, Since: time.Now().Add(time.Hour)}
		if list := must[[]source.Commit](t)(b.host.CommitsOf(ctx, repo, since)); len(list) != 0 {
			t.Errorf("commits of the future: %+v", list)
		}

		wantChanges(t, "of a commit", must[[]source.FileChange](t)(b.host.Changes(ctx, repo, second)), []source.FileChange{
			{Path: "a b/ü.txt", Status: "added", Additions: 1, Patch: "@@ -0,0 +1 @@\n+x"},
			{
				Path: "checkout/cart.go", Status: "modified", Additions: 1,
				Patch: "@@ -8,3 +8,4 @@ func Total(items []int) int {\n \t}\n \treturn sum\n }\n+// rounded",
			},
		})
		wantChanges(t, "of a new name", must[[]source.FileChange](t)(b.host.Changes(ctx, repo, third)), []source.FileChange{
			{Path: "LIESMICH.md", PreviousPath: "README.md", Status: "renamed"},
		})
		if got := must[[]source.FileChange](t)(b.host.Changes(ctx, repo, first)); len(got) != 3 || got[0].Status != "added" {
			t.Errorf("changes of the first commit: %+v", got)
		}
	})
}

func wantChanges(t *testing.T, what string, got, want []source.FileChange) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("changes %s: %+v", what, got)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("change %d %s:\n%+v, want\n%+v", i, what, got[i], want[i])
		}
	}
}

// TestPullRequest: a pull request is open, then merged by a commit that revisions contain or not.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bench, git *gittest.Repository) {
		ctx := t.Context()
		before := git.Git(t, "rev-parse", "HEAD")
		merged := git.Commit(t, "Round prices (#1)", map[string]string{"price.go": "package shop\n"})
		after := git.Commit(t, "Go on", nil)
		b.propose("feature/x")
		p, changed, err := b.host.PullRequest(ctx, repo, 1, "")
		if err != nil || !changed || p.State != "open" || p.Title != "Round prices" || p.AuthorLogin != "ada" || p.MergeCommit != "" ||
			!p.MergedAt.IsZero() {
			t.Fatalf("open: %+v %v %v", p, changed, err)
		}
		if _, changed, err := b.host.PullRequest(ctx, repo, 1, p.ETag); err != nil || changed {
			t.Errorf("unchanged: %v %v", changed, err)
		}
		at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
		b.merge(merged, at)
		p, changed, err = b.host.PullRequest(ctx, repo, 1, p.ETag)
		if err != nil || !changed || p.State != "merged" || p.MergeCommit != merged || !p.MergedAt.Equal(at) {
			t.Errorf("merged: %+v %v %v", p, changed, err)
		}
		_, _, err = b.host.PullRequest(ctx, repo, 7, "")
		wantKind(t, "an unknown pull request", err, integrations.NotFound)

		for revision, want := range map[string]bool{before: false, merged: true, after: true, after[:10]: true} {
			if has, err := b.host.Contains(ctx, repo, revision, merged); has != want || err != nil {
				t.Errorf("%s contains the merge: %v %v, want %v", revision, has, err, want)
			}
		}
		_, err = b.host.Contains(ctx, repo, "0123456789012345678901234567890123456789", merged)
		wantKind(t, "an unknown revision", err, integrations.NotFound)
	})
}

// TestRuns: runs of CI are filtered, and those that failed name their jobs.
func TestRuns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bench, git *gittest.Repository) {
		ctx := t.Context()
		good := git.Git(t, "rev-parse", "HEAD")
		failed := git.Commit(t, "Break", map[string]string{"x": "y\n"})
		if runs := must[[]source.Run](t)(b.host.Runs(ctx, repo, source.RunFilter{Limit: 10})); len(runs) != 0 {
			t.Errorf("without runs: %+v", runs)
		}
		b.runs(failed, good)
		for name, c := range map[string]struct {
			filter source.RunFilter
			ids    string
		}{
			"all":         {source.RunFilter{}, "21"},
			"a branch":    {source.RunFilter{Branch: "main"}, "1"},
			"a commit":    {source.RunFilter{SHA: failed}, "2"},
			"completed":   {source.RunFilter{Status: "completed"}, "21"},
			"failed":      {source.RunFilter{Status: "failure"}, "2"},
			"in progress": {source.RunFilter{Status: "in_progress"}, ""},
			"queued":      {source.RunFilter{Status: "queued"}, ""},
			"the newest":  {source.RunFilter{Limit: 1}, "2"},
		} {
			if c.filter.Limit == 0 {
				c.filter.Limit = 10
			}
			c.filter.FailedJobs = 5
			ids := ""
			for _, run := range must[[]source.Run](t)(b.host.Runs(ctx, repo, c.filter)) {
				ids += run.ID
				start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
				want := source.Run{
					ID: "1", Name: "test", Status: "completed", Conclusion: "success", Branch: "main", SHA: good, HTMLURL: run.HTMLURL,
					StartedAt: start, CompletedAt: start.Add(5 * time.Minute),
				}
				if run.ID == "2" {
					want.ID, want.Conclusion, want.Branch, want.SHA = "2", "failure", "feature/x", failed
					if len(run.FailedJobs) != 1 || run.FailedJobs[0].Name != "unit" || run.FailedJobs[0].FailedStep == "" ||
						run.FailedJobs[0].HTMLURL == "" {
						t.Errorf("%s: failed jobs %+v", name, run.FailedJobs)
					}
					run.FailedJobs = nil
				}
				run.StartedAt, run.CompletedAt = run.StartedAt.UTC(), run.CompletedAt.UTC()
				if run.HTMLURL == "" || len(run.FailedJobs) != 0 || run.ID != want.ID || run.Name != want.Name || run.Status != want.Status ||
					run.Conclusion != want.Conclusion || run.Branch != want.Branch || run.SHA != want.SHA || run.StartedAt != want.StartedAt ||
					run.CompletedAt != want.CompletedAt {
					t.Errorf("%s: %+v, want %+v", name, run, want)
				}
			}
			if ids != c.ids {
				t.Errorf("%s: runs %s, want %s", name, ids, c.ids)
			}
		}
	})
}
