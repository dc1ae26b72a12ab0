package activity

import (
	"cmp"

	"github.com/svc-observability/svc/server/ingest/events"
)

// productEvent reads a product event. A problem drops only this line.
func (r *reader) productEvent() bool {
	name := r.whole("name")
	kind, problem := events.Kind(name)
	if problem != "" {
		r.refuse("name", problem)
	}
	source := cmp.Or(r.whole("source"), events.SourceServer)
	if source != events.SourceServer && source != events.SourceMobile {
		r.refuse("source", "must be server or mobile")
	}
	at, hasTime := r.time("timestamp")
	if !hasTime {
		at = r.stamp.ReceivedUnixNano
	}
	if problem := r.storable(at); problem != "" {
		r.refuse("timestamp", problem)
	}
	p := events.Product{
		Org: r.stamp.Org, Name: name, Kind: kind, Source: source, UnixNano: at,
		VisitorID: r.text("visitor_id", maxID), UserID: r.text("user_id", maxID),
		GroupID: r.text("group_id", maxID), SessionID: r.text("session_id", maxID),
	}
	service := r.text("service_name", events.MaxService)
	p.URL, p.PagePath = r.text("url", maxURL), r.text("page_path", events.MaxPagePath)
	p.Attributes = r.attributes("attributes", maxAttributes)
	if r.bad != nil {
		return r.reject(r.bad.Field, r.bad.Reason)
	}
	resource := r.resource(nil)
	p.ServiceName = r.service(service, resource)
	t := r.set.ProductEvents()
	p.Append(t)
	events.AppendMap(t.ResourceAttributes, resource)
	return true
}
