package github

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	api "github.com/google/go-github/v88/github"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/source"
)

// AuthorizeURL implements integrations.LoginProvider.
func (a *App) AuthorizeURL(state, challenge, redirectURI string) string {
	u := a.Base.JoinPath("login", "oauth", "authorize")
	u.RawQuery = url.Values{
		"client_id": {a.cfg.ClientID}, "state": {state}, "redirect_uri": {redirectURI},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}.Encode()
	return u.String()
}

// InstallURL implements integrations.Installer. GitHub sends the browser back with a code, because the app asks for the identity of the
// person during the installation.
func (a *App) InstallURL(state string) string {
	parts := []string{"apps", a.cfg.Slug, "installations", "new"}
	if a.Base.String() != publicURL {
		parts[0] = "github-apps"
	}
	u := a.Base.JoinPath(parts...)
	u.RawQuery = url.Values{"state": {state}}.Encode()
	return u.String()
}

// Accounts implements integrations.LoginProvider. The token of the person is used here and thrown away.
//
// GitHub also lists installations that the person can only read. So a person who administers the account connects all repositories of the
// installation, and anybody else those that the person's own token lists.
func (a *App) Accounts(ctx context.Context, c integrations.Callback) ([]integrations.Account, error) {
	token, err := a.exchange(ctx, c)
	if err != nil {
		return nil, err
	}
	client, err := a.as(bearer{token, a.client.Transport})
	if err != nil {
		return nil, err
	}
	me, _, err := client.Users.Get(ctx, "")
	if err != nil {
		return nil, problem(err)
	}
	var out []integrations.Account
	for page := 1; page != 0; {
		found, res, err := client.Apps.ListUserInstallations(ctx, &api.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, problem(err)
		}
		for _, i := range found {
			if i.GetAppID() != a.cfg.AppID || i.SuspendedAt != nil {
				continue
			}
			account, err := a.account(ctx, client, me.GetLogin(), i)
			if integrations.IsKind(err, integrations.Forbidden) || integrations.IsKind(err, integrations.NotFound) {
				continue // the owner requires more of the person, such as a single sign-on
			}
			if err != nil {
				return nil, err
			}
			out = append(out, account)
		}
		page = res.NextPage
	}
	return out, nil
}

func (a *App) account(ctx context.Context, person *api.Client, login string, i *api.Installation) (integrations.Account, error) {
	settings := accountOf(i)
	out := integrations.Account{
		ExternalID: strconv.FormatInt(i.GetID(), 10), Name: i.GetAccount().GetLogin(), Kind: settings.Type,
		Note: "all repositories of the installation",
	}
	owner, err := administers(ctx, person, login, i)
	if err != nil {
		return integrations.Account{}, err
	}
	if !owner {
		settings.Limited = true
		if settings.Allowed, err = readable(ctx, person, i.GetID()); err != nil {
			return integrations.Account{}, err
		}
		out.Note = "only the " + strconv.Itoa(len(settings.Allowed)) + " repositories that you may read, because you do not administer it"
	}
	out.Settings, err = settings.JSON()
	return out, err
}

// administers reports whether a person owns the account of an installation. Without the permission `members: read` GitHub does not tell
// for an organization, so the person counts as a reader.
func administers(ctx context.Context, person *api.Client, login string, i *api.Installation) (bool, error) {
	if !strings.EqualFold(i.GetTargetType(), "Organization") {
		return i.GetAccount().GetLogin() == login, nil
	}
	m, _, err := person.Organizations.GetOrgMembership(ctx, "", i.GetAccount().GetLogin())
	if err != nil {
		p := problem(err)
		if integrations.IsKind(p, integrations.Forbidden) || integrations.IsKind(p, integrations.NotFound) {
			return false, nil
		}
		return false, p
	}
	return m.GetRole() == "admin" && m.GetState() == "active", nil
}

// readable lists the ids of the repositories of an installation that a person may read.
func readable(ctx context.Context, person *api.Client, installation int64) ([]string, error) {
	ids := []string{}
	for page := 1; page != 0; {
		list, res, err := person.Apps.ListUserRepos(ctx, installation, &api.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, problem(err)
		}
		for _, r := range list.Repositories {
			ids = append(ids, strconv.FormatInt(r.GetID(), 10))
		}
		page = res.NextPage
	}
	return ids, nil
}

// accountOf reads the account of an installation.
func accountOf(i *api.Installation) source.Account {
	kind := "user"
	if strings.EqualFold(i.GetTargetType(), "Organization") {
		kind = "organization"
	}
	return source.Account{
		ID: strconv.FormatInt(i.GetAccount().GetID(), 10), Type: kind, Selection: i.GetRepositorySelection(),
		Missing:     missing(i.GetPermissions()),
		SettingsURL: i.GetHTMLURL(), CodeAccess: source.AccessMembers,
	}
}

// missing lists the permissions that an installation did not grant.
func missing(p *api.InstallationPermissions) []string {
	var out []string
	for _, need := range []struct{ name, granted string }{
		{"contents: read", p.GetContents()}, {"pull requests: read", p.GetPullRequests()}, {"actions: read", p.GetActions()},
	} {
		if !slices.Contains([]string{"read", "write", "admin"}, need.granted) {
			out = append(out, need.name)
		}
	}
	return out
}

// exchange gives the code of a callback for a token of the person (RFC 6749 section 4.1.3). GitHub answers failures with status 200.
func (a *App) exchange(ctx context.Context, c integrations.Callback) (string, error) {
	form := url.Values{
		"client_id": {a.cfg.ClientID}, "client_secret": {a.cfg.ClientSecret}, "code": {c.Code}, "redirect_uri": {c.RedirectURI},
	}
	if c.Verifier != "" {
		form.Set("code_verifier", c.Verifier)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Base.JoinPath("login", "oauth", "access_token").String(),
		strings.NewReader(form.Encode()))
	if err != nil {
		return "", integrations.NewProblem(integrations.Upstream, err, "GitHub could not be asked.")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	res, err := a.client.Do(req)
	if err != nil {
		return "", integrations.NewProblem(integrations.Upstream, err, "GitHub did not answer.")
	}
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Token string `json:"access_token"`
		Error string `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&answer); err != nil || res.StatusCode != http.StatusOK {
		return "", integrations.NewProblem(integrations.Upstream, err, "GitHub did not exchange the code (status %d).", res.StatusCode)
	}
	switch {
	case answer.Token != "":
		return answer.Token, nil
	case answer.Error == "incorrect_client_credentials":
		return "", integrations.NewProblem(integrations.Unauthorized, nil,
			"GitHub does not know this server: the operator's settings github-client-id and github-client-secret are not those of the app.")
	default:
		return "", integrations.NewProblem(integrations.Invalid, nil, "GitHub did not accept the code. It may be too old; start again.")
	}
}

// bearer adds a token to requests.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}
