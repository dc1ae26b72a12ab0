package activity

import (
	"cmp"

	"github.com/svc-observability/svc/server/ingest/productevents"
)

// productEvent reads a product event. A problem drops only this line.
func (r *reader) productEvent() bool {
	name := r.whole("name")
	kind, problem := productevents.Kind(name)
	if problem != "" {
		r.refuse("name", problem)
	}
	source := cmp.Or(r.whole("source"), productevents.SourceServer)
	if source != productevents.SourceServer && source != productevents.SourceMobile {
		r.refuse("source", "must be server or mobile")
	}
	at, hasTime := r.time("timestamp")
	if !hasTime {
		at = r.stamp.ReceivedUnixNano
	}
	if problem := r.storable(at); problem != "" {
		r.refuse("timestamp", problem)
	}
	p := productevents.Event{
		Org: r.stamp.Org, Name: name, Kind: kind, Source: source, UnixNano: at,
		VisitorID: r.text("visitor_id", maxID), UserID: r.text("user_id", maxID),
		GroupID: r.text("group_id", maxID), SessionID: r.text("session_id", maxID),
	}
	service := r.text("service_name", productevents.MaxService)
	p.URL, p.PagePath = r.text("url", maxURL), r.text("page_path", productevents.MaxPagePath)
	p.Attributes = r.attributes("attributes", maxAttributes)
	if r.bad != nil {
		return r.reject(r.bad.Field, r.bad.Reason)
	}
	resource := r.resource(nil)
	p.ServiceName = r.service(service, resource)
	t := r.set.ProductEvents()
	p.Append(t)
	productevents.AppendMap(t.ResourceAttributes, resource)
	return true
}
