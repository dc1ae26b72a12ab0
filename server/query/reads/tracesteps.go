package reads

import (
	"fmt"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// These are the steps of a search for traces. SearchTraces does all of it in one statement, whatever the number of traces. For
// the usual page the steps read far less, because each step uses the results of the step before.

// latestFirst is the order of spans and of log records from the latest on. It follows the sort key, which ends in the second: rows of one
// service are read from the end until there are enough. Installations from before have a key that ends in the nanosecond, and follow it,
// too.
const latestFirst = "toStartOfSecond(Timestamp) DESC, Timestamp DESC"

// SpanHorizon gives one TraceHorizonRow. It takes the latest limit matching spans of a slice and gives the start of the earliest
// one. With a service among the filters it reads in the order of the key and is cheap.
func SpanHorizon(slice query.Window, f query.Filter, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("lo", slice.Start), "Timestamp <= "+b.Time("hi", slice.End))
	c = c.With(query.FilterSQL(b, query.Traces, f)...)
	return b.Statement(fmt.Sprintf(`SELECT min(Timestamp) AS Horizon, count() AS Roots
FROM
(
    SELECT Timestamp
    FROM spans
    WHERE %s
    ORDER BY %s
    LIMIT %s
)`, c.Join(8), latestFirst, b.Bind("limit", "UInt32", int64(limit))))
}

// TraceIDRow is a row of MatchingTraces and TracesWithin.
type TraceIDRow struct {
	TraceID string `ch:"TraceId"`
}

// MatchingTraces gives TraceIDRow rows: the traces with a matching span that can begin in the slice.
func MatchingTraces(slice query.Window, f query.Filter, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"Timestamp >= "+b.Time("lo", slice.Start),
		"Timestamp <= "+b.Time("reach_hi", slice.End.Add(TraceReach)),
	)
	c = c.With(query.FilterSQL(b, query.Traces, f)...)
	return b.Statement(fmt.Sprintf(`SELECT DISTINCT TraceId
FROM spans
WHERE %s
LIMIT %s`, c.Join(4), b.Bind("limit", "UInt32", int64(limit))))
}

// TracesWithin gives TraceIDRow rows: the traces with a span in the slice.
func TracesWithin(slice query.Window, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("lo", slice.Start), "Timestamp <= "+b.Time("hi", slice.End))
	return b.Statement(fmt.Sprintf(`SELECT DISTINCT TraceId
FROM spans
WHERE %s
LIMIT %s`, c.Join(4), b.Bind("limit", "UInt32", int64(limit))))
}

// RootsOf gives a TraceRow for each of the traces that have a root within reach of the slice.
func RootsOf(traces []string, slice query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"Timestamp >= "+b.Time("reach_lo", slice.Start.Add(-TraceReach)),
		"Timestamp <= "+b.Time("reach_hi", slice.End.Add(TraceReach)),
		"TraceId IN "+b.Bind("traces", "Array(String)", traces),
	)
	return b.Statement(fmt.Sprintf(`SELECT TraceId,
        %s
FROM trace_roots
WHERE %s
GROUP BY TraceId`, rootColumns, c.Join(4)))
}

// FirstSpansOf gives a TraceRow for each of the traces whose earliest span is in the slice. The row describes that span.
func FirstSpansOf(traces []string, slice query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"Timestamp >= "+b.Time("reach_lo", slice.Start.Add(-TraceReach)),
		"Timestamp <= "+b.Time("hi", slice.End),
		"TraceId IN "+b.Bind("traces", "Array(String)", traces),
	)
	return b.Statement(fmt.Sprintf(`SELECT TraceId,
        %s
FROM spans
WHERE %s
GROUP BY TraceId
HAVING Start >= %s`, rootColumns, c.Join(4), b.Time("lo", slice.Start)))
}
