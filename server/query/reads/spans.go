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

// SpanSearch asks for the first spans of a window, or of a slice of it, in one of two orders.
type SpanSearch struct {
	Window query.Window
	// ByDuration has the longest spans first, else the latest are first.
	ByDuration bool
	// Shortest and Longest bound the durations in nanoseconds; nil bounds nothing.
	Shortest, Longest *uint64
	// Before continues a search: it keeps only spans that come after this one in the order of the results.
	Before *paging.SpanPlace
	Filter query.Filter
	// Columns are additional fields of each row.
	Columns []query.Field
	Limit   int
}

// FoundSpan is a row of SearchSpans.
type FoundSpan struct {
	Timestamp      time.Time `ch:"Timestamp"`
	TraceID        string    `ch:"TraceId"`
	SpanID         string    `ch:"SpanId"`
	ParentSpanID   string    `ch:"ParentSpanId"`
	DurationNano   uint64    `ch:"DurationNano"`
	SpanName       string    `ch:"SpanName"`
	SpanKind       string    `ch:"SpanKind"`
	ServiceName    string    `ch:"ServiceName"`
	Environment    string    `ch:"Environment"`
	StatusCode     string    `ch:"StatusCode"`
	HasError       bool      `ch:"HasError"`
	HTTPMethod     string    `ch:"HttpMethod"`
	HTTPRoute      string    `ch:"HttpRoute"`
	HTTPStatusCode uint16    `ch:"HttpStatusCode"`
	// Extra has one text for each of the Columns. It is empty if the span has no value for the column.
	Extra []string `ch:"Extra"`
}

const foundSpanColumns = `Timestamp, TraceId, SpanId, ParentSpanId, DurationNano, SpanName, SpanKind, ServiceName, Environment, StatusCode, HasError,
    HttpMethod, HttpRoute, HttpStatusCode`

// matching are the conditions of a search of spans, without its place.
func (s SpanSearch) matching(b *sqlbuild.Builder) sqlbuild.Conditions {
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("lo", s.Window.Start), "Timestamp <= "+b.Time("hi", s.Window.End))
	if s.Shortest != nil {
		c.Add("DurationNano >= %s", b.Bind("shortest", "UInt64", *s.Shortest))
	}
	if s.Longest != nil {
		c.Add("DurationNano <= %s", b.Bind("longest", "UInt64", *s.Longest))
	}
	return c.With(query.FilterSQL(b, query.Traces, s.Filter)...)
}

// SearchSpans gives FoundSpan rows in the order of the search. Its window, or its durations, must be bounded by a horizon before, since it
// opens many columns. A span that was stored twice has two rows, one behind the other.
func SearchSpans(s SpanSearch) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := s.matching(b)
	key, order := "(Timestamp, TraceId, SpanId)", latestFirst
	if s.ByDuration {
		key, order = "(DurationNano, Timestamp, TraceId, SpanId)", "DurationNano DESC, Timestamp DESC"
	}
	if k := s.Before; k != nil {
		at := b.Time("before_start", k.Start) + ", " + b.Bind("before_trace", "String", k.TraceID) + ", " +
			b.Bind("before_span", "String", k.SpanID)
		if s.ByDuration {
			at = b.Bind("before_duration", "UInt64", k.Duration) + ", " + at
		}
		c.Add("%s < (%s)", key, at)
	}
	var extra []string
	for _, f := range s.Columns {
		text, _ := query.TextSQL(b, query.Traces, f)
		extra = append(extra, fmt.Sprintf("leftUTF8(toString(%s), %d)", text, limits.SpanFieldValue))
	}
	list := "CAST([], 'Array(String)')"
	if len(extra) > 0 {
		list = "[" + strings.Join(extra, ", ") + "]"
	}
	return b.Statement(fmt.Sprintf(`SELECT
    %s,
    %s AS Extra
FROM spans
WHERE %s
ORDER BY %s, TraceId DESC, SpanId DESC
LIMIT %s`, foundSpanColumns, list, c.Join(4), order, b.Bind("limit", "UInt32", int64(s.Limit))))
}

// DurationHorizon gives one DurationHorizonRow. It takes the longest Limit matching spans and gives the duration of the shortest one. A
// page in order of duration reaches no further. It reads only durations and the columns of the filters, from the whole window.
func DurationHorizon(s SpanSearch) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	return b.Statement(fmt.Sprintf(`SELECT min(DurationNano) AS Shortest, count() AS Spans
FROM
(
    SELECT DurationNano
    FROM spans
    WHERE %s
    ORDER BY DurationNano DESC
    LIMIT %s
)`, s.matching(b).Join(8), b.Bind("limit", "UInt32", int64(s.Limit))))
}

// DurationHorizonRow is the row of DurationHorizon.
type DurationHorizonRow struct {
	Shortest uint64 `ch:"Shortest"`
	Spans    uint64 `ch:"Spans"`
}
