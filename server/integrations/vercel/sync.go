package vercel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

const (
	// recent is the age up to which a deployment is read at each synchronization. All of them are read once in this time.
	recent = 24 * time.Hour
	// mostPages bounds a list.
	mostPages = limits.VercelProjects / 100
)

// Sync implements integrations.Provider.
func (p *Platform) Sync(ctx context.Context, c integrations.Connection) (integrations.Synced, error) {
	known, err := readSettings(c.Settings)
	if err != nil {
		return integrations.Synced{}, err
	}
	s := session{Platform: p, token: string(c.Credentials)}
	out := integrations.Synced{Every: limits.HostingSync}
	if known.Team {
		s.team = known.Account
		found, err := s.teamByID(ctx, known.Account)
		if integrations.IsKind(err, integrations.Forbidden) || integrations.IsKind(err, integrations.NotFound) {
			return out, integrations.NewProblem(integrations.Suspended, err, "The token no longer sees the team at Vercel.")
		}
		if err != nil {
			return out, err
		}
		out.Name = found.display()
	} else {
		who, err := s.person(ctx)
		if err != nil {
			return out, err
		}
		out.Name = who.display()
	}
	if out.Name == "" {
		out.Name = c.Name
	}
	now := p.cfg.Now()
	list := &store.HostingList{Projects: []store.HostingProject{}, KeepSince: now.Add(-limits.HostingRetention)}
	if err := s.projects(ctx, list); err != nil {
		return out, err
	}
	since := list.KeepSince
	if now.Sub(known.FullAt) < recent && c.LastSyncAt != nil {
		since = c.LastSyncAt.Add(-recent)
	} else {
		known.FullAt = now
	}
	if err := s.deployments(ctx, list, since); err != nil {
		return out, err
	}
	if err := s.drains(ctx, &known, now); err != nil {
		return out, err
	}
	out.Hosting = list
	known.Seen = len(list.Projects) + len(list.Deployments) + len(known.Drains)
	if out.Settings, err = json.Marshal(known); err != nil {
		return out, fmt.Errorf("vercel: %w", err)
	}
	return out, nil
}

type projectPage struct {
	Projects []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Framework string `json:"framework"`
		// Link names the repository in the words of its host.
		Link *struct {
			Org              string `json:"org"`
			Repo             string `json:"repo"`
			ProjectNamespace string `json:"projectNamespace"`
			ProjectName      string `json:"projectName"`
			Owner            string `json:"owner"`
			Slug             string `json:"slug"`
		} `json:"link"`
	} `json:"projects"`
	Pagination pagination `json:"pagination"`
}

func (p projectPage) page() pagination { return p.Pagination }

func (s session) projects(ctx context.Context, list *store.HostingList) error {
	seen := map[string]bool{}
	complete, err := pages(ctx, s, "v9/projects", nil, mostPages, func(page projectPage) {
		for _, p := range page.Projects {
			if p.ID == "" || seen[p.ID] {
				continue
			}
			seen[p.ID] = true
			out := store.HostingProject{
				ExternalID: p.ID, Name: firstOf(p.Name, p.ID), Framework: integrations.Clip(p.Framework),
				Environments: []string{}, Services: []string{},
			}
			if l := p.Link; l != nil {
				owner, name := firstOf(l.Org, l.ProjectNamespace, l.Owner), firstOf(l.Repo, l.ProjectName, l.Slug)
				if owner != "" && name != "" {
					out.Repository = owner + "/" + name
				}
			}
			list.Projects = append(list.Projects, out)
		}
	})
	if err == nil && !complete {
		return integrations.NewProblem(integrations.Upstream, nil, "The account has more projects than the server reads, which is %s.",
			limits.Number(limits.VercelProjects))
	}
	return err
}

type deploymentPage struct {
	Deployments []deployment `json:"deployments"`
	Pagination  pagination   `json:"pagination"`
}

func (p deploymentPage) page() pagination { return p.Pagination }

type deployment struct {
	UID               string  `json:"uid"`
	Name              string  `json:"name"`
	ProjectID         string  `json:"projectId"`
	URL               string  `json:"url"`
	Created           float64 `json:"created"`
	Ready             float64 `json:"ready"`
	State             string  `json:"state"`
	Target            string  `json:"target"`
	CustomEnvironment *struct {
		Slug string `json:"slug"`
	} `json:"customEnvironment"`
	Meta map[string]any `json:"meta"`
}

func (s session) deployments(ctx context.Context, list *store.HostingList, since time.Time) error {
	seen := map[string]bool{}
	oldest := s.cfg.Now()
	query := url.Values{"since": {strconv.FormatInt(since.UnixMilli(), 10)}}
	complete, err := pages(ctx, s, "v6/deployments", query, mostPages, func(page deploymentPage) {
		for _, d := range page.Deployments {
			if d.UID == "" || seen[d.UID] || d.Created <= 0 {
				continue
			}
			seen[d.UID] = true
			row := d.row()
			if row.StartedAt.Before(oldest) {
				oldest = row.StartedAt
			}
			list.Deployments = append(list.Deployments, row)
		}
	})
	list.CompleteSince = since
	if !complete {
		list.CompleteSince = oldest
	}
	return err
}

func (d deployment) row() store.HostingDeployment {
	out := store.HostingDeployment{
		ExternalID: d.UID, ProjectExternalID: firstOf(d.ProjectID, d.Name, d.UID), ProjectName: firstOf(d.Name, d.ProjectID, d.UID),
		State: stateOf(d.State), PlatformState: firstOf(d.State, "UNKNOWN"), Target: firstOf(d.Target, "preview"),
		CommitSha: d.meta("CommitSha"), Branch: d.meta("CommitRef"), StartedAt: moment(d.Created),
	}
	if e := d.CustomEnvironment; e != nil && e.Slug != "" {
		out.Target = integrations.Clip(e.Slug)
	}
	if integrations.IsHost(d.URL) {
		out.URL = "https://" + d.URL
	}
	if d.Ready > 0 {
		out.ReadyAt = new(moment(d.Ready))
	}
	return out
}

// meta finds the facts of the host of the repository about a deployment.
func (d deployment) meta(name string) string {
	for _, host := range []string{"github", "gitlab", "bitbucket"} {
		if text, ok := d.Meta[host+name].(string); ok && text != "" {
			return integrations.Clip(text)
		}
	}
	return ""
}

func moment(milliseconds float64) time.Time { return time.UnixMilli(int64(milliseconds)).UTC() }

func stateOf(word string) string {
	switch word {
	case "QUEUED":
		return store.DeploymentQueued
	case "INITIALIZING", "BUILDING":
		return store.DeploymentBuilding
	case "READY":
		return store.DeploymentReady
	case "ERROR":
		return store.DeploymentError
	case "CANCELED", "BLOCKED":
		return store.DeploymentCanceled
	case "DELETED":
		return store.DeploymentRemoved
	}
	return store.DeploymentUnknown
}

// drains reads the drains of a team. A token or a plan without access to them is not a failure of the account.
func (s session) drains(ctx context.Context, known *settings, now time.Time) error {
	known.DrainsError = ""
	if s.team == "" {
		known.Drains, known.DrainsError = nil, "Only teams have drains at Vercel."
		return nil
	}
	var got struct {
		Drains []struct {
			ID     string `json:"id"`
			Name   string `json:"name"`
			Status string `json:"status"`
		} `json:"drains"`
	}
	err := s.get(ctx, "v1/drains", nil, &got)
	var problem *integrations.Problem
	without := []integrations.Kind{integrations.Forbidden, integrations.NotFound, integrations.Invalid}
	if errors.As(err, &problem) && slices.Contains(without, problem.Kind) {
		known.DrainsError = "The token, or the plan of the team, gives no access to drains."
		return nil
	}
	if err != nil {
		return err
	}
	var listed []integrations.HostingDrain
	for _, d := range got.Drains {
		state := d.Status
		switch state {
		case integrations.DrainDisabled, integrations.DrainErrored:
		default: // a drain without a status sends
			state = integrations.DrainEnabled
		}
		if d.ID != "" {
			listed = append(listed, integrations.HostingDrain{ID: d.ID, Name: firstOf(d.Name, d.ID), State: state})
		}
	}
	known.Drains = integrations.MergeDrains(known.Drains, listed, now)
	return nil
}
