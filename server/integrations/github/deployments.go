package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	api "github.com/google/go-github/v88/github"

	"github.com/svc-observability/svc/server/source"
)

// Deployments implements source.Host. GitHub keeps the states of a deployment apart from it, so each costs a request.
func (h *host) Deployments(ctx context.Context, repo string, l source.DeploymentList) ([]source.Deployment, error) {
	owner, name := split(repo)
	var list []struct {
		api.Deployment

		// The client library does not have it: the environment will be gone, such as that of a pull request.
		Transient bool `json:"transient_environment"`
	}
	res, _, err := h.conditional(ctx, fmt.Sprintf("repos/%s/%s/deployments?per_page=%d", url.PathEscape(owner), url.PathEscape(name),
		min(l.Newest, pageSize)), "", &list)
	if err != nil {
		return nil, err
	}
	var out []source.Deployment
	for _, d := range list {
		if d.GetCreatedAt().Before(l.Since) || l.Settled[strconv.FormatInt(d.GetID(), 10)] {
			continue
		}
		if err := spare(res.Rate); err != nil {
			return nil, err
		}
		var states []*api.DeploymentStatus
		states, res, err = h.client.Repositories.ListDeploymentStatuses(ctx, owner, name, d.GetID(), &api.ListOptions{PerPage: pageSize})
		if err != nil {
			return nil, problem(err)
		}
		one := deployment(&d.Deployment, states)
		one.Preview = d.Transient
		out = append(out, one)
	}
	return out, nil
}

// deployment reads a deployment with its states, the newest of which comes first.
func deployment(d *api.Deployment, states []*api.DeploymentStatus) source.Deployment {
	out := source.Deployment{
		ID: strconv.FormatInt(d.GetID(), 10), Environment: d.GetEnvironment(), State: source.DeploymentQueued, HostState: "pending",
		CommitSHA: d.GetSHA(), Service: serviceOf(d.Payload), StartedAt: d.GetCreatedAt().UTC(),
	}
	if ref := d.GetRef(); ref != d.GetSHA() {
		out.Ref = ref
	}
	for i, s := range states {
		if i == 0 {
			out.State, out.HostState, out.URL = stateOf(s.GetState()), s.GetState(), s.GetEnvironmentURL()
		}
		if s.GetState() == "success" { // the first success is the last one of the list
			out.ReadyAt = s.GetCreatedAt().UTC()
		}
	}
	return out
}

// stateOf is a state of GitHub in the words of source.Deployment.
func stateOf(word string) string {
	switch word {
	case "queued", "pending", "waiting":
		return source.DeploymentQueued
	case "in_progress":
		return source.DeploymentBuilding
	case "success":
		return source.DeploymentReady
	case "failure", "error":
		return source.DeploymentError
	case "inactive":
		return source.DeploymentRemoved
	}
	return source.DeploymentUnknown
}

// serviceOf is the service that the pipeline names in the payload of a deployment: {"service": "cart"}. The payload may also be a text with
// this JSON.
func serviceOf(payload json.RawMessage) string {
	var text string
	if json.Unmarshal(payload, &text) == nil {
		payload = json.RawMessage(text)
	}
	var said struct {
		Service string `json:"service"`
	}
	_ = json.Unmarshal(payload, &said) // a payload of another form names none
	return said.Service
}

// deploymentEvent reports whether deployments are read again after a delivery of a kind.
func deploymentEvent(kind string) bool { return kind == "deployment" || kind == "deployment_status" }
