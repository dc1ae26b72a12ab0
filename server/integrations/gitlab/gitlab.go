// Package gitlab connects GitLab, its public server or one of an organization's own: the projects that a person may read at least as a
// reporter, through an OAuth application. Access tokens last two hours and are renewed by the engine.
//
// The client is our own. The official library reads every answer to its end, whatever its size, waits by itself where a limit is near, and
// leaves out the meaning of the status 404. It drives the stand-in in tests.
package gitlab

import (
	"net/http"
	"net/url"
	"time"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/jsoncall"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/source"
)

// ID is the short name of the provider, Name that for people.
const (
	ID   = "gitlab"
	Name = "GitLab"
)

// Config is the registration of our OAuth application at one server.
type Config struct {
	// URL is the server, https://gitlab.com or one of an organization's own.
	URL                    string
	ClientID, ClientSecret string
	// Trust makes the client for the addresses of the server.
	Trust func(origins ...*url.URL) *egress.Trusted
	Now   func() time.Time
}

// App implements integrations.SourceProvider, integrations.LoginProvider, integrations.Refresher, integrations.Revoker and
// integrations.Hooker. It is safe for concurrent use.
type App struct {
	integrations.Server
	source.AccountSettings

	cfg Config
	// client asks for JSON, files for the contents of files and commits.
	client, files jsoncall.Caller
}

// New returns the app.
func New(cfg Config) (*App, error) {
	server, err := integrations.NewServer(ID, Name, integrations.ClassSource, source.Tools(), cfg.URL)
	if err != nil {
		return nil, err
	}
	trusted := cfg.Trust(server.Base)
	return &App{
		Server: server, cfg: cfg,
		client: jsoncall.Caller{Name: Name, Client: trusted.Client(limits.ProviderTime), Sort: sortProblem, Most: limits.ProviderComparison},
		files:  jsoncall.Caller{Name: Name, Client: trusted.Client(limits.ProviderArchiveTime), Sort: sortProblem},
	}, nil
}

// Host implements integrations.SourceProvider.
func (a *App) Host(c integrations.Connection, renew integrations.Renew) (source.Host, error) {
	tokens, err := readTokens(c.Credentials)
	if err != nil {
		return nil, err
	}
	return &host{session: &session{app: a, connection: c, tokens: tokens, renew: renew}, ids: map[string]string{}}, nil
}

// Verify implements integrations.Verifier. An OAuth application has no webhook of its own: people make those of their groups and projects,
// so deliveries come to the secret addresses of accounts; see Hook.
func (a *App) Verify(http.Header, []byte) (integrations.Delivery, error) {
	return integrations.Delivery{}, integrations.ErrForged
}
