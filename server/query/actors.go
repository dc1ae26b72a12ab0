package query

import (
	"fmt"
	"strconv"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// KeyBy is the kind of actor that a read counts.
type KeyBy string

// These are the keys. A person is the user of the event. Without a user it is the last user of the same visitor, else the
// visitor, else the session.
const (
	ByPerson  KeyBy = "person"
	ByVisitor KeyBy = "visitor"
	ByUser    KeyBy = "user"
	BySession KeyBy = "session"
)

// ProductSessionFilters keep the events of sessions that meet all conditions. With a filter, events without a session are left out.
type ProductSessionFilters struct {
	Host, ReferrerHost, Country, DeviceType, BrowserName, OSName, Language *string
	UtmSource, UtmMedium, UtmCampaign                                      *string
	VisitorIsNew                                                           *bool
	// PagePath is the path of any page of the session.
	PagePath *string
}

func (f *ProductSessionFilters) conditions(b *sqlbuild.Builder, w Window) sqlbuild.Conditions {
	var all []Filter
	equality(&all, "host", f.Host)
	equality(&all, "referrer.host", f.ReferrerHost)
	equality(&all, "country", f.Country)
	equality(&all, "device.type", f.DeviceType)
	equality(&all, "browser.name", f.BrowserName)
	equality(&all, "os.name", f.OSName)
	equality(&all, "language", f.Language)
	equality(&all, "utm.source", f.UtmSource)
	equality(&all, "utm.medium", f.UtmMedium)
	equality(&all, "utm.campaign", f.UtmCampaign)
	if f.VisitorIsNew != nil {
		condition(&all, "visitor.is_new", OpEqual, strconv.FormatBool(*f.VisitorIsNew))
	}
	c := FilterSQL(b, Sessions, And(all...))
	if f.PagePath != nil {
		p := b.Bind("session_page_path", "String", *f.PagePath)
		pages := sqlbuild.OfOrganization().With(
			"Name IN ('$pageview', '$screen')",
			"PagePath = "+p,
			"SessionId != ''",
			"Timestamp >= "+b.Time(
				"pages_start",
				w.Start.Add(-limits.SessionLength),
			),
			"Timestamp <= "+b.Time("pages_end", w.End.Add(limits.SessionLength)),
		)
		c.Add("(EntryPath = %[1]s OR ExitPath = %[1]s OR SessionId IN (SELECT SessionId FROM product_events WHERE %[2]s))", p, pages.Join(12))
	}
	return c
}

// SessionDimensions maps each dimension that a query can name, for example utm_source, to its column in the table of sessions.
func SessionDimensions() map[string]string {
	return map[string]string{
		"referrer_host": "ReferrerHost",
		"utm_source":    "UtmSource",
		"utm_medium":    "UtmMedium",
		"utm_campaign":  "UtmCampaign",
		"country":       "Country",
		"host":          "Host",
	}
}

// Actors gives events a key: the person, visitor, user or session that sent them.
type Actors struct {
	b       *sqlbuild.Builder
	by      KeyBy
	filters sqlbuild.Conditions
	// These are the parameters of the window.
	Start, end, sessionStart string
}

func NewActors(b *sqlbuild.Builder, w Window, by KeyBy, filters ProductSessionFilters) *Actors {
	return &Actors{
		b: b, by: by, filters: filters.conditions(b, w),
		Start: b.Time("start", w.Start), end: b.Time("end", w.End), sessionStart: b.Time("session_start", w.Start.Add(-limits.SessionLength)),
	}
}

// Inside prints the window as conditions on events.
func (a *Actors) Inside() sqlbuild.Conditions {
	return sqlbuild.OfOrganization().With("Timestamp >= "+a.Start, "Timestamp <= "+a.end)
}

// Sessions prints the sessions that reach into the window, each in its highest version and with its dimensions.
func (a *Actors) Sessions() string {
	c := sqlbuild.OfOrganization().With("StartTime >= "+a.sessionStart, "StartTime <= "+a.end)
	matching := ""
	if len(a.filters) > 0 {
		matching = "\n    WHERE " + a.filters.Join(8)
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
)`, c.Join(12), matching)
}

// Parts groups the events of a subquery by their ids, so that the key is computed once for each combination of ids. The subquery
// has SessionId, VisitorId and UserId. The list Part holds the result of element for each event of a group. Ids that the key does
// not need are dropped. With bySession the session is kept in any case.
func (a *Actors) Parts(events, element string, bySession bool) string {
	session, visitor, user := "SessionId", "VisitorId", "UserId"
	unless := ""
	//exhaustive:enforce
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
)`, session, visitor, user, element, sqlbuild.Indent(events, 8))
}

// Keyed adds columns to the events of a subquery that has SessionId, VisitorId and UserId. KnownVisitor and KnownUser are the ids
// of the event, or else those of its session. Key is empty if the event has no actor. The dimensions of the session follow. With
// filters, the events of other sessions are left out.
func (a *Actors) Keyed(events string) string {
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
)`, sqlbuild.Indent(events, 4), join, sqlbuild.Indent(a.Sessions(), 4))
	key := ""
	//exhaustive:enforce
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
)`, sqlbuild.Indent(known, 4), a.Inside().With(both...).Join(16),
			sqlbuild.OfOrganization().With("StartTime >= "+a.sessionStart, "StartTime <= "+a.end).With(both...).Join(16))
	}
	return fmt.Sprintf(`(
    SELECT *, %s AS Key
    FROM %s
)`, key, sqlbuild.Indent(known, 4))
}
