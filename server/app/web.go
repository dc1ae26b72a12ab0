package app

import (
	"net/http"

	"google.golang.org/grpc"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/auth/oidc"
	"github.com/svc-observability/svc/server/oauth"
	"github.com/svc-observability/svc/server/web"
)

// mountPages adds the pages on which people sign in and decide about requests.
func (a *App) mountPages(mux *http.ServeMux, calls grpc.ClientConnInterface, credentials *auth.Authenticator, programs *oauth.Server, others http.Handler) error {
	cfg := web.Config{
		BaseURL: a.baseURL(), IngestURL: a.ingestURL(),
		Sessions: svcv2.NewSessionsServiceClient(calls), Organizations: svcv2.NewOrganizationServiceClient(calls), Cli: svcv2.NewCliServiceClient(calls),
		Shares:      svcv2.NewShareServiceClient(calls),
		Credentials: credentials, SignIn: a.signIn, Users: a.store, Hasher: a.hasher, Others: others, Logger: a.log,
		OAuth: programs, Grants: a.store,
	}
	if o := a.cfg.OIDC; o.Issuer != "" {
		cfg.Label = o.Label
		cfg.Provider = oidc.New(oidc.Config{
			Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret.Reveal(), Scopes: o.Scopes, RedirectURL: web.CallbackURL(a.baseURL()),
		})
		cfg.Federated = auth.NewFederated(auth.FederatedConfig{
			Store: a.store, SignIn: a.signIn, Join: auth.JoinRule{Organization: o.JoinOrganization, Domains: o.JoinDomains},
		})
	}
	pages, err := web.New(cfg)
	if err != nil {
		return err
	}
	pages.Mount(mux)
	return nil
}
