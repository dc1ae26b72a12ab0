package githubtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Pull is a pull request of a repository.
type Pull struct {
	Number                             int64
	Title, Body, Author, Branch, State string
	MergedAt, Updated                  time.Time
	MergeCommit                        string
	// Fork says that its branch is in a fork.
	Fork bool
}

// Propose opens a pull request of a branch into main.
func (h *Hub) Propose(r *Repository, branch, title string) *Pull {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &Pull{Number: int64(len(r.pulls) + 1), Title: title, Author: "ada", Branch: branch, State: "open", Updated: time.Now()}
	r.pulls = append(r.pulls, p)
	return p
}

// Pulls are the pull requests, the first one first. Change guards them.
func (r *Repository) Pulls() []*Pull { return r.pulls }

// Edit changes a pull request.
func (h *Hub) Edit(p *Pull, change func()) {
	h.Change(func() {
		change()
		p.Updated = time.Now()
	})
}

// Merge squashes a pull request into main at a time, as GitHub does, and returns the commit.
func (h *Hub) Merge(t testing.TB, r *Repository, p *Pull, at time.Time) string {
	t.Helper()
	r.Git(t, "checkout", "-q", "main")
	r.Git(t, "merge", "-q", "--squash", p.Branch)
	r.Git(t, "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("%s (#%d)", p.Title, p.Number))
	sha := r.Git(t, "rev-parse", "HEAD")
	h.Edit(p, func() { p.State, p.MergedAt, p.MergeCommit = "closed", at, sha })
	return sha
}

func (h *Hub) pullJSON(ctx context.Context, repo *Repository, p *Pull) map[string]any {
	from := repo.ID
	if p.Fork {
		from += 1_000_000
	}
	out := map[string]any{
		"number": p.Number, "state": p.State, "title": p.Title, "body": p.Body, "user": map[string]any{"login": p.Author},
		"html_url":   fmt.Sprintf("%s/%s/pull/%d", h.URL, repo.FullName, p.Number),
		"updated_at": p.Updated.UTC().Format(time.RFC3339), "merged_at": nil,
		"head": map[string]any{"ref": p.Branch, "sha": repo.Resolve(ctx, p.Branch), "repo": map[string]any{"id": from}},
		"base": map[string]any{"ref": "main", "repo": map[string]any{"id": repo.ID}},
	}
	if !p.MergedAt.IsZero() {
		out["merged_at"], out["merge_commit_sha"] = p.MergedAt.UTC().Format(time.RFC3339), p.MergeCommit
	}
	return out
}

func (h *Hub) pull(w http.ResponseWriter, r *http.Request, repo *Repository) {
	number, _ := strconv.ParseInt(r.PathValue("number"), 10, 64)
	for _, p := range repo.pulls {
		if p.Number != number {
			continue
		}
		out := h.pullJSON(r.Context(), repo, p)
		out["merged"] = !p.MergedAt.IsZero() // a list does not have it
		if !unchanged(w, r, out) {
			answer(w, out)
		}
		return
	}
	refuse(w, http.StatusNotFound, "Not Found")
}

// pullList lists pull requests, the last updated first, which is the only order that svc asks for.
func (h *Hub) pullList(w http.ResponseWriter, r *http.Request, repo *Repository) {
	if q := r.URL.Query(); q.Get("state") != "all" || q.Get("sort") != "updated" || q.Get("direction") != "desc" {
		refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	list := slices.Clone(repo.pulls)
	slices.SortStableFunc(list, func(a, b *Pull) int { return b.Updated.Compare(a.Updated) })
	from, to := h.page(w, r, len(list), 30)
	out := []any{}
	for _, p := range list[from:to] {
		out = append(out, h.pullJSON(r.Context(), repo, p))
	}
	if !unchanged(w, r, out) {
		answer(w, out)
	}
}

// pullCommits lists the commits of the branch of a pull request, the oldest first.
func (h *Hub) pullCommits(w http.ResponseWriter, r *http.Request, repo *Repository) {
	number, _ := strconv.ParseInt(r.PathValue("number"), 10, 64)
	for _, p := range repo.pulls {
		if p.Number != number {
			continue
		}
		list, _ := repo.Run(r.Context(), "rev-list", "--reverse", "main.."+p.Branch)
		out := []any{}
		for sha := range strings.FieldsSeq(string(list)) {
			out = append(out, h.commitJSON(r.Context(), repo, sha))
		}
		answer(w, out)
		return
	}
	refuse(w, http.StatusNotFound, "Not Found")
}

// unchanged sets the ETag of an answer, and answers 304 if the request has it.
func unchanged(w http.ResponseWriter, r *http.Request, v any) bool {
	text, _ := json.Marshal(v)
	sum := sha256.Sum256(text)
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") != etag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}
