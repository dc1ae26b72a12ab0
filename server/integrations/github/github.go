// Package github connects GitHub, or a GitHub Enterprise Server, as an app: it lists the installations that a person may connect, reads
// their repositories, and checks deliveries. Tokens of installations last an hour; each process makes its own and stores none.
package github

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bradleyfalzon/ghinstallation/v2"
	api "github.com/google/go-github/v88/github"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// ID is the short name of the provider.
const ID = "github"

// publicURL is GitHub's own server. Its API has a host of its own, and so do archives.
const publicURL = "https://github.com"

// Config is the registration of our app at one server.
type Config struct {
	// URL is the server, https://github.com or that of an Enterprise Server.
	URL                          string
	AppID                        int64
	Slug, ClientID, ClientSecret string
	PrivateKey, WebhookSecret    string
	// Trust makes the client for the addresses of the server.
	Trust func(origins ...*url.URL) *egress.Trusted
}

// App implements integrations.SourceProvider. It is safe for concurrent use.
type App struct {
	integrations.Server
	source.AccountSettings

	cfg      Config
	api      *url.URL
	client   *http.Client
	archives *http.Client
	apps     *ghinstallation.AppsTransport

	mu    sync.Mutex
	hosts map[int64]*api.Client
}

// New returns the app.
func New(cfg Config) (*App, error) {
	server, err := integrations.NewServer(ID, "GitHub", integrations.ClassSource, source.Tools(), cfg.URL)
	if err != nil {
		return nil, err
	}
	a := &App{Server: server, cfg: cfg, hosts: map[int64]*api.Client{}}
	also := []*url.URL{{Scheme: server.Base.Scheme, Host: "codeload." + server.Base.Host}}
	a.api = server.Base.JoinPath("api", "v3")
	if server.BaseURL() == publicURL {
		a.api = &url.URL{Scheme: "https", Host: "api.github.com"}
		also = append(also, a.api)
	}
	trusted := cfg.Trust(append(also, server.Base)...)
	a.client, a.archives = trusted.Client(limits.ProviderTime), trusted.Client(limits.ProviderArchiveTime)
	a.apps, err = ghinstallation.NewAppsTransport(a.client.Transport, cfg.AppID, []byte(cfg.PrivateKey))
	if err != nil {
		return nil, fmt.Errorf("github: %w", err)
	}
	a.apps.BaseURL = a.api.String()
	return a, nil
}

// as makes an API client whose requests carry the credentials of a transport.
func (a *App) as(next http.RoundTripper) (*api.Client, error) {
	base := a.api.String() + "/"
	client, err := api.NewClient(api.WithTransport(next), api.WithTimeout(limits.ProviderTime), api.WithURLs(&base, nil),
		api.WithUserAgent("svc"))
	if err != nil {
		return nil, fmt.Errorf("github: %w", err)
	}
	return client, nil
}

// installation makes the API client of an installation. It keeps the client, and with it the token.
func (a *App) installation(id int64) (*api.Client, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.hosts[id]; c != nil {
		return c, nil
	}
	t := ghinstallation.NewFromAppsTransport(a.apps, id)
	t.BaseURL, t.Client = a.api.String(), a.client
	c, err := a.as(t)
	if err != nil {
		return nil, err
	}
	a.hosts[id] = c
	return c, nil
}

// forget drops the token of an installation, so that the next request makes one with the permissions of today.
func (a *App) forget(id int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.hosts, id)
}

// Host implements integrations.SourceProvider. The app makes its own tokens, so there is nothing to renew.
func (a *App) Host(c integrations.Connection, _ integrations.Renew) (source.Host, error) {
	id, err := installationID(c.IntegrationConnection)
	if err != nil {
		return nil, err
	}
	client, err := a.installation(id)
	if err != nil {
		return nil, err
	}
	return &host{app: a, client: client}, nil
}

func installationID(c store.IntegrationConnection) (int64, error) {
	id, err := strconv.ParseInt(c.ExternalID, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("github: the installation %q is not a number", c.ExternalID)
	}
	return id, nil
}

// accountEvents are the kinds of deliveries after which an account is read again.
func accountEvents() []string {
	return []string{"installation", "installation_repositories", "repository"}
}

// Verify implements integrations.Verifier: `X-Hub-Signature-256` is the HMAC-SHA256 of the body with the secret of the app.
func (a *App) Verify(header http.Header, body []byte) (integrations.Delivery, error) {
	sent, ok := strings.CutPrefix(header.Get("X-Hub-Signature-256"), "sha256=")
	signature, err := hex.DecodeString(sent)
	mac := hmac.New(sha256.New, []byte(a.cfg.WebhookSecret))
	mac.Write(body)
	if !ok || err != nil || a.cfg.WebhookSecret == "" || !hmac.Equal(signature, mac.Sum(nil)) {
		return integrations.Delivery{}, integrations.ErrForged
	}
	d := integrations.Delivery{ID: header.Get("X-GitHub-Delivery"), Kind: header.Get("X-GitHub-Event")}
	var said struct {
		Installation struct {
			ID int64 `json:"id"`
		} `json:"installation"`
		Repository struct {
			FullName string `json:"full_name"`
		} `json:"repository"`
		Number int64 `json:"number"`
	}
	// A body that cannot be read concerns no account that is known here. Other kinds, such as pushes, change no account: reading it again
	// for each of them would use up its quota.
	if json.Unmarshal(body, &said) != nil {
		said.Installation.ID = 0
	}
	if said.Installation.ID == 0 {
		return d, nil
	}
	d.Account, d.Sync = strconv.FormatInt(said.Installation.ID, 10), slices.Contains(accountEvents(), d.Kind)
	switch {
	case d.Kind == "pull_request":
		d.Repository, d.PullRequest = said.Repository.FullName, said.Number
	case deploymentEvent(d.Kind):
		d.Repository = said.Repository.FullName
	}
	return d, nil
}
