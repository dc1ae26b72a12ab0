package query

import (
	"fmt"
)

// MaxSession is how long a session lasts at most: the events of a session that began in a window end that much later.
const MaxSession = day

// KeyBy says who is counted.
type KeyBy string

// Keys. A person is the user, else the user that the visitor is known as, else the visitor, else the session.
const (
	ByPerson  KeyBy = "person"
	ByVisitor KeyBy = "visitor"
	ByUser    KeyBy = "user"
	BySession KeyBy = "session"
)

// ProductSessionFilters keep the events of sessions for which all of this holds. Events of no session are left out when there is a filter.
type ProductSessionFilters struct {
	Host, ReferrerHost, Country, DeviceType, BrowserName, OSName, Language *string
	UtmSource, UtmMedium, UtmCampaign                                      *string
	VisitorIsNew                                                           *bool
	// PagePath is that of any page of the session.
	PagePath *string
}

func (f *ProductSessionFilters) conditions(b *builder, w Window) conditions {
	var c conditions
	for _, x := range []struct {
		column, name string
		value        *string
	}{
		{"Host", "session_host", f.Host},
		{"ReferrerHost", "session_referrer_host", f.ReferrerHost},
		{"Country", "session_country", f.Country},
		{"DeviceType", "session_device_type", f.DeviceType},
		{"BrowserName", "session_browser_name", f.BrowserName},
		{"OsName", "session_os_name", f.OSName},
		{"Language", "session_language", f.Language},
		{"UtmSource", "session_utm_source", f.UtmSource},
		{"UtmMedium", "session_utm_medium", f.UtmMedium},
		{"UtmCampaign", "session_utm_campaign", f.UtmCampaign},
	} {
		c.optional(b, x.column, x.name, x.value)
	}
	if f.VisitorIsNew != nil {
		c.add("VisitorIsNew = %s", b.bind("session_visitor_is_new", "Bool", *f.VisitorIsNew))
	}
	if f.PagePath != nil {
		p := b.bind("session_page_path", "String", *f.PagePath)
		pages := where().with("Name IN ('$pageview', '$screen')", "PagePath = "+p, "SessionId != ''",
			"Timestamp >= "+b.time("pages_start", w.Start.Add(-MaxSession)), "Timestamp <= "+b.time("pages_end", w.End.Add(MaxSession)))
		c.add("(EntryPath = %[1]s OR ExitPath = %[1]s OR SessionId IN (SELECT SessionId FROM product_events WHERE %[2]s))", p, pages.join(12))
	}
	return c
}

// SessionDimensions are what sessions can be told apart by, and their columns.
func SessionDimensions() map[string]string {
	return map[string]string{
		"referrer_host": "ReferrerHost", "utm_source": "UtmSource", "utm_medium": "UtmMedium", "utm_campaign": "UtmCampaign", "country": "Country", "host": "Host",
	}
}

// actors gives events the key of whoever sent them.
type actors struct {
	b       *builder
	by      KeyBy
	filters conditions
	// Places of the window.
	start, end, sessionStart string
}

func newActors(b *builder, w Window, by KeyBy, filters ProductSessionFilters) *actors {
	return &actors{
		b: b, by: by, filters: filters.conditions(b, w),
		start: b.time("start", w.Start), end: b.time("end", w.End), sessionStart: b.time("session_start", w.Start.Add(-MaxSession)),
	}
}

// inside is the window as conditions on events.
func (a *actors) inside() conditions {
	return where().with("Timestamp >= "+a.start, "Timestamp <= "+a.end)
}

// sessions are the sessions that reach into the window, in their highest version, with their dimensions.
func (a *actors) sessions() string {
	c := where().with("StartTime >= "+a.sessionStart, "StartTime <= "+a.end)
	matching := ""
	if len(a.filters) > 0 {
		matching = "\n    WHERE " + a.filters.join(8)
	}
	return fmt.Sprintf(`(
    SELECT SessionId, StartTime, VisitorId AS SessionVisitor, UserId AS SessionUser, ReferrerHost, UtmSource, UtmMedium, UtmCampaign, Country,
        Host AS SessionHost
    FROM
    (
        SELECT *
        FROM session_replays
        WHERE %s
        ORDER BY SessionId, Version DESC
        LIMIT 1 BY SessionId
    )%s
)`, c.join(12), matching)
}

// parts gathers the events of a subquery, which has SessionId, VisitorId and UserId, so that only one row of all that the same ids came with needs
// a key: the list Part of what element prints for each event. It keeps no id that the key does not need; bySession says that the session is asked
// for whatever the others are.
func (a *actors) parts(events, element string, bySession bool) string {
	session, visitor, user := "SessionId", "VisitorId", "UserId"
	unless := ""
	switch a.by {
	case ByVisitor:
		user, unless = "''", "VisitorId != ''"
	case ByUser:
		visitor, unless = "''", "UserId != ''"
	case BySession:
		visitor, user = "''", "''"
	case ByPerson:
		unless = "VisitorId != '' AND UserId != ''"
	}
	if unless != "" && !bySession && len(a.filters) == 0 {
		session = "if(" + unless + ", '', SessionId)"
	}
	return fmt.Sprintf(`(
    SELECT OfSession AS SessionId, OfVisitor AS VisitorId, OfUser AS UserId, Part
    FROM
    (
        SELECT %s AS OfSession, %s AS OfVisitor, %s AS OfUser, groupArray(%s) AS Part
        FROM %s
        GROUP BY OfSession, OfVisitor, OfUser
    )
)`, session, visitor, user, element, indent(events, 8))
}

// keyed adds to the events of a subquery, which has SessionId, VisitorId and UserId, the columns KnownVisitor and KnownUser, which
// the session may tell, Key, which is empty for nobody, and the dimensions of the session. With filters, events of other sessions go.
func (a *actors) keyed(events string) string {
	join := "LEFT"
	if len(a.filters) > 0 {
		join = "INNER"
	}
	known := fmt.Sprintf(`(
    SELECT
        events.*,
        if(events.VisitorId != '', events.VisitorId, sessions.SessionVisitor) AS KnownVisitor,
        if(events.UserId != '', events.UserId, sessions.SessionUser) AS KnownUser,
        ReferrerHost, UtmSource, UtmMedium, UtmCampaign, Country, SessionHost
    FROM %s AS events
    %s JOIN %s AS sessions ON events.SessionId = sessions.SessionId
)`, indent(events, 4), join, indent(a.sessions(), 4))
	key := ""
	switch a.by {
	case ByVisitor:
		key = "KnownVisitor"
	case ByUser:
		key = "KnownUser"
	case BySession:
		key = "SessionId"
	case ByPerson:
		both := []string{"VisitorId != ''", "UserId != ''"}
		return fmt.Sprintf(`(
    SELECT
        known.*,
        multiIf(KnownUser != '', concat('u ', KnownUser), VisitorUser != '', concat('u ', VisitorUser), KnownVisitor != '', concat('v ', KnownVisitor),
            SessionId != '', concat('s ', SessionId), '') AS Key
    FROM %s AS known
    LEFT JOIN
    (
        SELECT VisitorId AS KnownVisitor, argMax(UserId, (At, UserId)) AS VisitorUser
        FROM
        (
            SELECT VisitorId, UserId, Timestamp AS At FROM product_events
            WHERE %s
            UNION ALL
            SELECT VisitorId, UserId, StartTime AS At FROM session_replays
            WHERE %s
        )
        GROUP BY VisitorId
    ) AS visitors USING (KnownVisitor)
)`, indent(known, 4), a.inside().with(both...).join(16),
			where().with("StartTime >= "+a.sessionStart, "StartTime <= "+a.end).with(both...).join(16))
	}
	return fmt.Sprintf(`(
    SELECT *, %s AS Key
    FROM %s
)`, key, indent(known, 4))
}
