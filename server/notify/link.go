package notify

import (
	"net/url"

	"github.com/svc-observability/svc/server/principal"
)

// Links makes the addresses of pages of the web application. Each opens in its organization, whichever the reader used last.
type Links struct {
	// BaseURL is the address of the web application, without a slash at the end. Without it there are no links.
	BaseURL string
	Org     principal.OrgID
}

// Incident is the page of an incident of an alert; id is its public id.
func (l Links) Incident(id string) string { return l.to("/alerts/incidents/", id) }

// Rule is the page of an alert rule; id is its public id.
func (l Links) Rule(id string) string { return l.to("/alerts/rules/", id) }

// Issue is the page of an error issue; id is its public id.
func (l Links) Issue(id string) string { return l.to("/errors/", id) }

func (l Links) to(place, id string) string {
	if l.BaseURL == "" || id == "" {
		return ""
	}
	return l.BaseURL + place + url.PathEscape(id) + "?" + url.Values{"org": {string(l.Org)}}.Encode()
}
