// Package productevents makes rows of product events, which arrive as lines of NDJSON or on spans. It also holds the code that sessions
// share with them: bounded maps of attributes, texts cut to a length, and the parts of URLs.
package productevents

import (
	"cmp"
	"strings"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// Bounds of a product event, in bytes. MaxAttributes counts entries.
const (
	MaxName       = limits.EventNameBytes
	MaxID         = limits.EventID
	MaxService    = limits.EventService
	MaxURL        = limits.EventURL
	MaxPagePath   = limits.EventPagePath
	MaxAttributes = limits.EventAttributes

	maxHost = limits.EventHost
)

// Kinds and sources of product events that servers send.
const (
	KindCustom = "custom"
	KindScreen = "screen"

	SourceServer = "server"
	SourceMobile = "mobile"
	// SourceSpan marks an event that was created from a span. Senders cannot choose it.
	SourceSpan = "span"
)

// nameScreen is the only reserved name that senders may use.
const nameScreen = "$screen"

// Kind returns the kind of the event with this name. For an unusable name it returns a problem instead, a phrase that follows the
// field's name.
func Kind(name string) (kind, problem string) {
	switch {
	case name == nameScreen:
		return KindScreen, ""
	case strings.HasPrefix(name, "$"):
		return "", "must not begin with $, which is reserved"
	case name == "" || len(name) > MaxName:
		return "", "must be 1 to " + limits.Size(MaxName) + " long"
	default:
		return KindCustom, ""
	}
}

// Event is a product event within its bounds.
type Event struct {
	Org                                   principal.OrgID
	Name, Kind, Source                    string
	UnixNano                              int64
	VisitorID, UserID, GroupID, SessionID string
	ServiceName                           string
	// The page's host comes from URL. The path comes from URL too, unless PagePath is given.
	URL, PagePath string
	Attributes    []Attribute
}

// Append appends the event's row without the attributes of the resource, which the caller appends.
func (p *Event) Append(t *blocks.ProductEvents) {
	host, path := SplitURL(p.URL)
	t.OrgID.AppendString(string(p.Org))
	t.Name.AppendString(p.Name)
	t.Timestamp.Append(p.UnixNano)
	t.Kind.AppendString(p.Kind)
	t.Source.AppendString(p.Source)
	t.VisitorID.AppendString(p.VisitorID)
	t.UserID.AppendString(p.UserID)
	t.GroupID.AppendString(p.GroupID)
	t.SessionID.AppendString(p.SessionID)
	t.ServiceName.AppendString(p.ServiceName)
	t.URL.AppendString(p.URL)
	t.Host.AppendString(Cut(host, maxHost))
	t.PagePath.AppendString(cmp.Or(p.PagePath, Cut(path, MaxPagePath)))
	AppendMap(t.Attributes, p.Attributes)
}
