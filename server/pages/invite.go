package pages

import (
	"net/http"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// inviteData is the data of the page of an invitation.
type inviteData struct {
	Path, Organization, Role string
	// For is the only address that may accept. It is empty if any address may.
	For string
	// Mine means that the viewer has that address, or that any address may accept.
	Mine bool
	// The input of the previous attempt.
	Email, Name string
	Provider    string
}

// roleName is the name of a role for people.
func roleName(role string) string {
	if principal.Role(role) == principal.RoleAdmin {
		return "an administrator"
	}
	return "a member"
}

// invitation reads the invitation of the path and makes its page. If ok is false, it has answered the request.
func (p *Pages) invitation(w http.ResponseWriter, r *http.Request, v *Viewer) (page Page, data inviteData, ok bool) {
	token := r.PathValue("token")
	inv, err := p.cfg.Organizations.PreviewInvitation(r.Context(), &svcv2.PreviewInvitationRequest{Token: token})
	if err != nil {
		f := failureOf(err)
		if f.tag != apierr.InvitationNotFound && f.status != http.StatusBadRequest {
			p.fail(w, r, v, err)
			return page, data, false
		}
		f = failure{
			status:  http.StatusNotFound,
			message: "This invitation does not exist, was used or revoked, or has expired. Ask the person who invited you for a new link.",
		}
		p.explain(w, r, Page{View: "message", Title: "This link does not work", Viewer: v}, f)
		return page, data, false
	}
	data = inviteData{
		Path:         "/invite/" + token,
		Organization: inv.GetOrganizationName(),
		Role:         roleName(inv.GetRole()),
		For:          inv.GetEmail(),
		Email:        inv.GetEmail(),
		Provider:     p.providerLabel(),
	}
	data.Mine = inv.Email == nil || v != nil && strings.EqualFold(inv.GetEmail(), v.User.Email)
	return Page{View: "invite", Title: "Join " + data.Organization, Viewer: v, Data: data}, data, true
}

func (p *Pages) showInvitation(w http.ResponseWriter, r *http.Request) {
	v, err := p.Viewer(r)
	if err != nil {
		p.fail(w, r, nil, err)
		return
	}
	if page, _, ok := p.invitation(w, r, v); ok {
		p.Render(w, r, http.StatusOK, page)
	}
}

func (p *Pages) acceptInvitation(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	v, err := p.Viewer(r)
	if err != nil {
		p.fail(w, r, nil, err)
		return
	}
	page, data, ok := p.invitation(w, r, v)
	if !ok {
		return
	}
	token := r.PathValue("token")
	switch {
	case r.PostForm.Get("with") == "provider" && p.cfg.Provider != nil:
		p.toProvider(w, r, "/", token)
	case v != nil:
		_, err := p.cfg.Organizations.AcceptInvitation(v.asPerson(r.Context()), &svcv2.AcceptInvitationRequest{Token: token})
		if err != nil {
			p.explain(w, r, page, failureOf(err))
			return
		}
		redirect(w, "/")
	default:
		p.joinWithPassword(w, r, page, data, token)
	}
}

// joinWithPassword creates an account, or takes the existing one if the password is right, and signs in with it.
func (p *Pages) joinWithPassword(w http.ResponseWriter, r *http.Request, page Page, data inviteData, token string) {
	email, name, password := r.PostForm.Get("email"), r.PostForm.Get("name"), r.PostForm.Get("password")
	data.Email, data.Name = email, name
	page.Data = data
	if email == "" || password == "" {
		p.explain(w, r, page, failure{status: http.StatusBadRequest, message: "Enter your email address and a password."})
		return
	}
	req := &svcv2.AcceptInvitationRequest{Token: token, Email: &email, Password: &password}
	if name != "" {
		req.Name = &name
	}
	joined, err := p.cfg.Organizations.AcceptInvitation(r.Context(), req)
	if err != nil {
		f := failureOf(err)
		switch {
		case f.tag == apierr.SignInFailed:
			f.message = "An account with this address exists, but the password is wrong."
		case f.param == "password":
			f.message = needed("The password")
		}
		p.explain(w, r, page, f)
		return
	}
	if !p.signIn(w, r, email, password, joined.GetOrganization().GetId(), p.loginPage("/", email)) {
		return
	}
	redirect(w, "/")
}
