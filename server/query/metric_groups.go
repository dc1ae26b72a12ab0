package query

import (
	"fmt"
	"strings"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// metricMeasure says how a value is computed from the points of a metric.
type metricMeasure struct {
	// rows is a SELECT with one row for each Bucket and group. It has the columns.
	rows string
	// columns are the parts of which a value is made.
	columns []metricColumn
	// value is a chain of SELECT lists over the columns. Each list sees the names of the lists before it. The last one names
	// Value, which is null or not finite if there is no value.
	value []string
	// additive says that the values of groups can be summed.
	additive bool
	warnings []string
}

// metricColumn is a column with the aggregate function that merges it over several groups. %[1]s stands for the column.
type metricColumn struct{ name, merge string }

// valued adds Value to rows that have the columns.
func (m *metricMeasure) valued(rows string) string {
	for _, list := range m.value {
		rows = fmt.Sprintf("SELECT *, %s\nFROM\n(\n%s\n)", list, rows)
	}
	return rows
}

const someValue = "isFinite(ifNull(Value, nan))"

// having keeps the rows that meet conditions. It uses a SELECT of its own, because beside the final names Value would mean the
// column without nulls.
func having(rows string, c sqlbuild.Conditions) string {
	return fmt.Sprintf("SELECT *\nFROM\n(\n%s\n)\nWHERE %s", rows, c.Join(4))
}

func (r *metricRead) timeseries(m metricMeasure) string {
	if len(r.keys) == 0 {
		return fmt.Sprintf(
			`SELECT toDateTime(Bucket, 'UTC') AS Bucket, CAST([], 'Array(String)') AS GroupKey, false AS Other, assumeNotNull(Value) AS Value
FROM
(
%s
)`,
			having(m.valued(m.rows), sqlbuild.Conditions{someValue}),
		)
	}
	limit := r.b.Bind("limit", "UInt32", int64(readSeries(r.q)))
	var shown, columns, merged []string
	for i := range r.keys {
		shown = append(shown, fmt.Sprintf("if(Other, '', toString(Label%[1]d)) AS Shown%[1]d", i+1))
	}
	for i, c := range m.columns {
		columns = append(columns, c.name)
		merged = append(merged, fmt.Sprintf(c.merge, fmt.Sprintf("tupleElement(Part, %d)", i+2))+" AS "+c.name)
	}
	rank := "max"
	if m.additive {
		rank = "sum"
	}
	best, passes, first, held := "isFinite(ifNull(Value, nan))", "", "", "isNotNull(Best)"
	if len(r.q.Having) > 0 {
		condition := r.b.having(r.q, "Value")
		best += " AND " + condition
		passes = fmt.Sprintf(", %s AS Passes", r.q.passing(r.w, r.bucket, condition, r.q.Aggregation.countLike()))
		first, held = "Passes DESC, ", "countIf(isFinite(ifNull(Value, nan))) > 0"
	}
	// The groups are ranked by their values, and the groups beyond the limit are merged. The merge uses the parts of which values
	// are made. For quantiles these are more than the values.
	ranked := fmt.Sprintf(`SELECT %[1]s, Parts, row_number() OVER (ORDER BY %[8]sBest DESC, %[1]s) > %[2]s AS Other
FROM
(
SELECT %[1]s, groupArray((Bucket, %[3]s)) AS Parts, %[4]s(if(%[6]s, Value, NULL)) AS Best%[7]s
FROM
(
%[5]s
)
GROUP BY %[1]s
HAVING %[9]s
)`, r.labels(), limit, strings.Join(columns, ", "), rank, m.valued(m.rows), best, passes, first, held)
	merging := fmt.Sprintf(`SELECT tupleElement(Part, 1) AS Bucket, Other, %s,
    %s
FROM
(
%s
)
ARRAY JOIN Parts AS Part
GROUP BY Bucket, Other, %s`, strings.Join(shown, ", "), strings.Join(merged, ",\n    "), ranked, strings.Join(numbered("Shown", len(r.keys)), ", "))
	return fmt.Sprintf(`SELECT toDateTime(Bucket, 'UTC') AS Bucket, [%s] AS GroupKey, Other, assumeNotNull(Value) AS Value
FROM
(
%s
)`, strings.Join(numbered("Shown", len(r.keys)), ", "), having(m.valued(merging), sqlbuild.Conditions{someValue}))
}

func (r *metricRead) breakdown(m metricMeasure) string {
	group, order := "CAST([], 'Array(String)')", []string{"Value " + direction(r.q.Order)}
	if len(r.keys) > 0 {
		group = "[" + textArray(numbered("Label", len(r.keys))) + "]"
		var ordered []string
		for _, name := range numbered("Label", len(r.keys)) {
			ordered = append(ordered, name+" "+direction(Order{Ascending: r.q.Order.Ascending || !r.q.Order.ByGroup}))
		}
		if r.q.Order.ByGroup {
			order = nil
		}
		order = append(order, ordered...)
	}
	c := sqlbuild.Conditions{someValue}
	if len(r.q.Having) > 0 {
		c.Add("%s", r.b.having(r.q, "Value"))
	}
	return fmt.Sprintf(
		`SELECT %s AS GroupKey, assumeNotNull(Value) AS Value, sum(assumeNotNull(Value)) OVER () AS Total, count() OVER () AS Groups
FROM
(
%s
)
ORDER BY %s
LIMIT %s`,
		group,
		having(m.valued(m.rows), c),
		strings.Join(order, ", "),
		r.b.Bind("limit", "UInt32", int64(groupLimit(r.q))),
	)
}
