package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// TraceReach is how far outside a slice the spans of its traces are searched, for an earlier root, an earlier first span, or a
// later span that matches the filters.
const TraceReach = limits.TraceReach

// TraceSearch asks for the latest traces that begin in a slice of time. A trace begins with its root span, or with its earliest
// span if no root was received.
type TraceSearch struct {
	// Slice is the part of the window to search. Adjacent slices of one search never give the same trace twice.
	Slice query.Window
	// Before continues a search: it keeps only traces that come after this one in the order of the results.
	Before *paging.TraceKey
	// Filter must hold for one span of the trace.
	Filter query.Filter
	Limit  int
}

// TraceRow is a row of SearchTraces, in the order of its columns.
type TraceRow struct {
	TraceID          string    `ch:"TraceId"`
	Start            time.Time `ch:"Start"`
	SpanName         string    `ch:"RootSpanName"`
	SpanKind         string    `ch:"RootSpanKind"`
	ServiceName      string    `ch:"RootServiceName"`
	ServiceNamespace string    `ch:"RootServiceNamespace"`
	Environment      string    `ch:"RootEnvironment"`
	DurationNano     uint64    `ch:"RootDurationNano"`
	StatusCode       string    `ch:"RootStatusCode"`
	HasError         bool      `ch:"RootHasError"`
	HTTPMethod       string    `ch:"RootHttpMethod"`
	HTTPRoute        string    `ch:"RootHttpRoute"`
	HTTPStatusCode   uint16    `ch:"RootHttpStatusCode"`
}

// rootColumns come from the first span of each trace.
const rootColumns = `min(Timestamp) AS Start,
        argMin(SpanName, (Timestamp, SpanId)) AS RootSpanName,
        argMin(SpanKind, (Timestamp, SpanId)) AS RootSpanKind,
        argMin(ServiceName, (Timestamp, SpanId)) AS RootServiceName,
        argMin(ServiceNamespace, (Timestamp, SpanId)) AS RootServiceNamespace,
        argMin(Environment, (Timestamp, SpanId)) AS RootEnvironment,
        argMin(DurationNano, (Timestamp, SpanId)) AS RootDurationNano,
        argMin(StatusCode, (Timestamp, SpanId)) AS RootStatusCode,
        argMin(HasError, (Timestamp, SpanId)) AS RootHasError,
        argMin(HttpMethod, (Timestamp, SpanId)) AS RootHttpMethod,
        argMin(HttpRoute, (Timestamp, SpanId)) AS RootHttpRoute,
        argMin(HttpStatusCode, (Timestamp, SpanId)) AS RootHttpStatusCode`

// SearchTraces gives TraceRow rows, latest first. Root spans come from the list of root spans. The table of all spans is read
// only for traces without a root, and for the filters.
func SearchTraces(s TraceSearch) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	lo, hi := b.Time("lo", s.Slice.Start), b.Time("hi", s.Slice.End)
	before, after := b.Time("reach_lo", s.Slice.Start.Add(-TraceReach)), b.Time("reach_hi", s.Slice.End.Add(TraceReach))

	in := sqlbuild.OfOrganization().With("Timestamp >= "+lo, "Timestamp <= "+hi)
	roots := in.With(
		fmt.Sprintf(
			"TraceId NOT IN (SELECT TraceId FROM trace_roots WHERE OrgId = {org:String} AND Timestamp >= %s AND Timestamp < %s)",
			before,
			lo,
		),
	)
	rootless := in
	if !s.Filter.IsZero() {
		rootless = sqlbuild.OfOrganization().With("Timestamp >= "+lo, "Timestamp <= "+after).With(query.FilterSQL(b, query.Traces, s.Filter)...)
		roots = roots.With("TraceId IN (\n            SELECT TraceId FROM spans\n            WHERE " + rootless.Join(14) + ")")
	}
	rootless = rootless.With(
		fmt.Sprintf(
			"TraceId NOT IN (SELECT TraceId FROM trace_roots WHERE OrgId = {org:String} AND Timestamp >= %s AND Timestamp <= %s)",
			before,
			after,
		),
	)

	page := ""
	if s.Before != nil {
		page = fmt.Sprintf(
			"WHERE (Start, TraceId) < (%s, %s)\n",
			b.Time("before_start", s.Before.Start),
			b.Bind("before_trace", "String", s.Before.TraceID),
		)
	}
	sql := fmt.Sprintf(`SELECT
    TraceId, Start, RootSpanName, RootSpanKind, RootServiceName, RootServiceNamespace, RootEnvironment, RootDurationNano,
    RootStatusCode, RootHasError, RootHttpMethod, RootHttpRoute, RootHttpStatusCode
FROM
(
    SELECT TraceId,
        %[1]s
    FROM trace_roots
    WHERE %[2]s
    GROUP BY TraceId
    UNION ALL
    SELECT TraceId,
        %[1]s
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= %[3]s
        AND Timestamp <= %[4]s
        AND TraceId IN (
            SELECT TraceId FROM spans
            WHERE %[5]s)
    GROUP BY TraceId
    HAVING Start >= %[6]s
)
%[7]sORDER BY Start DESC, TraceId DESC
LIMIT %[8]s`, rootColumns, roots.Join(8), before, hi, rootless.Join(14), lo, page, b.Bind("limit", "UInt32", int64(s.Limit)))
	return b.Statement(sql).Colocated()
}

// TraceHorizon gives a TraceHorizonRow. It takes the latest limit root spans in the slice and gives the start of the earliest
// one. A page of this length reaches no further back, so SearchTraces can stop there. The read follows the order of the key and
// is cheap.
func TraceHorizon(slice query.Window, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("lo", slice.Start), "Timestamp <= "+b.Time("hi", slice.End))
	sql := fmt.Sprintf(`SELECT min(Timestamp) AS Horizon, count() AS Roots
FROM
(
    SELECT Timestamp
    FROM trace_roots
    WHERE %s
    ORDER BY OrgId DESC, Timestamp DESC
    LIMIT %s
)`, c.Join(8), b.Bind("limit", "UInt32", int64(limit)))
	return b.Statement(sql)
}

// TraceHorizonRow is the row of TraceHorizon.
type TraceHorizonRow struct {
	Horizon time.Time `ch:"Horizon"`
	Roots   uint64    `ch:"Roots"`
}
