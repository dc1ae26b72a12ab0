package app

import (
	"errors"
	"net/http"

	"google.golang.org/grpc"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/auth/oidc"
	"github.com/svc-observability/svc/server/oauth"
	"github.com/svc-observability/svc/server/pages"
	"github.com/svc-observability/svc/server/web"
)

// mountPages adds the pages on which people sign in and decide about requests.
func (a *App) mountPages(
	mux *http.ServeMux,
	calls grpc.ClientConnInterface,
	credentials *auth.Authenticator,
	browser *auth.Browser,
	oauthServer *oauth.Server,
	restDoor http.Handler,
) error {
	cfg := pages.Config{
		BaseURL:       a.baseURL(),
		IngestURL:     a.ingestURL(),
		Sessions:      svcv2.NewSessionsServiceClient(calls),
		Organizations: svcv2.NewOrganizationServiceClient(calls),
		Cli:           svcv2.NewCliServiceClient(calls),
		Shares:        svcv2.NewShareServiceClient(calls),
		Credentials:   credentials,
		SignIn:        a.signIn,
		Browser:       browser,
		Users:         a.store,
		Hasher:        a.hasher,
		Others:        restDoor,
		Logger:        a.log,
		OAuth:         oauthServer,
		Grants:        a.store,
		Integrations:  a.integrations,
	}
	if o := a.cfg.OIDC; o.Issuer != "" {
		cfg.Label = o.Label
		cfg.Provider = oidc.New(oidc.Config{
			Issuer:       o.Issuer,
			ClientID:     o.ClientID,
			ClientSecret: o.ClientSecret.Reveal(),
			Scopes:       o.Scopes,
			RedirectURL:  pages.CallbackURL(a.baseURL()),
		})
		cfg.Federated = auth.NewFederated(auth.FederatedConfig{
			Store: a.store, SignIn: a.signIn, Join: auth.JoinRule{Organization: o.JoinOrganization, Domains: o.JoinDomains},
		})
	}
	application, err := web.Built(web.Settings{Version: a.opts.Version, IngestURL: a.ingestURL()})
	switch {
	case err == nil:
		cfg.Application, cfg.SharedPage = application.Page, application.SharedPage
		mux.HandleFunc(web.FilesPath, application.Files)
	case !errors.Is(err, web.ErrNotBuilt):
		return err
	}
	served, err := pages.New(cfg)
	if err != nil {
		return err
	}
	served.Mount(mux)
	return nil
}
