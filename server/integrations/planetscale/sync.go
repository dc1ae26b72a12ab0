package planetscale

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// Categories are those of events.
func Categories() []string {
	return []string{"deploy_request", "branch", "database", "cluster", "keyspace"}
}

type database struct {
	ID     string                      `json:"id"`
	Name   string                      `json:"name"`
	Kind   string                      `json:"kind"`
	State  string                      `json:"state"`
	Plan   string                      `json:"plan"`
	Region struct{ Slug, Name string } `json:"region"`
}

type deployRequest struct {
	ID              string     `json:"id"`
	Number          int64      `json:"number"`
	Branch          string     `json:"branch"`
	IntoBranch      string     `json:"into_branch"`
	State           string     `json:"state"`
	DeploymentState string     `json:"deployment_state"`
	HTMLURL         string     `json:"html_url"`
	CreatedAt       time.Time  `json:"created_at"`
	UpdatedAt       time.Time  `json:"updated_at"`
	ClosedAt        *time.Time `json:"closed_at"`
	DeployedAt      *time.Time `json:"deployed_at"`
	Actor           struct {
		Name string `json:"display_name"`
	} `json:"actor"`
}

type auditEntry struct {
	ID         string    `json:"id"`
	Action     string    `json:"audit_action"`
	Actor      string    `json:"actor_display_name"`
	Auditable  string    `json:"auditable_display_name"`
	Target     string    `json:"target_display_name"`
	TargetType string    `json:"target_type"`
	CreatedAt  time.Time `json:"created_at"`
}

// Sync implements integrations.Provider: it reads the databases of the selected organization with their branches, deploy requests, and the
// newest entries of the audit log.
func (a *App) Sync(ctx context.Context, c integrations.Connection) (integrations.Synced, error) {
	account, err := ReadAccount(c.Settings)
	if err != nil {
		return integrations.Synced{}, err
	}
	t, err := ReadTokens(c.Credentials)
	if err != nil {
		return integrations.Synced{}, err
	}
	out := integrations.Synced{Name: c.Name, Settings: c.Settings, Every: limits.DatabaseSync}
	if account.Organization == "" {
		_, err := a.organizations(ctx, t) // proves that the access still works
		return out, err
	}
	out.Name, out.Target = account.Organization, new(NewTarget(c.IntegrationConnection, account))
	found, err := pages[database](ctx, a, t.bearer(), limits.PlatformDatabases, "organizations", account.Organization, "databases")
	if err != nil {
		return out, err
	}
	out.Databases = []store.PlatformDatabase{}
	oldest := a.cfg.Now().Add(-limits.PlatformEvents)
	for _, d := range found {
		row := store.PlatformDatabase{
			ExternalID: d.ID, Name: d.Name, Kind: "mysql", State: d.State, Region: d.Region.Slug, Plan: d.Plan,
		}
		if d.Kind == "postgresql" {
			row.Kind = d.Kind
		}
		row.Branches, err = pages[store.DatabaseBranch](ctx, a, t.bearer(), limits.PlatformBranches, "organizations", account.Organization,
			"databases", d.Name, "branches")
		if err != nil {
			return out, err
		}
		slices.SortFunc(row.Branches, func(x, y store.DatabaseBranch) int { return strings.Compare(x.Name, y.Name) })
		out.Databases = append(out.Databases, row)
		if row.Kind != "mysql" {
			continue // it has no deploy requests
		}
		changes, err := a.changes(ctx, t, account.Organization, d.Name)
		if err != nil {
			return out, err
		}
		out.Events = append(out.Events, changes...)
	}
	entries, err := a.entries(ctx, t, account.Organization)
	if err != nil {
		return out, err
	}
	out.Events = slices.DeleteFunc(append(out.Events, entries...), func(e store.PlatformEvent) bool { return e.OccurredAt.Before(oldest) })
	return out, nil
}

// optional drops the refusal of a list that a permission or a plan is missing for: other lists are read all the same.
func optional(err error) error {
	if integrations.IsKind(err, integrations.Forbidden) || integrations.IsKind(err, integrations.NotFound) {
		return nil
	}
	return err
}

// changes reads the deploy requests of a database, each with the state that it has now.
func (a *App) changes(ctx context.Context, t Tokens, organization, name string) (out []store.PlatformEvent, err error) {
	found, err := pages[deployRequest](ctx, a, t.bearer(), limits.PlatformChanges, "organizations", organization, "databases", name,
		"deploy-requests")
	for _, r := range found {
		state := r.DeploymentState
		if state == "" {
			state = r.State
		}
		at := r.UpdatedAt
		if r.DeployedAt != nil {
			at = *r.DeployedAt
		} else if r.ClosedAt != nil {
			at = *r.ClosedAt
		}
		out = append(out, store.PlatformEvent{
			ExternalID: r.ID, EventType: "deploy_request." + state, Category: "deploy_request", DatabaseName: name, BranchName: r.Branch,
			State: state,
			Title: fmt.Sprintf("Deploy request %d: %s into %s", r.Number, r.Branch, r.IntoBranch), ActorLogin: r.Actor.Name, URL: webPage(r.HTMLURL),
			OccurredAt: at,
		})
	}
	return out, optional(err)
}

// entries reads the newest entries of the audit log about databases, branches, clusters and keyspaces.
func (a *App) entries(ctx context.Context, t Tokens, organization string) (out []store.PlatformEvent, err error) {
	var got struct {
		Data []auditEntry `json:"data"`
	}
	err = a.get(ctx, t.bearer(), url.Values{"limit": {strconv.Itoa(limits.PlatformAudit)}}, &got, "organizations", organization, "audit-log")
	for _, e := range got.Data {
		category, _, _ := strings.Cut(e.Action, ".")
		if !slices.Contains(Categories(), category) || category == "deploy_request" {
			continue // deploy requests come from their own list, with their state
		}
		event := store.PlatformEvent{
			ExternalID: e.ID, EventType: e.Action, Category: category, DatabaseName: e.Auditable,
			Title:      strings.TrimSpace(e.Action + " " + e.Auditable),
			ActorLogin: e.Actor, OccurredAt: e.CreatedAt,
		}
		if category != "database" {
			event.DatabaseName, event.BranchName = e.Target, e.Auditable
		}
		out = append(out, event)
	}
	return out, optional(err)
}

// webPage keeps addresses of web pages only.
func webPage(text string) string {
	if u, err := url.Parse(text); err != nil || u.Scheme != "https" {
		return ""
	}
	return text
}

// Admits reports whether a branch is scraped: it fits a pattern of include, or include is empty, and fits no pattern of exclude.
func Admits(branch string, include, exclude []string) bool {
	fits := func(pattern string) bool {
		ok, err := path.Match(pattern, branch)
		return err == nil && ok
	}
	return (len(include) == 0 || slices.ContainsFunc(include, fits)) && !slices.ContainsFunc(exclude, fits)
}

// CheckPatterns finds a pattern of branches that cannot be read.
func CheckPatterns(patterns []string) error {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return fmt.Errorf("holds %q, which is not a pattern; * stands for any characters", p)
		}
	}
	return nil
}
