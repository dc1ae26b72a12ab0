package githubtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// Pull is a pull request of a repository.
type Pull struct {
	Number                       int64
	Title, Author, Branch, State string
	MergedAt                     time.Time
	MergeCommit                  string
}

// Propose opens a pull request of a branch into main.
func (h *Hub) Propose(r *Repository, branch, title string) *Pull {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &Pull{Number: int64(len(r.pulls) + 1), Title: title, Author: "ada", Branch: branch, State: "open"}
	r.pulls = append(r.pulls, p)
	return p
}

// Merge squashes a pull request into main at a time, as GitHub does, and returns the commit.
func (h *Hub) Merge(t testing.TB, r *Repository, p *Pull, at time.Time) string {
	t.Helper()
	r.Git(t, "checkout", "-q", "main")
	r.Git(t, "merge", "-q", "--squash", p.Branch)
	r.Git(t, "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("%s (#%d)", p.Title, p.Number))
	sha := r.Git(t, "rev-parse", "HEAD")
	h.Change(func() { p.State, p.MergedAt, p.MergeCommit = "closed", at, sha })
	return sha
}

func (h *Hub) pull(w http.ResponseWriter, r *http.Request, repo *Repository) {
	number, _ := strconv.ParseInt(r.PathValue("number"), 10, 64)
	for _, p := range repo.pulls {
		if p.Number != number {
			continue
		}
		out := map[string]any{
			"number": p.Number, "state": p.State, "title": p.Title, "user": map[string]any{"login": p.Author}, "merged": !p.MergedAt.IsZero(),
			"html_url": fmt.Sprintf("%s/%s/pull/%d", h.URL, repo.FullName, p.Number),
		}
		if !p.MergedAt.IsZero() {
			out["merged_at"], out["merge_commit_sha"] = p.MergedAt.UTC().Format(time.RFC3339), p.MergeCommit
		}
		if unchanged(w, r, out) {
			return
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
