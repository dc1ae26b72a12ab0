package query

import (
	"fmt"
	"time"
)

// SessionList asks for a page of the sessions that began in a window, the latest first.
type SessionList struct {
	Window                                                Window
	ServiceName, BrowserName, Country, DeviceType, UserID *string
	HasErrors                                             *bool
	Offset, Limit                                         int
}

// SessionRow is a row of ListSessions and Session: the highest version of a session. A time that is not known is 1970.
type SessionRow struct {
	SessionID          string            `ch:"SessionId"`
	Version            uint32            `ch:"Version"`
	StartTime          time.Time         `ch:"StartTime"`
	EndTime            time.Time         `ch:"EndTime"`
	LastActivityAt     time.Time         `ch:"LastActivityAt"`
	DurationMs         uint64            `ch:"DurationMs"`
	Status             string            `ch:"Status"`
	VisitorID          string            `ch:"VisitorId"`
	UserID             string            `ch:"UserId"`
	GroupID            string            `ch:"GroupId"`
	URLInitial         string            `ch:"UrlInitial"`
	UserAgent          string            `ch:"UserAgent"`
	BrowserName        string            `ch:"BrowserName"`
	OSName             string            `ch:"OsName"`
	DeviceType         string            `ch:"DeviceType"`
	Country            string            `ch:"Country"`
	ServiceName        string            `ch:"ServiceName"`
	PageViews          uint32            `ch:"PageViews"`
	ClickCount         uint32            `ch:"ClickCount"`
	ErrorCount         uint32            `ch:"ErrorCount"`
	TraceIDs           []string          `ch:"TraceIds"`
	ResourceAttributes map[string]string `ch:"ResourceAttributes"`
}

const sessionColumns = `SessionId, Version, StartTime, EndTime, LastActivityAt, DurationMs, Status, VisitorId, UserId, GroupId, UrlInitial, UserAgent,
    BrowserName, OsName, DeviceType, Country, ServiceName, PageViews, ClickCount, ErrorCount, TraceIds, ResourceAttributes`

// ListSessions gives SessionRow rows. Versions are put together before the filters apply: a lower version may fit where the highest
// does not.
func ListSessions(l SessionList) Statement {
	b := &builder{}
	c := where().with("StartTime >= "+b.time("start", l.Window.Start), "StartTime <= "+b.time("end", l.Window.End))
	var filters conditions
	filters.optional(b, "ServiceName", "service_name", l.ServiceName)
	filters.optional(b, "BrowserName", "browser_name", l.BrowserName)
	filters.optional(b, "Country", "country", l.Country)
	filters.optional(b, "DeviceType", "device_type", l.DeviceType)
	filters.optional(b, "UserId", "user_id", l.UserID)
	if l.HasErrors != nil {
		filters.add("(ErrorCount > 0) = %s", b.bind("has_errors", "Bool", *l.HasErrors))
	}
	matching := ""
	if len(filters) > 0 {
		matching = "\nWHERE " + filters.join(4)
	}
	sql := fmt.Sprintf(`SELECT
    %s
FROM
(
    SELECT *
    FROM session_replays
    WHERE %s
    ORDER BY SessionId, Version DESC
    LIMIT 1 BY SessionId
)%s
ORDER BY StartTime DESC, SessionId
LIMIT %s OFFSET %s`, sessionColumns, c.join(8), matching, b.bind("limit", "UInt32", int64(l.Limit)), b.bind("offset", "UInt32", int64(l.Offset)))
	return Statement{SQL: sql, Args: b.args}
}

// Session gives the SessionRow of one session, or no row.
func Session(sessionID string) Statement {
	b := &builder{}
	c := where().with("SessionId = " + b.bind("session_id", "String", sessionID))
	return Statement{Args: b.args, SQL: fmt.Sprintf(`SELECT
    %s
FROM session_replays
WHERE %s
ORDER BY Version DESC
LIMIT 1`, sessionColumns, c.join(4))}
}

// ChunkRow is a row of SessionChunks. Payload is a gzip file of a JSON array of ByteSize bytes.
type ChunkRow struct {
	ChunkSeq     uint32    `ch:"ChunkSeq"`
	Timestamp    time.Time `ch:"Timestamp"`
	DurationMs   uint32    `ch:"DurationMs"`
	EventCount   uint32    `ch:"EventCount"`
	ByteSize     uint64    `ch:"ByteSize"`
	IsCheckpoint bool      `ch:"IsCheckpoint"`
	Payload      string    `ch:"Payload"`
}

// SessionChunks gives the chunks of a session from one number to another, both included, in their order. A chunk that was sent
// again is there once.
func SessionChunks(sessionID string, from, to uint32, limit int) Statement {
	b := &builder{}
	c := where().with("SessionId = "+b.bind("session_id", "String", sessionID),
		"ChunkSeq >= "+b.bind("from_seq", "UInt32", from), "ChunkSeq <= "+b.bind("to_seq", "UInt32", to))
	return Statement{SQL: fmt.Sprintf(`SELECT
    ChunkSeq, Timestamp, DurationMs, EventCount, ByteSize, IsCheckpoint, Payload
FROM session_replay_events
WHERE %s
ORDER BY ChunkSeq, Timestamp DESC
LIMIT 1 BY ChunkSeq
LIMIT %s`, c.join(4), b.bind("limit", "UInt32", int64(limit))), Args: b.args}
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

// SessionTimeline gives the events of a session in their order, those of some types or, without types, all.
func SessionTimeline(sessionID string, types []string, offset, limit int) Statement {
	b := &builder{}
	c := where().with("SessionId = " + b.bind("session_id", "String", sessionID))
	if len(types) > 0 {
		c.add("Type IN %s", b.bind("types", "Array(String)", types))
	}
	return Statement{SQL: fmt.Sprintf(`SELECT
    Timestamp, Seq, Type, Url, TraceId, Level, Message, TargetSelector, TargetText, NetMethod, NetUrl, NetStatus, NetDurationMs,
    ErrorStack, Attributes
FROM session_events
WHERE %s
ORDER BY Timestamp, Seq
LIMIT %s OFFSET %s`, c.join(4), b.bind("limit", "UInt32", int64(limit)), b.bind("offset", "UInt32", int64(offset))), Args: b.args}
}
