package gitlabtest

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	api "gitlab.com/gitlab-org/api/client-go"
)

// unlimited keeps the client from waiting.
type unlimited struct{}

func (unlimited) Wait(context.Context) error { return nil }

// TestOfficialClient: the official client library of GitLab reads from the stand-in what was put there, so the stand-in speaks as GitLab
// does.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	lab := New(t)
	p := lab.AddProject(t, "acme/team/shop", map[string]string{"README.md": "# Shop\n", "a b/ü.go": "package x\n"})
	for range 4 {
		lab.AddGit("acme/other", p.Repository)
	}
	first := p.Git(t, "rev-parse", "HEAD")
	p.Branch(t, "feature/x")
	second := p.Commit(t, "Change\n\nMore.", map[string]string{"README.md": "# Store\n"})
	lab.Change(func() {
		p.Pipelines = []Pipeline{{
			ID: 7, Name: "test", Status: "failed", Ref: "feature/x", SHA: second, FailedJob: "unit",
			Reason: "script_failure",
		}}
	})
	m := lab.Propose(p, "feature/x", "Rename the shop")
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	lab.Merged(m, second, at)
	//nolint:staticcheck // SA1019: the test is not about the source of tokens
	client, err := api.NewOAuthClient(lab.Grant("ada"), api.WithBaseURL(lab.URL), api.WithCustomLimiter(unlimited{}),
		api.WithoutRetries())
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, ok bool, err error) {
		t.Helper()
		if !ok || err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	me, _, err := client.Users.CurrentUser()
	check("user", err == nil && me.Username == "ada" && me.ID != 0, err)

	level := api.ReporterPermissions
	var names []string
	opts := &api.ListProjectsOptions{
		ListOptions: api.ListOptions{PerPage: 2, Pagination: "keyset", OrderBy: "id", Sort: "asc"}, Membership: new(true), MinAccessLevel: &level,
	}
	for options := []api.RequestOptionFunc(nil); ; {
		list, res, err := client.Projects.ListProjects(opts, options...)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			names = append(names, one.PathWithNamespace)
		}
		if res.NextLink == "" {
			break
		}
		options = []api.RequestOptionFunc{api.WithKeysetPaginationParameters(res.NextLink)}
	}
	check("projects", len(names) == 5 && names[0] == "acme/team/shop", nil)

	const id = "acme/team/shop"
	c, _, err := client.Commits.GetCommit(id, "feature/x", nil)
	check("commit", err == nil && c.ID == second && c.AuthorName == "Ada" && c.CommittedDate != nil && len(c.ParentIDs) == 1 &&
		c.Title == "Change", err)
	commits, res, err := client.Commits.ListCommits(id, &api.ListCommitsOptions{
		RefName: new("feature/x"), Path: new("README.md"),
		ListOptions: api.ListOptions{PerPage: 1},
	})
	check("commits", err == nil && len(commits) == 1 && commits[0].ID == second && res.NextPage == 2, err)
	diffs, _, err := client.Commits.GetCommitDiff(id, second, nil)
	check("diff", err == nil && len(diffs) == 1 && diffs[0].NewPath == "README.md" && strings.HasPrefix(diffs[0].Diff, "@@ -1 +1 @@"), err)
	b, _, err := client.Branches.GetBranch(id, "feature/x")
	check("branch", err == nil && b.Commit.ID == second, err)
	compared, _, err := client.Repositories.Compare(id, &api.CompareOptions{From: &first, To: new("feature/x")})
	check("compare", err == nil && len(compared.Commits) == 1 && compared.Commit.ID == second && len(compared.Diffs) == 1, err)
	base, _, err := client.Repositories.MergeBase(id, &api.MergeBaseOptions{Ref: &[]string{first, second}})
	check("merge base", err == nil && base.ID == first, err)
	tree, _, err := client.Repositories.ListTree(id, &api.ListTreeOptions{Path: new("a b"), Ref: &first})
	check("tree", err == nil && len(tree) == 1 && tree[0].Path == "a b/ü.go" && tree[0].Mode == "100644", err)
	text, res, err := client.RepositoryFiles.GetRawFile(id, "a b/ü.go", &api.GetRawFileOptions{Ref: &first})
	check("file", err == nil && string(text) == "package x\n" && res.Header.Get("X-Gitlab-Size") == "10", err)
	var archive bytes.Buffer
	_, err = client.Repositories.StreamArchive(id, &archive, &api.ArchiveOptions{Format: new("tar.gz"), SHA: &second})
	check("archive", err == nil && archive.Len() > 100, err)
	pipelines, _, err := client.Pipelines.ListProjectPipelines(id, &api.ListProjectPipelinesOptions{Ref: new("feature/x")})
	check("pipelines", err == nil && len(pipelines) == 1 && pipelines[0].Status == "failed" && pipelines[0].UpdatedAt != nil, err)
	jobs, _, err := client.Jobs.ListPipelineJobs(id, 7, &api.ListJobsOptions{Scope: &[]api.BuildStateValue{api.Failed}})
	check("jobs", err == nil && len(jobs) == 2 && jobs[1].Name == "unit" && jobs[1].FailureReason == "script_failure" && jobs[0].AllowFailure,
		err)
	merge, _, err := client.MergeRequests.GetMergeRequest(id, 1, nil)
	check("merge request", err == nil && merge.State == "merged" && merge.MergeCommitSHA == second && merge.MergedAt.Equal(at) &&
		merge.Author.Username == "ada", err)

	// A person without the token, or with less than a reporter's level, reads nothing.
	lab.Change(func() { p.Members["ada"] = Guest })
	_, res, err = client.Commits.GetCommit(id, second, nil)
	check("a guest", err != nil && res.StatusCode == http.StatusForbidden, nil)
	lab.Expire()
	_, res, err = client.Users.CurrentUser()
	check("an old token", err != nil && res.StatusCode == http.StatusUnauthorized, nil)
}
