package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// CountLogs gives one LogCountRow with the number of matching records in a window.
func CountLogs(w query.Window, f query.Filter) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End))
	c = c.With(query.FilterSQL(b, query.Logs, f)...)
	return b.Statement("SELECT count() AS Records\nFROM logs\nWHERE " + c.Join(4))
}

// LogCountRow is the row of CountLogs.
type LogCountRow struct {
	Records uint64 `ch:"Records"`
}

// LogSampleRow is a row of LogSample.
type LogSampleRow struct {
	Timestamp    time.Time `ch:"Timestamp"`
	ServiceName  string    `ch:"ServiceName"`
	SeverityText string    `ch:"SeverityText"`
	Body         string    `ch:"Head"`
}

// LogSample gives LogSampleRow rows from the given spans of time, latest first, with the first bytes of each body. Each record is
// chosen independently with the probability share. If more than limit records are chosen, a random part of them is left out.
func LogSample(windows []query.Window, f query.Filter, bodyBytes int, share float64, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	lo, hi := windows[0].Start, windows[0].End
	var within []string
	for _, w := range windows {
		if w.Start.Before(lo) {
			lo = w.Start
		}
		if w.End.After(hi) {
			hi = w.End
		}
		within = append(within, fmt.Sprintf("Timestamp >= %s AND Timestamp <= %s", b.TimeNumbered("from", w.Start), b.TimeNumbered("to", w.End)))
	}
	c := sqlbuild.OfOrganization().With(
		"Timestamp >= "+b.Time("start", lo),
		"Timestamp <= "+b.Time("end", hi),
		"("+strings.Join(within, "\n        OR ")+")",
	)
	c = c.With(query.FilterSQL(b, query.Logs, f)...)
	const draws = 1 << 32 // the number of values of rand()
	if share < 1 {
		c.Add("rand() < %s", b.Bind("drawn", "UInt32", int64(share*draws)))
	}
	return b.Statement(fmt.Sprintf(`SELECT Timestamp, ServiceName, SeverityText, Head
FROM
(
    SELECT Timestamp, ServiceName, SeverityText, substringUTF8(Body, 1, %s) AS Head
    FROM logs
    WHERE %s
    ORDER BY rand()
    LIMIT %s
)
ORDER BY Timestamp DESC`, b.Bind("body_bytes", "UInt32", int64(bodyBytes)), c.Join(8), b.Bind("limit", "UInt32", int64(limit))))
}

// These expressions find values that vary by nature: addresses of people, UUIDs and hexadecimal ids, and digits.
const (
	idValues = "[0-9A-Za-z_.+%-]+@[0-9A-Za-z_-]+(?:[.][0-9A-Za-z_-]+)+|" +
		"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}|[0-9A-Fa-f]{8,}"
	digits = "[0-9]+"
)

// LogShapes gives LogShapeRow rows: the records of a window, counted by service, severity and shape, latest first. Bodies of one shape
// differ in ids and digits only. If there are more than limit shapes, it gives at least limit rows, and they do not hold all records.
func LogShapes(w query.Window, f query.Filter, bodyBytes, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End))
	c = c.With(query.FilterSQL(b, query.Logs, f)...)
	return b.Statement(fmt.Sprintf(`SELECT ServiceName, SeverityText, argMax(Head, (Timestamp, Head)) AS Latest, count() AS Records,
    min(Timestamp) AS First, max(Timestamp) AS Last
FROM
(
    SELECT Timestamp, ServiceName, SeverityText, substringUTF8(Body, 1, %s) AS Head
    FROM logs
    WHERE %s
)
GROUP BY ServiceName, SeverityText, sipHash128(replaceRegexpAll(replaceRegexpAll(Head, %s, '#'), %s, '0'))
ORDER BY Last DESC, ServiceName, SeverityText, Latest
LIMIT %d
SETTINGS max_rows_to_group_by = %d, group_by_overflow_mode = 'any'`,
		b.Bind("body_bytes", "UInt32", int64(bodyBytes)), c.Join(8), b.Bind("ids", "String", idValues), b.Bind("digits", "String", digits),
		limit, limit))
}

// LogShapeRow is a row of LogShapes.
type LogShapeRow struct {
	ServiceName  string    `ch:"ServiceName"`
	SeverityText string    `ch:"SeverityText"`
	Latest       string    `ch:"Latest"`
	Records      uint64    `ch:"Records"`
	First        time.Time `ch:"First"`
	Last         time.Time `ch:"Last"`
}

// coverageParts is the number of equal parts of a window in which LogCoverage looks for records.
const coverageParts = 60

// LogCoverage gives one LogCoverageRow with the number of sixtieths of a window in which the organization has records, and the times of
// the first and the last one.
func LogCoverage(w query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End))
	part := max(w.Length().Nanoseconds()/coverageParts, 1)
	return b.Statement(fmt.Sprintf("SELECT uniqExact(intDiv(toUnixTimestamp64Nano(Timestamp), %s)) AS Parts, min(Timestamp) AS First,\n    max(Timestamp) AS Last\nFROM logs\nWHERE %s",
		b.Bind("part", "Int64", part), c.Join(4)))
}

// LogCoverageRow is the row of LogCoverage. First and Last are in 1970 if Parts is 0.
type LogCoverageRow struct {
	Parts uint64    `ch:"Parts"`
	First time.Time `ch:"First"`
	Last  time.Time `ch:"Last"`
}
