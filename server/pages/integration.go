package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Integrations finishes attempts to connect accounts of providers; *integrations.Engine is one.
type Integrations interface {
	Login(ctx context.Context, provider, state string) (integrations.Login, error)
	Begin(ctx context.Context, org principal.OrgID, p integrations.Provider, by integrations.Starter,
		returnTo string) (string, time.Time, error)
	Install(ctx context.Context, l integrations.Login) (string, error)
	Exchange(ctx context.Context, l integrations.Login, by integrations.Starter, c integrations.Callback) ([]integrations.Account, error)
	Offer(ctx context.Context, l integrations.Login, accounts []integrations.Account) error
	Offered(l integrations.Login) ([]integrations.Account, error)
	Connect(ctx context.Context, l integrations.Login, a integrations.Account, by principal.UserID) (store.IntegrationConnection, error)
	Link(ctx context.Context, l integrations.Login, by integrations.Starter, c integrations.Callback) error
	Cancel(ctx context.Context, l integrations.Login) error
}

// integrationPath is where a provider sends the browser back. The form of the page sends the decision there.
const integrationPath = "/integrations/{provider}/callback"

// integrationData is the data of the page on which a person confirms the connection, or chooses an account.
type integrationData struct {
	// Step is confirm or choose. Class is that of the provider.
	Step, Class, Provider, ProviderName, Organization string
	// State, Code and Account are sent again by the form.
	State, Code, Account string
	Accounts             []integrations.Account
}

// integrationCallback is the redirection endpoint of RFC 6749 section 3.1.2. It stores nothing before it has checked that the attempt was
// started in this session, or that an administrator confirms it.
func (p *Pages) integrationCallback(w http.ResponseWriter, r *http.Request) {
	v := p.RequireSignIn(w, r)
	if v == nil {
		return
	}
	q := r.URL.Query()
	l, org, ok := p.integrationLogin(w, r, v, q.Get("state"))
	if !ok {
		return
	}
	switch {
	case q.Get("error") != "":
		p.cancelIntegration(w, r, v, l, org)
	case l.Identity:
		p.linkIdentity(w, r, v, l, org, integrations.Callback{Code: q.Get("code")})
	case l.UsedAt != nil:
		p.offerAgain(w, r, v, l, org, q.Get("state"))
	case q.Get("setup_action") == "request":
		p.explain(w, r, Page{
			View: "message", Title: "The owner has to approve", Viewer: v, Back: returnTo(l, org, "requested"), BackText: "Go back",
		}, failure{status: http.StatusOK, message: "An owner of the account has to approve the installation at " + l.Provider.Name() +
			". Start again after that, and choose the account."})
	case q.Get("code") == "":
		p.proveIdentity(w, r, v, l)
	case l.User == "":
		p.Render(w, r, http.StatusOK, Page{View: "integration", Title: "Connect " + l.Provider.Name(), Viewer: v, Data: integrationData{
			Step: "confirm", Class: l.Provider.Class(), Provider: l.Provider.ID(), ProviderName: l.Provider.Name(), Organization: org.Name,
			State: q.Get("state"), Code: q.Get("code"), Account: q.Get("installation_id"),
		}})
	default:
		p.connect(w, r, v, l, org, integrations.Callback{Code: q.Get("code"), Account: q.Get("installation_id")}, q.Get("state"))
	}
}

// decideIntegration takes the form of the page.
func (p *Pages) decideIntegration(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	v := p.RequireSignIn(w, r)
	if v == nil {
		return
	}
	form := r.PostForm
	l, org, ok := p.integrationLogin(w, r, v, form.Get("state"))
	if !ok {
		return
	}
	switch decision := form.Get("decision"); {
	case decision == "cancel":
		p.cancelIntegration(w, r, v, l, org)
	case l.Identity: // its callback needs no form
		p.integrationFailed(w, r, v, integrations.ErrLoginUnknown, "")
	case decision == "install":
		p.install(w, r, v, l)
	case l.UsedAt == nil:
		p.connect(w, r, v, l, org, integrations.Callback{Code: form.Get("code"), Account: form.Get("account")}, form.Get("state"))
	default:
		accounts, err := p.cfg.Integrations.Offered(l)
		if err != nil {
			p.fail(w, r, v, err)
			return
		}
		for _, a := range accounts {
			if a.ExternalID == form.Get("account") {
				p.store(w, r, v, l, org, a)
				return
			}
		}
		p.choose(w, r, v, l, org, accounts, form.Get("state"), "Choose an account.")
	}
}

// integrationLogin finds the attempt, and checks that the viewer may finish it. If ok is false, it has answered the request.
func (p *Pages) integrationLogin(w http.ResponseWriter, r *http.Request, v *Viewer, state string) (
	l integrations.Login, org store.UserOrganization, ok bool,
) {
	l, err := p.cfg.Integrations.Login(r.Context(), r.PathValue("provider"), state)
	if err == nil {
		err = l.Admits(starter(v))
	}
	if err == nil {
		for _, o := range v.Organizations {
			if o.ID == l.Org && (o.Role == principal.RoleAdmin || l.Identity) {
				return l, o, true
			}
		}
		err = errNotAdministrator
	}
	p.integrationFailed(w, r, v, err, "")
	return integrations.Login{}, store.UserOrganization{}, false
}

func starter(v *Viewer) integrations.Starter {
	return integrations.Starter{User: v.User.ID, Session: v.session.ID.String()}
}

var errNotAdministrator = errors.New("the viewer does not administer the organization")

// integrationFailed shows why an account is not connected.
func (p *Pages) integrationFailed(w http.ResponseWriter, r *http.Request, v *Viewer, err error, back string) {
	var problem *integrations.Problem
	page := Page{View: "message", Title: "Not connected", Viewer: v, Back: back}
	if back != "" {
		page.BackText = "Go back"
	}
	switch {
	case errors.Is(err, integrations.ErrLoginUnknown):
		p.explain(w, r, page, failure{
			status: http.StatusNotFound,
			message: "This attempt to connect an account is over: it was finished, or it is older than " +
				limits.Lasts(limits.IntegrationLogin) + ". Start again in the settings.",
		})
	case errors.Is(err, integrations.ErrElsewhere):
		p.explain(w, r, page, failure{status: http.StatusForbidden, message: "This attempt to connect an account was started elsewhere: " +
			"by another person, or in another browser. Nothing is connected. Start again in the settings."})
	case errors.Is(err, errNotAdministrator):
		p.explain(w, r, page, failure{status: http.StatusForbidden, message: "Only an administrator of the organization can connect an account."})
	case errors.As(err, &problem):
		p.log.WarnContext(r.Context(), "an account was not connected", "path", r.URL.Path, "error", err)
		p.explain(w, r, page, failure{status: http.StatusBadGateway, message: problem.Text})
	default:
		p.fail(w, r, v, err)
	}
}

// returnTo is the page after the attempt, with its result.
func returnTo(l integrations.Login, org store.UserOrganization, result string) string {
	path := l.ReturnTo
	if path == "" {
		path = "/o/" + org.Slug + "/settings/integrations"
	}
	u, err := url.Parse(path)
	if err != nil {
		return "/"
	}
	q := u.Query()
	q.Set("integration", l.Provider.ID())
	q.Set("result", result)
	u.RawQuery = q.Encode()
	return u.RequestURI()
}

func (p *Pages) cancelIntegration(w http.ResponseWriter, r *http.Request, v *Viewer, l integrations.Login, org store.UserOrganization) {
	err := p.cfg.Integrations.Cancel(p.As(r.Context(), v, l.Org), l)
	if err != nil && !errors.Is(err, integrations.ErrLoginUnknown) {
		p.fail(w, r, v, err)
		return
	}
	redirect(w, returnTo(l, org, "cancelled"))
}

// offerAgain shows the accounts once more, for example after a reload.
func (p *Pages) offerAgain(
	w http.ResponseWriter, r *http.Request, v *Viewer, l integrations.Login, org store.UserOrganization, state string,
) {
	accounts, err := p.cfg.Integrations.Offered(l)
	if err == nil && accounts == nil {
		err = integrations.ErrLoginUnknown
	}
	if err != nil {
		p.integrationFailed(w, r, v, err, "")
		return
	}
	p.choose(w, r, v, l, org, accounts, state, "")
}

func (p *Pages) choose(
	w http.ResponseWriter, r *http.Request, v *Viewer, l integrations.Login, org store.UserOrganization,
	accounts []integrations.Account, state, problem string,
) {
	status := http.StatusOK
	if problem != "" {
		status = http.StatusBadRequest
	}
	p.Render(w, r, status, Page{
		View: "integration", Title: "Connect " + l.Provider.Name(), Viewer: v, Error: problem, Data: integrationData{
			Step: "choose", Class: l.Provider.Class(), Provider: l.Provider.ID(), ProviderName: l.Provider.Name(), Organization: org.Name,
			State: state, Accounts: accounts,
		},
	})
}

// connect exchanges the code. The account on which this attempt installed the app is connected at once, and so is the account that the
// person who began the attempt chose at the provider. Otherwise the person sees the accounts and chooses one, because a link of an API key
// may hold the code of any account; without any account, the app has to be installed first.
func (p *Pages) connect(
	w http.ResponseWriter, r *http.Request, v *Viewer, l integrations.Login, org store.UserOrganization,
	c integrations.Callback, state string,
) {
	ctx := p.As(r.Context(), v, l.Org)
	accounts, err := p.cfg.Integrations.Exchange(ctx, l, starter(v), c)
	switch {
	case err != nil:
		p.integrationFailed(w, r, v, err, returnTo(l, org, "failed"))
	case len(accounts) == 0:
		p.install(w, r, v, l)
	case l.IntegrationLogin.Install && c.Account != "", l.User != "" && len(accounts) == 1 && accounts[0].Chosen:
		p.store(w, r, v, l, org, accounts[0])
	default:
		if err := p.cfg.Integrations.Offer(ctx, l, accounts); err != nil {
			p.fail(w, r, v, err)
			return
		}
		p.choose(w, r, v, l, org, accounts, state, "")
	}
}

func (p *Pages) store(
	w http.ResponseWriter, r *http.Request, v *Viewer, l integrations.Login, org store.UserOrganization, a integrations.Account,
) {
	if _, err := p.cfg.Integrations.Connect(p.As(r.Context(), v, l.Org), l, a, v.User.ID); err != nil {
		p.integrationFailed(w, r, v, err, "")
		return
	}
	redirect(w, returnTo(l, org, "connected"))
}

// linkIdentity stores which person of the provider the viewer is.
func (p *Pages) linkIdentity(
	w http.ResponseWriter, r *http.Request, v *Viewer, l integrations.Login, org store.UserOrganization, c integrations.Callback,
) {
	ctx := p.As(r.Context(), v, l.Org)
	if err := p.cfg.Integrations.Link(ctx, l, starter(v), c); err != nil {
		p.integrationFailed(w, r, v, err, returnTo(l, org, "failed"))
		return
	}
	redirect(w, returnTo(l, org, "linked"))
}

// install sends the browser to the provider's page on which the app is installed.
func (p *Pages) install(w http.ResponseWriter, r *http.Request, v *Viewer, l integrations.Login) {
	l.User, l.SessionID = v.User.ID, v.session.ID.String()
	to, err := p.cfg.Integrations.Install(p.As(r.Context(), v, l.Org), l)
	p.leaveFor(w, r, v, l, to, err)
}

// proveIdentity sends the browser to the provider once more: an installation without a code proves nothing, because its number can be
// guessed.
func (p *Pages) proveIdentity(w http.ResponseWriter, r *http.Request, v *Viewer, l integrations.Login) {
	to, _, err := p.cfg.Integrations.Begin(p.As(r.Context(), v, l.Org), l.Org, l.Provider, starter(v), l.ReturnTo)
	p.leaveFor(w, r, v, l, to, err)
}

func (p *Pages) leaveFor(w http.ResponseWriter, r *http.Request, v *Viewer, l integrations.Login, to string, err error) {
	u, invalid := url.Parse(to)
	if err = errors.Join(err, invalid); err != nil {
		p.integrationFailed(w, r, v, err, "")
		return
	}
	p.Leave(w, r, u, l.Provider.Name())
}
