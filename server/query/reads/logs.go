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

// LogSearch asks for the latest records of a window, or of a slice of a window; or for the earliest.
type LogSearch struct {
	Window    query.Window
	Ascending bool
	// Before continues a search: it keeps only records that come after this one in the order of the results.
	Before *paging.LogKey
	Filter query.Filter
	Limit  int
}

// LogRow is a row of SearchLogs and LogRecord.
type LogRow struct {
	Timestamp          time.Time         `ch:"Timestamp"`
	ServiceName        string            `ch:"ServiceName"`
	TraceID            string            `ch:"TraceId"`
	SpanID             string            `ch:"SpanId"`
	SeverityText       string            `ch:"SeverityText"`
	SeverityNumber     uint8             `ch:"SeverityNumber"`
	Body               string            `ch:"Body"`
	EventName          string            `ch:"EventName"`
	ScopeName          string            `ch:"ScopeName"`
	LogAttributes      map[string]string `ch:"LogAttributes"`
	ResourceAttributes map[string]string `ch:"ResourceAttributes"`
	// Record is the hash of all columns, 32 hexadecimal digits. Copy numbers the records that are equal in all columns.
	Record string `ch:"Record"`
	Copy   uint64 `ch:"Copy"`
	// Matching is how many rows the page had before it was cut at limits.AnswerRows.
	Matching uint64 `ch:"Matching"`
}

// recordHash identifies a record. Ids and cursors hold it, so its list of columns must never change.
const recordHash = `lower(hex(sipHash128(Timestamp, ObservedTimestamp, TraceId, SpanId, Flags, SeverityText, SeverityNumber, ServiceName,
            ServiceNamespace, ServiceVersion, Environment, EventName, Body, ScopeName, ScopeVersion,
            mapKeys(ScopeAttributes), mapValues(ScopeAttributes), mapKeys(ResourceAttributes), mapValues(ResourceAttributes),
            mapKeys(LogAttributes), mapValues(LogAttributes))))`

// logDirection has the operators of one order of time.
type logDirection struct {
	after, atOrAfter string // of a place that comes after another in the order of the results
	within, farthest string // of the records that come before a horizon, and of the horizon
	descending       string
	horizon          string
}

func (s LogSearch) direction() logDirection {
	if s.Ascending {
		return logDirection{after: ">", atOrAfter: ">=", within: "<=", farthest: "max", horizon: "toStartOfSecond(Timestamp), Timestamp"}
	}
	return logDirection{after: "<", atOrAfter: "<=", within: ">=", farthest: "min", descending: " DESC", horizon: latestFirst}
}

// order is the total order of SearchLogs.
func (d logDirection) order() string {
	return strings.NewReplacer("|", d.descending).Replace("Timestamp|, ServiceName|, TraceId|, SpanId|, Record|, Copy")
}

// LogHorizon gives one LogHorizonRow. It takes the first Limit matching records after Before in a slice of time and gives the
// time of the last one. A page cannot reach further than that. It reads only times and the columns of the filters.
func LogHorizon(s LogSearch) sqlbuild.Statement {
	b, d := &sqlbuild.Builder{}, s.direction()
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", s.Window.Start), "Timestamp <= "+b.Time("end", s.Window.End))
	if s.Before != nil {
		c.Add("Timestamp %s %s", d.after, b.Time("before_time", s.Before.Timestamp))
	}
	c = c.With(query.FilterSQL(b, query.Logs, s.Filter)...)
	return b.Statement(fmt.Sprintf(`SELECT %s(Timestamp) AS Horizon, count() AS Records
FROM
(
    SELECT Timestamp
    FROM logs
    WHERE %s
    ORDER BY %s
    LIMIT %s
)`, d.farthest, c.Join(8), d.horizon, b.Bind("limit", "UInt32", int64(s.Limit))))
}

// LogHorizonRow is the row of LogHorizon.
type LogHorizonRow struct {
	Horizon time.Time `ch:"Horizon"`
	Records uint64    `ch:"Records"`
}

// logRowColumns are the columns of the table that LogRow holds.
var logRowColumns = tableColumns[LogRow]("Record", "Copy", "Matching")

// logBytes is about the memory that a record takes.
const logBytes = "byteSize(Body, LogAttributes, ResourceAttributes)"

// SearchLogs gives LogRow rows, latest or earliest first, from a window that reaches to LogHorizon. The order is total: records of equal
// time are ordered by service, ids and the hash of the record, and equal records by their copy number. The hash needs every
// column. The query therefore first orders by the cheaper columns, to find the few records that need a hash. The rows end when
// they reach the size limits.AnswerRows. There is at least one.
func SearchLogs(s LogSearch) sqlbuild.Statement {
	b, d := &sqlbuild.Builder{}, s.direction()
	const key = "(Timestamp, ServiceName, TraceId, SpanId)"
	matching := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", s.Window.Start), "Timestamp <= "+b.Time("end", s.Window.End))
	matching = matching.With(query.FilterSQL(b, query.Logs, s.Filter)...)

	limit := b.Bind("limit", "UInt32", int64(s.Limit))
	older, page, here := matching, "", ""
	if k := s.Before; k != nil {
		at, service := b.Time("before_time", k.Timestamp), b.Bind("before_service", "String", k.Service)
		trace, span := b.Bind("before_trace", "String", k.TraceID), b.Bind("before_span", "String", k.SpanID)
		before := fmt.Sprintf("(%s, %s, %s, %s)", at, service, trace, span)
		older = matching.With("Timestamp "+d.atOrAfter+" "+at, key+" "+d.after+" "+before)
		matching = matching.With("Timestamp "+d.atOrAfter+" "+at, key+" "+d.atOrAfter+" "+before)
		if s.Ascending { // the horizon of no record is 1970, which is before all records with this key
			here = key + " = " + before + " OR "
		}
		whole := fmt.Sprintf("(%s, %s, %s, %s, %s)", at, service, trace, span, b.Bind("before_record", "String", k.Record))
		page = fmt.Sprintf(`WHERE (Timestamp, ServiceName, TraceId, SpanId, Record) %[3]s %[1]s
        OR (Timestamp, ServiceName, TraceId, SpanId, Record) = %[1]s AND Copy > %[2]s
    `, whole, b.Bind("before_copy", "UInt64", int64(k.Copy)), d.after)
	}
	closed := ""
	if here != "" {
		here, closed = "("+here, ")"
	}
	sql := fmt.Sprintf(`SELECT
    %[6]s, Record, Copy, Matching
FROM
(
    SELECT
        *,
        count() OVER () AS Matching,
        sum(%[9]s) OVER (ORDER BY %[8]s ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS Bytes,
        row_number() OVER (ORDER BY %[8]s) AS Place
    FROM
    (
        SELECT
            *,
            row_number() OVER (PARTITION BY Timestamp, ServiceName, TraceId, SpanId, Record) AS Copy
        FROM
        (
            SELECT
                %[6]s,
                %[1]s AS Record
            FROM logs
            WHERE %[2]s
                AND %[11]s%[7]s %[12]s (
                    SELECT %[13]s(Key) FROM (
                        SELECT %[7]s AS Key FROM logs
                        WHERE %[3]s
                        ORDER BY Key%[14]s
                        LIMIT %[4]s))%[15]s
        )
    )
    %[5]sORDER BY %[8]s
    LIMIT %[4]s
)
WHERE Bytes <= %[10]s OR Place = 1
ORDER BY %[8]s`, recordHash, matching.Join(16), older.Join(26), limit, page, logRowColumns, key, d.order(), logBytes,
		b.Bind("bytes", "UInt64", int64(limits.AnswerRows)), here, d.within, d.farthest, d.descending, closed)
	return b.Statement(sql)
}

// LogRecord gives the record with this time and hash as a LogRow with Copy 1. There is no row if no record matches.
func LogRecord(at time.Time, record string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp = " + b.Time("at", at))
	return b.Statement(fmt.Sprintf(`SELECT
    %s,
    %s AS Record,
    toUInt64(1) AS Copy,
    toUInt64(1) AS Matching
FROM logs
WHERE %s
    AND Record = %s
LIMIT 1`, logRowColumns, recordHash, c.Join(4), b.Bind("record", "String", record)))
}
