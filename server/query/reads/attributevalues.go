package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// AttributeValueList selects the values of a field in a slice of time, or the keys of attributes.
type AttributeValueList struct {
	Source query.Source
	Slice  query.Window
	// Field is the field whose values are listed. Without it the result lists the keys of all attributes in Scope.
	Field *query.Field
	Scope query.Scope
	// Search is text that a value contains. Letter case does not matter.
	Search              string
	ServiceName, Metric string
	// Filter must hold for the rows.
	Filter               query.Filter
	MaxRows, MaxDistinct int
}

// AttributeValueRow is a row of AttributeValues. Spans with a value are corrected for sampling; keys and all other rows count as received.
type AttributeValueRow struct {
	Value string  `ch:"Value"`
	Uses  float64 `ch:"Uses"`
	// Rows is the number of rows that were read, at most MaxRows. It is the same in every row of the result.
	Rows uint64 `ch:"Rows"`
}

// metricTables are the tables of data points.
func metricTables() []string {
	tables := query.MetricTypes()
	for i, t := range tables {
		tables[i] = "metrics_" + t
	}
	return tables
}

// AttributeValues gives AttributeValueRow rows, most frequent value first. It reads at most MaxRows rows. A caller who wants the
// latest values asks for slices of the window, starting at its end.
func AttributeValues(l AttributeValueList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	start, end := b.Time("start", l.Slice.Start), b.Time("end", l.Slice.End)
	tables := []string{query.Table(l.Source)}
	if l.Source == query.Metrics {
		tables = metricTables()
	}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+start, "Timestamp <= "+end)
	if l.ServiceName != "" {
		c.Add("ServiceName = %s", b.Bind("service", "String", l.ServiceName))
	}
	if l.Metric != "" {
		c.Add("MetricName = %s", b.Bind("metric", "String", l.Metric))
	}
	c = c.With(query.FilterSQL(b, l.Source, l.Filter)...)
	value := keysOf(l.Source, l.Scope)
	if l.Field != nil {
		text, present := query.TextSQL(b, l.Source, *l.Field)
		if value = text; present != "" {
			c = c.With(present)
		}
	}
	limit := b.Bind("max_rows", "UInt32", int64(l.MaxRows))
	weight := "1"
	if l.Source == query.Traces && l.Field != nil {
		weight = "SampleRate"
	}
	var reads []string
	for _, table := range tables {
		reads = append(reads, fmt.Sprintf(`SELECT %s AS Value, toFloat64(%s) AS Weight
            FROM %s
            WHERE %s
            LIMIT %s`, value, weight, table, c.Join(16), limit))
	}
	list, wanted := "toString(Value)", "Value != ''"
	if l.Field == nil {
		list = "arrayJoin(Value)"
		if l.Scope == query.ResourceAttribute {
			wanted += " AND NOT startsWith(Value, '" + platformKeys + "')"
		}
	}
	if l.Search != "" {
		wanted += " AND " + sqlbuild.Contains("Value", b.Bind("search", "String", l.Search), l.Search)
	}
	return b.Statement(fmt.Sprintf(`SELECT Value, Uses, Rows
FROM
(
    SELECT %s AS Value, sum(Weight) AS Uses, any(Read) AS Rows
    FROM
    (
        SELECT Value, Weight, count() OVER () AS Read
        FROM
        (
            %s
        )
    )
    GROUP BY Value
)
WHERE %s
ORDER BY Uses DESC, Value
LIMIT %s`, list, strings.Join(reads, "\n            UNION ALL\n            "), wanted, b.Bind("max_distinct", "UInt32", int64(l.MaxDistinct))))
}

// keysOf prints an array with the keys of a row's attributes.
func keysOf(s query.Source, scope query.Scope) string {
	own, _ := query.AttributeMap(s)
	switch scope {
	case query.ResourceAttribute:
		return "mapKeys(ResourceAttributes)"
	case query.EventAttribute:
		return "arrayDistinct(arrayFlatten(arrayMap(event -> mapKeys(event), EventsAttributes)))"
	default:
		return "mapKeys(" + own + ")"
	}
}

// RolledUpValues gives the AttributeValueRow rows of a field that has a RollupColumn. It reads the minutes of the window. Uses
// counts spans, corrected for sampling.
func RolledUpValues(l AttributeValueList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"Minute >= toDateTime("+b.Bind("start", "Int64", l.Slice.Start.Truncate(time.Minute).Unix())+", 'UTC')",
		"Minute <= toDateTime("+b.Bind("end", "Int64", l.Slice.End.Unix())+", 'UTC')",
	)
	if l.ServiceName != "" {
		c.Add("ServiceName = %s", b.Bind("service", "String", l.ServiceName))
	}
	c = c.With(query.FilterSQL(b, l.Source, l.Filter)...)
	column := query.RollupColumn(l.Source, *l.Field)
	c.Add("%s != ''", column)
	if l.Search != "" {
		c.Add("%s", sqlbuild.Contains(column, b.Bind("search", "String", l.Search), l.Search))
	}
	return b.Statement(fmt.Sprintf(`SELECT toString(%s) AS Value, sum(EstimatedSpanCount) AS Uses, toUInt64(0) AS Rows
FROM service_minutes
WHERE %s
GROUP BY Value
ORDER BY Uses DESC, Value
LIMIT %s`, column, c.Join(4), b.Bind("max_distinct", "UInt32", int64(l.MaxDistinct))))
}
