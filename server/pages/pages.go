// Package pages serves the pages on which people sign in, join an organization, and confirm the requests of programs. The pages are
// rendered on the server. They need neither scripts nor anything from other hosts. A page calls the API's methods over the
// loopback as the signed-in person, so every rule of the API applies here too.
//
// A new page is a handler made by (*Pages).page. RequireSignIn returns the signed-in person. Render shows a template in the
// common frame. A form holds {{.Form}}, and ReadForm reads it. Leave sends the browser to another host.
package pages

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/auth/oidc"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/oauth"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/web"
)

// Users is the part of the relational store that the pages need for users.
type Users interface {
	GetUser(ctx context.Context, id principal.UserID) (store.User, error)
	OrganizationsOf(ctx context.Context, user principal.UserID) ([]store.UserOrganization, error)
}

// Config configures the pages.
type Config struct {
	// BaseURL and IngestURL are the addresses under which people and exporters reach this server.
	BaseURL, IngestURL string
	// The API methods behind the pages, called over the loopback.
	Sessions      svcv2.SessionsServiceClient
	Organizations svcv2.OrganizationServiceClient
	Cli           svcv2.CliServiceClient
	Shares        svcv2.ShareServiceClient
	Credentials   *auth.Authenticator
	SignIn        *auth.SignIn
	// Browser says which requests come from scripts of our own origin.
	Browser *auth.Browser
	Users   Users
	// OAuth decides what programs may ask for. Grants holds the access that people granted to them.
	OAuth  *oauth.Server
	Grants Grants
	// Integrations finishes attempts to connect accounts of providers.
	Integrations Integrations
	Hasher       *auth.Hasher
	// Provider is another way to sign in besides passwords. Label is the text of its button, and Federated starts its sessions.
	// All are nil or empty without a provider.
	Provider  *oidc.Provider
	Federated *auth.Federated
	Label     string
	// Application answers with the page of the web application; nil if the program was built without it.
	Application http.HandlerFunc
	// SharedPage answers with the page of a share link; nil if Application is.
	SharedPage func(w http.ResponseWriter, r *http.Request, status int, head web.Head)
	// Others answers requests for the first page that do not come from a browser.
	Others http.Handler
	Logger *slog.Logger
}

// Pages is safe for concurrent use.
type Pages struct {
	cfg     Config
	base    *url.URL
	secure  bool
	origins *http.CrossOriginProtection
	flows   *auth.Sealer
	views   views
	// pictures draws the pictures of share links.
	pictures *pictures
	log      *slog.Logger
}

// New returns the pages.
func New(cfg Config) (*Pages, error) {
	base, err := url.Parse(strings.TrimRight(cfg.BaseURL, "/"))
	if err != nil || base.Host == "" {
		return nil, errors.New("pages: the base URL is not a URL")
	}
	p := &Pages{cfg: cfg, base: base, secure: base.Scheme == "https", origins: http.NewCrossOriginProtection(), log: cfg.Logger}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	// Behind a proxy, the Host of a request may differ from the host that the browser uses.
	if err := p.origins.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
		return nil, err
	}
	if p.flows, err = cfg.Hasher.Sealer("oidc sign-in"); err != nil {
		return nil, err
	}
	if p.views, err = parseViews(); err != nil {
		return nil, err
	}
	if p.pictures, err = newPictures(); err != nil {
		return nil, err
	}
	return p, nil
}

// Mount adds the routes of all pages.
func (p *Pages) Mount(mux *http.ServeMux) {
	first := p.home
	if p.cfg.Application != nil {
		first = p.application
		for _, pattern := range applicationPaths {
			mux.Handle(pattern, p.forBrowsers(p.page(methods{http.MethodGet: p.application})))
		}
		mux.Handle("/share/{token}", p.forBrowsers(p.page(methods{http.MethodGet: p.shared})))
	}
	mux.Handle("/{$}", p.forBrowsers(p.page(methods{http.MethodGet: first})))
	mux.Handle(programsPath, p.page(methods{http.MethodGet: p.home}))
	mux.Handle("/login", p.page(methods{http.MethodGet: p.showLogin, http.MethodPost: p.login}))
	mux.Handle("/logout", p.page(methods{http.MethodPost: p.logout}))
	mux.Handle(accountPath, p.page(methods{http.MethodGet: p.showAccount, http.MethodPost: p.changePassword}))
	mux.Handle("/login/oidc", p.page(methods{http.MethodPost: p.startOIDC}))
	mux.Handle(callbackPath, p.page(methods{http.MethodGet: p.finishOIDC}))
	mux.Handle("/invite/{token}", p.page(methods{http.MethodGet: p.showInvitation, http.MethodPost: p.acceptInvitation}))
	mux.Handle(integrationPath, p.page(methods{http.MethodGet: p.integrationCallback, http.MethodPost: p.decideIntegration}))
	mux.Handle("/cli", p.page(methods{http.MethodGet: p.showCli, http.MethodPost: p.decideCli}))
	mux.Handle(oauth.AuthorizePath, p.page(methods{http.MethodGet: p.showConsent, http.MethodPost: p.decideConsent}))
	mux.Handle(grantsPath, p.page(methods{http.MethodPost: p.revokeGrant}))
	mux.Handle("/share/og/{og_id}", p.page(methods{http.MethodGet: p.sharePicture}))
	mux.Handle(chartPath, p.page(methods{http.MethodGet: p.chartPicture}))
	mux.Handle(stylePath, http.HandlerFunc(serveStyle))
}

// forBrowsers serves the page to browsers and leaves all other requests to the API: a program with a wrong address needs the
// error, not a page.
func (p *Pages) forBrowsers(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if p.cfg.Others == nil || strings.Contains(r.Header.Get("Accept"), "text/html") {
			page.ServeHTTP(w, r)
			return
		}
		p.cfg.Others.ServeHTTP(w, r)
	})
}

// maxForm bounds the size of a form.
const maxForm = limits.FormBody

type methods map[string]http.HandlerFunc

// page wraps the handlers of one path. It sets the headers that every page has, and refuses other methods.
func (p *Pages) page(by methods) http.Handler {
	var allow []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		if by[m] != nil || m == http.MethodHead && by[http.MethodGet] != nil {
			allow = append(allow, m)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(store.CallerWaits(r.Context()), limits.CallTime)
		defer cancel()
		r = r.WithContext(ctx)
		protect(w.Header(), "")
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		h := by[method]
		if h == nil {
			w.Header().Set("Allow", strings.Join(allow, ", "))
			p.Render(
				w,
				r,
				http.StatusMethodNotAllowed,
				Page{View: "message", Title: "Not possible", Error: "This page does not take " + r.Method + " requests."},
			)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		h(w, r)
	})
}

// protect sets the headers that keep a page from being framed, cached or sniffed, and from loading or sending anything elsewhere.
func protect(h http.Header, formAction string) {
	h.Set(
		"Content-Security-Policy",
		"default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"+formAction,
	)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	// This is not no-referrer, because browsers would then send forms with the origin "null".
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
}
