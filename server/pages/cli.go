package pages

import (
	"fmt"
	"net/http"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// cliData is the data of the page on which a person confirms a command-line login.
type cliData struct {
	// Step is enter, confirm or done.
	Step, Code       string
	Client, Address  string
	Age              string
	Choices          []cliChoice
	CanApprove       bool
	Approved         bool
	OrganizationName string
}

// cliChoice is an organization that the key can be for.
type cliChoice struct {
	store.UserOrganization
	// Admin means that the viewer is an administrator of it; the key would then be one too.
	Admin, Chosen bool
}

func (p *Pages) showCli(w http.ResponseWriter, r *http.Request) {
	v := p.RequireSignIn(w, r)
	if v == nil {
		return
	}
	page := Page{View: "cli", Title: "Command-line login", Viewer: v, Data: cliData{Step: "enter"}}
	code := r.URL.Query().Get("code")
	if code == "" {
		p.Render(w, r, http.StatusOK, page)
		return
	}
	p.confirmCli(w, r, v, code, page)
}

// choices lists the viewer's organizations. The first one in which the viewer may confirm is preselected.
func choices(v *Viewer, chosen string) (all []cliChoice, any bool) {
	for _, o := range v.Organizations {
		c := cliChoice{UserOrganization: o, Admin: o.Role == principal.RoleAdmin}
		c.Chosen = c.Admin && (string(o.ID) == chosen || chosen == "" && !any)
		any = any || c.Admin
		all = append(all, c)
	}
	return all, any
}

// confirmCli shows the login that waits for the code.
func (p *Pages) confirmCli(w http.ResponseWriter, r *http.Request, v *Viewer, code string, page Page) {
	if len(v.Organizations) == 0 {
		p.explain(w, r, Page{View: "message", Title: "Command-line login", Viewer: v},
			failure{status: http.StatusForbidden, message: "You do not belong to any organization. Ask an administrator to invite you."})
		return
	}
	login, err := p.cfg.Cli.GetCliLogin(p.As(r.Context(), v, v.Organizations[0].ID), &svcv2.GetCliLoginRequest{UserCode: code})
	if err != nil {
		page.Data = cliData{Step: "enter", Code: code}
		p.explain(w, r, page, notFound(failureOf(err)))
		return
	}
	data := cliData{
		Step:    "confirm",
		Code:    login.GetUserCode(),
		Client:  login.GetClientName(),
		Address: login.GetClientAddress(),
		Age:     age(time.Since(login.GetCreatedAt().AsTime())),
	}
	if login.GetStatus() != store.DeviceLoginPending {
		data.Step, data.Approved = "done", login.GetStatus() == store.DeviceLoginApproved
	}
	data.Choices, data.CanApprove = choices(v, "")
	page.Data = data
	p.Render(w, r, http.StatusOK, page)
}

// notFound gives a failure a status that suits a page better than the status of the protocol.
func notFound(f failure) failure {
	if f.tag == apierr.CliLoginExpired {
		f.status = http.StatusNotFound
	}
	return f
}

func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a minute ago"
	case d < 2*time.Minute:
		return "a minute ago"
	default:
		return fmt.Sprintf("%d minutes ago", int(d/time.Minute))
	}
}

func (p *Pages) decideCli(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	v := p.RequireSignIn(w, r)
	if v == nil {
		return
	}
	code, org := r.PostForm.Get("code"), r.PostForm.Get("organization")
	page := Page{View: "cli", Title: "Command-line login", Viewer: v}
	var login *svcv2.PendingCliLogin
	var err error
	switch decision := r.PostForm.Get("decision"); {
	case decision == "approve" && org != "":
		login, err = p.cfg.Cli.ApproveCliLogin(p.As(r.Context(), v, principal.OrgID(org)), &svcv2.ApproveCliLoginRequest{UserCode: code})
	case decision == "deny" && len(v.Organizations) > 0:
		if org == "" {
			org = string(v.Organizations[0].ID)
		}
		login, err = p.cfg.Cli.DenyCliLogin(p.As(r.Context(), v, principal.OrgID(org)), &svcv2.DenyCliLoginRequest{UserCode: code})
	default:
		p.explain(w, r, Page{View: "message", Title: "Command-line login", Viewer: v, Back: "/cli", BackText: "Enter the code again"},
			failure{status: http.StatusBadRequest, message: "Choose an organization, and whether to confirm or refuse."})
		return
	}
	if err != nil {
		page.Data = cliData{Step: "enter", Code: code}
		p.explain(w, r, page, notFound(failureOf(err)))
		return
	}
	data := cliData{
		Step:     "done",
		Code:     login.GetUserCode(),
		Client:   login.GetClientName(),
		Approved: login.GetStatus() == store.DeviceLoginApproved,
	}
	for _, o := range v.Organizations {
		if string(o.ID) == org {
			data.OrganizationName = o.Name
		}
	}
	page.Data = data
	p.Render(w, r, http.StatusOK, page)
}
