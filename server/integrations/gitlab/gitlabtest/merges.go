package gitlabtest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Merge is a merge request of a project.
type Merge struct {
	Number                             int64
	Title, Body, Author, Branch, State string
	MergedAt, Updated                  time.Time
	MergeCommit, Squash, SHA           string
	// Fork says that its branch is in a fork.
	Fork bool
}

// Propose opens a merge request of a branch into main.
func (l *Lab) Propose(p *Project, branch, title string) *Merge {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &Merge{Number: int64(len(p.merges) + 1), Title: title, Author: "ada", Branch: branch, State: "opened", Updated: time.Now()}
	p.merges = append(p.merges, m)
	return m
}

// Edit changes a merge request.
func (l *Lab) Edit(m *Merge, change func()) {
	l.Change(func() {
		change()
		m.Updated = time.Now()
	})
}

// Accept squashes a merge request into main at a time, without a merge commit, and returns the commit.
func (l *Lab) Accept(t testing.TB, p *Project, m *Merge, at time.Time) string {
	t.Helper()
	head := p.Git(t, "rev-parse", m.Branch)
	p.Git(t, "checkout", "-q", "main")
	p.Git(t, "merge", "-q", "--squash", m.Branch)
	p.Git(t, "commit", "-q", "--allow-empty", "-m", m.Title)
	sha := p.Git(t, "rev-parse", "HEAD")
	l.Edit(m, func() { m.State, m.MergedAt, m.Squash, m.SHA = "merged", at, sha, head })
	return sha
}

// Merged sets a merge request to merged by a commit that is there already.
func (l *Lab) Merged(m *Merge, sha string, at time.Time) {
	l.Edit(m, func() { m.State, m.MergedAt, m.MergeCommit = "merged", at, sha })
}

// timeForm is the form of times of GitLab.
const timeForm = "2006-01-02T15:04:05.000Z"

func (l *Lab) mergeJSON(ctx context.Context, p *Project, m *Merge) map[string]any {
	from := p.ID
	if m.Fork {
		from += 1_000_000
	}
	head := m.SHA
	if head == "" {
		head = p.Resolve(ctx, m.Branch)
	}
	out := map[string]any{
		"iid": m.Number, "project_id": p.ID, "state": m.State, "title": m.Title, "description": m.Body,
		"author":  map[string]any{"username": m.Author},
		"web_url": fmt.Sprintf("%s/%s/-/merge_requests/%d", l.URL, p.FullName, m.Number), "merged_at": nil, "merge_commit_sha": nil,
		"squash_commit_sha": nil, "sha": head, "source_branch": m.Branch, "target_branch": "main", "source_project_id": from,
		"target_project_id": p.ID, "updated_at": m.Updated.UTC().Format(timeForm),
	}
	if !m.MergedAt.IsZero() {
		out["merged_at"] = m.MergedAt.UTC().Format(timeForm)
	}
	if m.MergeCommit != "" {
		out["merge_commit_sha"] = m.MergeCommit
	}
	if m.Squash != "" {
		out["squash_commit_sha"] = m.Squash
	}
	return out
}

// mergeOf finds the merge request of the path.
func mergeOf(r *http.Request, p *Project) *Merge {
	for _, m := range p.merges {
		if strconv.FormatInt(m.Number, 10) == r.PathValue("number") {
			return m
		}
	}
	return nil
}

func (l *Lab) merge(w http.ResponseWriter, r *http.Request, p *Project) {
	m := mergeOf(r, p)
	if m == nil {
		refuse(w, http.StatusNotFound, "Not found")
		return
	}
	if out := l.mergeJSON(r.Context(), p, m); !unchanged(w, r, out) {
		answer(w, out)
	}
}

// mergeList lists merge requests, the last updated first, which is the only order that svc asks for.
func (l *Lab) mergeList(w http.ResponseWriter, r *http.Request, p *Project) {
	if q := r.URL.Query(); q.Get("state") != "all" || q.Get("scope") != "all" || q.Get("order_by") != "updated_at" || q.Get("sort") != "desc" {
		refuse(w, http.StatusBadRequest, "state is invalid")
		return
	}
	list := slices.Clone(p.merges)
	slices.SortStableFunc(list, func(a, b *Merge) int { return b.Updated.Compare(a.Updated) })
	from, to := l.page(w, r, len(list), true)
	out := []any{}
	for _, m := range list[from:to] {
		out = append(out, l.mergeJSON(r.Context(), p, m))
	}
	if !unchanged(w, r, out) {
		answer(w, out)
	}
}

// mergeCommits lists the commits of a merge request, the newest first.
func (l *Lab) mergeCommits(w http.ResponseWriter, r *http.Request, p *Project) {
	m := mergeOf(r, p)
	if m == nil {
		refuse(w, http.StatusNotFound, "Not found")
		return
	}
	list, _ := p.Run(r.Context(), "rev-list", "main.."+m.Branch)
	out := []any{}
	for sha := range strings.FieldsSeq(string(list)) {
		out = append(out, l.commitJSON(r.Context(), p, sha))
	}
	answer(w, out)
}

// Deployment is a deployment of a project.
type Deployment struct {
	ID                            int64
	SHA, Ref, Status, Environment string
	Tier                          string
	// AutoStop is when the environment ends by itself.
	AutoStop                       *time.Time
	Created, Updated, FinishedTime time.Time
}

// Deploy reports a deployment of a commit to an environment.
func (l *Lab) Deploy(p *Project, sha, environment, status string, at time.Time) *Deployment {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := &Deployment{
		ID: int64(len(p.deploys) + 1), SHA: sha, Ref: "main", Status: status, Environment: environment, Tier: environment, Created: at,
		Updated: at,
	}
	p.deploys = append(p.deploys, d)
	return d
}

func (l *Lab) deployments(w http.ResponseWriter, r *http.Request, p *Project) {
	list := slices.Clone(p.deploys)
	slices.SortStableFunc(list, func(a, b *Deployment) int { return b.Created.Compare(a.Created) })
	from, to := l.page(w, r, len(list), true)
	out := []any{}
	for _, d := range list[from:to] {
		job := map[string]any{"id": d.ID, "finished_at": nil}
		if !d.FinishedTime.IsZero() {
			job["finished_at"] = d.FinishedTime.UTC().Format(timeForm)
		}
		out = append(out, map[string]any{
			"id": d.ID, "iid": d.ID, "ref": d.Ref, "sha": d.SHA, "status": d.Status, "created_at": d.Created.UTC().Format(timeForm),
			"updated_at": d.Updated.UTC().Format(timeForm), "deployable": job, "environment": map[string]any{
				"name": d.Environment, "tier": d.Tier, "auto_stop_at": d.AutoStop, "external_url": "https://" + d.Environment + ".shop.example",
			},
		})
	}
	answer(w, out)
}
