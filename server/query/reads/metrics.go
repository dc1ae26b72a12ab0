package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// MetricList asks for a page of the metrics of a window.
type MetricList struct {
	Window                          query.Window
	ServiceName, MetricType, Search *string
	Offset, Limit                   int
}

// MetricRow is a row of ListMetrics.
type MetricRow struct {
	MetricName     string    `ch:"MetricName"`
	MetricType     string    `ch:"MetricType"`
	ServiceName    string    `ch:"ServiceName"`
	Description    string    `ch:"Description"`
	Unit           string    `ch:"Unit"`
	IsMonotonic    bool      `ch:"Monotonic"`
	DataPointCount uint64    `ch:"DataPoints"`
	FirstSeen      time.Time `ch:"First"`
	LastSeen       time.Time `ch:"Last"`
}

// ListMetrics gives MetricRow rows by name, type and service. The catalog counts by the hour. An hour that the window cuts counts
// whole if the metric received points in the part of the hour that is in the window, or on both sides of that part.
func ListMetrics(l MetricList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"Hour >= toDateTime("+b.Bind("start_hour", "Int64", l.Window.Start.Truncate(time.Hour).Unix())+", 'UTC')",
		"Hour <= toDateTime("+b.Bind("end_hour", "Int64", l.Window.End.Unix())+", 'UTC')",
	)
	c.Optional(b, "ServiceName", "service_name", l.ServiceName)
	c.Optional(b, "MetricType", "metric_type", l.MetricType)
	if l.Search != nil && *l.Search != "" {
		c.Add("%s", sqlbuild.Contains("MetricName", b.Bind("search", "String", *l.Search), *l.Search))
	}
	sql := fmt.Sprintf(`SELECT
    MetricName,
    MetricType,
    ServiceName,
    argMax(HourDescription, Hour) AS Description,
    argMax(HourUnit, Hour) AS Unit,
    max(HourMonotonic) > 0 AS Monotonic,
    sum(HourPoints) AS DataPoints,
    min(HourFirst) AS First,
    max(HourLast) AS Last
FROM
(
    SELECT
        MetricName,
        MetricType,
        ServiceName,
        Hour,
        anyLast(MetricDescription) AS HourDescription,
        anyLast(MetricUnit) AS HourUnit,
        max(IsMonotonic) AS HourMonotonic,
        sum(DataPointCount) AS HourPoints,
        min(FirstSeen) AS HourFirst,
        max(LastSeen) AS HourLast
    FROM metric_catalog
    WHERE %s
    GROUP BY MetricName, MetricType, ServiceName, Hour
    HAVING HourLast >= %s AND HourFirst <= %s
)
GROUP BY MetricName, MetricType, ServiceName
ORDER BY MetricName, MetricType, ServiceName
LIMIT %s OFFSET %s`, c.Join(8), b.Time("start", l.Window.Start), b.Time("end", l.Window.End),
		b.Bind("limit", "UInt32", int64(l.Limit)), b.Bind("offset", "UInt32", int64(l.Offset)))
	return b.Statement(sql)
}

// MetricCountRow is a row of CountMetrics.
type MetricCountRow struct {
	MetricType string `ch:"MetricType"`
	Metrics    uint64 `ch:"Metrics"`
	DataPoints uint64 `ch:"DataPoints"`
}

// CountMetrics gives a MetricCountRow for each type of metric in a window, for one service or for all. Hours count as they do in
// ListMetrics.
func CountMetrics(w query.Window, service *string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Hour >= toDateTime("+b.Bind("start_hour", "Int64", w.Start.Truncate(time.Hour).Unix())+", 'UTC')",
		"Hour <= toDateTime("+b.Bind("end_hour", "Int64", w.End.Unix())+", 'UTC')")
	c.Optional(b, "ServiceName", "service_name", service)
	return b.Statement(fmt.Sprintf(`SELECT MetricType, uniqExact(MetricName) AS Metrics, sum(HourPoints) AS DataPoints
FROM
(
    SELECT MetricName, MetricType, ServiceName, Hour, sum(DataPointCount) AS HourPoints, min(FirstSeen) AS HourFirst, max(LastSeen) AS HourLast
    FROM metric_catalog
    WHERE %s
    GROUP BY MetricName, MetricType, ServiceName, Hour
    HAVING HourLast >= %s AND HourFirst <= %s
)
GROUP BY MetricType
ORDER BY MetricType`, c.Join(8), b.Time("start", w.Start), b.Time("end", w.End)))
}
