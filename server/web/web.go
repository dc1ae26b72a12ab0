// Package web serves the pages on which people sign in, join an organization and confirm what a program asks of them. They are rendered
// here and need neither scripts nor anybody else's network. A page does what it does by calling the API's methods over the loopback, as
// the person who is signed in, so no rule of the API is missing here.
//
// A later page, of consent for example, is a handler made by (*Pages).page: it asks RequireSignIn who is there, Render shows a template
// in the frame that all share, a form holds {{.Form}} and is read by ReadForm, and Leave sends the browser elsewhere.
package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/auth/oidc"
	"github.com/svc-observability/svc/server/oauth"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Users is what the pages need to know of users.
type Users interface {
	GetUser(ctx context.Context, id principal.UserID) (store.User, error)
	OrganizationsOf(ctx context.Context, user principal.UserID) ([]store.UserOrganization, error)
}

// Config is what the pages need.
type Config struct {
	// BaseURL and IngestURL are the addresses under which people and exporters reach this server.
	BaseURL, IngestURL string
	// The methods behind the pages, over the loopback.
	Sessions      svcv2.SessionsServiceClient
	Organizations svcv2.OrganizationServiceClient
	Cli           svcv2.CliServiceClient
	Shares        svcv2.ShareServiceClient
	Credentials   *auth.Authenticator
	SignIn        *auth.SignIn
	Users         Users
	// OAuth decides what programs may ask for, and Grants holds what people allowed them.
	OAuth  *oauth.Server
	Grants Grants
	Hasher *auth.Hasher
	// Provider is where people can sign in beside passwords, under Label, and Federated what that leads to; nil for nowhere.
	Provider  *oidc.Provider
	Federated *auth.Federated
	Label     string
	// Others answers a request for the first page that is not a browser's.
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
	// pictures are those of share links.
	pictures *pictures
	log      *slog.Logger
}

// New returns the pages.
func New(cfg Config) (*Pages, error) {
	base, err := url.Parse(strings.TrimRight(cfg.BaseURL, "/"))
	if err != nil || base.Host == "" {
		return nil, errors.New("web: the base URL is no URL")
	}
	p := &Pages{cfg: cfg, base: base, secure: base.Scheme == "https", origins: http.NewCrossOriginProtection(), log: cfg.Logger}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	// Behind a proxy the Host of a request may be another than the browser's.
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
	mux.Handle("/{$}", p.forBrowsers(p.page(methods{http.MethodGet: p.home})))
	mux.Handle("/login", p.page(methods{http.MethodGet: p.showLogin, http.MethodPost: p.login}))
	mux.Handle("/logout", p.page(methods{http.MethodPost: p.logout}))
	mux.Handle(accountPath, p.page(methods{http.MethodGet: p.showAccount, http.MethodPost: p.changePassword}))
	mux.Handle("/login/oidc", p.page(methods{http.MethodPost: p.startOIDC}))
	mux.Handle(callbackPath, p.page(methods{http.MethodGet: p.finishOIDC}))
	mux.Handle("/invite/{token}", p.page(methods{http.MethodGet: p.showInvitation, http.MethodPost: p.acceptInvitation}))
	mux.Handle("/cli", p.page(methods{http.MethodGet: p.showCli, http.MethodPost: p.decideCli}))
	mux.Handle(oauth.AuthorizePath, p.page(methods{http.MethodGet: p.showConsent, http.MethodPost: p.decideConsent}))
	mux.Handle(grantsPath, p.page(methods{http.MethodPost: p.revokeGrant}))
	mux.Handle("/share/og/{og_id}", p.page(methods{http.MethodGet: p.sharePicture}))
	mux.Handle(stylePath, http.HandlerFunc(serveStyle))
}

// forBrowsers leaves to the API what no browser asks for: a program that has the address wrong needs the error, and no page.
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

// pageTimeout bounds a page, as the chain bounds a call.
const pageTimeout = 30 * time.Second

// maxForm bounds a form.
const maxForm = 64 << 10

type methods map[string]http.HandlerFunc

// page wraps the handlers of one path: headers that every page has, and other methods refused.
func (p *Pages) page(by methods) http.Handler {
	var allow []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		if by[m] != nil || m == http.MethodHead && by[http.MethodGet] != nil {
			allow = append(allow, m)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pageTimeout)
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
			p.Render(w, r, http.StatusMethodNotAllowed, Page{View: "message", Title: "Not possible", Error: "This page does not take " + r.Method + " requests."})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		h(w, r)
	})
}

// protect sets what keeps a page from being framed, cached, sniffed, or made to load or send anything elsewhere.
func protect(h http.Header, formAction string) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"+formAction)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	// Not no-referrer: browsers would then send forms with the origin "null".
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
}
