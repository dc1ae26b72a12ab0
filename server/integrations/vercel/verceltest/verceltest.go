// Package verceltest is a stand-in for the API of Vercel: the endpoints that package vercel uses. It checks tokens and teams, and answers
// in pages.
package verceltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

type object = map[string]any

// Vercel is the stand-in.
type Vercel struct {
	URL string

	mu sync.Mutex
	// tokens name the teams that each token sees.
	tokens map[string][]string
	teams  map[string]*Team
	fault  func(path string) int
	page   int
	delay  time.Duration
}

// Team is a team with its projects and other resources.
type Team struct {
	ID, Slug, Name string
	Projects       []object
	// Deployments are ordered by the newest first.
	Deployments []object
	Drains      []object
	// NoDrains says that the plan of the team has none.
	NoDrains bool
}

// New starts a stand-in that ends with the test.
func New(t testing.TB) *Vercel {
	t.Helper()
	v := &Vercel{tokens: map[string][]string{}, teams: map[string]*Team{}, page: 2}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/user", v.answer(func(http.ResponseWriter, *http.Request, []string) any {
		return object{"user": object{"id": "usr_ada", "username": "ada", "name": "Ada"}}
	}))
	mux.HandleFunc("GET /v2/teams", v.answer(v.list(func(seen []string) (all []object) {
		for _, id := range seen {
			all = append(all, v.teams[id].described())
		}
		return all
	}, "teams")))
	mux.HandleFunc("GET /v2/teams/{id}", v.answer(func(w http.ResponseWriter, r *http.Request, seen []string) any {
		if !slices.Contains(seen, r.PathValue("id")) {
			return refuse(w, http.StatusForbidden, object{"code": "forbidden", "message": "Not authorized"})
		}
		return v.teams[r.PathValue("id")].described()
	}))
	mux.HandleFunc("GET /v9/projects", v.ofTeam(func(t *Team) ([]object, string) { return t.Projects, "projects" }))
	mux.HandleFunc("GET /v6/deployments", v.ofTeam(func(t *Team) ([]object, string) { return t.Deployments, "deployments" }))
	mux.HandleFunc("GET /v1/drains", v.answer(func(w http.ResponseWriter, r *http.Request, seen []string) any {
		team := r.URL.Query().Get("teamId")
		if !slices.Contains(seen, team) || v.teams[team].NoDrains {
			return refuse(w, http.StatusForbidden, object{"code": "forbidden", "message": "Upgrade your plan"})
		}
		return object{"drains": v.teams[team].Drains}
	}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	v.URL = server.URL
	return v
}

func (t *Team) described() object { return object{"id": t.ID, "slug": t.Slug, "name": t.Name} }

func refuse(w http.ResponseWriter, status int, said object) any {
	w.WriteHeader(status)
	return object{"error": said}
}

// answer checks the token of a request.
func (v *Vercel) answer(of func(w http.ResponseWriter, r *http.Request, seen []string) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		delay := v.delay
		v.mu.Unlock()
		time.Sleep(delay)
		v.mu.Lock()
		defer v.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		var out any
		seen, known := v.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		status := 0
		if v.fault != nil {
			status = v.fault(r.URL.Path)
		}
		switch {
		case status == http.StatusTooManyRequests:
			w.Header().Set("Retry-After", "7")
			out = refuse(w, status, object{"code": "rate_limited"})
		case status != 0:
			out = refuse(w, status, object{"code": "fault", "message": "words of the platform"})
		case !known:
			out = refuse(w, http.StatusForbidden, object{"code": "forbidden", "message": "Not authorized", "invalidToken": true})
		default:
			out = of(w, r, seen)
		}
		_ = json.NewEncoder(w).Encode(out)
	}
}

// list answers a page of a list. The cursor is the place of the first element that is left.
func (v *Vercel) list(of func(seen []string) []object, name string) func(http.ResponseWriter, *http.Request, []string) any {
	return func(w http.ResponseWriter, r *http.Request, seen []string) any {
		all := of(seen)
		if since, err := strconv.ParseFloat(r.URL.Query().Get("since"), 64); err == nil {
			all = slices.DeleteFunc(slices.Clone(all), func(o object) bool {
				created, ok := o["created"].(int64)
				return ok && float64(created) < since
			})
		}
		limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
		if err != nil || limit > 100 {
			return refuse(w, http.StatusBadRequest, object{"code": "bad_request"})
		}
		from, _ := strconv.Atoi(r.URL.Query().Get("until"))
		to := min(from+min(limit, v.page), len(all))
		var next any
		if to < len(all) {
			next = to
		}
		return object{name: all[min(from, to):to], "pagination": object{"count": to - from, "next": next}}
	}
}

// ofTeam answers a list of a team. Without a team it is that of a person, who has nothing.
func (v *Vercel) ofTeam(of func(t *Team) ([]object, string)) http.HandlerFunc {
	return v.answer(func(w http.ResponseWriter, r *http.Request, seen []string) any {
		id := r.URL.Query().Get("teamId")
		if id != "" && !slices.Contains(seen, id) {
			return refuse(w, http.StatusForbidden, object{"code": "forbidden"})
		}
		team := v.teams[id]
		if team == nil {
			team = &Team{}
		}
		all, name := of(team)
		if all == nil {
			all = []object{}
		}
		return v.list(func([]string) []object { return all }, name)(w, r, seen)
	})
}

// Change changes the state of the stand-in.
func (v *Vercel) Change(change func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change()
}

// AddTeam adds a team with some projects.
func (v *Vercel) AddTeam(id, slug, name string, projects ...string) *Team {
	t := &Team{ID: id, Slug: slug, Name: name}
	for _, p := range projects {
		t.Projects = append(t.Projects, object{
			"id": "prj_" + p, "name": p, "framework": "nextjs",
			"link": object{"type": "github", "org": "acme", "repo": p, "productionBranch": "main"},
		})
	}
	v.Change(func() { v.teams[id] = t })
	return t
}

// Token makes a token valid that sees teams.
func (v *Vercel) Token(token string, teams ...string) { v.Change(func() { v.tokens[token] = teams }) }

// Revoke makes a token invalid.
func (v *Vercel) Revoke(token string) { v.Change(func() { delete(v.tokens, token) }) }

// Fault makes requests fail with the status that the function returns, unless it is 0.
func (v *Vercel) Fault(of func(path string) int) { v.Change(func() { v.fault = of }) }

// Delay makes each answer late.
func (v *Vercel) Delay(d time.Duration) { v.Change(func() { v.delay = d }) }

// Commit names the commit of the newest deployment.
func (v *Vercel) Commit(t *Team, sha string) {
	v.Change(func() { t.Deployments[0]["meta"] = object{"githubCommitSha": sha, "githubCommitRef": "main"} })
}

// Deploy adds a deployment of a project to a team. The target is empty for a preview.
func (v *Vercel) Deploy(t *Team, project, id, state, target string, at time.Time) {
	v.Change(func() {
		d := object{
			"uid": id, "name": project, "projectId": "prj_" + project,
			"url":     fmt.Sprintf("%s-%s.vercel.app", project, strings.ToLower(id[4:])),
			"created": at.UnixMilli(), "state": state, "meta": object{"githubCommitSha": "c0ffee" + id, "githubCommitRef": "main"},
		}
		if target != "" {
			d["target"] = target
		}
		if state == "READY" {
			d["ready"] = at.Add(time.Minute).UnixMilli()
		}
		t.Deployments = append([]object{d}, t.Deployments...)
	})
}
