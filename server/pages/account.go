package pages

import (
	"fmt"
	"net/http"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

const accountPath = "/account"

// accountData is the data of the account page.
type accountData struct {
	// Password means that the viewer has a password to change. Provider names the other way to sign in.
	Password bool
	Provider string
}

func (p *Pages) accountPage(v *Viewer) Page {
	return Page{
		View:   "account",
		Title:  "Your account",
		Viewer: v,
		Data:   accountData{Password: v.User.PasswordHash != "", Provider: p.providerLabel()},
	}
}

func (p *Pages) showAccount(w http.ResponseWriter, r *http.Request) {
	if v := p.RequireSignIn(w, r); v != nil {
		p.Render(w, r, http.StatusOK, p.accountPage(v))
	}
}

// changePassword changes the viewer's password. The session of this browser stays valid.
func (p *Pages) changePassword(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	v := p.RequireSignIn(w, r)
	if v == nil {
		return
	}
	page := p.accountPage(v)
	present, next := r.PostForm.Get("current_password"), r.PostForm.Get("new_password")
	if present == "" || next == "" {
		p.explain(w, r, page, failure{status: http.StatusBadRequest, message: "Enter your current password and a new one."})
		return
	}
	changed, err := p.cfg.Sessions.ChangePassword(
		v.asPerson(r.Context()),
		&svcv2.ChangePasswordRequest{CurrentPassword: present, NewPassword: next},
	)
	if err != nil {
		f := failureOf(err)
		switch {
		case f.param == "current_password":
			f.message = "That is not your password."
		case f.param == "new_password" && next == present:
			f.message = "The new password must differ from the current one."
		case f.param == "new_password":
			f.message = needed("The new password")
		}
		p.explain(w, r, page, f)
		return
	}
	page.Notice = "Your password was changed."
	switch n := changed.GetSessionsEnded(); {
	case n == 1:
		page.Notice += " You are signed out of one other session."
	case n > 1:
		page.Notice += fmt.Sprintf(" You are signed out of %d other sessions.", n)
	}
	p.Render(w, r, http.StatusOK, page)
}
