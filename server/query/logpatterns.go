package query

import (
	"fmt"
	"strings"
	"time"
)

// CountLogs gives one LogCountRow: how many records of a window match.
func CountLogs(w Window, f LogFilters) Statement {
	b := &builder{}
	c := where().with("Timestamp >= "+b.time("start", w.Start), "Timestamp <= "+b.time("end", w.End))
	f.add(b, &c)
	return b.statement("SELECT count() AS Records\nFROM logs\nWHERE " + c.join(4))
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

// LogSample gives LogSampleRow rows of the given spans of time, latest first, with the first bytes of each body. Each record is among them with
// the probability share, whatever the others are; when that makes more than limit, chance leaves out the rest.
func LogSample(windows []Window, f LogFilters, bodyBytes int, share float64, limit int) Statement {
	b := &builder{}
	lo, hi := windows[0].Start, windows[0].End
	var within []string
	for _, w := range windows {
		if w.Start.Before(lo) {
			lo = w.Start
		}
		if w.End.After(hi) {
			hi = w.End
		}
		within = append(within, fmt.Sprintf("Timestamp >= %s AND Timestamp <= %s", b.nextTime("from", w.Start), b.nextTime("to", w.End)))
	}
	c := where().with("Timestamp >= "+b.time("start", lo), "Timestamp <= "+b.time("end", hi), "("+strings.Join(within, "\n        OR ")+")")
	f.add(b, &c)
	const draws = 1 << 32 // of rand()
	if share < 1 {
		c.add("rand() < %s", b.bind("drawn", "UInt32", int64(share*draws)))
	}
	return b.statement(fmt.Sprintf(`SELECT Timestamp, ServiceName, SeverityText, Head
FROM
(
    SELECT Timestamp, ServiceName, SeverityText, substringUTF8(Body, 1, %s) AS Head
    FROM logs
    WHERE %s
    ORDER BY rand()
    LIMIT %s
)
ORDER BY Timestamp DESC`, b.bind("body_bytes", "UInt32", int64(bodyBytes)), c.join(8), b.bind("limit", "UInt32", int64(limit))))
}
