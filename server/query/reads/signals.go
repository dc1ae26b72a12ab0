package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// SignalRow is a row of Signals: how much of one signal one service sent, or all services together.
type SignalRow struct {
	Signal string `ch:"Signal"`
	// Whole is 1 for the row of all services, whose ServiceName is empty. First and Last of it are in 1970 if Items is 0.
	Whole       uint64    `ch:"Whole"`
	ServiceName string    `ch:"ServiceName"`
	Items       uint64    `ch:"Items"`
	First       time.Time `ch:"First"`
	Last        time.Time `ch:"Last"`
	// Services is the number of all services, with those that the limit leaves out.
	Services uint64 `ch:"Services"`
}

// kindsOfSignals is the number of signals, and so of the rows that a service can have.
const kindsOfSignals = 5

// Signals gives the SignalRow of each signal for all services together, then those of each service, busiest service first. It has the rows
// of at least the given number of services. Spans and data points come from rollups, so the minute or hour that the window cuts at its
// start counts whole. The other signals cost a read of a few small columns.
func Signals(w query.Window, services int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	minute := "toDateTime(" + b.Bind("start_minute", "Int64", w.Start.Truncate(time.Minute).Unix()) + ", 'UTC')"
	hour := "toDateTime(" + b.Bind("start_hour", "Int64", w.Start.Truncate(time.Hour).Unix()) + ", 'UTC')"
	last := "toDateTime(" + b.Bind("end_second", "Int64", w.End.Unix()) + ", 'UTC')"
	start, end := b.Time("start", w.Start), b.Time("end", w.End)
	part := func(signal, items, first, latest, table string, c sqlbuild.Conditions) string {
		return fmt.Sprintf(`    SELECT '%s' AS Signal, ServiceName, grouping(ServiceName) AS Whole, %s AS Items, %s AS First, %s AS Last
    FROM %s
    WHERE %s
    GROUP BY GROUPING SETS ((), (ServiceName))`, signal, items,
			"toDateTime64("+first+", 9, 'UTC')", "toDateTime64("+latest+", 9, 'UTC')", table, c.Join(8))
	}
	within := func(column string) sqlbuild.Conditions {
		return sqlbuild.OfOrganization().With(column+" >= "+start, column+" <= "+end)
	}
	parts := []string{
		part("traces", "sum(SpanCount)", "min(Minute)", "max(Minute)", "service_minutes",
			sqlbuild.OfOrganization().With("Minute >= "+minute, "Minute <= "+last)),
		part("logs", "count()", "min(Timestamp)", "max(Timestamp)", "logs", within("Timestamp")),
		part("metrics", "sum(DataPointCount)", "min(FirstSeen)", "max(LastSeen)", "metric_catalog",
			sqlbuild.OfOrganization().With("Hour >= "+hour, "Hour <= "+last)),
		part("sessions", "uniqExact(SessionId)", "min(StartTime)", "max(StartTime)", "session_replays", within("StartTime")),
		part("product_events", "count()", "min(Timestamp)", "max(Timestamp)", "product_events", within("Timestamp")),
	}
	return b.Statement(fmt.Sprintf(`SELECT
    Signal,
    Whole,
    ServiceName,
    Items,
    First,
    Last,
    uniqExactIf(ServiceName, ServiceName != '') OVER () AS Services
FROM
(
%s
)
WHERE Whole = 1 OR ServiceName != ''
ORDER BY Whole DESC, sum(Items) OVER (PARTITION BY Whole, ServiceName) DESC, ServiceName, Signal
LIMIT %s`, strings.Join(parts, "\n    UNION ALL\n"), b.Bind("rows", "UInt32", int64(kindsOfSignals*(services+1)))))
}
