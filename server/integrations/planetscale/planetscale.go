// Package planetscale connects an account of PlanetScale: it reads the databases of an organization there, what happened to them, where
// their metrics are, and figures about queries.
//
// The client is our own. The library of the provider leaves out ids and plans of databases and the statuses of refusals, by which the state
// of an account is judged.
package planetscale

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/jsoncall"
	"github.com/svc-observability/svc/server/limits"
)

// ID is the short name of the provider, Name that for people.
const (
	ID   = "planetscale"
	Name = "PlanetScale"
)

// Config is the registration of our OAuth application.
type Config struct {
	// URL is the API, https://api.planetscale.com. AuthURL is the server of logins, https://auth.planetscale.com.
	URL, AuthURL           string
	ClientID, ClientSecret string
	// Trust makes the client for the addresses of the servers.
	Trust func(origins ...*url.URL) *egress.Trusted
	Now   func() time.Time
}

// App implements integrations.Provider, integrations.Refresher and integrations.Revoker. It is safe for concurrent use.
type App struct {
	integrations.Server

	cfg    Config
	auth   *url.URL
	client jsoncall.Caller
}

// New returns the app.
func New(cfg Config) (*App, error) {
	server, err := integrations.NewServer(ID, Name, integrations.ClassDatabase, nil, cfg.URL) // metrics are read by the tools of metrics
	if err != nil {
		return nil, err
	}
	a := &App{Server: server, cfg: cfg}
	if a.auth, err = url.Parse(cfg.AuthURL); err != nil {
		return nil, fmt.Errorf("planetscale: %w", err)
	}
	a.client = jsoncall.Caller{Name: Name, Client: cfg.Trust(a.Base, a.auth).Client(limits.ProviderTime), Sort: sortProblem}
	return a, nil
}

// Pending is the external id of an account of which no organization is selected.
const Pending = "pending"

// Account has the facts about an account that the settings of its connection keep.
type Account struct {
	// Organization is the selected organization; empty before the selection.
	Organization string   `json:"organization"`
	Scopes       []string `json:"scopes"`
	// Metrics is the access with which metrics are read: MetricsOAuth, MetricsToken or MetricsMissing.
	Metrics string `json:"metrics"`
}

// Ways of access to metrics.
const (
	MetricsOAuth   = "oauth"
	MetricsToken   = "service_token"
	MetricsMissing = "missing"
)

// ReadAccount reads the settings of a connection.
func ReadAccount(settings json.RawMessage) (Account, error) {
	a := Account{}
	if err := json.Unmarshal(settings, &a); err != nil {
		return a, fmt.Errorf("planetscale: settings: %w", err)
	}
	return a, nil
}

// JSON writes the settings.
func (a Account) JSON() (json.RawMessage, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("planetscale: settings: %w", err)
	}
	return text, nil
}

// Permissions lists what was asked for, and whether it was granted.
func (a Account) Permissions() map[string]bool {
	out := map[string]bool{}
	for _, s := range scopes() {
		out[s] = slices.Contains(a.Scopes, s)
	}
	return out
}

// SameAccount implements integrations.Provider: an organization connects one account of PlanetScale, and a new login replaces it.
func (a *App) SameAccount(_, _ json.RawMessage) bool { return true }

// Reconnected implements integrations.Provider. The selected organization stays if the new login has reached one of the same name.
func (a *App) Reconnected(before, now json.RawMessage) (json.RawMessage, error) {
	was, err := ReadAccount(before)
	if err != nil {
		return nil, err
	}
	is, err := ReadAccount(now)
	if err != nil {
		return nil, err
	}
	if is.Organization == "" {
		is.Organization = was.Organization
	}
	// A service token for metrics went with the credentials of before, so a person sets it again.
	if is.Organization == was.Organization && was.Metrics == MetricsOAuth {
		is.Metrics = was.Metrics
	}
	return is.JSON()
}

// Verify implements integrations.Provider. PlanetScale signs with a secret that this server does not know, so its deliveries come to an
// address with a token; see integrations.Engine.HookToken.
func (a *App) Verify(http.Header, []byte) (integrations.Delivery, error) {
	return integrations.Delivery{}, integrations.ErrForged
}

// scopes are the permissions that are asked for.
func scopes() []string {
	return []string{"read_user", "read_organizations", "read_organization", "read_databases", "read_audit_logs"}
}

// AuthorizeURL implements integrations.Provider.
func (a *App) AuthorizeURL(state, challenge, redirectURI string) string {
	return integrations.AuthorizeURL(a.auth.JoinPath("oauth", "authorize"), a.cfg.ClientID, scopes(), state, challenge, redirectURI)
}

// Tokens are the stored credentials of an account.
type Tokens struct {
	Access    string    `json:"access"`
	Refresh   string    `json:"refresh,omitempty"`
	From      time.Time `json:"from"`
	ExpiresAt time.Time `json:"expires_at"`
	// MetricsID and MetricsSecret are the service token for metrics.
	MetricsID     string `json:"metrics_id,omitempty"`
	MetricsSecret string `json:"metrics_secret,omitempty"`
}

// ReadTokens reads opened credentials.
func ReadTokens(text []byte) (Tokens, error) {
	var t Tokens
	if err := json.Unmarshal(text, &t); err != nil || t.Access == "" {
		return t, integrations.NewProblem(integrations.Suspended, err,
			"The stored access to PlanetScale cannot be read. Connect the account again.")
	}
	return t, nil
}

func (t Tokens) bearer() string { return "Bearer " + t.Access }

// metrics is the authorization for the list of metrics endpoints.
func (t Tokens) metrics() string {
	if t.MetricsID != "" {
		return "token " + t.MetricsID + ":" + t.MetricsSecret
	}
	return t.bearer()
}

// MetricsAuth names the access with which metrics are read.
func (t Tokens) MetricsAuth() string {
	if t.MetricsID != "" {
		return MetricsToken
	}
	return MetricsOAuth
}

// granted is an answer to a code or refresh token (RFC 6749 section 5.1).
type granted struct {
	Access    string `json:"access_token"`
	Refresh   string `json:"refresh_token"`
	ExpiresIn int64  `json:"expires_in"`
	Scope     string `json:"scope"`
}

func (a *App) grant(ctx context.Context, form url.Values) (granted, Tokens, error) {
	form.Set("client_id", a.cfg.ClientID)
	form.Set("client_secret", a.cfg.ClientSecret)
	var g granted
	if err := a.post(ctx, "token", form, &g); err != nil {
		return g, Tokens{}, err
	}
	if g.Access == "" {
		return g, Tokens{}, integrations.NewProblem(integrations.Upstream, nil, "PlanetScale gave no access.")
	}
	now := a.cfg.Now()
	return g, Tokens{Access: g.Access, Refresh: g.Refresh, From: now, ExpiresAt: now.Add(time.Duration(g.ExpiresIn) * time.Second)}, nil
}

// Accounts implements integrations.Provider. The only organization of the login is selected by itself.
func (a *App) Accounts(ctx context.Context, c integrations.Callback) ([]integrations.Account, error) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {c.Code}, "redirect_uri": {c.RedirectURI}}
	if c.Verifier != "" {
		form.Set("code_verifier", c.Verifier)
	}
	g, tokens, err := a.grant(ctx, form)
	if err != nil {
		if integrations.IsKind(err, integrations.Suspended) { // of a code, this is not a withdrawal
			err = integrations.NewProblem(integrations.Invalid, err, "PlanetScale did not accept the code. It may be too old; start again.")
		}
		return nil, err
	}
	organizations, err := a.organizations(ctx, tokens)
	if err != nil {
		return nil, err
	}
	account, external := Account{Scopes: strings.Fields(g.Scope), Metrics: MetricsMissing}, Pending
	if len(organizations) == 1 {
		account.Organization, external = organizations[0].Name, organizations[0].Name
		if a.Reaches(ctx, tokens, account.Organization) == nil {
			account.Metrics = MetricsOAuth
		}
	}
	settings, err := account.JSON()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(tokens)
	if err != nil {
		return nil, fmt.Errorf("planetscale: %w", err)
	}
	return []integrations.Account{{
		ExternalID: external, Name: Name, Kind: "organization", Chosen: true, Settings: settings, Credentials: text,
	}}, nil
}

// Refresh implements integrations.Refresher: at half of the life of the access.
func (a *App) Refresh(ctx context.Context, c integrations.Connection) ([]byte, error) {
	t, err := ReadTokens(c.Credentials)
	if err != nil || t.Refresh == "" || a.cfg.Now().Before(t.From.Add(t.ExpiresAt.Sub(t.From)/2)) {
		return nil, err
	}
	_, next, err := a.grant(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {t.Refresh}})
	if err != nil {
		return nil, err
	}
	next.MetricsID, next.MetricsSecret = t.MetricsID, t.MetricsSecret
	if next.Refresh == "" {
		next.Refresh = t.Refresh // RFC 6749 section 6: without a new one, the old one stays
	}
	text, err := json.Marshal(next)
	if err != nil {
		return nil, fmt.Errorf("planetscale: %w", err)
	}
	return text, nil
}

// Revoke implements integrations.Revoker (RFC 7009).
func (a *App) Revoke(ctx context.Context, c integrations.Connection) error {
	t, err := ReadTokens(c.Credentials)
	if err != nil {
		return err
	}
	return a.post(ctx, "revoke", url.Values{"token": {t.Access}, "client_id": {a.cfg.ClientID}, "client_secret": {a.cfg.ClientSecret}}, nil)
}

// Organization is an organization at PlanetScale.
type Organization struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (a *App) organizations(ctx context.Context, t Tokens) ([]Organization, error) {
	return pages[Organization](ctx, a, t.bearer(), 1000, "organizations")
}

// Organizations lists the organizations that an account reaches.
func (a *App) Organizations(ctx context.Context, c integrations.Connection) ([]Organization, error) {
	t, err := ReadTokens(c.Credentials)
	if err != nil {
		return nil, err
	}
	return a.organizations(ctx, t)
}
