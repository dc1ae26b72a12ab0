package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// MetricKindRow is a row of MetricKinds: the catalog's entry for a metric of one name and one type.
type MetricKindRow struct {
	MetricType  string    `ch:"MetricType"`
	Description string    `ch:"Description"`
	Unit        string    `ch:"Unit"`
	DataPoints  uint64    `ch:"DataPoints"`
	First       time.Time `ch:"First"`
	Last        time.Time `ch:"Last"`
	Services    []string  `ch:"Services"`
	// Falling lists the services that send the metric as a sum that can fall.
	Falling []string `ch:"Falling"`
}

// MetricKinds gives MetricKindRow rows by type. It reads the hours of the catalog, and an hour that the window cuts counts whole.
func MetricKinds(w query.Window, name string, service *string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Hour >= toDateTime("+b.Bind("start_hour", "Int64", w.Start.Truncate(time.Hour).Unix())+", 'UTC')",
		"Hour <= toDateTime("+b.Bind("end_hour", "Int64", w.End.Unix())+", 'UTC')", "MetricName = "+b.Bind("metric_name", "String", name))
	c.Optional(b, "ServiceName", "service_name", service)
	sql := fmt.Sprintf(`SELECT
    MetricType,
    argMax(ServiceDescription, ServiceLast) AS Description,
    argMax(ServiceUnit, ServiceLast) AS Unit,
    sum(ServicePoints) AS DataPoints,
    min(ServiceFirst) AS First,
    max(ServiceLast) AS Last,
    arraySort(groupArray(toString(ServiceName))) AS Services,
    arraySort(groupArrayIf(toString(ServiceName), NOT ServiceMonotonic)) AS Falling
FROM
(
    SELECT
        MetricType,
        ServiceName,
        argMax(MetricDescription, Hour) AS ServiceDescription,
        argMax(MetricUnit, Hour) AS ServiceUnit,
        max(IsMonotonic) > 0 AS ServiceMonotonic,
        sum(DataPointCount) AS ServicePoints,
        min(FirstSeen) AS ServiceFirst,
        max(LastSeen) AS ServiceLast
    FROM metric_catalog
    WHERE %s
    GROUP BY MetricType, ServiceName
)
GROUP BY MetricType
HAVING Last >= %s AND First <= %s
ORDER BY DataPoints DESC, MetricType`, c.Join(8), b.Time("start", w.Start), b.Time("end", w.End))
	return b.Statement(sql)
}

// MetricLatest asks for details of the points of one metric of one type, near its last point.
type MetricLatest struct {
	Name, Type  string
	ServiceName *string
	Last        time.Time
}

// ofOrganization returns the conditions of the metric's rows, that of the organization among them.
func (m MetricLatest) ofOrganization(b *sqlbuild.Builder) sqlbuild.Conditions {
	c := sqlbuild.OfOrganization().With(
		"MetricName = "+b.Bind("metric_name", "String", m.Name),
		"Timestamp >= "+b.Time("from", m.Last.Add(-limits.MetricSample)),
		"Timestamp <= "+b.Time("last", m.Last),
		query.NoRecordedValue,
	)
	c.Optional(b, "ServiceName", "service_name", m.ServiceName)
	return c
}

// MetricStateRow is the row of MetricState.
type MetricStateRow struct {
	Series uint64 `ch:"Series"`
	// Value is the value of the latest point. It is NaN if the point has no value.
	Value float64 `ch:"Latest"`
}

// MetricState gives one MetricStateRow.
func MetricState(m MetricLatest) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	value := "Value"
	if m.Type != query.GaugeMetric && m.Type != query.SumMetric {
		value = "if(Count > 0, ifNull(Sum, nan) / Count, nan)"
	}
	sql := fmt.Sprintf(`SELECT uniq(SeriesHash) AS Series, argMax(%s, Timestamp) AS Latest
FROM metrics_%s
WHERE %s`, value, m.Type, m.ofOrganization(b).Join(4))
	return b.Statement(sql)
}

// MetricAttributeRow is a row of MetricAttributes.
type MetricAttributeRow struct {
	// Resource is true for a resource attribute.
	Resource bool     `ch:"Resource"`
	Key      string   `ch:"Key"`
	Values   uint64   `ch:"Count"`
	Some     []string `ch:"Some"`
}

// MetricAttributes gives MetricAttributeRow rows by key. It reads one point of each series, from at most limits.MetricSampleSeries series.
func MetricAttributes(m MetricLatest) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	sql := fmt.Sprintf(
		`SELECT Pair.1 AS Resource, Pair.2 AS Key, uniq(Pair.3) AS Count, arraySlice(arraySort(groupUniqArray(1000)(Pair.3)), 1, %d) AS Some
FROM
(
    SELECT arrayJoin(arrayConcat(
        arrayMap((k, v) -> (false, toString(k), v), mapKeys(Attributes), mapValues(Attributes)),
        arrayMap((k, v) -> (true, toString(k), v), mapKeys(ResourceAttributes), mapValues(ResourceAttributes)))) AS Pair
    FROM
    (
        SELECT Attributes, ResourceAttributes
        FROM metrics_%s
        WHERE %s
        LIMIT 1 BY SeriesHash
        LIMIT %d
    )
)
GROUP BY Resource, Key
ORDER BY Resource, Key
LIMIT %d`,
		limits.MetricAttributeValues,
		m.Type,
		m.ofOrganization(b).Join(12),
		limits.MetricSampleSeries,
		limits.MetricKeys,
	)
	return b.Statement(sql)
}
