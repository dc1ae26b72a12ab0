package otlp

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/ingest/productevents"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// These attributes create a product event from a span. The name attribute creates the event. Attributes of the span come along if
// the sender lists them, separated by commas. The other attributes stay out because they are the same for many events.
const (
	productEvent          = "svc.product_event."
	productEventName      = productEvent + "name"
	productEventUserID    = productEvent + "user_id"
	productEventGroupID   = productEvent + "group_id"
	productEventVisitorID = productEvent + "visitor_id"
	productEventURL       = productEvent + "url"
	productEventInclude   = productEvent + "include"
	productEventProperty  = productEvent + "prop."

	sessionID = "session.id"
)

// maxInclude bounds how many keys of a list are read. It is above the number that an event can hold, because a span may lack some
// of the keys.
const maxInclude = 4 * productevents.MaxAttributes

// productEvent creates the product event of a span that names one. It runs before sampling: many spans report the same thing, but
// each event is a fact of its own. A problem with the event becomes a warning. productEvent returns false if the request is too
// large.
func (w *walker) productEvent(m *native.Map, start int64) bool {
	if w.stamp.NoProductEvents {
		w.note(issueEventSignal, "attributes."+productEventName)
		return true
	}
	e := productevents.Event{Org: w.stamp.Org, Name: string(w.hotKeys.get(hotProductEvent)), Source: productevents.SourceSpan, UnixNano: start}
	var problem string
	if e.Kind, problem = productevents.Kind(e.Name); problem != "" {
		w.note(issueEventName, "attributes."+productEventName)
		return true
	}
	var include string
	m.EachOfRow(func(key, value []byte) {
		switch string(key) {
		case productEventUserID:
			e.UserID = string(value)
		case productEventGroupID:
			e.GroupID = string(value)
		case productEventVisitorID:
			e.VisitorID = string(value)
		case productEventURL:
			e.URL = string(value)
		case productEventInclude:
			include = string(value)
		case sessionID:
			e.SessionID = string(value)
		}
	})
	if e.SessionID == "" {
		e.SessionID = string(w.resource.first(sessionID))
	}
	e.ServiceName = productevents.Cut(string(w.resource.service), productevents.MaxService)
	tooMuch := false
	limit := func(s *string, most int) {
		tooMuch = tooMuch || len(*s) > most
		*s = productevents.Cut(*s, most)
	}
	limit(&e.UserID, productevents.MaxID)
	limit(&e.GroupID, productevents.MaxID)
	limit(&e.VisitorID, productevents.MaxID)
	limit(&e.SessionID, productevents.MaxID)
	limit(&e.URL, productevents.MaxURL)
	listed, more := splitInclude(include)
	var cut, dropped int
	e.Attributes, cut, dropped = productevents.Limit(eventAttributes(m, listed), productevents.MaxAttributes)
	if tooMuch || more || cut > 0 || dropped > 0 {
		w.note(issueEventLimit, "attributes."+productEventName)
	}
	t := w.set.ProductEvents()
	before := t.Bytes()
	e.Append(t)
	appendRow(t.ResourceAttributes, w.resource.attributes)
	w.events++
	return w.grow(rowSize + 2*(t.Bytes()-before))
}

// splitInclude splits a list into keys. The result more says that the list has more keys than are read.
func splitInclude(list string) (keys map[string]bool, more bool) {
	keys = map[string]bool{}
	for key := range strings.SplitSeq(list, ",") {
		if key = strings.TrimSpace(key); key == "" {
			continue
		}
		if len(keys) == maxInclude {
			return keys, true
		}
		keys[key] = true
	}
	return keys, false
}

// eventAttributes returns the attributes of the event that the open row creates, by key. They are the event's properties and the
// listed attributes of the span; a property wins over a span attribute with the same key. Of a repeated key the last value
// counts.
func eventAttributes(m *native.Map, listed map[string]bool) []productevents.Attribute {
	var properties, included []productevents.Attribute
	m.EachOfRow(func(key, value []byte) {
		if property, ok := bytes.CutPrefix(key, []byte(productEventProperty)); ok {
			properties = append(properties, productevents.Attribute{Key: string(property), Value: string(value)})
		}
		if listed[string(key)] {
			included = append(included, productevents.Attribute{Key: string(key), Value: string(value)})
		}
	})
	all := slices.Concat(included, properties)
	slices.SortStableFunc(all, func(a, b productevents.Attribute) int { return cmp.Compare(a.Key, b.Key) })
	last := all[:0]
	for i, a := range all {
		if i+1 == len(all) || all[i+1].Key != a.Key {
			last = append(last, a)
		}
	}
	return last
}
