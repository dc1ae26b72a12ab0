package pages

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func (p *Pages) cookie(name string) string { return auth.CookieName(p.secure, name) }

func (p *Pages) setCookie(w http.ResponseWriter, name, value string, lifetime time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // G124: Secure follows the public address, which may be http on a loopback
		Name: p.cookie(name), Value: value, Path: "/", MaxAge: int(lifetime / time.Second),
		HttpOnly: true, Secure: p.secure, SameSite: http.SameSiteLaxMode,
	})
}

func (p *Pages) clearCookie(w http.ResponseWriter, name string) {
	p.setCookie(w, name, "", -time.Second)
}

func (p *Pages) cookieValue(r *http.Request, name string) string {
	if c, err := r.Cookie(p.cookie(name)); err == nil {
		return c.Value
	}
	return ""
}

// Viewer is the person who is signed in.
type Viewer struct {
	User store.User
	// Organizations are the viewer's organizations, oldest membership first.
	Organizations []store.UserOrganization

	session store.SessionIdentity
	token   string
}

// Name is the name by which the page greets the viewer.
func (v *Viewer) Name() string {
	if v.User.Name != "" {
		return v.User.Name
	}
	return v.User.Email
}

// Viewer finds the signed-in person by the cookie; nil means that nobody is signed in. The error is an *apierr.Error if the
// session cannot be checked.
func (p *Pages) Viewer(r *http.Request) (*Viewer, error) {
	token := p.cookieValue(r, "session")
	if token == "" {
		return nil, nil
	}
	session, err := p.cfg.Credentials.SignedInUser(r.Context(), token)
	if err != nil {
		if apierr.From(err).Tag == apierr.InvalidCredentials {
			return nil, nil
		}
		return nil, err
	}
	v := &Viewer{session: session, token: token}
	if v.User, err = p.cfg.Users.GetUser(r.Context(), session.User); err == nil {
		v.Organizations, err = p.cfg.Users.OrganizationsOf(r.Context(), session.User)
	}
	if err != nil {
		return nil, apierr.New(apierr.AuthorizationUnavailable, "Your account cannot be read at the moment. Try again.", apierr.Cause(err))
	}
	return v, nil
}

// RequireSignIn returns the signed-in person. If it returns nil, it has answered with the sign-in page, which leads back to this
// page.
func (p *Pages) RequireSignIn(w http.ResponseWriter, r *http.Request) *Viewer {
	v, err := p.Viewer(r)
	if err != nil {
		p.fail(w, r, nil, err)
		return nil
	}
	if v == nil {
		redirect(w, "/login?"+url.Values{"next": {r.URL.RequestURI()}}.Encode())
		return nil
	}
	return v
}

// As returns a context for API calls of the viewer in one of the viewer's organizations.
func (p *Pages) As(ctx context.Context, v *Viewer, org principal.OrgID) context.Context {
	h := http.Header{"Authorization": {"Bearer " + v.token}}
	if org != "" {
		h["X-Svc-Org-Id"] = []string{string(org)}
	}
	return principal.WithResult(ctx, p.cfg.Credentials.Authenticate(ctx, h))
}

// asPerson returns a context for calls that concern the viewer but no organization.
func (v *Viewer) asPerson(ctx context.Context) context.Context {
	return principal.WithResult(ctx, principal.Result{Principal: &principal.Principal{
		Org:          v.session.Org,
		User:         v.User.ID,
		Email:        v.User.Email,
		Name:         v.User.Name,
		Kind:         principal.KindSession,
		CredentialID: v.session.ID.String(),
	}})
}

// begin gives a new session to the browser, and ends the session that the browser had.
func (p *Pages) begin(w http.ResponseWriter, r *http.Request, token string, expiresAt time.Time) {
	p.end(r)
	p.setCookie(w, "session", token, time.Until(expiresAt))
}

// end ends the session of the browser. If that fails, the session lasts until it expires; the cookie is removed anyway.
func (p *Pages) end(r *http.Request) {
	token := p.cookieValue(r, "session")
	if token == "" {
		return
	}
	session, err := p.cfg.Credentials.SignedInUser(r.Context(), token)
	if err != nil {
		return
	}
	if err := p.cfg.SignIn.End(r.Context(), session); err != nil {
		p.log.WarnContext(r.Context(), "a session was not ended", "error", err)
	}
}

// redirect sends the browser to another of our pages.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}
