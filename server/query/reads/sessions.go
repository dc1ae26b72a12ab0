package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// SessionFilters are conditions on a session. All of them must hold.
type SessionFilters struct {
	ServiceName, BrowserName, Country, DeviceType, UserID, GroupName, VisitorID *string
	// UserSearch is part of the user's id, name or address. URLSearch is part of the first URL. Letter case does not matter.
	UserSearch, URLSearch *string
	// PagePath is the path of any page of the session.
	PagePath  *string
	HasErrors *bool
	// The session must have all Tags.
	Tags []string
	// Durations and active times are in milliseconds.
	MinDuration, MaxDuration, MinActive, MaxActive *float64
	// Events keeps sessions with at least one matching event. Nil keeps all.
	Events *SessionEventFilters
}

// SessionEventFilters are conditions on one event of a session's timeline. All of them must hold. TraceID is lower case.
type SessionEventFilters struct {
	Type, Level, TraceID, URLSearch, MessageSearch *string
	MinStatus                                      *int32
}

// SessionSearch asks for the sessions that began in a window, the latest first.
type SessionSearch struct {
	Window  query.Window
	Filters SessionFilters
	// Before continues a search: it keeps only sessions that come after this one in the order of the results.
	Before *paging.SessionKey
	Limit  int
}

// SessionRow is a row of SearchSessions and the first part of SessionDetailRow. It describes the highest version of a session. An
// unknown time is in 1970, and an unknown duration is below 0.
type SessionRow struct {
	SessionID      string    `ch:"SessionId"`
	StartTime      time.Time `ch:"StartTime"`
	EndTime        time.Time `ch:"EndTime"`
	LastActivityAt time.Time `ch:"LastActivityAt"`
	Duration       float64   `ch:"Duration"`
	Status         string    `ch:"Status"`
	UserID         string    `ch:"UserId"`
	UserName       string    `ch:"UserName"`
	UserEmail      string    `ch:"UserEmail"`
	GroupID        string    `ch:"GroupId"`
	GroupName      string    `ch:"GroupName"`
	VisitorID      string    `ch:"VisitorId"`
	UtmSource      string    `ch:"UtmSource"`
	EntryPath      string    `ch:"EntryPath"`
	URLInitial     string    `ch:"UrlInitial"`
	BrowserName    string    `ch:"BrowserName"`
	OSName         string    `ch:"OsName"`
	DeviceType     string    `ch:"DeviceType"`
	Country        string    `ch:"Country"`
	ServiceName    string    `ch:"ServiceName"`
	PageViews      uint32    `ch:"PageViews"`
	ClickCount     uint32    `ch:"ClickCount"`
	ErrorCount     uint32    `ch:"ErrorCount"`
	TraceCount     uint64    `ch:"TraceCount"`
	Tags           []string  `ch:"Tags"`
	// MatchCount, FirstMatch and FirstMatchURL describe the matching events if the search has a filter on events.
	MatchCount    uint64    `ch:"MatchCount"`
	FirstMatch    time.Time `ch:"FirstMatch"`
	FirstMatchURL string    `ch:"FirstMatchUrl"`
}

const sessionColumns = `SessionId, StartTime, EndTime, LastActivityAt, Duration, Status, UserId, UserName, UserEmail, GroupId, GroupName, VisitorId,
    UtmSource, EntryPath, UrlInitial, BrowserName, OsName, DeviceType, Country, ServiceName, PageViews, ClickCount, ErrorCount,
    length(TraceIds) AS TraceCount, Tags`

// derivedColumns compute columns that the stored row does not have: the session's duration, how long it was seen, and the kind of
// visit. A visit is of the first of five kinds that fits.
var derivedColumns = fmt.Sprintf(`multiIf(DurationMs > 0, toFloat64(DurationMs), EndTime >= StartTime,
            (toUnixTimestamp64Nano(EndTime) - toUnixTimestamp64Nano(StartTime)) / 1e6, -1.) AS Duration,
        multiIf(Duration >= 0, Duration, LastActivityAt >= StartTime,
            (toUnixTimestamp64Nano(LastActivityAt) - toUnixTimestamp64Nano(StartTime)) / 1e6, -1.) AS Seen,
        arrayConcat(
            [multiIf(
                match(UserAgent, '(?i)(^|[^u])bot|crawl|spider|slurp|headless|lighthouse|phantomjs|pingdom'), 'bot',
                Seen >= 0 AND Seen < %[1]d AND ClickCount = 0, 'bounce',
                PageViews <= 1 AND ClickCount = 0 AND Seen >= %[2]d, 'idle',
                PageViews <= 1 AND ClickCount <= %[3]d AND ErrorCount = 0 AND Seen >= 0 AND Seen < %[2]d, 'glance',
                'engaged')],
            if(UserId != '', ['signed_in'], []),
            if(VisitorIsNew, ['new_visitor'], [])) AS Tags`, limits.SessionBounce.Milliseconds(), limits.SessionGlance.Milliseconds(),
	limits.SessionGlanceClicks)

// activityColumns need Duration and EventTimes, the times of a session's events in nanoseconds. The session's start counts as an
// event too, and so does its end once it is known. Active and idle time then add up to the duration. An event before the start or
// after the end counts as if it happened there.
var activityColumns = fmt.Sprintf(`arrayMap(at -> greatest((at - toUnixTimestamp64Nano(StartTime)) / 1e6, if(Duration >= 0, 0., -inf)), EventTimes) AS Offsets,
        arrayDifference(arraySort(if(Duration >= 0, arrayConcat(arrayMap(at -> least(at, Duration), Offsets), [0., Duration]), arrayConcat(Offsets, [0.])))) AS Gaps,
        round(arraySum(arrayFilter(gap -> gap <= %[1]d, Gaps)), 6) AS ActiveMs,
        abs(round(if(Duration >= 0, Duration - ActiveMs, arraySum(arrayFilter(gap -> gap > %[1]d, Gaps))), 6)) AS IdleMs`, limits.SessionPause.Milliseconds())

// sessions prints a subquery of the matching sessions that began in a window, with all columns and the derived ones. It merges
// versions before it filters, because a lower version may match where the highest does not.
func (f *SessionFilters) sessions(b *sqlbuild.Builder, w query.Window) string {
	c := sqlbuild.OfOrganization().With("StartTime >= "+b.Time("start", w.Start), "StartTime <= "+b.Time("end", w.End))
	derived, joins := derivedColumns, ""
	within := func(more ...string) sqlbuild.Conditions {
		return sqlbuild.OfOrganization().With("Timestamp >= "+b.TimeNumbered("events_start", w.Start),
			"Timestamp <= "+b.TimeNumbered("events_end", w.End.Add(limits.SessionLength))).With(more...)
	}
	if f.MinActive != nil || f.MaxActive != nil {
		derived += ",\n        " + activityColumns
		joins += fmt.Sprintf(`
    LEFT JOIN
    (
        SELECT SessionId, groupArray(toUnixTimestamp64Nano(Timestamp)) AS EventTimes
        FROM session_events
        WHERE %s
        GROUP BY SessionId
    ) AS activity USING (SessionId)`, within().Join(12))
	}
	if e := f.Events; e != nil {
		matching := within()
		e.add(b, &matching)
		joins += fmt.Sprintf(`
    INNER JOIN
    (
        SELECT SessionId, count() AS MatchCount, min(Timestamp) AS FirstMatch, argMin(Url, (Timestamp, Seq)) AS FirstMatchUrl
        FROM session_events
        WHERE %s
        GROUP BY SessionId
    ) AS matches USING (SessionId)`, matching.Join(12))
	}
	filters := f.conditions(b, within)
	matching := ""
	if len(filters) > 0 {
		matching = "\n    WHERE " + filters.Join(8)
	}
	return fmt.Sprintf(`(
    SELECT
        *,
        %s
    FROM
    (
        SELECT *
        FROM session_replays
        WHERE %s
        ORDER BY SessionId, Version DESC
        LIMIT 1 BY SessionId
    ) AS latest%s%s
)`, derived, c.Join(12), joins, matching)
}

func (f *SessionFilters) conditions(b *sqlbuild.Builder, within func(...string) sqlbuild.Conditions) sqlbuild.Conditions {
	var c sqlbuild.Conditions
	c.Optional(b, "ServiceName", "service_name", f.ServiceName)
	c.Optional(b, "BrowserName", "browser_name", f.BrowserName)
	c.Optional(b, "Country", "country", f.Country)
	c.Optional(b, "DeviceType", "device_type", f.DeviceType)
	c.Optional(b, "UserId", "user_id", f.UserID)
	c.Optional(b, "GroupName", "group_name", f.GroupName)
	c.Optional(b, "VisitorId", "visitor_id", f.VisitorID)
	if f.UserSearch != nil {
		s := b.Bind("user_search", "String", *f.UserSearch)
		c.Add("(%s OR %s OR %s)", sqlbuild.Contains("UserId", s, *f.UserSearch), sqlbuild.Contains("UserName", s, *f.UserSearch),
			sqlbuild.Contains("UserEmail", s, *f.UserSearch))
	}
	if f.URLSearch != nil {
		c.Add("%s", sqlbuild.Contains("UrlInitial", b.Bind("url_search", "String", *f.URLSearch), *f.URLSearch))
	}
	if f.HasErrors != nil {
		c.Add("(ErrorCount > 0) = %s", b.Bind("has_errors", "Bool", *f.HasErrors))
	}
	if len(f.Tags) > 0 {
		c.Add("hasAll(Tags, %s)", b.Bind("tags", "Array(String)", f.Tags))
	}
	if f.PagePath != nil {
		p := b.Bind("page_path", "String", *f.PagePath)
		c.Add("(EntryPath = %[1]s OR ExitPath = %[1]s OR SessionId IN (SELECT SessionId FROM product_events WHERE %[2]s))", p,
			within("Name IN ('$pageview', '$screen')", "PagePath = "+p, "SessionId != ''").Join(12))
	}
	bound := func(column, sign, name string, v *float64) {
		if v != nil {
			c.Add("%s >= 0 AND %[1]s %s %s", column, sign, b.Bind(name, "Float64", *v))
		}
	}
	bound("Duration", ">=", "min_duration", f.MinDuration)
	bound("Duration", "<=", "max_duration", f.MaxDuration)
	if f.MinActive != nil || f.MaxActive != nil {
		c.Add("notEmpty(EventTimes)")
	}
	bound("ActiveMs", ">=", "min_active", f.MinActive)
	bound("ActiveMs", "<=", "max_active", f.MaxActive)
	return c
}

func (e *SessionEventFilters) add(b *sqlbuild.Builder, c *sqlbuild.Conditions) {
	c.Optional(b, "Type", "event_type", e.Type)
	c.Optional(b, "Level", "event_level", e.Level)
	c.Optional(b, "TraceId", "event_trace_id", e.TraceID)
	if e.MinStatus != nil {
		c.Add("NetStatus >= %s", b.Bind("event_min_status", "Int32", int64(*e.MinStatus)))
	}
	if e.URLSearch != nil {
		s := b.Bind("event_url", "String", *e.URLSearch)
		c.Add("(%s OR %s)", sqlbuild.Contains("Url", s, *e.URLSearch), sqlbuild.Contains("NetUrl", s, *e.URLSearch))
	}
	if e.MessageSearch != nil {
		c.Add("%s", sqlbuild.Contains("Message", b.Bind("event_message", "String", *e.MessageSearch), *e.MessageSearch))
	}
}

// SearchSessions gives SessionRow rows.
func SearchSessions(s SessionSearch) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	columns := []string{
		sessionColumns, "toUInt64(0) AS MatchCount", "fromUnixTimestamp64Nano(toInt64(0), 'UTC') AS FirstMatch",
		"'' AS FirstMatchUrl",
	}
	if s.Filters.Events != nil {
		columns = []string{sessionColumns, "MatchCount", "FirstMatch", "FirstMatchUrl"}
	}
	sessions, page := s.Filters.sessions(b, s.Window), ""
	if k := s.Before; k != nil {
		at := b.Time("before_start", k.Start)
		page = fmt.Sprintf("\nWHERE StartTime < %[1]s OR StartTime = %[1]s AND SessionId > %[2]s", at,
			b.Bind("before_session", "String", k.SessionID))
	}
	return b.Statement(fmt.Sprintf(`SELECT
    %s
FROM
%s%s
ORDER BY StartTime DESC, SessionId
LIMIT %s`, strings.Join(columns, ", "), sessions, page, b.Bind("limit", "UInt32", int64(s.Limit))))
}

// SessionFacetRow is a row of SessionFacets: the number of sessions that have a value of a facet. Facet all counts every session,
// facet error the sessions with errors.
type SessionFacetRow struct {
	Facet string `ch:"Facet"`
	Name  string `ch:"Name"`
	Count uint64 `ch:"Sessions"`
}

// SessionFacets counts the sessions of a search by the values of each facet. It gives the 50 most frequent values of each facet.
func SessionFacets(w query.Window, f SessionFilters) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	return b.Statement(fmt.Sprintf(`SELECT Pair.1 AS Facet, Pair.2 AS Name, count() AS Sessions
FROM
(
    SELECT arrayJoin(arrayConcat(
        [('service', toString(ServiceName)), ('browser', toString(BrowserName)), ('country', toString(Country)), ('device', toString(DeviceType)), ('all', '')],
        if(ErrorCount > 0, [('error', '')], []))) AS Pair
    FROM %s
)
GROUP BY Facet, Name
ORDER BY Facet, Sessions DESC, Name
LIMIT %d BY Facet`, strings.ReplaceAll(f.sessions(b, w), "\n", "\n    "), limits.SessionFacetValues))
}

// SessionRefRow is a row of SessionsOfTrace.
type SessionRefRow struct {
	SessionID string    `ch:"SessionId"`
	StartTime time.Time `ch:"StartTime"`
	Duration  float64   `ch:"Duration"`
}

// SessionsOfTrace gives SessionRefRow rows, latest first. It finds the sessions that list the trace, whose timeline names it, or
// whose id is on its spans. The window is the trace's window.
func SessionsOfTrace(traceID string, w query.Window, offset, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	sessions := (&SessionFilters{}).sessions(b, query.Window{Start: w.Start.Add(-limits.SessionLength), End: w.End})
	trace := b.Bind("trace_id", "String", traceID)
	named := sqlbuild.OfOrganization().With("TraceId = "+trace, "Timestamp >= "+b.Time("timeline_start", w.Start.Add(-limits.TraceReach)),
		"Timestamp <= "+b.Time("timeline_end", w.End.Add(limits.TraceReach)))
	spans := sqlbuild.OfOrganization().With("TraceId = "+trace, "Timestamp >= "+b.Time("spans_start", w.Start),
		"Timestamp <= "+b.Time("spans_end", w.End))
	return b.Statement(fmt.Sprintf(`SELECT SessionId, StartTime, Duration
FROM
%s
WHERE has(TraceIds, %s)
    OR SessionId IN (SELECT SessionId FROM session_events WHERE %s)
    OR SessionId IN (SELECT arrayJoin([SpanAttributes['session.id'], ResourceAttributes['session.id']]) FROM spans WHERE %s)
ORDER BY StartTime DESC, SessionId
LIMIT %s OFFSET %s`, sessions, trace, named.Join(8), spans.Join(8), b.Bind("limit", "UInt32", int64(limit)), b.Bind("offset", "UInt32", int64(offset))))
}

// RecordedSessions gives one column, SessionId: the given sessions that have chunks.
func RecordedSessions(sessionIDs []string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("SessionId IN " + b.Bind("session_ids", "Array(String)", sessionIDs))
	return b.Statement("SELECT DISTINCT SessionId\nFROM session_replay_events\nWHERE " + c.Join(4))
}

// RecordedSessionRow is a row of RecordedSessions.
type RecordedSessionRow struct {
	SessionID string `ch:"SessionId"`
}
