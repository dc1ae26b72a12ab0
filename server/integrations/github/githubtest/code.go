package githubtest

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Repository is a git repository of the hub.
type Repository struct {
	ID                int64
	FullName          string
	Private, Archived bool
	// Readers see the repository although they do not own the account.
	Readers []string
	// Runs are the runs of CI, newest first.
	Runs []Run

	folder string
	pulls  []*Pull
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
	r := &Repository{FullName: i.Account + "/" + name, Private: true, folder: t.TempDir()}
	r.git(t, "init", "-q", "-b", "main")
	r.Commit(t, "Begin", files)
	h.Change(func() {
		h.nextID++
		r.ID = h.nextID
		h.repositories[r.ID] = r
		i.Repositories = append(i.Repositories, r.ID)
	})
	return r
}

// Commit writes files, deletes those with an empty text, and commits. It returns the id of the commit.
func (r *Repository) Commit(t testing.TB, message string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(r.folder, name)
		if text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.git(t, "add", "-A")
	r.git(t, "commit", "-q", "--allow-empty", "-m", message)
	return r.git(t, "rev-parse", "HEAD")
}

// Branch makes a branch at the newest commit and checks it out. Tag makes a tag there.
func (r *Repository) Branch(t testing.TB, name string) { r.git(t, "checkout", "-q", "-B", name) }

// Tag makes a tag at the newest commit.
func (r *Repository) Tag(t testing.TB, name string) { r.git(t, "tag", name) }

func (r *Repository) git(t testing.TB, args ...string) string {
	t.Helper()
	out, err := r.run(t.Context(), args...)
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *Repository) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.folder
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.com", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	return cmd.Output()
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
	mux.HandleFunc(repo+"pulls/{number}", h.inRepository(h.pull))
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
	sha, err := repo.run(r.Context(), "rev-parse", "--verify", "-q", r.PathValue("ref")+"^{commit}")
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+r.PathValue("ref"))
		return
	}
	id := strings.TrimSpace(string(sha))
	if strings.Contains(r.Header.Get("Accept"), ".sha") {
		_, _ = w.Write([]byte(id))
		return
	}
	out := h.commitJSON(r.Context(), repo, id)
	before := emptyTree // that of the first commit
	if parents, _ := out["parents"].([]any); len(parents) > 0 {
		before = id + "^"
	}
	out["files"] = repo.changes(r.Context(), before, id)
	answer(w, out)
}

// emptyTree is the id of a tree without files.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// commits lists the commits of a file.
func (h *Hub) commits(w http.ResponseWriter, r *http.Request, repo *Repository) {
	q := r.URL.Query()
	args := []string{"log", "--format=%H", "-n", q.Get("per_page")}
	if since := q.Get("since"); since != "" {
		args = append(args, "--since="+since)
	}
	list, err := repo.run(r.Context(), append(args, q.Get("sha"), "--", q.Get("path"))...)
	if err != nil {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	out := []any{}
	for _, sha := range strings.Fields(string(list)) {
		out = append(out, h.commitJSON(r.Context(), repo, sha))
	}
	answer(w, out)
}

func (h *Hub) commitJSON(ctx context.Context, repo *Repository, sha string) map[string]any {
	out, err := repo.run(ctx, "show", "-s", "--format=%an%x00%ae%x00%aI%x00%cI%x00%P%x00%B", sha)
	parts := strings.SplitN(string(out), "\x00", 6)
	if err != nil || len(parts) != 6 {
		return nil
	}
	parents := []any{}
	for _, p := range strings.Fields(parts[4]) {
		parents = append(parents, map[string]any{"sha": p})
	}
	return map[string]any{
		"sha": sha, "html_url": h.URL + "/" + repo.FullName + "/commit/" + sha, "author": map[string]any{"login": "ada"}, "parents": parents,
		"commit": map[string]any{
			"message":   strings.TrimSpace(parts[5]),
			"author":    map[string]any{"name": parts[0], "email": parts[1], "date": parts[2]},
			"committer": map[string]any{"name": parts[0], "email": parts[1], "date": parts[3]},
		},
	}
}

func (h *Hub) branch(w http.ResponseWriter, r *http.Request, repo *Repository) {
	sha, err := repo.run(r.Context(), "rev-parse", "--verify", "-q", "refs/heads/"+r.PathValue("branch"))
	if err != nil {
		refuse(w, http.StatusNotFound, "Branch not found")
		return
	}
	answer(w, map[string]any{"name": r.PathValue("branch"), "commit": map[string]any{"sha": strings.TrimSpace(string(sha))}})
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
	out, err := repo.run(r.Context(), "archive", "--format=tar.gz", "--prefix="+prefix, r.PathValue("sha"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-gzip")
	_, _ = w.Write(out)
}

func (h *Hub) contents(w http.ResponseWriter, r *http.Request, repo *Repository) {
	name := r.PathValue("path")
	line, err := repo.run(r.Context(), "ls-tree", "-l", r.URL.Query().Get("ref"), "--", name)
	fields := strings.Fields(string(line))
	if err != nil || len(fields) < 5 {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	mode, kind, sha := fields[0], fields[1], fields[2]
	size, _ := strconv.Atoi(fields[3])
	out := map[string]any{"name": filepath.Base(name), "path": name, "sha": sha, "size": size, "type": "file"}
	switch {
	case kind == "tree":
		answer(w, []any{})
		return
	case kind == "commit":
		out["type"], out["submodule_git_url"] = "file", h.URL+"/sub.git"
	case mode == "120000":
		out["type"] = "symlink"
	case size > 1<<20:
		out["encoding"], out["content"] = "none", ""
	default:
		text, _ := repo.run(r.Context(), "cat-file", "blob", sha)
		out["encoding"], out["content"] = "base64", base64.StdEncoding.EncodeToString(text)
	}
	answer(w, out)
}

func (h *Hub) blob(w http.ResponseWriter, r *http.Request, repo *Repository) {
	text, err := repo.run(r.Context(), "cat-file", "blob", r.PathValue("sha"))
	if err != nil {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	_, _ = w.Write(text)
}

func (h *Hub) compare(w http.ResponseWriter, r *http.Request, repo *Repository) {
	base, head, _ := strings.Cut(r.PathValue("range"), "...")
	merge, err := repo.run(r.Context(), "merge-base", base, head)
	if err != nil {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	counts, _ := repo.run(r.Context(), "rev-list", "--left-right", "--count", base+"..."+head)
	var behind, ahead int
	_, _ = fmt.Sscan(string(counts), &behind, &ahead)
	status := map[[2]bool]string{{false, false}: "identical", {true, false}: "ahead", {false, true}: "behind", {true, true}: "diverged"}[[2]bool{ahead > 0, behind > 0}]
	list, _ := repo.run(r.Context(), "rev-list", "--reverse", base+".."+head)
	commits := []any{}
	all := strings.Fields(string(list))
	from, to := h.page(w, r, len(all), 100)
	for _, sha := range all[from:to] {
		commits = append(commits, h.commitJSON(r.Context(), repo, sha))
	}
	id := strings.TrimSpace(string(merge))
	answer(w, map[string]any{
		"status": status, "ahead_by": ahead, "behind_by": behind, "total_commits": ahead, "commits": commits,
		"merge_base_commit": map[string]any{"sha": id}, "files": repo.changes(r.Context(), id, head),
		"html_url": h.URL + "/" + repo.FullName + "/compare/" + base + "..." + head,
	})
}

// changes lists the files that differ, with their patches.
func (r *Repository) changes(ctx context.Context, from, to string) []any {
	list, _ := r.run(ctx, "diff", "--numstat", "-z", "--no-renames", from, to)
	out := []any{}
	for entry := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
		f := strings.SplitN(string(entry), "\t", 3)
		if len(f) != 3 {
			continue
		}
		added, _ := strconv.Atoi(f[0])
		deleted, _ := strconv.Atoi(f[1])
		patch, _ := r.run(ctx, "diff", "--no-renames", from, to, "--", f[2])
		status := "modified"
		switch {
		case bytes.Contains(patch, []byte("\nnew file mode")):
			status = "added"
		case bytes.Contains(patch, []byte("\ndeleted file mode")):
			status = "removed"
		}
		_, text, _ := strings.Cut(string(patch), "\n@@")
		change := map[string]any{"filename": f[2], "status": status, "additions": added, "deletions": deleted}
		if text != "" {
			change["patch"] = "@@" + text
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
