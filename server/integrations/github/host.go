package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	api "github.com/google/go-github/v88/github"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/source"
)

// host implements source.Host for one installation.
type host struct {
	app    *App
	client *api.Client
}

func split(repository string) (owner, name string) {
	owner, name, _ = strings.Cut(repository, "/")
	return owner, name
}

// Repository implements source.Host. GitHub does not count a conditional request that it answers with 304.
func (h *host) Repository(ctx context.Context, externalID, etag string) (source.Repository, bool, error) {
	id, err := strconv.ParseInt(externalID, 10, 64)
	if err != nil {
		return source.Repository{}, false, fmt.Errorf("github: the repository %q is not a number", externalID)
	}
	req, err := h.client.NewRequest(ctx, http.MethodGet, fmt.Sprintf("repositories/%d", id), nil)
	if err != nil {
		return source.Repository{}, false, fmt.Errorf("github: %w", err)
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	var r api.Repository
	res, err := h.client.Do(req, &r)
	if err != nil {
		if res != nil && res.StatusCode == http.StatusNotModified {
			return source.Repository{}, false, nil
		}
		return source.Repository{}, false, problem(err)
	}
	return repository(&r, res.Header.Get("ETag")), true, nil
}

var wholeSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)

// Resolve implements source.Host.
func (h *host) Resolve(ctx context.Context, repo, ref string) (string, error) {
	owner, name := split(repo)
	sha, _, err := h.client.Repositories.GetCommitSHA1(ctx, owner, name, ref, "")
	if err != nil {
		p := problem(err)
		if integrations.IsKind(p, integrations.Invalid) { // GitHub's answer for a commit that is not there
			return "", integrations.NewProblem(integrations.NotFound, err, "GitHub knows no such branch, tag or commit.")
		}
		return "", p
	}
	if !wholeSHA.MatchString(sha) {
		return "", integrations.NewProblem(integrations.Upstream, nil, "GitHub's answer is not the id of a commit.")
	}
	return sha, nil
}

// HasBranch implements source.Host.
func (h *host) HasBranch(ctx context.Context, repo, branch string) (bool, error) {
	owner, name := split(repo)
	_, res, err := h.client.Repositories.GetBranch(ctx, owner, name, branch, 1)
	if err != nil {
		p := answered(res, err)
		if integrations.IsKind(p, integrations.NotFound) {
			return false, nil
		}
		return false, p
	}
	return true, nil
}

// Commit implements source.Host.
func (h *host) Commit(ctx context.Context, repo, sha string) (source.Commit, error) {
	owner, name := split(repo)
	c, _, err := h.client.Repositories.GetCommit(ctx, owner, name, sha, &api.ListOptions{PerPage: 1})
	if err != nil {
		p := problem(err)
		if integrations.IsKind(p, integrations.Invalid) {
			return source.Commit{}, integrations.NewProblem(integrations.NotFound, err, "GitHub knows no such commit.")
		}
		return source.Commit{}, p
	}
	return commit(c), nil
}

func commit(c *api.RepositoryCommit) source.Commit {
	author := c.GetCommit().GetAuthor()
	return source.Commit{
		SHA: c.GetSHA(), Message: c.GetCommit().GetMessage(), HTMLURL: c.GetHTMLURL(), AuthorName: author.GetName(),
		AuthorEmail: author.GetEmail(), AuthorLogin: c.GetAuthor().GetLogin(), AuthoredAt: author.GetDate().Time,
		CommittedAt: c.GetCommit().GetCommitter().GetDate().Time, Parents: len(c.Parents),
	}
}

// CommitsOf implements source.Host.
func (h *host) CommitsOf(ctx context.Context, repo string, l source.CommitList) ([]source.Commit, error) {
	owner, name := split(repo)
	list, _, err := h.client.Repositories.ListCommits(ctx, owner, name, &api.CommitsListOptions{
		SHA: l.From, Path: l.Path, Since: l.Since, ListOptions: api.ListOptions{PerPage: min(l.Limit, pageSize)},
	})
	if err != nil {
		return nil, problem(err)
	}
	var out []source.Commit
	for _, c := range list {
		out = append(out, commit(c))
	}
	return out, nil
}

// Changes implements source.Host.
func (h *host) Changes(ctx context.Context, repo, sha string) ([]source.FileChange, error) {
	owner, name := split(repo)
	c, _, err := h.client.Repositories.GetCommit(ctx, owner, name, sha, &api.ListOptions{PerPage: comparedMost})
	if err != nil {
		return nil, problem(err)
	}
	return changes(c.Files), nil
}

func changes(files []*api.CommitFile) []source.FileChange {
	var out []source.FileChange
	for _, f := range files {
		out = append(out, source.FileChange{
			Path: f.GetFilename(), PreviousPath: f.GetPreviousFilename(), Status: f.GetStatus(), Patch: f.GetPatch(),
			Additions: f.GetAdditions(), Deletions: f.GetDeletions(),
		})
	}
	return out
}

// Archive implements source.Host. GitHub redirects to a host for archives, which gets no credentials: the address holds its own.
func (h *host) Archive(ctx context.Context, repo, sha string) (io.ReadCloser, error) {
	owner, name := split(repo)
	link, asked, err := h.client.Repositories.GetArchiveLink(ctx, owner, name, api.Tarball, &api.RepositoryContentGetOptions{Ref: sha}, 1)
	if err != nil {
		return nil, answered(asked, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link.String(), nil)
	if err != nil {
		return nil, integrations.NewProblem(integrations.Upstream, nil, "GitHub's address of the archive cannot be read.")
	}
	res, err := h.app.archives.Do(req)
	if err != nil {
		var with *url.Error
		if errors.As(err, &with) {
			err = with.Err // without the address, which is a credential
		}
		return nil, integrations.NewProblem(integrations.Upstream, err, "The archive could not be fetched from GitHub.")
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return nil, integrations.NewProblem(integrations.Upstream, nil, "GitHub answered %d for the archive.", res.StatusCode)
	}
	return res.Body, nil
}

// answered sorts the error of a request that may be redirected. For these, the client does not sort the status of the answer itself.
func answered(res *api.Response, err error) error {
	if res != nil && res.StatusCode >= http.StatusBadRequest {
		return problem(api.CheckResponse(res.Response))
	}
	return problem(err)
}

// File implements source.Host. The contents API names the kind of a file; one above 1 MiB is read as a blob.
func (h *host) File(ctx context.Context, repo, sha, name string, limit int64) (source.File, error) {
	owner, repoName := split(repo)
	opts := &api.RepositoryContentGetOptions{Ref: sha}
	c, folder, _, err := h.client.Repositories.GetContents(ctx, owner, repoName, name, opts)
	if err != nil {
		return source.File{}, problem(err)
	}
	if c == nil {
		return source.File{}, integrations.NewProblem(integrations.NotFound, nil, "%s is a folder with %d entries.", name, len(folder))
	}
	f := source.File{SHA: c.GetSHA(), Size: int64(c.GetSize())}
	switch {
	case c.GetType() == "submodule", c.GetSubmoduleGitURL() != "":
		f.Kind = source.KindSubmodule
		return f, nil
	case c.GetType() == "symlink":
		f.Kind = source.KindSymlink
		return f, nil
	case f.Size > limit:
		f.Kind = source.KindBinary
		return f, nil
	}
	text, err := c.GetContent()
	content := []byte(text)
	if err != nil || c.GetEncoding() == "none" || text == "" && f.Size > 0 {
		if content, _, err = h.client.Git.GetBlobRaw(ctx, owner, repoName, f.SHA); err != nil {
			return source.File{}, problem(err)
		}
	}
	f.Kind = kindOf(content)
	if f.Kind == source.KindText {
		f.Content = content
	}
	return f, nil
}

// kindOf tells texts from other contents, as git does: a zero byte in the first 8,000 bytes is binary.
func kindOf(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/")) && len(content) < 1024:
		return source.KindLFS
	case bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0:
		return source.KindBinary
	}
	return source.KindText
}

// pageSize is the largest page of a list. GitHub leaves out the files of a comparison after the first comparedMost.
const (
	pageSize     = 100
	comparedMost = 300
)

// Compare implements source.Host. The first page of commits comes with the files.
func (h *host) Compare(ctx context.Context, repo, base, head string, commits int) (source.Comparison, error) {
	owner, name := split(repo)
	var out source.Comparison
	total := 0
	for page := 1; page != 0 && (page == 1 || len(out.Commits) < commits); {
		c, res, err := h.client.Repositories.CompareCommits(ctx, owner, name, base, head,
			&api.ListOptions{Page: page, PerPage: min(commits, pageSize)})
		if err != nil {
			return source.Comparison{}, problem(err)
		}
		if page == 1 {
			out, total = comparison(c), c.GetTotalCommits()
		}
		for _, one := range c.Commits[:min(len(c.Commits), commits-len(out.Commits))] {
			out.Commits = append(out.Commits, commit(one))
		}
		page = res.NextPage
	}
	out.Truncated = out.Truncated || total > len(out.Commits)
	return out, nil
}

// comparison is a comparison without its commits.
func comparison(c *api.CommitsComparison) source.Comparison {
	return source.Comparison{
		Status: c.GetStatus(), MergeBase: c.GetMergeBaseCommit().GetSHA(), HTMLURL: c.GetHTMLURL(), Ahead: c.GetAheadBy(),
		Behind: c.GetBehindBy(), Truncated: len(c.Files) >= comparedMost, Files: changes(c.Files),
	}
}

// Contains implements source.Host: the commit is in the revision if it has nothing that the revision lacks.
func (h *host) Contains(ctx context.Context, repo, revision, commit string) (bool, error) {
	owner, name := split(repo)
	c, _, err := h.client.Repositories.CompareCommits(ctx, owner, name, revision, commit, &api.ListOptions{PerPage: 1})
	if err != nil {
		return false, problem(err)
	}
	return c.GetStatus() == "behind" || c.GetStatus() == "identical", nil
}

// Runs implements source.Host.
func (h *host) Runs(ctx context.Context, repo string, f source.RunFilter) ([]source.Run, error) {
	owner, name := split(repo)
	list, _, err := h.client.Actions.ListRepositoryWorkflowRuns(ctx, owner, name, &api.ListWorkflowRunsOptions{
		Branch: f.Branch, HeadSHA: f.SHA, Status: f.Status, ListOptions: api.ListOptions{PerPage: f.Limit},
	})
	if err != nil {
		return nil, problem(err)
	}
	var out []source.Run
	for _, r := range list.WorkflowRuns {
		run := source.Run{
			ID: strconv.FormatInt(r.GetID(), 10), Name: r.GetName(), Status: runStatus(r.GetStatus()), Conclusion: conclusion(r.GetConclusion()),
			Branch: r.GetHeadBranch(), SHA: r.GetHeadSHA(), HTMLURL: r.GetHTMLURL(), StartedAt: r.GetRunStartedAt().Time,
		}
		if run.Status == "completed" {
			run.CompletedAt = r.GetUpdatedAt().Time
		}
		if run.Conclusion == "failure" || run.Conclusion == "timed_out" {
			if run.FailedJobs, err = h.failedJobs(ctx, owner, name, r.GetID(), f.FailedJobs); err != nil {
				return nil, err
			}
		}
		out = append(out, run)
	}
	return out, nil
}

// runStatus maps GitHub's further states (`waiting`, `requested`, `pending`) to that of a run that has not begun.
func runStatus(s string) string {
	if s == "in_progress" || s == "completed" {
		return s
	}
	return "queued"
}

// conclusion maps GitHub's further conclusions (`stale`, `startup_failure`).
func conclusion(s string) string {
	switch s {
	case "startup_failure":
		return "failure"
	case "stale":
		return "cancelled"
	}
	return s
}

func (h *host) failedJobs(ctx context.Context, owner, name string, run int64, most int) ([]source.Job, error) {
	list, _, err := h.client.Actions.ListWorkflowJobs(ctx, owner, name, run, &api.ListWorkflowJobsOptions{
		Filter: "latest", ListOptions: api.ListOptions{PerPage: 100},
	})
	if err != nil {
		p := problem(err)
		if integrations.IsKind(p, integrations.NotFound) {
			return nil, nil // the run was deleted after it was listed
		}
		return nil, p
	}
	var out []source.Job
	for _, j := range list.Jobs {
		if len(out) == most || !slices.Contains([]string{"failure", "timed_out"}, j.GetConclusion()) {
			continue
		}
		job := source.Job{Name: j.GetName(), HTMLURL: j.GetHTMLURL()}
		for _, s := range j.Steps {
			if s.GetConclusion() == "failure" {
				job.FailedStep = s.GetName()
				break
			}
		}
		out = append(out, job)
	}
	return out, nil
}

// FileURL implements source.Host.
func (h *host) FileURL(repo, sha, name string) string {
	return h.app.Base.JoinPath(repo, "blob", sha, source.EscapedPath(path.Clean(name))).String()
}
