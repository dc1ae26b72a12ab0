package activity

import (
	"cmp"
	"strings"
)

const (
	maxHost     = 256
	maxPagePath = 1 << 10
	// nameScreen is the one reserved name that senders may use.
	nameScreen = "$screen"
)

// productEvent reads a product event. What is wrong with it drops this line alone.
func (r *reader) productEvent() bool {
	name := r.whole("name")
	kind := typeCustom
	switch {
	case name == nameScreen:
		kind = "screen"
	case strings.HasPrefix(name, "$"):
		r.refuse("name", "must not begin with $, which is reserved")
	case name == "" || len(name) > maxName:
		r.refuse("name", "must be 1 to 128 bytes long")
	}
	source := cmp.Or(r.whole("source"), "server")
	if source != "server" && source != "mobile" {
		r.refuse("source", "must be server or mobile")
	}
	at, hasTime := r.time("timestamp")
	if !hasTime {
		at = r.stamp.ReceivedUnixNano
	}
	if problem := r.storable(at); problem != "" {
		r.refuse("timestamp", problem)
	}
	visitor, user, group, session := r.text("visitor_id", maxID), r.text("user_id", maxID), r.text("group_id", maxID), r.text("session_id", maxID)
	service := r.text("service_name", maxDimension)
	address := r.text("url", maxURL)
	host, path := splitURL(address)
	path = cmp.Or(r.text("page_path", maxPagePath), cut(path, maxPagePath))
	attributes := r.attributes("attributes", maxAttributes)
	if r.bad != nil {
		return r.reject(r.bad.Field, r.bad.Reason)
	}
	resource := r.resource(nil)
	t := r.set.ProductEvents()
	t.OrgID.AppendString(string(r.stamp.Org))
	t.Name.AppendString(name)
	t.Timestamp.Append(at)
	t.Kind.AppendString(kind)
	t.Source.AppendString(source)
	t.VisitorID.AppendString(visitor)
	t.UserID.AppendString(user)
	t.GroupID.AppendString(group)
	t.SessionID.AppendString(session)
	t.ServiceName.AppendString(r.service(service, resource))
	t.URL.AppendString(address)
	t.Host.AppendString(cut(host, maxHost))
	t.PagePath.AppendString(path)
	appendMap(t.Attributes, attributes)
	appendMap(t.ResourceAttributes, resource)
	return true
}
