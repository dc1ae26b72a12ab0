package integrations_test

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/discord"
	"github.com/svc-observability/svc/server/integrations/discord/discordtest"
	"github.com/svc-observability/svc/server/integrations/slack"
	"github.com/svc-observability/svc/server/integrations/slack/slacktest"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// logins is a store that takes attempts.
type logins struct{ integrations.Store }

func (logins) BeginIntegrationLogin(context.Context, principal.OrgID, store.IntegrationLogin) error {
	return nil
}

// TestReturnAddress: Slack sends browsers back to https only. Discord, and a stand-in for Slack, send them to this machine, too.
func TestReturnAddress(t *testing.T) {
	t.Parallel()
	trust := func(origins ...*url.URL) *egress.Trusted { return egress.Trust(nil, nil, origins...) }
	slackAt := func(at string) integrations.Provider {
		app, err := slack.New(slack.Config{
			URL: at, ClientID: slacktest.ClientID, ClientSecret: slacktest.ClientSecret, SigningSecret: slacktest.SigningSecret, Now: time.Now,
			Trust: trust,
		})
		if err != nil {
			t.Fatal(err)
		}
		return app
	}
	second, err := discord.New(discord.Config{
		URL: "https://discord.example", ApplicationID: discordtest.ApplicationID, PublicKey: discordtest.PublicKey(), Now: time.Now, Trust: trust,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		provider integrations.Provider
		base     string
		refused  bool
	}{
		{slackAt("https://slack.example"), "http://localhost:8080", true},
		{slackAt("https://slack.example"), "https://svc.example", false},
		{slackAt("http://localhost:1"), "http://localhost:8080", false},
		{second, "http://localhost:8080", false},
	} {
		engine := integrations.New(integrations.Config{
			Store: logins{}, BaseURL: c.base, Sealer: open{}, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
			Hash: func(secret string) string { return secret },
		})
		setup := integrations.Setup{ID: c.provider.ID(), Name: c.provider.Name(), Class: integrations.ClassChat, Provider: c.provider}
		caller := &principal.Principal{Org: "org_a"}
		to, _, err := engine.Start(t.Context(), caller, setup, "")
		if !c.refused && (err != nil || !strings.HasPrefix(to, c.provider.BaseURL())) {
			t.Errorf("%s from %s: %q %v", setup.Name, c.base, to, err)
		}
		if c.refused && (err == nil || apierr.From(err).Tag != apierr.CallbackHostUnavailable || !strings.Contains(err.Error(), "public-url")) {
			t.Errorf("%s from %s: %q %v", setup.Name, c.base, to, err)
		}
		// Nobody is linked at a service that knows no identities.
		if _, err := engine.StartIdentity(t.Context(), caller, setup, ""); c.provider == second &&
			(err == nil || apierr.From(err).Tag != apierr.IntegrationsValidation) {
			t.Errorf("an identity of %s: %v", setup.Name, err)
		}
	}
}
