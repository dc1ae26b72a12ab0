package query

import (
	"fmt"
	"strings"
)

// increase is the amount by which sums grew. Each point of a cumulative series is compared with the point before it; see epochs.
func (r *metricRead) increase() metricMeasure {
	value := "Grown AS Value"
	if r.q.Aggregation.Func == Rate {
		value = fmt.Sprintf("Grown / %s AS Value", r.covered())
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

// epochPoint has the parts of a point that epochs reads: its columns, their values when a count begins, the columns that divide a series
// further, and conditions.
type epochPoint struct {
	columns []string
	zeros   string
	keys    []string
	where   []string
}

// epochs is a SELECT with one row for each time that a series began to count. Points holds the points in order of time, as tuples
// of the time and the given columns. Before holds, for each point, the point to compare it with.
//
// A series begins anew with each StartTimestamp. Points of two senders that use the same attributes are therefore not mixed. The
// first point is compared with the beginning of the epoch, where everything was zero, if the read covers that beginning.
// Otherwise nothing is known before the first point, and it is compared with itself: nothing grew. The same holds for a point
// that is its own beginning, by which OTLP says that the beginning is not known. Points of delta temporality are compared with
// zero. One case is left to the caller: a point may be less than the one before it. There the count began again at zero.
func (r *metricRead) epochs(p epochPoint) string {
	delta := "AggregationTemporality = 'Delta'"
	if r.q.Metric.Type == SummaryMetric {
		delta = "false"
	}
	from := r.w.Start.Add(-MetricLookback)
	where := r.ofOrganization(from, p.where...).Join(4)
	keys := listed(strings.Join(p.keys, ", "))
	// A SELECT of its own names the columns before they are used, because the engine is slow with an expression that is copied
	// into others.
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

// start is the window's start. It is needed because rows are read from an earlier time on.
func (r *metricRead) start() string { return r.b.Time("start", r.w.Start) }

// listed ends a list so that more columns can follow.
func listed(columns string) string {
	if columns == "" {
		return ""
	}
	return columns + ", "
}
