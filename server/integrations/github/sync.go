package github

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	api "github.com/google/go-github/v88/github"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// Sync implements integrations.Provider: it reads the installation and the complete list of its repositories. It leaves half of the
// account's quota to people and agents.
func (a *App) Sync(ctx context.Context, c integrations.Connection) (integrations.Synced, error) {
	id, err := installationID(c.IntegrationConnection)
	if err != nil {
		return integrations.Synced{}, err
	}
	app, err := a.as(a.apps)
	if err != nil {
		return integrations.Synced{}, err
	}
	installed, _, err := app.Apps.GetInstallation(ctx, id)
	if err != nil {
		p := problem(err)
		if integrations.IsKind(p, integrations.NotFound) {
			return integrations.Synced{}, integrations.NewProblem(integrations.Gone, err, "The app is no longer installed at GitHub.")
		}
		return integrations.Synced{}, p
	}
	if installed.SuspendedAt != nil {
		return integrations.Synced{}, integrations.NewProblem(integrations.Suspended, nil, "The installation is suspended at GitHub.")
	}
	before, err := source.ReadAccount(c.Settings)
	if err != nil {
		return integrations.Synced{}, err
	}
	now := accountOf(installed)
	now.CodeAccess, now.Limited, now.Allowed = before.CodeAccess, before.Limited, before.Allowed
	if !slices.Equal(now.Missing, before.Missing) {
		a.forget(id)
	}
	repositories, short, err := a.repositories(ctx, id, now)
	if err == nil && short {
		// The list changed while it was read, or GitHub counts one that it does not list: then the second list is as short.
		first := len(repositories)
		if repositories, short, err = a.repositories(ctx, id, now); err == nil && short && len(repositories) != first {
			err = integrations.NewProblem(integrations.Upstream, nil, "The list of repositories at GitHub changed while it was read.")
		}
	}
	if err != nil {
		return integrations.Synced{}, err
	}
	settings, err := now.JSON()
	return integrations.Synced{Name: installed.GetAccount().GetLogin(), Settings: settings, Repositories: repositories}, err
}

// repositories lists the repositories of an installation that count. short says that GitHub counts more than it listed.
func (a *App) repositories(ctx context.Context, id int64, account source.Account) (out []store.SourceRepository, short bool, err error) {
	client, err := a.installation(id)
	if err != nil {
		return nil, false, err
	}
	out = []store.SourceRepository{}
	seen, total := map[string]bool{}, 0
	for page := 1; page != 0; {
		list, res, err := client.Apps.ListRepos(ctx, &api.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, false, problem(err)
		}
		for _, r := range list.Repositories {
			row := repository(r, "")
			if seen[row.ExternalID] {
				continue // the list moved by one while it was read
			}
			seen[row.ExternalID] = true
			if !account.Admits(row.ExternalID) {
				continue
			}
			out = append(out, store.SourceRepository{
				ExternalID: row.ExternalID, FullName: row.FullName, HTMLURL: row.HTMLURL, IsPrivate: row.Private, IsArchived: row.Archived,
				DefaultBranch: row.DefaultBranch,
			})
		}
		page, total = res.NextPage, list.GetTotalCount()
		if page != 0 && res.Rate.Limit > 0 && res.Rate.Remaining < res.Rate.Limit/2 {
			p := integrations.NewProblem(integrations.RateLimited, nil, "Half of the quota at GitHub is used; the list is read later.")
			p.RetryAfter = time.Until(res.Rate.Reset.Time)
			return nil, false, p
		}
	}
	return out, len(seen) < total, nil
}

func repository(r *api.Repository, etag string) source.Repository {
	return source.Repository{
		ExternalID: strconv.FormatInt(r.GetID(), 10), FullName: r.GetFullName(), HTMLURL: r.GetHTMLURL(),
		DefaultBranch: r.GetDefaultBranch(), Private: r.GetPrivate(), Archived: r.GetArchived(), ETag: etag,
	}
}

// problem sorts an error of the API client.
func problem(err error) error {
	var known *integrations.Problem
	var limited *api.RateLimitError
	var secondary *api.AbuseRateLimitError
	var answered *api.ErrorResponse
	var token *ghinstallation.HTTPError
	status, pause := 0, ""
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &limited):
		p := integrations.NewProblem(integrations.RateLimited, err, "The quota of this account at GitHub is used up.")
		p.RetryAfter = max(time.Second, time.Until(limited.Rate.Reset.Time))
		return p
	case errors.As(err, &secondary):
		p := integrations.NewProblem(integrations.RateLimited, err, "GitHub asks for a pause.")
		p.RetryAfter = time.Minute
		if secondary.RetryAfter != nil {
			p.RetryAfter = *secondary.RetryAfter
		}
		return p
	case errors.As(err, &token) && token.Response != nil:
		status, pause = token.Response.StatusCode, token.Response.Header.Get("Retry-After")
		if status == http.StatusNotFound {
			return integrations.NewProblem(integrations.Gone, err, "The app is no longer installed at GitHub.")
		}
		if status == http.StatusForbidden && pause == "" {
			return integrations.NewProblem(integrations.Suspended, err, "GitHub gives no access to the installation: it may be suspended.")
		}
	case errors.As(err, &answered) && answered.Response != nil:
		status, pause = answered.Response.StatusCode, answered.Response.Header.Get("Retry-After")
	}
	if status == http.StatusForbidden && pause != "" {
		status = http.StatusTooManyRequests // a secondary limit, which the client knows by its text alone
	}
	switch status {
	case http.StatusUnauthorized:
		return integrations.NewProblem(integrations.Unauthorized, err, "GitHub refused the credentials of the app.")
	case http.StatusForbidden:
		return integrations.NewProblem(integrations.Forbidden, err, "GitHub did not permit the request: a permission is missing.")
	case http.StatusNotFound, http.StatusGone, http.StatusUnavailableForLegalReasons:
		return integrations.NewProblem(integrations.NotFound, err, "GitHub does not know it, or gives no access to it.")
	case http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusConflict:
		return integrations.NewProblem(integrations.Invalid, err, "GitHub does not take the request.")
	case http.StatusTooManyRequests:
		p := integrations.NewProblem(integrations.RateLimited, err, "GitHub asks for a pause.")
		p.RetryAfter = time.Minute
		if seconds, err := strconv.Atoi(pause); err == nil {
			p.RetryAfter = max(time.Second, time.Duration(seconds)*time.Second)
		}
		return p
	}
	return integrations.NewProblem(integrations.Upstream, err, "GitHub failed or did not answer in time.")
}
