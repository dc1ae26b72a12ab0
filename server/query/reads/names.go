package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// NameRow is a row of Names.
type NameRow struct {
	Name string `ch:"Name"`
}

// Named is a kind of names that senders choose.
type Named string

// These are the kinds.
const (
	NamedService     Named = "service"
	NamedEnvironment Named = "environment"
	NamedOperation   Named = "operation" // of a span
	NamedMetric      Named = "metric"
	NamedEvent       Named = "product event"
)

// NameList is a request for the names of one kind.
type NameList struct {
	Window  query.Window
	Kind    Named
	Limit   int
	Rollups query.Rollups
}

// Names gives NameRow rows in order. Services and environments come from every signal. The first and the last hour of the window
// count as a whole.
func Names(l NameList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	start, end := b.Bind("start_hour", "Int64", l.Window.Start.Truncate(time.Hour).Unix()), b.Bind("end_second", "Int64", l.Window.End.Unix())
	part := func(column, table, at string) string {
		return fmt.Sprintf("SELECT DISTINCT toString(%s) AS Name\n    FROM %s\n    WHERE %s", column, table, sqlbuild.OfOrganization().With(
			at+" >= toDateTime("+start+", 'UTC')", at+" <= toDateTime("+end+", 'UTC')").Join(8))
	}
	spans, logs, operations := []string{"service_minutes", "Minute"}, []string{"logs", "Timestamp"}, []string{"spans", "Timestamp"}
	if l.Rollups.Coarse.Holds(query.Window{Start: l.Window.Start.Truncate(time.Hour), End: l.Window.End}) {
		spans, logs, operations = []string{"service_hours", "Hour"}, []string{"log_minutes", "Minute"}, []string{"operation_hours", "Hour"}
	}
	var parts []string
	//exhaustive:enforce
	switch l.Kind {
	case NamedService:
		parts = []string{
			part("ServiceName", spans[0], spans[1]), part("ServiceName", logs[0], logs[1]), part("ServiceName", "metric_catalog", "Hour"),
			part("ServiceName", "product_events", "Timestamp"), part("ServiceName", "session_replays", "StartTime"),
		}
	case NamedEnvironment:
		parts = []string{part("Environment", spans[0], spans[1]), part("Environment", logs[0], logs[1])}
	case NamedOperation:
		parts = []string{part("SpanName", operations[0], operations[1])}
	case NamedMetric:
		parts = []string{part("MetricName", "metric_catalog", "Hour")}
	case NamedEvent:
		parts = []string{part("Name", "product_events", "Timestamp")}
	}
	return b.Statement(fmt.Sprintf(`SELECT DISTINCT Name
FROM
(
    %s
)
WHERE Name != ''
ORDER BY Name
LIMIT %s`, strings.Join(parts, "\n    UNION ALL\n    "), b.Bind("limit", "UInt32", int64(l.Limit))))
}
