package pages

import (
	"net/http"
	"net/url"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/auth"
)

// loginData is the data of the sign-in page.
type loginData struct {
	Next, Email string
	// Provider is the label of the provider's button. If it is empty, the page has no such button.
	Provider string
}

func (p *Pages) loginPage(next, email string) Page {
	return Page{View: "login", Title: "Sign in", Data: loginData{Next: next, Email: email, Provider: p.providerLabel()}}
}

func (p *Pages) providerLabel() string {
	if p.cfg.Provider == nil {
		return ""
	}
	return p.cfg.Label
}

func (p *Pages) showLogin(w http.ResponseWriter, r *http.Request) {
	next := safeNext(r.URL.Query().Get("next"))
	v, err := p.Viewer(r)
	switch {
	case err != nil:
		p.fail(w, r, nil, err)
	case v != nil:
		redirect(w, next)
	default:
		p.Render(w, r, http.StatusOK, p.loginPage(next, ""))
	}
}

func (p *Pages) login(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	next, email, password := safeNext(r.PostForm.Get("next")), r.PostForm.Get("email"), r.PostForm.Get("password")
	if email == "" || password == "" {
		p.explain(w, r, p.loginPage(next, email), failure{status: http.StatusBadRequest, message: "Enter your email address and your password."})
		return
	}
	if !p.signIn(w, r, email, password, "", p.loginPage(next, email)) {
		return
	}
	redirect(w, next)
}

// signIn starts a session with a password and gives it to the browser. If it returns false, it has shown the page again.
func (p *Pages) signIn(w http.ResponseWriter, r *http.Request, email, password, org string, again Page) bool {
	req := &svcv2.SignInRequest{Email: email, Password: password}
	if org != "" {
		req.OrgId = &org
	}
	in, err := p.cfg.Sessions.SignIn(r.Context(), req)
	if err != nil {
		f := failureOf(err)
		if f.status >= http.StatusInternalServerError {
			p.log.WarnContext(r.Context(), "a sign-in failed", "error", err)
		}
		p.explain(w, r, again, f)
		return false
	}
	p.begin(w, r, in.GetToken(), in.GetExpiresAt().AsTime())
	return true
}

func (p *Pages) logout(w http.ResponseWriter, r *http.Request) {
	// The application signs out without a form: its request proves its origin.
	if r.Header.Get(auth.HeaderUI) != "" && p.cfg.Browser.Proof(r) == nil {
		p.end(r)
		p.clearCookie(w, "session")
		p.clearCookie(w, "form")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if !p.ReadForm(w, r) {
		return
	}
	p.end(r)
	p.clearCookie(w, "session")
	p.clearCookie(w, "form")
	to := "/login"
	// The person returns to the page that asked for another sign-in.
	if next := safeNext(r.PostForm.Get("next")); next != "/" {
		to += "?" + url.Values{"next": {next}}.Encode()
	}
	redirect(w, to)
}
