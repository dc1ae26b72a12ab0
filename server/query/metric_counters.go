package query

import (
	"fmt"
	"strings"
)

// increase is by how much sums grew. The points of a cumulative series are compared with the ones before them; see epochs.
func (r *metricRead) increase() metricMeasure {
	value := "Grown AS Value"
	if r.q.Aggregation.Func == Rate {
		value = fmt.Sprintf("Grown / %v AS Value", r.seconds())
	}
	rows := fmt.Sprintf(`SELECT %[2]s AS Bucket, %[1]ssum(Step.2) AS Grown
FROM
(
SELECT %[1]sarrayJoin(arrayMap((p, b) -> (p.1, if(p.2 >= b.2, p.2 - b.2, p.2)), Points, Before)) AS Step
FROM
(
%[3]s
)
)
WHERE Step.1 >= %[4]s
GROUP BY %[5]s`, listed(r.labels()), r.bucketOf("Step.1"), r.epochs(epochPoint{columns: []string{"Value"}, zeros: "0.", where: []string{"isFinite(Value)", "IsMonotonic"}}), r.start(), r.labels("Bucket"))
	return metricMeasure{rows: rows, columns: []metricColumn{{"Grown", "sum(%s)"}}, value: []string{value}, additive: true}
}

// epochPoint is what epochs reads of a point: columns, what they are when a count begins, columns by which a series is cut in
// addition, and conditions.
type epochPoint struct {
	columns []string
	zeros   string
	keys    []string
	where   []string
}

// epochs is a SELECT of one row for each time that a series began to count: its Points in order of time, tuples of the time and the
// given columns, and beside each of them what it is compared with, Before.
//
// A series begins anew with each StartTimestamp, so points of two senders that were given the same attributes are not mixed up. The
// point before the first one is the beginning of the epoch, where everything was zero, if that lies in what is read. Otherwise
// the first point is all that is known, and it is compared with itself: nothing grew. So it is with a point that is its own
// beginning, by which OTLP says that the beginning is not known. Points of delta temporality are compared with zero. What remains to
// the caller is a point that is less than the one before: there the count began again at zero.
func (r *metricRead) epochs(p epochPoint) string {
	delta := "AggregationTemporality = 'Delta'"
	if r.q.Metric.Type == summaryMetric {
		delta = "false"
	}
	from := r.w.Start.Add(-MetricLookback)
	where := r.where(from, p.where...).Join(4)
	keys := listed(strings.Join(p.keys, ", "))
	// Names are given in a SELECT of their own before they are used: the engine takes long over an expression that is copied into others.
	return fmt.Sprintf(`SELECT %[1]s%[2]sPoints,
    if(Delta, arrayMap(p -> (Epoch, %[3]s), Points), arrayPushFront(arrayPopBack(Points), if(Epoch >= %[4]s AND Epoch < Points[1].1, (Epoch, %[3]s), Points[1]))) AS Before
FROM
(
SELECT %[5]s%[6]s AS Delta, if(%[6]s, toDateTime64(0, 9, 'UTC'), StartTimestamp) AS Epoch, %[2]sarraySort(groupArray((Timestamp, %[7]s))) AS Points
FROM %[8]s
WHERE %[9]s
GROUP BY %[10]s
)`, listed(r.labels()), keys, p.zeros, "fromUnixTimestamp64Nano({from:Int64}, 'UTC')", r.selectKeys("any"), delta, strings.Join(p.columns, ", "),
		r.table(), where, strings.Join(append([]string{"SeriesHash", "Delta", "Epoch"}, p.keys...), ", "))
}

// start is the window's start, for rows read from an earlier time on.
func (r *metricRead) start() string { return r.b.Time("start", r.w.Start) }

// listed is a list with more to follow.
func listed(columns string) string {
	if columns == "" {
		return ""
	}
	return columns + ", "
}
