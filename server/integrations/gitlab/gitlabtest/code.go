package gitlabtest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/source/gittest"
)

// code adds the endpoints of repositories.
func (l *Lab) code(mux *http.ServeMux) {
	const repository = "GET /api/v4/projects/{id}/repository/"
	mux.HandleFunc(repository+"commits", l.inProject(l.commits))
	mux.HandleFunc(repository+"commits/{ref}", l.inProject(l.commit))
	mux.HandleFunc(repository+"commits/{ref}/diff", l.inProject(l.commitDiff))
	mux.HandleFunc(repository+"branches/{branch}", l.inProject(l.branch))
	mux.HandleFunc(repository+"archive.tar.gz", l.inProject(l.archive))
	mux.HandleFunc(repository+"files/{path}/raw", l.inProject(l.raw))
	mux.HandleFunc(repository+"tree", l.inProject(l.tree))
	mux.HandleFunc(repository+"compare", l.inProject(l.compare))
	mux.HandleFunc(repository+"merge_base", l.inProject(l.mergeBase))
}

func (l *Lab) commitJSON(ctx context.Context, p *Project, sha string) map[string]any {
	c, ok := p.Show(ctx, sha)
	if !ok {
		return nil
	}
	title, _, _ := strings.Cut(c.Message, "\n")
	parents := []string{}
	return map[string]any{
		"id": c.SHA, "short_id": c.SHA[:8], "title": title, "message": c.Message + "\n", "author_name": c.Author, "author_email": c.Email,
		"authored_date": c.Authored, "committer_name": c.Author, "committer_email": c.Email, "committed_date": c.Committed,
		"created_at": c.Committed, "parent_ids": append(parents, c.Parents...), "web_url": l.URL + "/" + p.FullName + "/-/commit/" + c.SHA,
	}
}

func (l *Lab) commit(w http.ResponseWriter, r *http.Request, p *Project) {
	sha := p.Resolve(r.Context(), r.PathValue("ref"))
	if sha == "" {
		refuse(w, http.StatusNotFound, "Commit Not Found")
		return
	}
	answer(w, l.commitJSON(r.Context(), p, sha))
}

func (l *Lab) commits(w http.ResponseWriter, r *http.Request, p *Project) {
	q := r.URL.Query()
	list, ok := p.List(r.Context(), q.Get("ref_name"), q.Get("path"), q.Get("since"), 10_000)
	if !ok {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	from, to := l.page(w, r, len(list), false)
	out := []any{}
	for _, sha := range list[from:to] {
		out = append(out, l.commitJSON(r.Context(), p, sha))
	}
	answer(w, out)
}

func diffJSON(c gittest.Change) map[string]any {
	old := c.Path
	if c.Previous != "" {
		old = c.Previous
	}
	return map[string]any{
		"old_path": old, "new_path": c.Path, "new_file": c.Status == "added", "renamed_file": c.Status == "renamed",
		"deleted_file": c.Status == "removed", "diff": c.Patch, "a_mode": "100644", "b_mode": "100644", "collapsed": false, "too_large": false,
	}
}

func (l *Lab) commitDiff(w http.ResponseWriter, r *http.Request, p *Project) {
	c, ok := p.Show(r.Context(), p.Resolve(r.Context(), r.PathValue("ref")))
	if !ok {
		refuse(w, http.StatusNotFound, "Commit Not Found")
		return
	}
	before := gittest.EmptyTree
	if len(c.Parents) > 0 {
		before = c.Parents[0]
	}
	list := p.Changes(r.Context(), before, c.SHA)
	from, to := l.page(w, r, len(list), true)
	out := []any{}
	for _, one := range list[from:to] {
		out = append(out, diffJSON(one))
	}
	answer(w, out)
}

func (l *Lab) branch(w http.ResponseWriter, r *http.Request, p *Project) {
	sha := p.Resolve(r.Context(), "refs/heads/"+r.PathValue("branch"))
	if sha == "" {
		refuse(w, http.StatusNotFound, "Branch Not Found")
		return
	}
	answer(w, map[string]any{"name": r.PathValue("branch"), "commit": l.commitJSON(r.Context(), p, sha)})
}

func (l *Lab) archive(w http.ResponseWriter, r *http.Request, p *Project) {
	sha := p.Resolve(r.Context(), r.URL.Query().Get("sha"))
	if sha == "" {
		refuse(w, http.StatusNotFound, "File Not Found")
		return
	}
	name := p.FullName[strings.LastIndexByte(p.FullName, '/')+1:] + "-" + sha + "-" + sha
	out, err := p.Run(r.Context(), "archive", "--format=tar.gz", "--prefix="+name+"/", sha)
	if err != nil {
		refuse(w, http.StatusNotFound, "File Not Found")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(out)
}

// raw answers the content of a file, and the target of a link.
func (l *Lab) raw(w http.ResponseWriter, r *http.Request, p *Project) {
	ref := r.URL.Query().Get("ref")
	node, ok := p.Entry(r.Context(), ref, r.PathValue("path"))
	if !ok || node.Type != "blob" {
		refuse(w, http.StatusNotFound, "File Not Found")
		return
	}
	text, err := p.Run(r.Context(), "cat-file", "blob", node.SHA)
	if err != nil {
		refuse(w, http.StatusNotFound, "File Not Found")
		return
	}
	h := w.Header()
	if !l.Plain {
		h.Set("X-Gitlab-Blob-Id", node.SHA)
		h.Set("X-Gitlab-Size", strconv.FormatInt(node.Size, 10))
	}
	h.Set("X-Gitlab-File-Path", r.PathValue("path"))
	h.Set("X-Gitlab-Ref", ref)
	h.Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(text)
}

func (l *Lab) tree(w http.ResponseWriter, r *http.Request, p *Project) {
	q := r.URL.Query()
	nodes, ok := p.Tree(r.Context(), q.Get("ref"), q.Get("path"))
	if !ok {
		refuse(w, http.StatusNotFound, "Tree Not Found")
		return
	}
	from, to := l.page(w, r, len(nodes), true)
	out := []any{}
	for _, n := range nodes[from:to] {
		out = append(out, map[string]any{
			"id": n.SHA, "name": n.Path[strings.LastIndexByte(n.Path, '/')+1:], "type": n.Type, "path": n.Path, "mode": n.Mode,
		})
	}
	answer(w, out)
}

func (l *Lab) compare(w http.ResponseWriter, r *http.Request, p *Project) {
	q := r.URL.Query()
	from, to := p.Resolve(r.Context(), q.Get("from")), p.Resolve(r.Context(), q.Get("to"))
	if from == "" || to == "" {
		refuse(w, http.StatusNotFound, "Ref Not Found")
		return
	}
	list, _ := p.Run(r.Context(), "rev-list", "--reverse", from+".."+to)
	commits := []any{}
	for sha := range strings.FieldsSeq(string(list)) {
		commits = append(commits, l.commitJSON(r.Context(), p, sha))
	}
	diffs := []any{}
	if base, err := p.Run(r.Context(), "merge-base", from, to); err == nil {
		for _, c := range p.Changes(r.Context(), strings.TrimSpace(string(base)), to) {
			diffs = append(diffs, diffJSON(c))
		}
	}
	out := map[string]any{
		"commit": nil, "commits": commits, "diffs": diffs, "compare_timeout": false, "compare_same_ref": from == to,
		"web_url": fmt.Sprintf("%s/%s/-/compare/%s...%s", l.URL, p.FullName, from, to),
	}
	if len(commits) > 0 {
		out["commit"] = commits[len(commits)-1]
	}
	answer(w, out)
}

func (l *Lab) mergeBase(w http.ResponseWriter, r *http.Request, p *Project) {
	var shas []string
	for _, ref := range r.URL.Query()["refs[]"] {
		shas = append(shas, p.Resolve(r.Context(), ref))
	}
	if len(shas) < 2 || slices.Contains(shas, "") {
		refuse(w, http.StatusBadRequest, "Could not find ref")
		return
	}
	out, err := p.Run(r.Context(), "merge-base", shas[0], shas[1])
	if err != nil {
		refuse(w, http.StatusNotFound, "Merge Base Not Found")
		return
	}
	answer(w, l.commitJSON(r.Context(), p, strings.TrimSpace(string(out))))
}
