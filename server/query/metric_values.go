package query

import "fmt"

// values reads the points of a gauge or a sum as they were sent.
func (r *metricRead) values() metricMeasure {
	m := metricMeasure{}
	var aggregates string
	switch r.q.Aggregation.Func {
	case Avg:
		aggregates, m.value = "sum(Value) AS Sums, count() AS Points", []string{"Sums / Points AS Value"}
		m.columns = []metricColumn{{"Sums", "sum(%s)"}, {"Points", "sum(%s)"}}
	case Sum:
		aggregates, m.value = "sum(Value) AS Sums", []string{"Sums AS Value"}
		m.columns, m.additive = []metricColumn{{"Sums", "sum(%s)"}}, true
	case Count:
		aggregates, m.value = "count() AS Points", []string{"toFloat64(Points) AS Value"}
		m.columns, m.additive = []metricColumn{{"Points", "sum(%s)"}}, true
	case Min:
		aggregates, m.value = "min(Value) AS Least", []string{"Least AS Value"}
		m.columns = []metricColumn{{"Least", "min(%s)"}}
	case Max:
		aggregates, m.value = "max(Value) AS Most", []string{"Most AS Value"}
		m.columns = []metricColumn{{"Most", "max(%s)"}}
	default:
		level := r.level()
		aggregates, m.value = "quantileExactInclusiveState("+level+")(Value) AS Points", []string{"finalizeAggregation(Points) AS Value"}
		m.columns = []metricColumn{{"Points", "quantileExactInclusiveMergeState(" + level + ")(%s)"}}
	}
	m.rows = fmt.Sprintf(`SELECT %s AS Bucket, %s%s
FROM %s
WHERE %s
GROUP BY %s`, r.bucketOf("Timestamp"), r.selectKeys(""), aggregates, r.table(), r.ofOrganization(r.w.Start, "isFinite(Value)").Join(4), r.labels("Bucket"))
	return m
}

// level is the requested quantile. It is safe in SQL because it is a parsed number.
func (r *metricRead) level() string { return fmt.Sprint(r.q.Aggregation.Level) }
