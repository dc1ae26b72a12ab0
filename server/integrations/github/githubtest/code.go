package githubtest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/source/gittest"
)

// Repository is a git repository of the hub.
type Repository struct {
	*gittest.Repository

	ID                int64
	FullName          string
	Private, Archived bool
	// Readers see the repository although they do not own the account.
	Readers []string
	// Runs are the runs of CI, newest first.
	Runs []Run

	pulls   []*Pull
	deploys []*Deployment
}

// Run is a run of CI.
type Run struct {
	ID                               int64
	Name, Status, Conclusion, Branch string
	SHA                              string
	// FailedJob and FailedStep name what failed; empty without a failure.
	FailedJob, FailedStep string
}

// AddRepository makes a repository with one commit that has the files, and gives an installation access to it.
func (h *Hub) AddRepository(t testing.TB, i *Installation, name string, files map[string]string) *Repository {
	t.Helper()
	return h.AddGit(i, name, gittest.New(t, files))
}

// AddGit gives an installation access to a repository.
func (h *Hub) AddGit(i *Installation, name string, git *gittest.Repository) *Repository {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nextID++
	r := &Repository{Repository: git, ID: h.nextID, FullName: i.Account + "/" + name, Private: true}
	h.repositories[r.ID] = r
	i.Repositories = append(i.Repositories, r.ID)
	return r
}

// code adds the endpoints of repositories.
func (h *Hub) code(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v3/repositories/{id}", h.asInstallation(h.byID))
	const repo = "GET /api/v3/repos/{owner}/{repo}/"
	mux.HandleFunc(strings.TrimSuffix(repo, "/")+"/commits", h.inRepository(h.commits))
	mux.HandleFunc(repo+"commits/{ref...}", h.inRepository(h.commit))
	mux.HandleFunc(repo+"branches/{branch...}", h.inRepository(h.branch))
	mux.HandleFunc(repo+"tarball/{sha}", h.inRepository(h.tarball))
	mux.HandleFunc(repo+"contents/{path...}", h.inRepository(h.contents))
	mux.HandleFunc(repo+"git/blobs/{sha}", h.inRepository(h.blob))
	mux.HandleFunc(repo+"compare/{range...}", h.inRepository(h.compare))
	mux.HandleFunc(repo+"pulls", h.inRepository(h.pullList))
	mux.HandleFunc(repo+"pulls/{number}", h.inRepository(h.pull))
	mux.HandleFunc(repo+"pulls/{number}/commits", h.inRepository(h.pullCommits))
	mux.HandleFunc(repo+"deployments", h.inDeployments(h.deployments))
	mux.HandleFunc(repo+"deployments/{deployment}/statuses", h.inDeployments(h.deploymentStates))
	mux.HandleFunc(repo+"actions/runs", h.inRepository(h.runs))
	mux.HandleFunc(repo+"actions/runs/{run}/jobs", h.inRepository(h.jobs))
	mux.HandleFunc("GET /_archives/{id}/{sha}", h.archive)
}

func (h *Hub) byID(w http.ResponseWriter, r *http.Request, i *Installation) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	for _, known := range i.Repositories {
		repo := h.repositories[id]
		if known != id || repo == nil {
			continue
		}
		if out := h.repositoryJSON(repo); !unchanged(w, r, out) {
			answer(w, out)
		}
		return
	}
	refuse(w, http.StatusNotFound, "Not Found")
}

// inRepository finds the repository of the path among those of the installation.
func (h *Hub) inRepository(next func(http.ResponseWriter, *http.Request, *Repository)) http.HandlerFunc {
	return h.asInstallation(func(w http.ResponseWriter, r *http.Request, i *Installation) {
		for _, id := range i.Repositories {
			if repo := h.repositories[id]; repo != nil && strings.EqualFold(repo.FullName, r.PathValue("owner")+"/"+r.PathValue("repo")) {
				next(w, r, repo)
				return
			}
		}
		refuse(w, http.StatusNotFound, "Not Found")
	})
}

func (h *Hub) commit(w http.ResponseWriter, r *http.Request, repo *Repository) {
	id := repo.Resolve(r.Context(), r.PathValue("ref"))
	if id == "" {
		refuse(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+r.PathValue("ref"))
		return
	}
	if strings.Contains(r.Header.Get("Accept"), ".sha") {
		_, _ = w.Write([]byte(id))
		return
	}
	out := h.commitJSON(r.Context(), repo, id)
	before := gittest.EmptyTree
	if parents, _ := out["parents"].([]any); len(parents) > 0 {
		before = id + "^"
	}
	out["files"] = changesJSON(repo.Changes(r.Context(), before, id))
	answer(w, out)
}

// commits lists the commits of a file.
func (h *Hub) commits(w http.ResponseWriter, r *http.Request, repo *Repository) {
	q := r.URL.Query()
	most, _ := strconv.Atoi(q.Get("per_page"))
	list, ok := repo.List(r.Context(), q.Get("sha"), q.Get("path"), q.Get("since"), most)
	if !ok {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	out := []any{}
	for _, sha := range list {
		out = append(out, h.commitJSON(r.Context(), repo, sha))
	}
	answer(w, out)
}

func (h *Hub) commitJSON(ctx context.Context, repo *Repository, sha string) map[string]any {
	c, ok := repo.Show(ctx, sha)
	if !ok {
		return nil
	}
	parents := []any{}
	for _, p := range c.Parents {
		parents = append(parents, map[string]any{"sha": p})
	}
	return map[string]any{
		"sha": sha, "html_url": h.URL + "/" + repo.FullName + "/commit/" + sha, "author": map[string]any{"login": "ada"}, "parents": parents,
		"commit": map[string]any{
			"message":   c.Message,
			"author":    map[string]any{"name": c.Author, "email": c.Email, "date": c.Authored},
			"committer": map[string]any{"name": c.Author, "email": c.Email, "date": c.Committed},
		},
	}
}

func (h *Hub) branch(w http.ResponseWriter, r *http.Request, repo *Repository) {
	sha := repo.Resolve(r.Context(), "refs/heads/"+r.PathValue("branch"))
	if sha == "" {
		refuse(w, http.StatusNotFound, "Branch not found")
		return
	}
	answer(w, map[string]any{"name": r.PathValue("branch"), "commit": map[string]any{"sha": sha}})
}

func (h *Hub) tarball(w http.ResponseWriter, r *http.Request, repo *Repository) {
	http.Redirect(w, r, fmt.Sprintf("%s/_archives/%d/%s", h.URL, repo.ID, r.PathValue("sha")), http.StatusFound)
}

// archive is the host of archives. It takes no credentials.
func (h *Hub) archive(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		http.Error(w, "the credentials of the API do not belong here", http.StatusBadRequest)
		return
	}
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	h.mu.Lock()
	repo := h.repositories[id]
	h.mu.Unlock()
	if repo == nil {
		http.NotFound(w, r)
		return
	}
	prefix := strings.ReplaceAll(repo.FullName, "/", "-") + "-" + r.PathValue("sha")[:7] + "/"
	out, err := repo.Run(r.Context(), "archive", "--format=tar.gz", "--prefix="+prefix, r.PathValue("sha"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-gzip")
	_, _ = w.Write(out)
}

func (h *Hub) contents(w http.ResponseWriter, r *http.Request, repo *Repository) {
	name := r.PathValue("path")
	node, ok := repo.Entry(r.Context(), r.URL.Query().Get("ref"), name)
	if !ok {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	out := map[string]any{"name": filepath.Base(name), "path": name, "sha": node.SHA, "size": node.Size, "type": "file"}
	switch {
	case node.Type == "tree":
		answer(w, []any{})
		return
	case node.Type == "commit":
		out["type"], out["submodule_git_url"] = "file", h.URL+"/sub.git"
	case node.Mode == "120000":
		out["type"] = "symlink"
	case node.Size > 1<<20:
		out["encoding"], out["content"] = "none", ""
	default:
		text, _ := repo.Run(r.Context(), "cat-file", "blob", node.SHA)
		out["encoding"], out["content"] = "base64", base64.StdEncoding.EncodeToString(text)
	}
	answer(w, out)
}

func (h *Hub) blob(w http.ResponseWriter, r *http.Request, repo *Repository) {
	text, err := repo.Run(r.Context(), "cat-file", "blob", r.PathValue("sha"))
	if err != nil {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	_, _ = w.Write(text)
}

func (h *Hub) compare(w http.ResponseWriter, r *http.Request, repo *Repository) {
	base, head, _ := strings.Cut(r.PathValue("range"), "...")
	merge, err := repo.Run(r.Context(), "merge-base", base, head)
	if err != nil {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	counts, _ := repo.Run(r.Context(), "rev-list", "--left-right", "--count", base+"..."+head)
	var behind, ahead int
	_, _ = fmt.Sscan(string(counts), &behind, &ahead)
	status := map[[2]bool]string{
		{false, false}: "identical", {true, false}: "ahead", {false, true}: "behind",
		{true, true}: "diverged",
	}[[2]bool{ahead > 0, behind > 0}]
	list, _ := repo.Run(r.Context(), "rev-list", "--reverse", base+".."+head)
	commits := []any{}
	all := strings.Fields(string(list))
	from, to := h.page(w, r, len(all), 100)
	for _, sha := range all[from:to] {
		commits = append(commits, h.commitJSON(r.Context(), repo, sha))
	}
	id := strings.TrimSpace(string(merge))
	answer(w, map[string]any{
		"status": status, "ahead_by": ahead, "behind_by": behind, "total_commits": ahead, "commits": commits,
		"merge_base_commit": map[string]any{"sha": id}, "files": changesJSON(repo.Changes(r.Context(), id, head)),
		"html_url": h.URL + "/" + repo.FullName + "/compare/" + base + "..." + head,
	})
}

func changesJSON(list []gittest.Change) []any {
	out := []any{}
	for _, c := range list {
		change := map[string]any{"filename": c.Path, "status": c.Status, "additions": c.Added, "deletions": c.Deleted}
		if c.Previous != "" {
			change["previous_filename"] = c.Previous
		}
		if c.Patch != "" {
			change["patch"] = strings.TrimSuffix(c.Patch, "\n")
		}
		out = append(out, change)
	}
	return out
}

func (h *Hub) runs(w http.ResponseWriter, r *http.Request, repo *Repository) {
	q := r.URL.Query()
	list := []any{}
	size, _ := strconv.Atoi(q.Get("per_page"))
	for _, run := range repo.Runs {
		if b := q.Get("branch"); b != "" && b != run.Branch {
			continue
		}
		if s := q.Get("head_sha"); s != "" && s != run.SHA {
			continue
		}
		if s := q.Get("status"); s != "" && s != run.Status && s != run.Conclusion {
			continue
		}
		if len(list) == max(1, size) {
			break
		}
		out := map[string]any{
			"id": run.ID, "name": run.Name, "status": run.Status, "head_branch": run.Branch, "head_sha": run.SHA,
			"html_url":       fmt.Sprintf("%s/%s/actions/runs/%d", h.URL, repo.FullName, run.ID),
			"run_started_at": "2026-11-20T10:00:00Z", "updated_at": "2026-11-20T10:05:00Z",
		}
		if run.Conclusion != "" {
			out["conclusion"] = run.Conclusion
		}
		list = append(list, out)
	}
	answer(w, map[string]any{"total_count": len(list), "workflow_runs": list})
}

func (h *Hub) jobs(w http.ResponseWriter, r *http.Request, repo *Repository) {
	id, _ := strconv.ParseInt(r.PathValue("run"), 10, 64)
	list := []any{map[string]any{"id": 1, "name": "build", "conclusion": "success"}}
	for _, run := range repo.Runs {
		if run.ID == id && run.FailedJob != "" {
			list = append(list, map[string]any{
				"id": 2, "name": run.FailedJob, "conclusion": "failure", "html_url": fmt.Sprintf("%s/%s/jobs/2", h.URL, repo.FullName),
				"steps": []any{
					map[string]any{"name": "checkout", "conclusion": "success"},
					map[string]any{"name": run.FailedStep, "conclusion": "failure"},
				},
			})
		}
	}
	answer(w, map[string]any{"total_count": len(list), "jobs": list})
}
