package pages

import (
	"net/http"
	"net/url"

	"github.com/svc-observability/svc/server/principal"
)

// programsPath is the page of a person's organizations and programs, which is also the first page of a server without the application.
const programsPath = "/programs"

// applicationPaths are the addresses of the application. Those without an organization are short links.
// They are in messages and comments, so `frame/shell.tsx` knows them too.
var applicationPaths = []string{
	"/o/", "/traces/{id}", "/dashboards/{id}", "/errors/{id}", "/replays/{id}", "/alerts/incidents/{id}", "/alerts/rules/{id}",
	"/settings/{part}",
}

// application shows the web application to people who are signed in, and the sign-in page to all others.
func (p *Pages) application(w http.ResponseWriter, r *http.Request) {
	v, err := p.Viewer(r)
	switch {
	case err != nil:
		p.fail(w, r, nil, err)
	case v != nil:
		p.cfg.Application(w, r)
	case r.URL.RequestURI() == "/":
		redirect(w, "/login")
	default:
		redirect(w, "/login?"+url.Values{"next": {r.URL.RequestURI()}}.Encode())
	}
}

// homeData is the data of the first page.
type homeData struct {
	BaseURL, IngestURL string
	// Application is true if the program holds the web application.
	Application   bool
	Organizations []homeOrganization
	// Grants are the programs that have access for the viewer.
	Grants []homeGrant
}

type homeOrganization struct {
	ID, Name, Role string
}

func (p *Pages) home(w http.ResponseWriter, r *http.Request) {
	v, err := p.Viewer(r)
	if err != nil {
		p.fail(w, r, nil, err)
		return
	}
	if v == nil {
		redirect(w, "/login")
		return
	}
	data := homeData{BaseURL: p.base.String(), IngestURL: p.cfg.IngestURL, Application: p.cfg.Application != nil}
	for _, o := range v.Organizations {
		role := "member"
		if o.Role == principal.RoleAdmin {
			role = "administrator"
		}
		data.Organizations = append(data.Organizations, homeOrganization{string(o.ID), o.Name, role})
	}
	if data.Grants, err = p.grantsOf(r.Context(), v); err != nil {
		p.fail(w, r, v, err)
		return
	}
	p.Render(w, r, http.StatusOK, Page{View: "home", Title: "Home", Viewer: v, Data: data, Wide: true})
}
