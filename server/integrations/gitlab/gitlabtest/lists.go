package gitlabtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (l *Lab) lists(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v4/user", l.asPerson(func(w http.ResponseWriter, _ *http.Request, person string) {
		answer(w, map[string]any{"id": l.idOf(person), "username": person, "name": strings.ToUpper(person), "state": "active"})
	}))
	mux.HandleFunc("GET /api/v4/projects", l.asPerson(l.listProjects))
	const project = "GET /api/v4/projects/{id}/"
	mux.HandleFunc(project+"pipelines", l.inProject(l.pipelines))
	mux.HandleFunc(project+"pipelines/{pipeline}/jobs", l.inProject(l.jobs))
	mux.HandleFunc(project+"merge_requests", l.inProject(l.mergeList))
	mux.HandleFunc(project+"merge_requests/{number}", l.inProject(l.merge))
	mux.HandleFunc(project+"merge_requests/{number}/commits", l.inProject(l.mergeCommits))
	mux.HandleFunc(project+"deployments", l.inProject(l.deployments))
}

func (l *Lab) idOf(person string) int64 {
	if l.people[person] == 0 {
		l.nextID++
		l.people[person] = l.nextID
	}
	return l.people[person]
}

func (l *Lab) projectJSON(p *Project) map[string]any {
	return map[string]any{
		"id": p.ID, "path_with_namespace": p.FullName, "name": p.FullName[strings.LastIndexByte(p.FullName, '/')+1:],
		"web_url": l.URL + "/" + p.FullName, "visibility": p.Visibility, "archived": p.Archived, "default_branch": "main",
		"repository_access_level": "enabled",
	}
}

// listProjects answers the projects of a person, filtered and in the order that the request asks for.
func (l *Lab) listProjects(w http.ResponseWriter, r *http.Request, person string) {
	q := r.URL.Query()
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(q.Get(name), 10, 64)
		return n
	}
	var list []*Project
	for _, p := range l.projects {
		level := p.Members[person]
		switch {
		case p.Deleted, level == 0 && p.Visibility == "private":
		case q.Get("membership") == "true" && level == 0:
		case int64(level) < number("min_access_level"):
		case q.Has("id_after") && p.ID <= number("id_after"), q.Has("id_before") && p.ID >= number("id_before"):
		default:
			list = append(list, p)
		}
	}
	// Without an order, the newest is first.
	slices.SortFunc(list, func(a, b *Project) int {
		if q.Get("sort") == "asc" {
			return int(a.ID - b.ID)
		}
		return int(b.ID - a.ID)
	})
	keyset := q.Get("pagination") == "keyset"
	if keyset && q.Get("order_by") != "id" {
		refuse(w, http.StatusMethodNotAllowed, "Keyset pagination is not yet available for this type of request")
		return
	}
	from, to := l.page(w, r, len(list), !keyset)
	if keyset {
		for _, h := range []string{"X-Page", "X-Next-Page", "X-Total"} {
			w.Header().Del(h)
		}
	}
	out := []any{}
	for _, p := range list[from:to] {
		out = append(out, l.projectJSON(p))
	}
	if !unchanged(w, r, out) {
		answer(w, out)
	}
}

// inProject finds the project of the path, by id or name, among those that the person may see.
func (l *Lab) inProject(next func(http.ResponseWriter, *http.Request, *Project)) http.HandlerFunc {
	return l.asPerson(func(w http.ResponseWriter, r *http.Request, person string) {
		for _, p := range l.projects {
			named := strings.EqualFold(p.FullName, r.PathValue("id")) || strconv.FormatInt(p.ID, 10) == r.PathValue("id")
			if named && !p.Deleted && (p.Members[person] > 0 || p.Visibility == "public") {
				if p.Members[person] < Reporter && p.Visibility != "public" {
					refuse(w, http.StatusForbidden, "Forbidden")
					return
				}
				next(w, r, p)
				return
			}
		}
		refuse(w, http.StatusNotFound, "Project Not Found")
	})
}

func (l *Lab) pipelines(w http.ResponseWriter, r *http.Request, p *Project) {
	q := r.URL.Query()
	var list []Pipeline
	for _, one := range p.Pipelines {
		fits := true
		for name, value := range map[string]string{"ref": one.Ref, "sha": one.SHA, "status": one.Status} {
			fits = fits && (!q.Has(name) || q.Get(name) == value)
		}
		if fits {
			list = append(list, one)
		}
	}
	from, to := l.page(w, r, len(list), true)
	out := []any{}
	for _, one := range list[from:to] {
		out = append(out, map[string]any{
			"id": one.ID, "iid": one.ID, "project_id": p.ID, "name": one.Name, "status": one.Status, "ref": one.Ref, "sha": one.SHA,
			"source":     "push",
			"web_url":    fmt.Sprintf("%s/%s/-/pipelines/%d", l.URL, p.FullName, one.ID),
			"created_at": "2026-11-20T10:00:00.000Z", "updated_at": "2026-11-20T10:05:00.000Z",
		})
	}
	answer(w, out)
}

func (l *Lab) jobs(w http.ResponseWriter, r *http.Request, p *Project) {
	out := []any{}
	for _, one := range p.Pipelines {
		if strconv.FormatInt(one.ID, 10) != r.PathValue("pipeline") {
			continue
		}
		jobs := []map[string]any{{"id": 1, "name": "build", "status": "success", "stage": "build"}}
		if one.FailedJob != "" {
			jobs = append(jobs, map[string]any{"id": 2, "name": "lint", "status": "failed", "stage": "test", "allow_failure": true}, map[string]any{
				"id": 3, "name": one.FailedJob, "status": "failed", "stage": "test", "failure_reason": one.Reason, "allow_failure": false,
				"web_url": fmt.Sprintf("%s/%s/-/jobs/3", l.URL, p.FullName),
			})
		}
		scope := r.URL.Query()["scope[]"]
		for _, j := range jobs {
			if status, _ := j["status"].(string); len(scope) == 0 || slices.Contains(scope, status) {
				out = append(out, j)
			}
		}
		answer(w, out)
		return
	}
	refuse(w, http.StatusNotFound, "Not Found")
}
