package gitlab

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/source"
)

// scopes are the permissions that are asked for: read_api for the lists, read_repository for the contents of files.
func scopes() []string { return []string{"read_api", "read_repository"} }

// AuthorizeURL implements integrations.LoginProvider.
func (a *App) AuthorizeURL(state, challenge, redirectURI string) string {
	return integrations.AuthorizeURL(a.Base.JoinPath("oauth", "authorize"), a.cfg.ClientID, scopes(), state, challenge, redirectURI)
}

// tokens are the stored credentials of an account.
type tokens struct {
	Access    string    `json:"access"`
	Refresh   string    `json:"refresh"`
	From      time.Time `json:"from"`
	ExpiresAt time.Time `json:"expires_at"`
}

// old is when tokens are renewed: at half of their life.
func (t tokens) old() time.Time { return t.From.Add(t.ExpiresAt.Sub(t.From) / 2) }

// readTokens reads opened credentials.
func readTokens(text []byte) (tokens, error) {
	var t tokens
	if err := json.Unmarshal(text, &t); err != nil || t.Access == "" {
		return t, integrations.NewProblem(integrations.Suspended, err, "The stored access to GitLab cannot be read. Connect the account again.")
	}
	return t, nil
}

// defaultLife is the life of a token when the answer of GitLab does not name one.
const defaultLife = 2 * time.Hour

// grant asks for tokens (RFC 6749 sections 4.1.3 and 6).
func (a *App) grant(ctx context.Context, form url.Values) (tokens, error) {
	var g struct {
		Access    string `json:"access_token"`
		Refresh   string `json:"refresh_token"`
		ExpiresIn int64  `json:"expires_in"`
		Scope     string `json:"scope"`
	}
	if err := a.post(ctx, "token", form, &g); err != nil {
		return tokens{}, err
	}
	if g.Access == "" {
		return tokens{}, integrations.NewProblem(integrations.Upstream, nil, "GitLab gave no access.")
	}
	granted := strings.Fields(g.Scope)
	for _, s := range scopes() {
		if len(granted) > 0 && !slices.Contains(granted, s) {
			return tokens{}, integrations.NewProblem(integrations.Suspended, nil,
				"GitLab did not grant the scope %s. The operator adds it to the application, and an administrator connects the account again.", s)
		}
	}
	life := time.Duration(g.ExpiresIn) * time.Second
	if life <= 0 {
		life = defaultLife
	}
	now := a.cfg.Now()
	return tokens{Access: g.Access, Refresh: g.Refresh, From: now, ExpiresAt: now.Add(life)}, nil
}

func (t tokens) json() ([]byte, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("gitlab: %w", err)
	}
	return text, nil
}

// post sends a form to the server of logins, with our own credentials.
func (a *App) post(ctx context.Context, path string, form url.Values, into any) error {
	form.Set("client_id", a.cfg.ClientID)
	form.Set("client_secret", a.cfg.ClientSecret)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Base.JoinPath("oauth", path).String(), strings.NewReader(form.Encode()))
	if err != nil {
		return integrations.NewProblem(integrations.Upstream, err, "GitLab could not be asked.")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return a.client.Do(req, into)
}

// Accounts implements integrations.LoginProvider. The account is that of the person: there is nothing to choose.
func (a *App) Accounts(ctx context.Context, c integrations.Callback) ([]integrations.Account, error) {
	t, err := a.grant(ctx, url.Values{
		"grant_type": {"authorization_code"}, "code": {c.Code}, "redirect_uri": {c.RedirectURI}, "code_verifier": {c.Verifier},
	})
	if err != nil {
		if integrations.IsKind(err, integrations.Suspended) { // of a code, this is not a withdrawal
			err = integrations.NewProblem(integrations.Invalid, err, "GitLab did not accept the code, or not all that we asked for. Start again.")
		}
		return nil, err
	}
	who, err := a.person(ctx, &session{app: a, tokens: t})
	if err != nil {
		return nil, err
	}
	settings, err := a.account(who).JSON()
	if err != nil {
		return nil, err
	}
	text, err := t.json()
	if err != nil {
		return nil, err
	}
	return []integrations.Account{{
		ExternalID: strconv.FormatInt(who.ID, 10), Name: who.Username, Kind: "user", Chosen: true, Settings: settings, Credentials: text,
		Note: "all projects in which you are a reporter or more",
	}}, nil
}

// person is a person of GitLab.
type person struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

func (a *App) person(ctx context.Context, s *session) (person, error) {
	var who person
	if _, err := s.get(ctx, nil, "", &who, "user"); err != nil {
		return who, err
	}
	if who.ID == 0 || who.Username == "" {
		return who, integrations.NewProblem(integrations.Upstream, nil, "GitLab did not tell whose account it is.")
	}
	return who, nil
}

// account has the stored facts about a person's account.
func (a *App) account(who person) source.Account {
	return source.Account{
		ID: strconv.FormatInt(who.ID, 10), Type: "user", Selection: "all", CodeAccess: source.AccessMembers,
		SettingsURL: a.Base.JoinPath("-", "user_settings", "applications").String(),
	}
}

// Refresh implements integrations.Refresher. GitLab voids the old pair when it gives the new one.
func (a *App) Refresh(ctx context.Context, c integrations.Connection) ([]byte, error) {
	t, err := readTokens(c.Credentials)
	if err != nil || t.Refresh == "" || a.cfg.Now().Before(t.old()) {
		return nil, err
	}
	next, err := a.grant(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {t.Refresh}})
	if err != nil {
		return nil, err
	}
	if next.Refresh == "" {
		next.Refresh = t.Refresh // RFC 6749 section 6: without a new one, the old one stays
	}
	return next.json()
}

// Revoke implements integrations.Revoker (RFC 7009). With the access token, its refresh token is void too.
func (a *App) Revoke(ctx context.Context, c integrations.Connection) error {
	t, err := readTokens(c.Credentials)
	if err != nil {
		return err
	}
	return a.post(ctx, "revoke", url.Values{"token": {t.Access}}, nil)
}
