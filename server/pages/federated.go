package pages

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/auth/oidc"
	"github.com/svc-observability/svc/server/limits"
)

// callbackPath is where the provider sends people back to. CallbackURL is registered with the provider.
const callbackPath = "/login/oidc/callback"

// CallbackURL is the redirect URI of a server.
func CallbackURL(baseURL string) string { return strings.TrimRight(baseURL, "/") + callbackPath }

// flow is kept by the browser, sealed, while the person is at the provider.
type flow struct {
	oidc.Flow
	Next string `json:"next"`
	// Invitation is the token of an invitation that the person has agreed to accept.
	Invitation string    `json:"invitation,omitempty"`
	Until      time.Time `json:"until"`
}

// startOIDC sends the browser to the provider.
func (p *Pages) startOIDC(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	if p.cfg.Provider == nil {
		p.Render(w, r, http.StatusNotFound, Page{View: "message", Title: "Not offered", Error: "This server offers sign-in by password only."})
		return
	}
	p.toProvider(w, r, safeNext(r.PostForm.Get("next")), "")
}

func (p *Pages) toProvider(w http.ResponseWriter, r *http.Request, next, invitation string) {
	// The provider sends people back to the public address. A cookie of another host would be missing there.
	if r.Host != p.base.Host {
		to := *p.base
		if to.Path, to.RawQuery = "/login", (url.Values{"next": {next}}).Encode(); invitation != "" {
			to.Path, to.RawQuery = "/invite/"+invitation, ""
		}
		p.Leave(w, r, &to, p.base.Host)
		return
	}
	address, started, err := p.cfg.Provider.Start(r.Context())
	if err == nil {
		var to *url.URL
		if to, err = url.Parse(address); err == nil {
			err = p.keepFlow(w, flow{Flow: started, Next: next, Invitation: invitation, Until: time.Now().Add(limits.FederatedSignIn)})
			if err == nil {
				p.Leave(w, r, to, p.cfg.Label)
				return
			}
		}
	}
	p.providerFailed(w, r, http.StatusBadGateway, "The provider cannot be reached at the moment. Try again, or sign in with a password.", err)
}

func (p *Pages) keepFlow(w http.ResponseWriter, f flow) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	p.setCookie(w, "oidc", base64.RawURLEncoding.EncodeToString(p.flows.Seal(text, "cookie")), limits.FederatedSignIn)
	return nil
}

// takeFlow reads the flow of the browser and makes the browser forget it.
func (p *Pages) takeFlow(w http.ResponseWriter, r *http.Request) (f flow, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(p.cookieValue(r, "oidc"))
	p.clearCookie(w, "oidc")
	if err != nil {
		return flow{}, false
	}
	text, err := p.flows.Open(sealed, "cookie")
	if err != nil || json.Unmarshal(text, &f) != nil || time.Now().After(f.Until) {
		return flow{}, false
	}
	return f, true
}

// finishOIDC handles the callback from the provider.
func (p *Pages) finishOIDC(w http.ResponseWriter, r *http.Request) {
	if p.cfg.Provider == nil {
		p.Render(w, r, http.StatusNotFound, Page{View: "message", Title: "Not offered", Error: "This server offers sign-in by password only."})
		return
	}
	q := r.URL.Query()
	f, ok := p.takeFlow(w, r)
	switch iss := q.Get("iss"); {
	case !ok, subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(f.State)) != 1:
		p.providerFailed(
			w,
			r,
			http.StatusBadRequest,
			"This sign-in was not started in this browser, or took longer than "+limits.Lasts(limits.FederatedSignIn)+". Start again.",
			nil,
		)
		return
	case iss != "" && iss != p.cfg.Provider.Issuer(): // RFC 9207
		p.providerFailed(w, r, http.StatusBadRequest, "The answer comes from a different identity provider. Start again.", nil)
		return
	case q.Get("error") == "access_denied":
		p.providerFailed(w, r, http.StatusForbidden, "The sign-in was cancelled at the provider.", nil)
		return
	case q.Get("error") != "" || q.Get("code") == "":
		p.log.WarnContext(
			r.Context(),
			"the identity provider refused a sign-in",
			"code",
			cut(q.Get("error")),
			"description",
			cut(q.Get("error_description")),
		)
		p.providerFailed(w, r, http.StatusBadGateway, "The provider refused the sign-in. The server's log has the reason.", nil)
		return
	}
	who, err := p.cfg.Provider.Finish(r.Context(), f.Flow, q.Get("code"))
	if err != nil {
		p.providerFailed(w, r, http.StatusBadGateway, "The provider's answer was not accepted. Start again.", err)
		return
	}
	p.admit(w, r, who, f)
}

// admit starts a session for the person whom the provider identified.
func (p *Pages) admit(w http.ResponseWriter, r *http.Request, who auth.Identity, f flow) {
	in, err := p.cfg.Federated.Start(r.Context(), who, f.Invitation)
	if err != nil {
		fail := failureOf(err)
		if fail.status >= http.StatusInternalServerError {
			p.log.WarnContext(r.Context(), "a sign-in failed", "error", err)
		}
		page := Page{View: "message", Title: "You are not signed in", Back: "/login", BackText: "Back to the sign-in"}
		if fail.tag == apierr.OrganizationForbidden && f.Invitation != "" {
			page.Back, page.BackText = "/invite/"+f.Invitation, "Back to the invitation"
		}
		p.explain(w, r, page, fail)
		return
	}
	p.begin(w, r, in.Token, in.Session.ExpiresAt)
	redirect(w, safeNext(f.Next))
}

func (p *Pages) providerFailed(w http.ResponseWriter, r *http.Request, status int, message string, err error) {
	if err != nil {
		p.log.WarnContext(r.Context(), "signing in with the identity provider failed", "error", err)
	}
	p.Render(
		w,
		r,
		status,
		Page{View: "message", Title: "You are not signed in", Error: message, Back: "/login", BackText: "Back to the sign-in"},
	)
}

// cut bounds text from other parties before it goes into our log.
func cut(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), 200)], "")
}
