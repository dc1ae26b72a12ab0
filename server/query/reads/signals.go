package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// SignalRow is a row of Signals. First and Last are in 1970 if Items is 0.
type SignalRow struct {
	Signal string    `ch:"Signal"`
	Items  uint64    `ch:"Items"`
	First  time.Time `ch:"First"`
	Last   time.Time `ch:"Last"`
}

// Signals gives a SignalRow for each signal: how much of it a window holds. Spans and data points come from rollups, so the
// minute or hour that the window cuts at its start counts whole. The other signals cost a read of two small columns.
func Signals(w query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	minute := "toDateTime(" + b.Bind("start_minute", "Int64", w.Start.Truncate(time.Minute).Unix()) + ", 'UTC')"
	hour := "toDateTime(" + b.Bind("start_hour", "Int64", w.Start.Truncate(time.Hour).Unix()) + ", 'UTC')"
	last := "toDateTime(" + b.Bind("end_second", "Int64", w.End.Unix()) + ", 'UTC')"
	start, end := b.Time("start", w.Start), b.Time("end", w.End)
	part := func(signal, items, first, latest, table string, c sqlbuild.Conditions) string {
		return fmt.Sprintf("SELECT '%s' AS Signal, %s AS Items, %s AS First, %s AS Last\nFROM %s\nWHERE %s", signal, items,
			"toDateTime64("+first+", 9, 'UTC')", "toDateTime64("+latest+", 9, 'UTC')", table, c.Join(4))
	}
	within := func(column string) sqlbuild.Conditions {
		return sqlbuild.OfOrganization().With(column+" >= "+start, column+" <= "+end)
	}
	return b.Statement(part("traces", "sum(SpanCount)", "min(Minute)", "max(Minute)", "service_minutes",
		sqlbuild.OfOrganization().With("Minute >= "+minute, "Minute <= "+last)) +
		"\nUNION ALL\n" + part("logs", "count()", "min(Timestamp)", "max(Timestamp)", "logs", within("Timestamp")) +
		"\nUNION ALL\n" + part("metrics", "sum(DataPointCount)", "min(FirstSeen)", "max(LastSeen)", "metric_catalog",
		sqlbuild.OfOrganization().With("Hour >= "+hour, "Hour <= "+last)) +
		"\nUNION ALL\n" + part("sessions", "uniqExact(SessionId)", "min(StartTime)", "max(StartTime)", "session_replays", within("StartTime")) +
		"\nUNION ALL\n" + part("product_events", "count()", "min(Timestamp)", "max(Timestamp)", "product_events", within("Timestamp")))
}
