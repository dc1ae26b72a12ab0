package gitlab

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// reporter is the least access level with which a person may read code and pipelines of a private project.
const reporter = "20"

// project is a project as GitLab describes it.
type project struct {
	ID            int64  `json:"id"`
	FullName      string `json:"path_with_namespace"`
	WebURL        string `json:"web_url"`
	DefaultBranch string `json:"default_branch"`
	Visibility    string `json:"visibility"`
	Archived      bool   `json:"archived"`
	Repository    string `json:"repository_access_level"`
}

// counted selects the projects that count: those in which the person is a reporter or more, archived ones too.
func counted() url.Values {
	return url.Values{"membership": {"true"}, "min_access_level": {reporter}, "order_by": {"id"}, "sort": {"asc"}}
}

// Repository implements source.Host. It asks the list of projects that count for one of them: the answer about a project itself does not
// say all ways by which a person has access.
func (h *host) Repository(ctx context.Context, externalID, etag string) (source.Repository, bool, error) {
	id, err := strconv.ParseInt(externalID, 10, 64)
	if err != nil {
		return source.Repository{}, false, fmt.Errorf("gitlab: the project %q is not a number", externalID)
	}
	query := counted()
	query.Set("id_after", strconv.FormatInt(id-1, 10))
	query.Set("id_before", strconv.FormatInt(id+1, 10))
	var list []project
	res, err := h.get(ctx, query, etag, &list, "projects")
	switch {
	case err != nil:
		return source.Repository{}, false, err
	case res.Status == http.StatusNotModified:
		return source.Repository{}, false, nil
	case len(list) != 1 || list[0].ID != id || !list[0].hasCode():
		return source.Repository{}, false, integrations.NewProblem(integrations.NotFound, nil, "GitLab gives no access to the project.")
	}
	p := list[0]
	return source.Repository{
		ExternalID: externalID, FullName: p.FullName, HTMLURL: p.WebURL, DefaultBranch: p.DefaultBranch, Private: p.private(),
		Archived: p.Archived,
		ETag:     res.Header.Get("ETag"),
	}, true, nil
}

func (p project) private() bool { return p.Visibility != "public" }

// hasCode is false for a project whose repository is turned off.
func (p project) hasCode() bool { return p.Repository != "disabled" }

// Sync implements integrations.Provider: it reads the person and the complete list of projects. It leaves half of the account's quota to
// people and agents.
func (a *App) Sync(ctx context.Context, c integrations.Connection) (integrations.Synced, error) {
	t, err := readTokens(c.Credentials)
	if err != nil {
		return integrations.Synced{}, err
	}
	before, err := source.ReadAccount(c.Settings)
	if err != nil {
		return integrations.Synced{}, err
	}
	s := &session{app: a, tokens: t}
	who, err := a.person(ctx, s)
	switch {
	case integrations.IsKind(err, integrations.Forbidden):
		return integrations.Synced{}, integrations.NewProblem(integrations.Suspended, err, "GitLab gives no access: the account may be blocked.")
	case err != nil:
		return integrations.Synced{}, err
	case strconv.FormatInt(who.ID, 10) != c.ExternalID:
		return integrations.Synced{}, integrations.NewProblem(integrations.Suspended, nil, "The access is to another account. Connect it again.")
	}
	repositories, err := a.projects(ctx, s)
	if err != nil {
		return integrations.Synced{}, err
	}
	now := a.account(who)
	now.CodeAccess = before.CodeAccess
	settings, err := now.JSON()
	return integrations.Synced{Name: who.Username, Settings: settings, Repositories: repositories, Every: a.every(t)}, err
}

// every is the time to the next synchronization: the tokens have to be renewed before they end. The engine takes up to an eighth off.
func (a *App) every(t tokens) time.Duration {
	if t.Refresh == "" {
		return limits.IntegrationSync
	}
	left := max(t.old().Sub(a.cfg.Now()), time.Second) * 8 / 7
	return min(left, limits.IntegrationSync)
}

// projects lists the projects that count, by their ids, so that one which is renamed meanwhile is neither missing nor there twice.
func (a *App) projects(ctx context.Context, s *session) ([]store.SourceRepository, error) {
	out, last := []store.SourceRepository{}, int64(0)
	for {
		query := counted()
		query.Set("pagination", "keyset")
		query.Set("per_page", strconv.Itoa(pageSize))
		query.Set("id_after", strconv.FormatInt(last, 10))
		var list []project
		res, err := s.get(ctx, query, "", &list, "projects")
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			if p.ID <= last {
				return nil, integrations.NewProblem(integrations.Upstream, nil, "GitLab's list of projects is not in order.")
			}
			last = p.ID
			if !p.hasCode() {
				continue
			}
			out = append(out, store.SourceRepository{
				ExternalID: strconv.FormatInt(p.ID, 10), FullName: p.FullName, HTMLURL: p.WebURL, IsPrivate: p.private(), IsArchived: p.Archived,
				DefaultBranch: p.DefaultBranch,
			})
		}
		if len(list) == 0 || len(list) < pageSize && !hasNext(res.Header) {
			return out, nil
		}
		if pause := half(res.Header); pause > 0 {
			p := integrations.NewProblem(integrations.RateLimited, nil, "Half of the quota at GitLab is used; the list is read later.")
			p.RetryAfter = pause
			return nil, p
		}
	}
}

// half is the time until a quota is whole again of which half is used; 0 before that.
func half(h http.Header) time.Duration {
	limit, err := strconv.ParseInt(h.Get("RateLimit-Limit"), 10, 64)
	remaining, failed := strconv.ParseInt(h.Get("RateLimit-Remaining"), 10, 64)
	if err != nil || failed != nil || remaining >= limit/2 {
		return 0
	}
	end, err := strconv.ParseInt(h.Get("RateLimit-Reset"), 10, 64)
	if err != nil {
		return time.Minute
	}
	return max(time.Second, time.Until(time.Unix(end, 0)))
}
