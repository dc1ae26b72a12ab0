package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// Bounds narrow a read. A zero time means no bound.
type Bounds struct {
	From, To time.Time
}

func (w Bounds) add(b *sqlbuild.Builder, c *sqlbuild.Conditions, column string) {
	if !w.From.IsZero() {
		c.Add("%s >= %s", column, b.Time("from", w.From))
	}
	if !w.To.IsZero() {
		c.Add("%s <= %s", column, b.Time("to", w.To))
	}
}

// SessionDetailRow is the row of Session. HasEvents reports whether the active and idle times are known.
type SessionDetailRow struct {
	SessionRow
	VisitorIsNew       bool              `ch:"VisitorIsNew"`
	UserTraits         map[string]string `ch:"UserTraits"`
	Referrer           string            `ch:"Referrer"`
	ReferrerHost       string            `ch:"ReferrerHost"`
	UtmMedium          string            `ch:"UtmMedium"`
	UtmCampaign        string            `ch:"UtmCampaign"`
	UtmTerm            string            `ch:"UtmTerm"`
	UtmContent         string            `ch:"UtmContent"`
	Host               string            `ch:"Host"`
	ExitPath           string            `ch:"ExitPath"`
	Language           string            `ch:"Language"`
	UserAgent          string            `ch:"UserAgent"`
	TraceIDs           []string          `ch:"TraceIds"`
	ResourceAttributes map[string]string `ch:"ResourceAttributes"`
	HasEvents          bool              `ch:"HasEvents"`
	ActiveMs           float64           `ch:"ActiveMs"`
	IdleMs             float64           `ch:"IdleMs"`
}

// Session gives the SessionDetailRow of one session, or no row. The bounds apply to the session's start and make the read
// cheaper.
func Session(sessionID string, start Bounds) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	id := b.Bind("session_id", "String", sessionID)
	c := sqlbuild.OfOrganization().With("SessionId = " + id)
	start.add(b, &c, "StartTime")
	events := sqlbuild.OfOrganization().With("SessionId = " + id)
	return b.Statement(fmt.Sprintf(`SELECT
    %s, toUInt64(0) AS MatchCount, fromUnixTimestamp64Nano(toInt64(0), 'UTC') AS FirstMatch, '' AS FirstMatchUrl,
    VisitorIsNew, UserTraits, Referrer, ReferrerHost, UtmMedium, UtmCampaign, UtmTerm, UtmContent, Host, ExitPath, Language, UserAgent,
    TraceIds, ResourceAttributes, toBool(notEmpty(EventTimes)) AS HasEvents, ActiveMs, IdleMs
FROM
(
    SELECT
        *,
        %s,
        %s
    FROM
    (
        SELECT *
        FROM session_replays
        WHERE %s
        ORDER BY Version DESC
        LIMIT 1
    ) AS latest
    LEFT JOIN
    (
        SELECT SessionId, groupArray(toUnixTimestamp64Nano(Timestamp)) AS EventTimes
        FROM session_events
        WHERE %s
        GROUP BY SessionId
    ) AS activity USING (SessionId)
)`, sessionColumns, derivedColumns, activityColumns, c.Join(12), events.Join(12)))
}

// SessionExtentRow is the row of SessionExtent. EndTime is in 1970 while it is unknown.
type SessionExtentRow struct {
	StartTime time.Time `ch:"StartTime"`
	EndTime   time.Time `ch:"EndTime"`
}

// SessionExtent gives the SessionExtentRow of one session, or no row.
func SessionExtent(sessionID string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("SessionId = " + b.Bind("session_id", "String", sessionID))
	return b.Statement(fmt.Sprintf(`SELECT StartTime, EndTime
FROM session_replays
WHERE %s
ORDER BY Version DESC
LIMIT 1`, c.Join(4)))
}

// ChunkRow is a row of SessionChunks, and without Payload a row of SessionManifest. Payload is a gzip file that contains a JSON
// array of ByteSize bytes.
type ChunkRow struct {
	ChunkSeq     uint32    `ch:"ChunkSeq"`
	Timestamp    time.Time `ch:"Timestamp"`
	DurationMs   uint32    `ch:"DurationMs"`
	EventCount   uint32    `ch:"EventCount"`
	ByteSize     uint64    `ch:"ByteSize"`
	IsCheckpoint bool      `ch:"IsCheckpoint"`
	Payload      string    `ch:"Payload"`
}

// ChunkRange selects the chunks of a session from one number to another, both included, that were received within the bounds.
type ChunkRange struct {
	SessionID string
	Received  Bounds
	From, To  uint32
	Limit     int
}

// SessionChunks gives ChunkRow rows in order. A chunk that was sent twice appears once.
func SessionChunks(r ChunkRange) sqlbuild.Statement { return chunks(r, ", Payload") }

// SessionManifest gives ChunkRow rows without reading their payloads.
func SessionManifest(r ChunkRange) sqlbuild.Statement { return chunks(r, "") }

func chunks(r ChunkRange, payload string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("SessionId = "+b.Bind("session_id", "String", r.SessionID),
		"ChunkSeq >= "+b.Bind("from_seq", "UInt32", r.From), "ChunkSeq <= "+b.Bind("to_seq", "UInt32", r.To))
	r.Received.add(b, &c, "Timestamp")
	return b.Statement(fmt.Sprintf(`SELECT
    ChunkSeq, Timestamp, DurationMs, EventCount, ByteSize, IsCheckpoint%s
FROM session_replay_events
WHERE %s
ORDER BY ChunkSeq, Timestamp DESC
LIMIT 1 BY ChunkSeq
LIMIT %s`, payload, c.Join(4), b.Bind("limit", "UInt32", int64(r.Limit))))
}

// SessionEventRow is a row of SessionTimeline.
type SessionEventRow struct {
	Timestamp      time.Time         `ch:"Timestamp"`
	Seq            uint32            `ch:"Seq"`
	Type           string            `ch:"Type"`
	URL            string            `ch:"Url"`
	TraceID        string            `ch:"TraceId"`
	Level          string            `ch:"Level"`
	Message        string            `ch:"Message"`
	TargetSelector string            `ch:"TargetSelector"`
	TargetText     string            `ch:"TargetText"`
	NetMethod      string            `ch:"NetMethod"`
	NetURL         string            `ch:"NetUrl"`
	NetStatus      uint16            `ch:"NetStatus"`
	NetDurationMs  uint32            `ch:"NetDurationMs"`
	ErrorStack     string            `ch:"ErrorStack"`
	Attributes     map[string]string `ch:"Attributes"`
}

// Timeline asks for a page of the events of a session.
type Timeline struct {
	SessionID string
	Happened  Bounds
	// Types keeps events of these types. Empty keeps all.
	Types []string
	// ErrorsOnly keeps errors, console messages of level error, and failed requests.
	ErrorsOnly bool
	// TraceID keeps the events of one trace. It is lower case. Nil keeps all.
	TraceID       *string
	Offset, Limit int
}

// SessionTimeline gives SessionEventRow rows in order.
func SessionTimeline(t Timeline) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("SessionId = " + b.Bind("session_id", "String", t.SessionID))
	t.Happened.add(b, &c, "Timestamp")
	if len(t.Types) > 0 {
		c.Add("Type IN %s", b.Bind("types", "Array(String)", t.Types))
	}
	if t.ErrorsOnly {
		c.Add("(Type = 'error' OR Type = 'console' AND Level = 'error' OR Type = 'network' AND NetStatus >= 400)")
	}
	c.Optional(b, "TraceId", "trace_id", t.TraceID)
	return b.Statement(fmt.Sprintf(`SELECT
    Timestamp, Seq, Type, Url, TraceId, Level, Message, TargetSelector, TargetText, NetMethod, NetUrl, NetStatus, NetDurationMs,
    ErrorStack, Attributes
FROM session_events
WHERE %s
ORDER BY Timestamp, Seq, Type, Message, TargetSelector, NetUrl, NetDurationMs
LIMIT %s OFFSET %s`, c.Join(4), b.Bind("limit", "UInt32", int64(t.Limit)), b.Bind("offset", "UInt32", int64(t.Offset))))
}

// SessionTraceRow is a row of SessionTraces.
type SessionTraceRow struct {
	TraceID     string    `ch:"TraceId"`
	Start       time.Time `ch:"Start"`
	DurationNs  int64     `ch:"Duration"`
	SpanName    string    `ch:"RootSpanName"`
	ServiceName string    `ch:"RootServiceName"`
	SpanKind    string    `ch:"RootSpanKind"`
	HTTPMethod  string    `ch:"RootHttpMethod"`
	HTTPRoute   string    `ch:"RootHttpRoute"`
	SpanCount   uint64    `ch:"SpanCount"`
	HasError    bool      `ch:"TraceHasError"`
}

// SessionTraces gives SessionTraceRow rows, earliest first. It finds the stored traces that the session reported, that its
// timeline names, or that have a span with its id. The window limits where their spans are searched.
func SessionTraces(sessionID string, w query.Window, offset, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	id := b.Bind("session_id", "String", sessionID)
	lo, hi := b.Time("start", w.Start), b.Time("end", w.End)
	of := sqlbuild.OfOrganization().With("SessionId = " + id)
	tagged := sqlbuild.OfOrganization().With(
		"Timestamp >= "+lo,
		"Timestamp <= "+hi,
		fmt.Sprintf(
			"has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64('session.id', %s))",
			id,
		),
		"SpanAttributes['session.id'] = "+id,
	)
	spans := sqlbuild.OfOrganization().With("Timestamp >= "+lo, "Timestamp <= "+hi, fmt.Sprintf(`TraceId GLOBAL IN (
            SELECT TraceId FROM
            (
                SELECT arrayJoin(TraceIds) AS TraceId FROM session_replays WHERE %[1]s
                UNION ALL
                SELECT TraceId FROM session_events WHERE %[1]s
                UNION ALL
                SELECT TraceId FROM spans WHERE %[2]s
            ))`, of.Join(20), tagged.Join(20)))
	return b.Statement(fmt.Sprintf(`SELECT
    TraceId,
    min(Timestamp) AS Start,
    max(toUnixTimestamp64Nano(Timestamp) + toInt64(DurationNano)) - toUnixTimestamp64Nano(Start) AS Duration,
    argMin(SpanName, (ParentSpanId != '', Timestamp, SpanId)) AS RootSpanName,
    argMin(ServiceName, (ParentSpanId != '', Timestamp, SpanId)) AS RootServiceName,
    argMin(SpanKind, (ParentSpanId != '', Timestamp, SpanId)) AS RootSpanKind,
    argMin(HttpMethod, (ParentSpanId != '', Timestamp, SpanId)) AS RootHttpMethod,
    argMin(HttpRoute, (ParentSpanId != '', Timestamp, SpanId)) AS RootHttpRoute,
    count() AS SpanCount,
    max(HasError) AS TraceHasError
FROM spans
WHERE %s
GROUP BY TraceId
ORDER BY Start, TraceId
LIMIT %s OFFSET %s`, spans.Join(4), b.Bind("limit", "UInt32", int64(limit)), b.Bind("offset", "UInt32", int64(offset))))
}
