// Package railwaytest is a stand-in for the API of Railway: the queries that package railway sends. It checks tokens, their headers and
// their rights.
package railwaytest

import (
	"encoding/json"
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

// Railway is the stand-in.
type Railway struct {
	URL string

	mu         sync.Mutex
	workspaces []*Workspace
	// bearers name the workspaces that a token sees, projects the project and environment of another token.
	bearers  map[string][]string
	projects map[string][2]string
	fault    func(query string, variables object) int
}

// Workspace is a workspace with its projects.
type Workspace struct {
	ID, Name string
	Projects []*Project
}

// Project is a project. Environments and services have the ids env_NAME and svc_NAME.
type Project struct {
	ID, Name               string
	Environments, Services []string
	// Deployments are those of an environment, the newest first.
	Deployments map[string][]object
}

// New starts a stand-in that ends with the test.
func New(t testing.TB) *Railway {
	t.Helper()
	r := &Railway{bearers: map[string][]string{}, projects: map[string][2]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /graphql/v2", r.serve)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// Change changes the state of the stand-in.
func (r *Railway) Change(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// AddWorkspace adds a workspace with projects, each with the environments production and staging and the services web and worker.
func (r *Railway) AddWorkspace(id, name string, projects ...string) *Workspace {
	w := &Workspace{ID: id, Name: name}
	for _, p := range projects {
		w.Projects = append(w.Projects, &Project{
			ID: "prj_" + p, Name: p, Environments: []string{"production", "staging"}, Services: []string{"web", "worker"},
			Deployments: map[string][]object{},
		})
	}
	r.Change(func() { r.workspaces = append(r.workspaces, w) })
	return w
}

// Token makes a token of an account or a workspace valid, which sees workspaces.
func (r *Railway) Token(token string, workspaces ...string) {
	r.Change(func() { r.bearers[token] = workspaces })
}

// ProjectToken makes a token of one environment of a project valid.
func (r *Railway) ProjectToken(token, project, environment string) {
	r.Change(func() { r.projects[token] = [2]string{project, environment} })
}

// Revoke makes a token invalid.
func (r *Railway) Revoke(token string) {
	r.Change(func() {
		delete(r.bearers, token)
		delete(r.projects, token)
	})
}

// Fault makes queries fail with the status that the function returns, unless it is 0. Status 200 is an error of GraphQL.
func (r *Railway) Fault(of func(query string, variables map[string]any) int) {
	r.Change(func() { r.fault = of })
}

// Deploy adds a deployment of a service to an environment.
func (r *Railway) Deploy(p *Project, environment, service, id, status string, at time.Time) {
	r.Change(func() {
		d := object{
			"id": id, "status": status, "createdAt": at.UTC().Format(time.RFC3339Nano),
			"staticUrl": strings.ReplaceAll(strings.ToLower(id), "_", "-") + ".up.railway.app",
			"serviceId": "svc_" + service, "meta": object{"commitHash": "beef" + id, "branch": "main", "patchId": 7},
		}
		p.Deployments["env_"+environment] = append([]object{d}, p.Deployments["env_"+environment]...)
	})
}

func (r *Railway) serve(w http.ResponseWriter, q *http.Request) {
	var asked struct {
		Query     string
		Variables object
	}
	if err := json.NewDecoder(q.Body).Decode(&asked); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	status := 0
	if r.fault != nil {
		status = r.fault(asked.Query, asked.Variables)
	}
	switch {
	case status == http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "9")
		w.WriteHeader(status)
		return
	case status != 0:
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(refused("words of the platform"))
		return
	}
	_ = json.NewEncoder(w).Encode(r.answer(q.Header, asked.Query, asked.Variables))
}

func refused(text string) object { return object{"data": nil, "errors": []object{{"message": text}}} }

func edges(nodes []object) object {
	list := []object{}
	for _, n := range nodes {
		list = append(list, object{"node": n})
	}
	return object{"edges": list, "pageInfo": object{"hasNextPage": false}}
}

func named(prefix string, names []string) object {
	var nodes []object
	for _, n := range names {
		nodes = append(nodes, object{"id": prefix + n, "name": n})
	}
	return edges(nodes)
}

func (p *Project) described() object {
	return object{"id": p.ID, "name": p.Name, "environments": named("env_", p.Environments), "services": named("svc_", p.Services)}
}

// answer reads a query by the field that it asks for.
func (r *Railway) answer(h http.Header, query string, variables object) object {
	seen, isBearer := r.bearers[strings.TrimPrefix(h.Get("Authorization"), "Bearer ")]
	own, isProject := r.projects[h.Get("Project-Access-Token")]
	var nodes []object
	switch {
	case strings.Contains(query, "apiToken") && isBearer:
		for _, w := range r.workspaces {
			if slices.Contains(seen, w.ID) {
				nodes = append(nodes, object{"id": w.ID, "name": w.Name})
			}
		}
		return object{"data": object{"apiToken": object{"workspaces": nodes}}}
	case strings.Contains(query, "projectToken") && isProject:
		p := r.find(own[0])
		return object{"data": object{"projectToken": object{
			"project": object{"id": p.ID, "name": p.Name}, "environment": object{"id": own[1], "name": strings.TrimPrefix(own[1], "env_")},
		}}}
	case strings.Contains(query, "projects(") && isBearer:
		return r.page(seen, variables)
	case strings.Contains(query, "project(id") && isProject && variables["id"] == own[0]:
		return object{"data": object{"project": r.find(own[0]).described()}}
	case strings.Contains(query, "deployments("):
		in, _ := variables["input"].(object)
		p := r.find(in["projectId"])
		environment, _ := in["environmentId"].(string)
		if p == nil || isProject && (p.ID != own[0] || environment != own[1]) || !isProject && !isBearer {
			break
		}
		first, _ := variables["first"].(float64)
		all := p.Deployments[environment]
		shown := edges(all[:min(len(all), int(first))])
		shown["pageInfo"] = object{"hasNextPage": len(all) > int(first)}
		return object{"data": object{"deployments": shown}}
	}
	return refused("Not Authorized")
}

// page answers projects of a workspace, two at a time.
func (r *Railway) page(seen []string, variables object) object {
	for _, w := range r.workspaces {
		if w.ID != variables["workspace"] || !slices.Contains(seen, w.ID) {
			continue
		}
		after, _ := variables["after"].(string)
		from, _ := strconv.Atoi(after)
		to := min(from+2, len(w.Projects))
		var nodes []object
		for _, p := range w.Projects[from:to] {
			nodes = append(nodes, p.described())
		}
		out := edges(nodes)
		out["pageInfo"] = object{"hasNextPage": to < len(w.Projects), "endCursor": strconv.Itoa(to)}
		return object{"data": object{"projects": out}}
	}
	return refused("Not Authorized")
}

func (r *Railway) find(id any) *Project {
	for _, w := range r.workspaces {
		for _, p := range w.Projects {
			if p.ID == id {
				return p
			}
		}
	}
	return nil
}
