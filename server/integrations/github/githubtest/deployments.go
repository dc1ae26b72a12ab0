package githubtest

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Deployment is a deployment of a repository.
type Deployment struct {
	ID                    int64
	SHA, Ref, Environment string
	// Payload is the data that the pipeline attached.
	Payload any
	// Transient says that the environment will be gone.
	Transient bool
	Created   time.Time

	states []deploymentState
}

type deploymentState struct {
	state string
	at    time.Time
}

// Deploy reports a deployment of a commit to an environment. It is pending.
func (h *Hub) Deploy(r *Repository, sha, environment string, at time.Time) *Deployment {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nextID++
	d := &Deployment{ID: h.nextID, SHA: sha, Ref: "main", Environment: environment, Payload: map[string]any{}, Created: at}
	r.deploys = append(r.deploys, d)
	return d
}

// DeploymentState reports a state of a deployment. A success makes earlier ones of the environment inactive, as at GitHub.
func (h *Hub) DeploymentState(r *Repository, d *Deployment, state string, at time.Time) {
	h.Change(func() {
		for _, other := range r.deploys {
			n := len(other.states)
			if state == "success" && other != d && other.Environment == d.Environment && n > 0 && other.states[n-1].state == "success" {
				other.states = append(other.states, deploymentState{"inactive", at})
			}
		}
		d.states = append(d.states, deploymentState{state, at})
	})
}

// inDeployments is inRepository for an installation that may read deployments.
func (h *Hub) inDeployments(next func(http.ResponseWriter, *http.Request, *Repository)) http.HandlerFunc {
	return h.inRepository(func(w http.ResponseWriter, r *http.Request, repo *Repository) {
		for _, i := range h.installations {
			if slices.Contains(i.Repositories, repo.ID) && i.Permissions["deployments"] == "read" {
				next(w, r, repo)
				return
			}
		}
		refuse(w, http.StatusForbidden, "Resource not accessible by integration")
	})
}

func (h *Hub) deployments(w http.ResponseWriter, r *http.Request, repo *Repository) {
	list := slices.Clone(repo.deploys)
	slices.SortStableFunc(list, func(a, b *Deployment) int { return b.Created.Compare(a.Created) })
	from, to := h.page(w, r, len(list), 30)
	out := []any{}
	for _, d := range list[from:to] {
		out = append(out, map[string]any{
			"id": d.ID, "sha": d.SHA, "ref": d.Ref, "environment": d.Environment, "payload": d.Payload, "task": "deploy",
			"transient_environment": d.Transient, "created_at": d.Created.UTC().Format(time.RFC3339),
			"updated_at": d.Created.UTC().Format(time.RFC3339),
		})
	}
	answer(w, out)
}

func (h *Hub) deploymentStates(w http.ResponseWriter, r *http.Request, repo *Repository) {
	for _, d := range repo.deploys {
		if strconv.FormatInt(d.ID, 10) != r.PathValue("deployment") {
			continue
		}
		out := []any{}
		for i, s := range slices.Backward(d.states) {
			out = append(out, map[string]any{
				"id": d.ID*100 + int64(i), "state": s.state, "created_at": s.at.UTC().Format(time.RFC3339), "environment": d.Environment,
				"environment_url": "https://" + d.Environment + ".shop.example",
			})
		}
		answer(w, out)
		return
	}
	refuse(w, http.StatusNotFound, "Not Found")
}
