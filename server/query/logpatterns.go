package query

import (
	"fmt"
	"strings"
	"time"
)

// LogHistogram gives LogSlotRow rows: how many matching records each of the equally long slots of a window holds. Empty ones are left out.
func LogHistogram(w Window, slot time.Duration, f LogFilters) Statement {
	b := &builder{}
	c := where().with("Timestamp >= "+b.time("start", w.Start), "Timestamp <= "+b.time("end", w.End))
	f.add(b, &c)
	return Statement{SQL: fmt.Sprintf(`SELECT
    toUInt32(intDiv(toUnixTimestamp64Nano(Timestamp) - %s, %s)) AS Slot,
    count() AS Records
FROM logs
WHERE %s
GROUP BY Slot
ORDER BY Slot`, b.bind("origin", "Int64", w.Start.UnixNano()), b.bind("slot", "Int64", slot.Nanoseconds()), c.join(4)), Args: b.args}
}

// LogSlotRow is a row of LogHistogram.
type LogSlotRow struct {
	Slot    uint32 `ch:"Slot"`
	Records uint64 `ch:"Records"`
}

// LogSampleRow is a row of LogSample.
type LogSampleRow struct {
	Timestamp    time.Time `ch:"Timestamp"`
	ServiceName  string    `ch:"ServiceName"`
	SeverityText string    `ch:"SeverityText"`
	Body         string    `ch:"Head"`
}

// LogSample gives LogSampleRow rows of the given spans of time, latest first, with the first bytes of each body.
func LogSample(windows []Window, f LogFilters, bodyBytes, limit int) Statement {
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
	return Statement{SQL: fmt.Sprintf(`SELECT Timestamp, ServiceName, SeverityText, substringUTF8(Body, 1, %s) AS Head
FROM logs
WHERE %s
ORDER BY Timestamp DESC
LIMIT %s`, b.bind("body_bytes", "UInt32", int64(bodyBytes)), c.join(4), b.bind("limit", "UInt32", int64(limit))), Args: b.args}
}
