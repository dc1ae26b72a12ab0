package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// TraceExtent gives one TraceExtentRow that summarizes a trace. SpanCount is 0 if there is no such trace.
func TraceExtent(traceID string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("TraceId = " + b.Bind("trace_id", "String", traceID))
	return b.Statement(fmt.Sprintf(`SELECT
    count() AS SpanCount,
    uniqExact(ServiceName) AS ServiceCount,
    countIf(HasError) AS ErrorCount,
    min(Timestamp) AS Start,
    max(Timestamp) AS LastStart,
    max(addNanoseconds(Timestamp, DurationNano)) AS End
FROM spans
WHERE %s`, c.Join(4)))
}

// TraceExtentRow is the row of TraceExtent.
type TraceExtentRow struct {
	SpanCount    uint64    `ch:"SpanCount"`
	ServiceCount uint64    `ch:"ServiceCount"`
	ErrorCount   uint64    `ch:"ErrorCount"`
	Start        time.Time `ch:"Start"`
	LastStart    time.Time `ch:"LastStart"`
	End          time.Time `ch:"End"`
}

// near adds the condition that a span begins within an hour of a time. It adds nothing if the time is zero.
func near(b *sqlbuild.Builder, c *sqlbuild.Conditions, at time.Time) {
	if !at.IsZero() {
		c.Add("Timestamp >= %s", b.Time("start", at.Add(-TraceReach)))
		c.Add("Timestamp <= %s", b.Time("end", at.Add(TraceReach)))
	}
}

// TraceSpans gives the earliest spans of a trace as SpanRow rows. Unless near is zero, it gives only spans near that time. The
// rows end when they reach the size limits.AnswerTrace. There is at least one.
func TraceSpans(traceID string, at time.Time, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("TraceId = " + b.Bind("trace_id", "String", traceID))
	near(b, &c, at)
	return b.Statement(fmt.Sprintf(`SELECT
    %[1]s, Matching
FROM
(
    SELECT
        *,
        count() OVER () AS Matching,
        sum(byteSize(SpanAttributes, ResourceAttributes, EventsName, EventsAttributes, LinksAttributes)) OVER (ORDER BY Timestamp, SpanId
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS Bytes,
        row_number() OVER (ORDER BY Timestamp, SpanId) AS Place
    FROM
    (
        SELECT
            %[1]s
        FROM spans
        WHERE %[2]s
        ORDER BY Timestamp, SpanId
        LIMIT %[3]s
    )
)
WHERE Bytes <= %[4]s OR Place = 1
ORDER BY Timestamp, SpanId`, spanRowColumns, c.Join(12), b.Bind("limit", "UInt32", int64(limit)),
		b.Bind("bytes", "UInt64", int64(limits.AnswerTrace))))
}

// spanRowColumns are the columns of the table that SpanRow holds.
var spanRowColumns = tableColumns[SpanRow]("Matching")

// Span gives one span as a SpanRow. Unless the time is zero, the span must begin near it. A span that was received twice is given
// once.
func Span(traceID, spanID string, at time.Time) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("TraceId = "+b.Bind("trace_id", "String", traceID), "SpanId = "+b.Bind("span_id", "String", spanID))
	near(b, &c, at)
	return b.Statement(fmt.Sprintf(`SELECT
    %s, toUInt64(1) AS Matching
FROM spans
WHERE %s
ORDER BY Timestamp
LIMIT 1`, spanRowColumns, c.Join(4)))
}

// SpanRow is a row of TraceSpans and of Span.
type SpanRow struct {
	SpanID             string              `ch:"SpanId"`
	ParentSpanID       string              `ch:"ParentSpanId"`
	TraceState         string              `ch:"TraceState"`
	Timestamp          time.Time           `ch:"Timestamp"`
	DurationNano       uint64              `ch:"DurationNano"`
	SpanName           string              `ch:"SpanName"`
	SpanKind           string              `ch:"SpanKind"`
	ServiceName        string              `ch:"ServiceName"`
	StatusCode         string              `ch:"StatusCode"`
	StatusMessage      string              `ch:"StatusMessage"`
	ScopeName          string              `ch:"ScopeName"`
	ScopeVersion       string              `ch:"ScopeVersion"`
	SpanAttributes     map[string]string   `ch:"SpanAttributes"`
	ResourceAttributes map[string]string   `ch:"ResourceAttributes"`
	EventsTimestamp    []time.Time         `ch:"EventsTimestamp"`
	EventsName         []string            `ch:"EventsName"`
	EventsAttributes   []map[string]string `ch:"EventsAttributes"`
	LinksTraceID       []string            `ch:"LinksTraceId"`
	LinksSpanID        []string            `ch:"LinksSpanId"`
	LinksTraceState    []string            `ch:"LinksTraceState"`
	LinksAttributes    []map[string]string `ch:"LinksAttributes"`
	// Matching is how many rows the statement had before they were cut at limits.AnswerTrace.
	Matching uint64 `ch:"Matching"`
}
