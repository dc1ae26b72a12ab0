package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/paging"
)

// MaxActivityWindow is the longest window of reads of sessions and product events: as long as they are kept.
const MaxActivityWindow = 31 * day

// Pause is the longest time between two events that counts as active.
const Pause = 15 * time.Second

// SessionFilters are conditions that must all hold on a session.
type SessionFilters struct {
	ServiceName, BrowserName, Country, DeviceType, UserID, GroupName, VisitorID *string
	// UserSearch is part of the id, name or address of the user, URLSearch of the first address; letter case is ignored.
	UserSearch, URLSearch *string
	// PagePath is that of any page of the session.
	PagePath  *string
	HasErrors *bool
	// Tags must all be there.
	Tags []string
	// Durations and active times are in milliseconds.
	MinDuration, MaxDuration, MinActive, MaxActive *float64
	// Events keeps sessions with at least one such event; nil keeps all.
	Events *SessionEventFilters
}

// SessionEventFilters are conditions that must all hold on one event of a session's timeline. TraceID is lower case.
type SessionEventFilters struct {
	Type, Level, TraceID, URLSearch, MessageSearch *string
	MinStatus                                      *int32
}

// SessionSearch asks for the sessions that began in a window, the latest first.
type SessionSearch struct {
	Window  Window
	Filters SessionFilters
	// Before continues a search: only sessions that come after this one in the order.
	Before *paging.SessionKey
	Limit  int
}

// SessionRow is a row of SearchSessions and what SessionDetailRow begins with: the highest version of a session. A time that is not known
// is 1970, a duration below 0.
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
	// MatchCount, FirstMatch and FirstMatchURL tell of the events that match, where there is a filter for them.
	MatchCount    uint64    `ch:"MatchCount"`
	FirstMatch    time.Time `ch:"FirstMatch"`
	FirstMatchURL string    `ch:"FirstMatchUrl"`
}

const sessionColumns = `SessionId, StartTime, EndTime, LastActivityAt, Duration, Status, UserId, UserName, UserEmail, GroupId, GroupName, VisitorId,
    UtmSource, EntryPath, UrlInitial, BrowserName, OsName, DeviceType, Country, ServiceName, PageViews, ClickCount, ErrorCount,
    length(TraceIds) AS TraceCount, Tags`

// derivedColumns are what a session's row does not hold: how long it lasted, how long it has been seen, what kind of visit it is
// (rest-wire.md 10: one of the five, where the first that fits counts).
const derivedColumns = `multiIf(DurationMs > 0, toFloat64(DurationMs), EndTime >= StartTime,
            (toUnixTimestamp64Nano(EndTime) - toUnixTimestamp64Nano(StartTime)) / 1e6, -1.) AS Duration,
        multiIf(Duration >= 0, Duration, LastActivityAt >= StartTime,
            (toUnixTimestamp64Nano(LastActivityAt) - toUnixTimestamp64Nano(StartTime)) / 1e6, -1.) AS Seen,
        arrayConcat(
            [multiIf(
                match(UserAgent, '(?i)(^|[^u])bot|crawl|spider|slurp|headless|lighthouse|phantomjs|pingdom'), 'bot',
                Seen >= 0 AND Seen < 5000 AND ClickCount = 0, 'bounce',
                PageViews <= 1 AND ClickCount = 0 AND Seen >= 30000, 'idle',
                PageViews <= 1 AND ClickCount <= 2 AND ErrorCount = 0 AND Seen >= 0 AND Seen < 30000, 'glance',
                'engaged')],
            if(UserId != '', ['signed_in'], []),
            if(VisitorIsNew, ['new_visitor'], [])) AS Tags`

// activityColumns need Duration and EventTimes, the nanoseconds of a session's events. Its start counts as an event too, and its end once that is
// known: both times together are then how long it lasted, and an event beyond either is taken to be there.
var activityColumns = fmt.Sprintf(`arrayMap(at -> greatest((at - toUnixTimestamp64Nano(StartTime)) / 1e6, if(Duration >= 0, 0., -inf)), EventTimes) AS Offsets,
        arrayDifference(arraySort(if(Duration >= 0, arrayConcat(arrayMap(at -> least(at, Duration), Offsets), [0., Duration]), arrayConcat(Offsets, [0.])))) AS Gaps,
        round(arraySum(arrayFilter(gap -> gap <= %[1]d, Gaps)), 6) AS ActiveMs,
        abs(round(if(Duration >= 0, Duration - ActiveMs, arraySum(arrayFilter(gap -> gap > %[1]d, Gaps))), 6)) AS IdleMs`, Pause.Milliseconds())

// sessions prints the sessions that began in a window and match, as a subquery with all columns and the derived ones. Versions are put
// together before the filters apply: a lower version may fit where the highest does not.
func (f *SessionFilters) sessions(b *builder, w Window) string {
	c := where().with("StartTime >= "+b.time("start", w.Start), "StartTime <= "+b.time("end", w.End))
	derived, joins := derivedColumns, ""
	within := func(more ...string) conditions {
		return where().with("Timestamp >= "+b.nextTime("events_start", w.Start), "Timestamp <= "+b.nextTime("events_end", w.End.Add(MaxSession))).with(more...)
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
    ) AS activity USING (SessionId)`, within().join(12))
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
    ) AS matches USING (SessionId)`, matching.join(12))
	}
	filters := f.conditions(b, within)
	matching := ""
	if len(filters) > 0 {
		matching = "\n    WHERE " + filters.join(8)
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
)`, derived, c.join(12), joins, matching)
}

func (f *SessionFilters) conditions(b *builder, within func(...string) conditions) conditions {
	var c conditions
	c.optional(b, "ServiceName", "service_name", f.ServiceName)
	c.optional(b, "BrowserName", "browser_name", f.BrowserName)
	c.optional(b, "Country", "country", f.Country)
	c.optional(b, "DeviceType", "device_type", f.DeviceType)
	c.optional(b, "UserId", "user_id", f.UserID)
	c.optional(b, "GroupName", "group_name", f.GroupName)
	c.optional(b, "VisitorId", "visitor_id", f.VisitorID)
	if f.UserSearch != nil {
		s := b.bind("user_search", "String", *f.UserSearch)
		c.add("(positionCaseInsensitiveUTF8(UserId, %[1]s) > 0 OR positionCaseInsensitiveUTF8(UserName, %[1]s) > 0 OR positionCaseInsensitiveUTF8(UserEmail, %[1]s) > 0)", s)
	}
	if f.URLSearch != nil {
		c.add("positionCaseInsensitiveUTF8(UrlInitial, %s) > 0", b.bind("url_search", "String", *f.URLSearch))
	}
	if f.HasErrors != nil {
		c.add("(ErrorCount > 0) = %s", b.bind("has_errors", "Bool", *f.HasErrors))
	}
	if len(f.Tags) > 0 {
		c.add("hasAll(Tags, %s)", b.bind("tags", "Array(String)", f.Tags))
	}
	if f.PagePath != nil {
		p := b.bind("page_path", "String", *f.PagePath)
		c.add("(EntryPath = %[1]s OR ExitPath = %[1]s OR SessionId IN (SELECT SessionId FROM product_events WHERE %[2]s))", p,
			within("Name IN ('$pageview', '$screen')", "PagePath = "+p, "SessionId != ''").join(12))
	}
	bound := func(column, sign, name string, v *float64) {
		if v != nil {
			c.add("%s >= 0 AND %[1]s %s %s", column, sign, b.bind(name, "Float64", *v))
		}
	}
	bound("Duration", ">=", "min_duration", f.MinDuration)
	bound("Duration", "<=", "max_duration", f.MaxDuration)
	if f.MinActive != nil || f.MaxActive != nil {
		c.add("notEmpty(EventTimes)")
	}
	bound("ActiveMs", ">=", "min_active", f.MinActive)
	bound("ActiveMs", "<=", "max_active", f.MaxActive)
	return c
}

func (e *SessionEventFilters) add(b *builder, c *conditions) {
	c.optional(b, "Type", "event_type", e.Type)
	c.optional(b, "Level", "event_level", e.Level)
	c.optional(b, "TraceId", "event_trace_id", e.TraceID)
	if e.MinStatus != nil {
		c.add("NetStatus >= %s", b.bind("event_min_status", "Int32", int64(*e.MinStatus)))
	}
	if e.URLSearch != nil {
		s := b.bind("event_url", "String", *e.URLSearch)
		c.add("(positionCaseInsensitiveUTF8(Url, %[1]s) > 0 OR positionCaseInsensitiveUTF8(NetUrl, %[1]s) > 0)", s)
	}
	if e.MessageSearch != nil {
		c.add("positionCaseInsensitiveUTF8(Message, %s) > 0", b.bind("event_message", "String", *e.MessageSearch))
	}
}

// SearchSessions gives SessionRow rows.
func SearchSessions(s SessionSearch) Statement {
	b := &builder{}
	columns := []string{sessionColumns, "toUInt64(0) AS MatchCount", "fromUnixTimestamp64Nano(toInt64(0), 'UTC') AS FirstMatch", "'' AS FirstMatchUrl"}
	if s.Filters.Events != nil {
		columns = []string{sessionColumns, "MatchCount", "FirstMatch", "FirstMatchUrl"}
	}
	sessions, page := s.Filters.sessions(b, s.Window), ""
	if k := s.Before; k != nil {
		at := b.time("before_start", k.Start)
		page = fmt.Sprintf("\nWHERE StartTime < %[1]s OR StartTime = %[1]s AND SessionId > %[2]s", at, b.bind("before_session", "String", k.SessionID))
	}
	return b.statement(fmt.Sprintf(`SELECT
    %s
FROM
%s%s
ORDER BY StartTime DESC, SessionId
LIMIT %s`, strings.Join(columns, ", "), sessions, page, b.bind("limit", "UInt32", int64(s.Limit))))
}

// SessionFacetRow is a row of SessionFacets: how many sessions have a value of a facet. Facet all counts every session, error those with
// errors.
type SessionFacetRow struct {
	Facet string `ch:"Facet"`
	Name  string `ch:"Name"`
	Count uint64 `ch:"Sessions"`
}

// SessionFacets counts the sessions of a search by the values of each facet, the most frequent 50 of each.
func SessionFacets(w Window, f SessionFilters) Statement {
	b := &builder{}
	return b.statement(fmt.Sprintf(`SELECT Pair.1 AS Facet, Pair.2 AS Name, count() AS Sessions
FROM
(
    SELECT arrayJoin(arrayConcat(
        [('service', toString(ServiceName)), ('browser', toString(BrowserName)), ('country', toString(Country)), ('device', toString(DeviceType)), ('all', '')],
        if(ErrorCount > 0, [('error', '')], []))) AS Pair
    FROM %s
)
GROUP BY Facet, Name
ORDER BY Facet, Sessions DESC, Name
LIMIT 50 BY Facet`, strings.ReplaceAll(f.sessions(b, w), "\n", "\n    ")))
}

// SessionRefRow is a row of SessionsOfTrace.
type SessionRefRow struct {
	SessionID string    `ch:"SessionId"`
	StartTime time.Time `ch:"StartTime"`
	Duration  float64   `ch:"Duration"`
}

// SessionsOfTrace gives SessionRefRow rows, latest first: the sessions whose list of traces has the one, whose timeline names it, or whose
// id is on its spans. The window is the trace's.
func SessionsOfTrace(traceID string, w Window, offset, limit int) Statement {
	b := &builder{}
	sessions := (&SessionFilters{}).sessions(b, Window{Start: w.Start.Add(-MaxSession), End: w.End})
	trace := b.bind("trace_id", "String", traceID)
	named := where().with("TraceId = "+trace, "Timestamp >= "+b.time("timeline_start", w.Start.Add(-time.Hour)), "Timestamp <= "+b.time("timeline_end", w.End.Add(time.Hour)))
	spans := where().with("TraceId = "+trace, "Timestamp >= "+b.time("spans_start", w.Start), "Timestamp <= "+b.time("spans_end", w.End))
	return b.statement(fmt.Sprintf(`SELECT SessionId, StartTime, Duration
FROM
%s
WHERE has(TraceIds, %s)
    OR SessionId IN (SELECT SessionId FROM session_events WHERE %s)
    OR SessionId IN (SELECT arrayJoin([SpanAttributes['session.id'], ResourceAttributes['session.id']]) FROM spans WHERE %s)
ORDER BY StartTime DESC, SessionId
LIMIT %s OFFSET %s`, sessions, trace, named.join(8), spans.join(8), b.bind("limit", "UInt32", int64(limit)), b.bind("offset", "UInt32", int64(offset))))
}

// RecordedSessions gives one column, SessionId: which of some sessions have chunks.
func RecordedSessions(sessionIDs []string) Statement {
	b := &builder{}
	c := where().with("SessionId IN " + b.bind("session_ids", "Array(String)", sessionIDs))
	return b.statement("SELECT DISTINCT SessionId\nFROM session_replay_events\nWHERE " + c.join(4))
}

// RecordedSessionRow is a row of RecordedSessions.
type RecordedSessionRow struct {
	SessionID string `ch:"SessionId"`
}
