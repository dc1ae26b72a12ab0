package app

import (
	"context"
	"crypto/x509"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/hooks"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/discord"
	"github.com/svc-observability/svc/server/integrations/github"
	"github.com/svc-observability/svc/server/integrations/gitlab"
	"github.com/svc-observability/svc/server/integrations/planetscale"
	"github.com/svc-observability/svc/server/integrations/railway"
	"github.com/svc-observability/svc/server/integrations/slack"
	"github.com/svc-observability/svc/server/integrations/vercel"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/services/databaseplatform"
	"github.com/svc-observability/svc/server/services/sourcehosting"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/source/pack"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/work"
)

// openIntegrations makes the engine of integrations with the providers that the operator has set up.
func (a *App) openIntegrations(context.Context) error {
	setups, err := a.providers()
	if err != nil {
		return err
	}
	sealer, err := a.hasher.Sealer("integration")
	if err != nil {
		return err
	}
	a.integrations = integrations.New(integrations.Config{
		Store: a.store, Setups: setups, BaseURL: a.baseURL(), AddressProblem: integrations.AddressProblem(a.baseURL()),
		Sealer: sealer, Logger: a.log,
		Now:  time.Now,
		Hash: func(secret string) string { return a.hasher.Hash("integration login " + secret) },
	})
	return nil
}

func (a *App) providers() ([]integrations.Setup, error) {
	roots, err := a.egressRoots()
	if err != nil {
		return nil, err
	}
	proxy, err := a.integrationsProxy()
	if err != nil {
		return nil, err
	}
	trust := func(origins ...*url.URL) *egress.Trusted { return egress.Trust(proxy, roots, origins...) }
	hub := integrations.Setup{
		ID: github.ID, Name: "GitHub", Class: integrations.ClassSource, Settings: config.GitHubSettings(), Tools: source.Tools(),
	}
	if g := a.cfg.GitHub; g.Configured() {
		hub.Provider, err = github.New(github.Config{
			URL: g.URL, AppID: g.AppID, Slug: g.Slug, ClientID: g.ClientID, ClientSecret: g.ClientSecret.Reveal(),
			PrivateKey: g.PrivateKey.Reveal(), WebhookSecret: g.WebhookSecret.Reveal(), Trust: trust,
		})
		if err != nil {
			return nil, err
		}
	}
	lab := integrations.Setup{
		ID: gitlab.ID, Name: gitlab.Name, Class: integrations.ClassSource, Settings: config.GitLabSettings(), Tools: source.Tools(),
	}
	if g := a.cfg.GitLab; g.Configured() {
		lab.Provider, err = gitlab.New(gitlab.Config{
			URL: g.URL, ClientID: g.ClientID, ClientSecret: g.ClientSecret.Reveal(), Trust: trust, Now: time.Now,
		})
		if err != nil {
			return nil, err
		}
	}
	chats, err := a.chats(trust)
	if err != nil {
		return nil, err
	}
	database := integrations.Setup{
		ID: planetscale.ID, Name: planetscale.Name, Class: integrations.ClassDatabase, Settings: config.PlanetScaleSettings(),
	}
	if p := a.cfg.PlanetScale; p.Configured() {
		database.Provider, err = planetscale.New(planetscale.Config{
			URL: p.URL, AuthURL: p.AuthURL, ClientID: p.ClientID, ClientSecret: p.ClientSecret.Reveal(), Trust: trust, Now: time.Now,
		})
		if err != nil {
			return nil, err
		}
	}
	hosting, err := a.hostingPlatforms(trust)
	return slices.Concat([]integrations.Setup{hub, lab}, chats, []integrations.Setup{database}, hosting), err
}

// chats makes the chat services.
func (a *App) chats(trust func(origins ...*url.URL) *egress.Trusted) (_ []integrations.Setup, err error) {
	setups := []integrations.Setup{
		{ID: slack.ID, Name: slack.Name, Class: integrations.ClassChat, Settings: config.SlackSettings()},
		{ID: discord.ID, Name: discord.Name, Class: integrations.ClassChat, Settings: config.DiscordSettings()},
	}
	if s := a.cfg.Slack; s.Configured() {
		if setups[0].Provider, err = slack.New(slack.Config{
			URL: s.URL, ClientID: s.ClientID, ClientSecret: s.ClientSecret.Reveal(), SigningSecret: s.SigningSecret.Reveal(), Trust: trust,
			Now: time.Now,
		}); err != nil {
			return nil, err
		}
	}
	if d := a.cfg.Discord; d.Configured() {
		if setups[1].Provider, err = discord.New(discord.Config{
			URL: d.URL, ApplicationID: d.ApplicationID, ClientSecret: d.ClientSecret.Reveal(), PublicKey: d.PublicKey, BotToken: d.BotToken.Reveal(),
			Trust: trust, Now: time.Now,
		}); err != nil {
			return nil, err
		}
	}
	return setups, nil
}

// hostingPlatforms makes the platforms that run applications. They need no registration, only an address.
func (a *App) hostingPlatforms(trust func(origins ...*url.URL) *egress.Trusted) (_ []integrations.Setup, err error) {
	setups := []integrations.Setup{{
		ID: railway.ID, Name: railway.Name, Class: integrations.ClassHosting, Settings: []string{"railway-url"}, Tools: railway.Tools(),
	}, {
		ID: vercel.ID, Name: vercel.Name, Class: integrations.ClassHosting, Settings: []string{"vercel-url"}, Tools: vercel.Tools(),
	}}
	if a.cfg.RailwayURL != "" {
		if setups[0].Provider, err = railway.New(railway.Config{URL: a.cfg.RailwayURL, Trust: trust, Now: time.Now}); err != nil {
			return nil, err
		}
	}
	if a.cfg.VercelURL != "" {
		if setups[1].Provider, err = vercel.New(vercel.Config{URL: a.cfg.VercelURL, Trust: trust, Now: time.Now}); err != nil {
			return nil, err
		}
	}
	return setups, nil
}

func (a *App) integrationsProxy() (*url.URL, error) {
	text := a.cfg.IntegrationsProxy.Reveal()
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, a.cfg.Invalid("integrations-proxy", "not a URL")
	}
	return u, nil
}

// egressRoots returns the certificate authorities of the setting egress-ca-file besides those of the system; nil without the setting.
func (a *App) egressRoots() (*x509.CertPool, error) {
	if a.cfg.EgressCAFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(a.cfg.EgressCAFile)
	if err != nil {
		return nil, a.cfg.Invalid("egress-ca-file", err.Error())
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a system without authorities
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, a.cfg.Invalid("egress-ca-file", a.cfg.EgressCAFile+" holds no certificate in the PEM format")
	}
	return roots, nil
}

// integrationsKind synchronizes connected accounts.
func (a *App) integrationsKind() work.Kind {
	return work.Kind{Name: store.WorkIntegrations, Run: func(ctx context.Context, shard *work.Shard) {
		wake := make(chan struct{}, 1)
		unsubscribe := a.store.Subscribe(func(c store.Change) {
			if c.Subject != store.SubjectIntegration && c.Subject != store.SubjectAny {
				return
			}
			select {
			case wake <- struct{}{}:
			default: // it is awake
			}
		})
		defer unsubscribe()
		work.Due(ctx, shard, wake, time.Second, a.integrations.Shard(shard.Fence).Step)
	}}
}

// sourceHosting makes the services of source code.
func (a *App) sourceHosting(searches ratelimit.Limiter) (*sourcehosting.Service, error) {
	packs, err := pack.OpenCache(pack.CacheConfig{
		Dir: filepath.Join(a.cfg.DataDir, "source"), MaxBytes: int64(a.cfg.Limits.SourceCacheMaxBytes), Logger: a.log,
	})
	if err != nil {
		return nil, err
	}
	a.onClose("copies of source code", func(context.Context) error { return packs.Close() })
	service := sourcehosting.New(sourcehosting.Config{
		Store: a.store, Engine: a.integrations, Packs: packs, Searches: searches,
		Logger: a.log, Now: time.Now,
	})
	a.onClose("sweep of copies of source code", service.Follow(a.store.Subscribe))
	return service, nil
}

// databasePlatform makes the service of the database platform.
func (a *App) databasePlatform() *databaseplatform.Service {
	return databaseplatform.New(databaseplatform.Config{
		Store: a.store, Engine: a.integrations, Now: time.Now,
	})
}

// webhookDoor is the door for deliveries of providers.
func (a *App) webhookDoor() hooks.Config {
	return hooks.Config{Store: a.store, Engine: a.integrations, Logger: a.log, Now: time.Now}
}
