package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/paging"
)

// ProductEventFilters are conditions that must all hold on an event.
type ProductEventFilters struct {
	// Names holds any of which the event must have; empty is no condition.
	Names                                                                            []string
	Kind, Source, UserID, VisitorID, GroupID, SessionID, ServiceName, Host, PagePath *string
	// NameSearch is part of the name, letter case ignored.
	NameSearch                     *string
	Attributes, ResourceAttributes []AttributeFilter
}

// ProductEventSearch asks for the latest product events of a window.
type ProductEventSearch struct {
	Window  Window
	Filters ProductEventFilters
	// Before continues a search: only events that come after this one in the order.
	Before *paging.EventKey
	Limit  int
}

// ProductEventRow is a row of SearchProductEvents.
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
	// Record is the hash of all columns, 32 hexadecimal digits; Copy numbers events that are equal in all of them.
	Record string `ch:"Record"`
	Copy   uint64 `ch:"Copy"`
}

// eventHash identifies an event. Cursors hold it, so its list of columns must never change.
const eventHash = `lower(hex(sipHash128(Name, Timestamp, Kind, Source, VisitorId, UserId, GroupId, SessionId, ServiceName, Url, Host, PagePath,
            mapKeys(Attributes), mapValues(Attributes), mapKeys(ResourceAttributes), mapValues(ResourceAttributes))))`

func eventAttributes() attributeColumn { return attributeColumn{name: "Attributes"} }

func (f *ProductEventFilters) add(b *builder, c *conditions) {
	if len(f.Names) > 0 {
		c.add("Name IN %s", b.bind("names", "Array(String)", f.Names))
	}
	c.optional(b, "Kind", "kind", f.Kind)
	c.optional(b, "Source", "source", f.Source)
	c.optional(b, "UserId", "user_id", f.UserID)
	c.optional(b, "VisitorId", "visitor_id", f.VisitorID)
	c.optional(b, "GroupId", "group_id", f.GroupID)
	c.optional(b, "SessionId", "session_id", f.SessionID)
	c.optional(b, "ServiceName", "service_name", f.ServiceName)
	c.optional(b, "Host", "host", f.Host)
	c.optional(b, "PagePath", "page_path", f.PagePath)
	if f.NameSearch != nil && *f.NameSearch != "" {
		c.add("positionCaseInsensitiveUTF8(Name, %s) > 0", b.bind("name_search", "String", *f.NameSearch))
	}
	attributes(b, c, eventAttributes(), f.Attributes)
	attributes(b, c, resourceColumn(), f.ResourceAttributes)
}

// SearchProductEvents gives ProductEventRow rows, latest first. The order is total, and the hash is made only for the rows of the page and
// their ties, as in SearchLogs.
func SearchProductEvents(s ProductEventSearch) Statement {
	b := &builder{}
	matching := where().with("Timestamp >= "+b.time("start", s.Window.Start), "Timestamp <= "+b.time("end", s.Window.End))
	s.Filters.add(b, &matching)
	limit := b.bind("limit", "UInt32", int64(s.Limit))
	older, page := matching, ""
	if k := s.Before; k != nil {
		at := b.time("before_time", k.Timestamp)
		older = matching.with("Timestamp < " + at)
		matching = matching.with("Timestamp <= " + at)
		key := fmt.Sprintf("(%s, %s)", at, b.bind("before_record", "String", k.Record))
		page = fmt.Sprintf("WHERE (Timestamp, Record) < %[1]s\n    OR (Timestamp, Record) = %[1]s AND Copy > %[2]s\n", key, b.bind("before_copy", "UInt64", int64(k.Copy)))
	}
	const columns = "Name, Timestamp, Kind, Source, VisitorId, UserId, GroupId, SessionId, ServiceName, Url, Host, PagePath, Attributes,\n%[1]sResourceAttributes"
	indented := func(n int) string { return fmt.Sprintf(columns, strings.Repeat(" ", n)) }
	return b.statement(fmt.Sprintf(`SELECT
    %[1]s, Record, Copy
FROM
(
    SELECT
        *,
        row_number() OVER (PARTITION BY Timestamp, Record) AS Copy
    FROM
    (
        SELECT
            %[2]s,
            %[3]s AS Record
        FROM product_events
        WHERE %[4]s
            AND Timestamp >= (
                SELECT min(Timestamp) FROM (
                    SELECT Timestamp FROM product_events
                    WHERE %[5]s
                    ORDER BY Timestamp DESC
                    LIMIT %[6]s))
    )
)
%[7]sORDER BY Timestamp DESC, Record DESC, Copy
LIMIT %[6]s`, indented(4), indented(12), eventHash, matching.join(12), older.join(22), limit, page))
}

// ProductEventNameList asks for a page of the names of the events of a window.
type ProductEventNameList struct {
	Window        Window
	Events        ProductEventFilters
	Sessions      ProductSessionFilters
	Offset, Limit int
}

// ProductEventNameRow is a row of ListProductEventNames.
type ProductEventNameRow struct {
	Name      string    `ch:"Name"`
	Kind      string    `ch:"Kind"`
	Count     uint64    `ch:"Events"`
	Sessions  uint64    `ch:"Sessions"`
	Persons   uint64    `ch:"Persons"`
	Users     uint64    `ch:"Users"`
	Visitors  uint64    `ch:"Visitors"`
	FirstSeen time.Time `ch:"FirstSeen"`
	LastSeen  time.Time `ch:"LastSeen"`
}

// ListProductEventNames gives ProductEventNameRow rows, most frequent first.
func ListProductEventNames(l ProductEventNameList) Statement {
	b := &builder{}
	a := newActors(b, l.Window, ByPerson, l.Sessions)
	matching := a.inside()
	l.Events.add(b, &matching)
	return b.statement(fmt.Sprintf(`SELECT
    Name,
    Kind,
    count() AS Events,
    uniqExactIf(SessionId, SessionId != '') AS Sessions,
    uniqExactIf(Key, Key != '') AS Persons,
    uniqExactIf(KnownUser, KnownUser != '') AS Users,
    uniqExactIf(KnownVisitor, KnownVisitor != '') AS Visitors,
    min(Timestamp) AS FirstSeen,
    max(Timestamp) AS LastSeen
FROM
%s
GROUP BY Name, Kind
ORDER BY Events DESC, Name, Kind
LIMIT %s OFFSET %s`, a.keyed(fmt.Sprintf(`(
    SELECT Timestamp, SessionId, VisitorId, UserId, Name, Kind
    FROM product_events
    WHERE %s
)`, matching.join(8))), b.bind("limit", "UInt32", int64(l.Limit)), b.bind("offset", "UInt32", int64(l.Offset))))
}
