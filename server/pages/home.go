package pages

import (
	"net/http"

	"github.com/svc-observability/svc/server/principal"
)

// homeData is the data of the first page.
type homeData struct {
	BaseURL, IngestURL string
	Organizations      []homeOrganization
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
	data := homeData{BaseURL: p.base.String(), IngestURL: p.cfg.IngestURL}
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
