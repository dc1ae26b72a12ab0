package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// ProductEventFilters are conditions on an event. All of them must hold.
type ProductEventFilters struct {
	// Names keeps events with any of these names. Empty keeps all.
	Names                                                                            []string
	Kind, Source, UserID, VisitorID, GroupID, SessionID, ServiceName, Host, PagePath *string
	// NameSearch is part of the name. Letter case does not matter.
	NameSearch *string
	// Attributes is a condition on the attributes of the event and of its resource.
	Attributes query.Filter
}

// ProductEventSearch asks for the latest product events of a window.
type ProductEventSearch struct {
	Window  query.Window
	Filters ProductEventFilters
	// Before continues a search: it keeps only events that come after this one in the order of the results.
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
	// Record is the hash of all columns, 32 hexadecimal digits. Copy numbers the events that are equal in all columns.
	Record string `ch:"Record"`
	Copy   uint64 `ch:"Copy"`
}

// eventHash identifies an event. Cursors hold it, so its list of columns must never change.
const eventHash = `lower(hex(sipHash128(Name, Timestamp, Kind, Source, VisitorId, UserId, GroupId, SessionId, ServiceName, Url, Host, PagePath,
            mapKeys(Attributes), mapValues(Attributes), mapKeys(ResourceAttributes), mapValues(ResourceAttributes))))`

// add adds the conditions, translated as those of the query language are.
func (f *ProductEventFilters) add(b *sqlbuild.Builder, c *sqlbuild.Conditions) {
	var all []query.Filter
	if len(f.Names) > 0 {
		all = append(all, query.Where("event.name", query.OpIn, f.Names...))
	}
	for _, one := range []struct {
		field string
		value *string
	}{
		{"event.kind", f.Kind},
		{"source", f.Source},
		{"user.id", f.UserID},
		{"visitor.id", f.VisitorID},
		{"group.id", f.GroupID},
		{"session.id", f.SessionID},
		{"service.name", f.ServiceName},
		{"host", f.Host},
		{"page.path", f.PagePath},
	} {
		if one.value != nil {
			all = append(all, query.Where(one.field, query.OpEqual, *one.value))
		}
	}
	if f.NameSearch != nil && *f.NameSearch != "" {
		all = append(all, query.Where("event.name", query.OpContains, *f.NameSearch))
	}
	*c = c.With(query.FilterSQL(b, query.ProductEvents, query.And(append(all, f.Attributes)...))...)
}

// SearchProductEvents gives ProductEventRow rows, latest first. The order is total. As in SearchLogs, the hash is computed only
// for the rows of the page and for rows of the same time.
func SearchProductEvents(s ProductEventSearch) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	matching := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", s.Window.Start), "Timestamp <= "+b.Time("end", s.Window.End))
	s.Filters.add(b, &matching)
	limit := b.Bind("limit", "UInt32", int64(s.Limit))
	older, page := matching, ""
	if k := s.Before; k != nil {
		at := b.Time("before_time", k.Timestamp)
		older = matching.With("Timestamp < " + at)
		matching = matching.With("Timestamp <= " + at)
		key := fmt.Sprintf("(%s, %s)", at, b.Bind("before_record", "String", k.Record))
		page = fmt.Sprintf(
			"WHERE (Timestamp, Record) < %[1]s\n    OR (Timestamp, Record) = %[1]s AND Copy > %[2]s\n",
			key,
			b.Bind("before_copy", "UInt64", int64(k.Copy)),
		)
	}
	const columns = "Name, Timestamp, Kind, Source, VisitorId, UserId, GroupId, SessionId, ServiceName, Url, Host, PagePath, " +
		"Attributes,\n%[1]sResourceAttributes"
	indented := func(n int) string { return fmt.Sprintf(columns, strings.Repeat(" ", n)) }
	return b.Statement(fmt.Sprintf(`SELECT
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
LIMIT %[6]s`, indented(4), indented(12), eventHash, matching.Join(12), older.Join(22), limit, page))
}

// ProductEventNameList asks for a page of the names of the events of a window.
type ProductEventNameList struct {
	Window        query.Window
	Events        ProductEventFilters
	Sessions      query.ProductSessionFilters
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
func ListProductEventNames(l ProductEventNameList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	a := query.NewActors(b, l.Window, query.ByPerson, l.Sessions)
	matching := a.Inside()
	l.Events.add(b, &matching)
	return b.Statement(fmt.Sprintf(`SELECT
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
LIMIT %s OFFSET %s`, a.Keyed(fmt.Sprintf(`(
    SELECT Timestamp, SessionId, VisitorId, UserId, Name, Kind
    FROM product_events
    WHERE %s
)`, matching.Join(8))), b.Bind("limit", "UInt32", int64(l.Limit)), b.Bind("offset", "UInt32", int64(l.Offset))))
}
