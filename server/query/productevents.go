package query

import (
	"fmt"
	"time"
)

// ProductEventList asks for a page of the product events of a window, the latest first.
type ProductEventList struct {
	Window                                   Window
	Name, UserID, VisitorID, SessionID, Kind *string
	Offset, Limit                            int
}

// ProductEventRow is a row of ListProductEvents.
type ProductEventRow struct {
	Name               string            `ch:"Name"`
	Timestamp          time.Time         `ch:"Timestamp"`
	Kind               string            `ch:"Kind"`
	Source             string            `ch:"Source"`
	VisitorID          string            `ch:"VisitorId"`
	UserID             string            `ch:"UserId"`
	GroupID            string            `ch:"GroupId"`
	SessionID          string            `ch:"SessionId"`
	ServiceName        string            `ch:"ServiceName"`
	URL                string            `ch:"Url"`
	Host               string            `ch:"Host"`
	PagePath           string            `ch:"PagePath"`
	Attributes         map[string]string `ch:"Attributes"`
	ResourceAttributes map[string]string `ch:"ResourceAttributes"`
}

// ListProductEvents gives ProductEventRow rows.
func ListProductEvents(l ProductEventList) Statement {
	b := &builder{}
	c := where().with("Timestamp >= "+b.time("start", l.Window.Start), "Timestamp <= "+b.time("end", l.Window.End))
	c.optional(b, "Name", "name", l.Name)
	c.optional(b, "Kind", "kind", l.Kind)
	c.optional(b, "UserId", "user_id", l.UserID)
	c.optional(b, "VisitorId", "visitor_id", l.VisitorID)
	c.optional(b, "SessionId", "session_id", l.SessionID)
	return Statement{SQL: fmt.Sprintf(`SELECT
    Name, Timestamp, Kind, Source, VisitorId, UserId, GroupId, SessionId, ServiceName, Url, Host, PagePath, Attributes, ResourceAttributes
FROM product_events
WHERE %s
ORDER BY Timestamp DESC, Name
LIMIT %s OFFSET %s`, c.join(4), b.bind("limit", "UInt32", int64(l.Limit)), b.bind("offset", "UInt32", int64(l.Offset))), Args: b.args}
}
