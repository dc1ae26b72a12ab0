package railway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

const (
	projectPage = 50
	// perRequest stretches the time to the next synchronization, so that it makes no more than 90 requests in an hour. The smallest plan of
	// Railway allows 100.
	perRequest = 40 * time.Second
)

type list[T any] struct {
	Edges []struct {
		Node T `json:"node"`
	} `json:"edges"`
	PageInfo struct {
		HasNextPage bool   `json:"hasNextPage"`
		EndCursor   string `json:"endCursor"`
	} `json:"pageInfo"`
}

type project struct {
	named
	Environments list[named] `json:"environments"`
	Services     list[named] `json:"services"`
}

const projectFields = `id name environments { edges { node { id name } } } services { edges { node { id name } } }`

// reading is one synchronization.
type reading struct {
	session
	list     *store.HostingList
	known    settings
	projects []project
	requests int
}

// Sync implements integrations.Provider.
func (p *Platform) Sync(ctx context.Context, c integrations.Connection) (integrations.Synced, error) {
	known, err := readSettings(c.Settings)
	if err != nil {
		return integrations.Synced{}, err
	}
	now := p.cfg.Now()
	r := &reading{
		session: session{Platform: p, token: string(c.Credentials), project: known.Project != ""}, known: known,
		list: &store.HostingList{Projects: []store.HostingProject{}, KeepSince: now.Add(-limits.HostingRetention)},
	}
	r.known.HostingSettings = integrations.HostingSettings{}
	out := integrations.Synced{Name: c.Name}
	if r.project {
		err = r.oneProject(ctx, &out)
	} else {
		err = r.workspace(ctx, &out)
	}
	if err != nil {
		return out, err
	}
	if err := r.deployments(ctx); err != nil {
		return out, err
	}
	out.Hosting, out.Every = r.list, max(limits.HostingSync, time.Duration(r.requests)*perRequest)
	if out.Settings, err = json.Marshal(r.known); err != nil {
		return out, fmt.Errorf("railway: %w", err)
	}
	return out, nil
}

// lost is a refusal of a token that was accepted before.
func lost(err error) error {
	if integrations.IsKind(err, integrations.Unauthorized) {
		return integrations.NewProblem(integrations.Suspended, err, "Railway no longer knows the token. Its owner may have deleted it.")
	}
	return err
}

func (r *reading) oneProject(ctx context.Context, out *integrations.Synced) error {
	r.requests++
	who, err := ask[projectAnswer](ctx, r.session, projectQuery, nil)
	if err != nil {
		return lost(err)
	}
	at := who.ProjectToken
	if at.Project.ID != r.known.Project || at.Environment.ID != r.known.Environment {
		return integrations.NewProblem(integrations.Suspended, nil, "The token is that of another environment of Railway.")
	}
	out.Name = at.Project.display() + ", " + at.Environment.display()
	r.requests++
	got, err := ask[struct {
		Project project `json:"project"`
	}](ctx, r.session, `query($id: String!) { project(id: $id) { `+projectFields+` } }`, map[string]any{"id": at.Project.ID})
	if err != nil {
		return err
	}
	// The token sees the names of other environments, but not their content.
	found := got.Project
	edges := found.Environments.Edges[:0:0]
	for _, e := range found.Environments.Edges {
		if e.Node.ID == r.known.Environment {
			edges = append(edges, e)
		}
	}
	found.Environments.Edges = edges
	r.add(found)
	return nil
}

func (r *reading) workspace(ctx context.Context, out *integrations.Synced) error {
	r.requests++
	who, err := ask[workspacesAnswer](ctx, r.session, workspacesQuery, nil)
	if err != nil {
		return lost(err)
	}
	found := false
	for _, w := range who.APIToken.Workspaces {
		if w.ID == r.known.Workspace {
			found, out.Name = true, w.display()
		}
	}
	if !found {
		return integrations.NewProblem(integrations.Suspended, nil, "The token no longer sees the workspace at Railway.")
	}
	variables := map[string]any{"workspace": r.known.Workspace, "first": projectPage}
	for len(r.projects) < limits.RailwayProjects {
		r.requests++
		got, err := ask[struct {
			Projects list[project] `json:"projects"`
		}](ctx, r.session, `query($workspace: String!, $first: Int, $after: String) { projects(workspaceId: $workspace, first: $first, after: $after) {
			edges { node { `+projectFields+` } } pageInfo { hasNextPage endCursor } } }`, variables)
		if err != nil {
			return err
		}
		for _, e := range got.Projects.Edges {
			r.add(e.Node)
		}
		next := got.Projects.PageInfo
		if !next.HasNextPage || next.EndCursor == "" || next.EndCursor == variables["after"] {
			return nil
		}
		variables["after"] = next.EndCursor
	}
	return integrations.NewProblem(integrations.Upstream, nil, "The workspace has more projects than the server reads, which is %s.",
		limits.Number(limits.RailwayProjects))
}

func (r *reading) add(p project) {
	for _, known := range r.projects {
		if known.ID == p.ID {
			return
		}
	}
	if p.ID == "" {
		return
	}
	row := store.HostingProject{ExternalID: p.ID, Name: p.display(), Environments: names(p.Environments), Services: names(p.Services)}
	r.projects = append(r.projects, p)
	r.list.Projects = append(r.list.Projects, row)
	r.known.Seen += 1 + len(row.Environments) + len(row.Services)
}

func names(l list[named]) []string {
	out := []string{}
	for _, e := range l.Edges {
		out = append(out, e.Node.display())
	}
	return out
}

// deployments reads each environment. One that fails does not keep the others from being read.
func (r *reading) deployments(ctx context.Context) error {
	read, since := 0, r.list.KeepSince
	var failed error
	for _, p := range r.projects {
		for _, e := range p.Environments.Edges {
			if read++; read > limits.HostingEnvironments {
				r.fail(p, e.Node, "The server reads no more than "+limits.Number(limits.HostingEnvironments)+" environments.")
				continue
			}
			oldest, err := r.environment(ctx, p, e.Node)
			var problem *integrations.Problem
			switch {
			case err == nil:
				if oldest.After(since) {
					since = oldest
				}
			case errors.As(err, &problem) && problem.Kind != integrations.RateLimited && ctx.Err() == nil:
				failed = err
				r.fail(p, e.Node, problem.Text)
			default:
				return err
			}
		}
	}
	if len(r.known.Errors) > 0 && len(r.known.Errors) == read {
		return failed
	}
	if len(r.known.Errors) == 0 {
		r.list.CompleteSince = since
	}
	r.known.Seen += len(r.list.Deployments)
	return nil
}

func (r *reading) fail(p project, environment named, text string) {
	r.known.Errors = append(r.known.Errors, integrations.HostingError{
		Environment: p.display() + ", " + environment.display(), Message: text,
	})
}

type deployment struct {
	ID        string    `json:"id"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"createdAt"`
	StaticURL string    `json:"staticUrl"`
	ServiceID string    `json:"serviceId"`
	// Meta is written by the builder: strings, and other things.
	Meta map[string]any `json:"meta"`
}

const deploymentsQuery = `query($input: DeploymentListInput!, $first: Int) { deployments(input: $input, first: $first) {
	edges { node { id status createdAt staticUrl serviceId meta } } pageInfo { hasNextPage } } }`

// environment reads the newest deployments of an environment. It returns the time of the oldest if there are more; else zero.
func (r *reading) environment(ctx context.Context, p project, environment named) (oldest time.Time, err error) {
	r.requests++
	got, err := ask[struct {
		Deployments list[deployment] `json:"deployments"`
	}](ctx, r.session, deploymentsQuery, map[string]any{
		"first": limits.HostingNewest, "input": map[string]any{"projectId": p.ID, "environmentId": environment.ID},
	})
	if err != nil {
		return oldest, err
	}
	services := map[string]string{}
	for _, s := range p.Services.Edges {
		services[s.Node.ID] = s.Node.display()
	}
	for _, e := range got.Deployments.Edges {
		d := e.Node
		if d.ID == "" || d.CreatedAt.IsZero() {
			continue
		}
		row := d.row(p, environment, services[d.ServiceID])
		r.list.Deployments = append(r.list.Deployments, row)
		if got.Deployments.PageInfo.HasNextPage && (oldest.IsZero() || row.StartedAt.Before(oldest)) {
			oldest = row.StartedAt
		}
	}
	return oldest, nil
}

func (d deployment) row(p project, environment named, service string) store.HostingDeployment {
	text := func(key string) string {
		v, _ := d.Meta[key].(string)
		return integrations.Clip(v)
	}
	out := store.HostingDeployment{
		ExternalID: d.ID, ProjectExternalID: p.ID, ProjectName: p.display(), Service: service, Target: environment.display(),
		State: stateOf(d.Status), PlatformState: integrations.Clip(d.Status), CommitSha: text("commitHash"), Branch: text("branch"),
		StartedAt: d.CreatedAt.UTC(),
	}
	if out.PlatformState == "" {
		out.PlatformState = "UNKNOWN"
	}
	if integrations.IsHost(d.StaticURL) {
		out.URL = "https://" + d.StaticURL
	}
	return out
}

func stateOf(word string) string {
	switch word {
	case "QUEUED", "WAITING", "NEEDS_APPROVAL":
		return store.DeploymentQueued
	case "INITIALIZING", "BUILDING", "DEPLOYING":
		return store.DeploymentBuilding
	case "SUCCESS", "SLEEPING":
		return store.DeploymentReady
	case "FAILED", "CRASHED":
		return store.DeploymentError
	case "SKIPPED":
		return store.DeploymentCanceled
	case "REMOVING", "REMOVED":
		return store.DeploymentRemoved
	}
	return store.DeploymentUnknown
}
