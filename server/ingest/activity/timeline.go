package activity

import (
	"math"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/ingest/productevents"
	"github.com/svc-observability/svc/server/limits"
)

// Types of session events with rules of their own.
const (
	typeNavigation = "navigation"
	typeCustom     = "custom"
)

const (
	// maxTargetText and maxStack count characters.
	maxTargetText = limits.SessionTarget
	maxStack      = limits.SessionStack
	// maxName bounds the name of a product event. The message of a custom session event becomes such a name.
	maxName = productevents.MaxName
)

// sessionEvent reads an event on the timeline of a session. An unreadable field refuses the request.
func (r *reader) sessionEvent() bool {
	id := r.sessionID()
	typ := r.whole("type")
	switch typ {
	case typeNavigation, "click", "input", "console", "network", "error", typeCustom:
	default:
		r.refuse("type", "must be navigation, click, input, console, network, error or custom")
	}
	at, hasTime := r.time("timestamp")
	seq := r.number("seq", math.MaxUint32)
	address, netURL := r.text("url", maxURL), r.text("net_url", maxURL)
	trace := r.traceID("trace_id", r.whole("trace_id"))
	level, message := r.text("level", maxDimension), r.text("message", maxText)
	selector, target := r.text("target_selector", maxText), r.characters("target_text", maxTargetText)
	method := r.text("net_method", maxDimension)
	status, duration := r.number("net_status", math.MaxUint16), r.number("net_duration_ms", math.MaxUint32)
	stack := r.characters("error_stack", maxStack)
	visitor, user, group := r.text("visitor_id", maxID), r.text("user_id", maxID), r.text("group_id", maxID)
	attributes := r.attributes("attributes", maxAttributes)
	if typ == typeCustom {
		if problem := unnamed(message); problem != "" {
			r.warn("message", problem+": the event is on the timeline only")
		}
	}
	if !r.readable() {
		return false
	}
	if !hasTime {
		r.warn("timestamp", "is missing: the receive time stands for it")
		at = r.stamp.ReceivedUnixNano
	}
	if problem := r.storable(at); problem != "" {
		return r.reject("timestamp", problem)
	}
	t := r.set.SessionEvents()
	t.OrgID.AppendString(string(r.stamp.Org))
	t.SessionID.AppendString(id)
	t.Timestamp.Append(at)
	t.Seq.Append(uint32(seq))
	t.Type.AppendString(typ)
	t.URL.AppendString(address)
	t.TraceID.AppendString(trace)
	t.Level.AppendString(level)
	t.Message.AppendString(message)
	t.TargetSelector.AppendString(selector)
	t.TargetText.AppendString(target)
	t.NetMethod.AppendString(method)
	t.NetURL.AppendString(netURL)
	t.NetStatus.Append(uint16(status))
	t.NetDurationMs.Append(uint32(duration))
	t.ErrorStack.AppendString(stack)
	t.VisitorID.AppendString(visitor)
	t.UserID.AppendString(user)
	t.GroupID.AppendString(group)
	productevents.AppendMap(t.Attributes, attributes)
	productevents.AppendMap(t.ResourceAttributes, r.resource(nil))
	return true
}

// unnamed returns the reason why the message of a custom event cannot name a product event, or an empty text if it can. The view
// product_events_view applies the same rule.
func unnamed(message string) (problem string) {
	switch {
	case message == "":
		return "is empty, and is the name of the product event"
	case strings.HasPrefix(message, "$"):
		return "must not begin with $, which is reserved, to name a product event"
	case len(message) > maxName:
		return "is longer than " + strconv.Itoa(maxName) + " bytes, the most that the name of a product event may have"
	default:
		return ""
	}
}
