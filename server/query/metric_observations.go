package query

import (
	"fmt"
	"strings"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

const noSum = "CAST(NULL AS Nullable(Float64))"

// observations is the number and the sum of the observations of histograms and summaries. Senders may count to 2^64, so counts
// become floating point before they are added. Sums of integers could overflow and come out negative.
func (r *metricRead) observations() metricMeasure {
	point := epochPoint{columns: []string{"Count", "CAST(Sum AS Nullable(Float64))"}, zeros: "toUInt64(0), CAST(0 AS Nullable(Float64))"}
	rows := fmt.Sprintf(`SELECT %[2]s AS Bucket, %[1]ssum(Step.2) AS Observations, sum(Step.3) AS Total, sumIf(Step.2, isNotNull(Step.3)) AS Summed
FROM
(
SELECT %[1]sarrayJoin(arrayMap((p, b) -> if(p.2 >= b.2, (p.1, toFloat64(toUInt64(p.2 - b.2)), p.3 - b.3), (p.1, toFloat64(p.2), p.3 - 0)), Points, Before)) AS Step
FROM
(
%[3]s
)
)
WHERE Step.1 >= %[4]s
GROUP BY %[5]s`, listed(r.labels()), r.bucketOf("Step.1"), r.epochs(point), r.start(), r.labels("Bucket"))
	m := metricMeasure{rows: rows, columns: []metricColumn{{"Observations", "sum(%s)"}, {"Total", "sum(%s)"}, {"Summed", "sum(%s)"}}}
	switch r.q.Aggregation.Func {
	case Count:
		m.value, m.additive = []string{"Observations AS Value"}, true
	case Sum:
		m.value, m.additive = []string{"Total AS Value"}, true
	default:
		m.value = []string{"if(Summed > 0, Total / Summed, NULL) AS Value"}
	}
	return m
}

// summaries reads the values that senders of summaries computed. A quantile is the mean of the sent quantiles.
func (r *metricRead) summaries() metricMeasure {
	level, value := "0.", "Least AS Value"
	switch r.q.Aggregation.Func {
	case Min:
	case Max:
		level, value = "1.", "Most AS Value"
	default:
		level, value = r.level(), "Total / Points AS Value"
	}
	rows := fmt.Sprintf(`SELECT %[1]s AS Bucket, %[2]ssum(QuantilesValue[indexOf(QuantilesQuantile, %[3]s)] AS Sent) AS Total, count() AS Points, min(Sent) AS Least, max(Sent) AS Most
FROM %[4]s
WHERE %[5]s
GROUP BY %[6]s`, r.bucketOf("Timestamp"), r.selectKeys(""), level, r.table(),
		r.ofOrganization(
			r.w.Start,
			fmt.Sprintf("isFinite(if(has(QuantilesQuantile, %[1]s), QuantilesValue[indexOf(QuantilesQuantile, %[1]s)], nan))", level),
		).Join(4), r.labels("Bucket"))
	return metricMeasure{
		rows: rows, columns: []metricColumn{
			{"Total", "sum(%s)"},
			{"Points", "sum(%s)"},
			{"Least", "min(%s)"},
			{"Most", "max(%s)"},
		}, value: []string{value},
		warnings: []string{"Quantiles of a summary are computed by its sender and cannot be merged: the value is the mean of what was sent."},
	}
}

// histogram is the distribution of explicit histograms: the counts between two bounds, keyed by the pair of bounds.
//
// A point without buckets counts as one bucket, from its least to its largest observation. A point of no observations, as after a
// reset, has no extremes and is left out: it says nothing about those of its neighbors.
func (r *metricRead) histogram() metricMeasure {
	point := epochPoint{
		columns: []string{"Count", "if(empty(BucketCounts), [Count], BucketCounts)", "Min", "Max"},
		zeros:   "toUInt64(0), emptyArrayUInt64(), " + noSum + ", " + noSum,
		keys:    []string{"ExplicitBounds"},
		where:   []string{"(notEmpty(ExplicitBounds) OR isNotNull(Min) AND isNotNull(Max))"},
	}
	rows := fmt.Sprintf(`SELECT Bucket, %[1]ssumMap(Cells, Counts) AS Buckets, min(Floor) AS Low, max(Ceiling) AS High
FROM
(
SELECT %[2]s AS Bucket, %[1]sarrayZip(arrayPushFront(ExplicitBounds, -inf), arrayPushBack(ExplicitBounds, inf)) AS Cells, sumForEach(Step.3) AS Counts,
    min(ifNull(Step.4, -inf)) AS Floor, max(ifNull(Step.5, inf)) AS Ceiling
FROM
(
SELECT %[1]sExplicitBounds, arrayJoin(arrayMap((p, b) -> (p.1, p.2 != b.2 AND p.2 > 0,
        arrayMap((x, y) -> toFloat64(x) - toFloat64(y), p.3, arrayResize(if(p.2 >= b.2, b.3, emptyArrayUInt64()), length(p.3))), p.4, p.5), Points, Before)) AS Step
FROM
(
%[3]s
)
)
WHERE Step.2 AND Step.1 >= %[4]s
GROUP BY %[5]s
)
GROUP BY %[6]s`, listed(r.labels()), r.bucketOf("Step.1"), r.epochs(point), r.start(), r.labels("Bucket", "ExplicitBounds"), r.labels("Bucket"))
	values := r.distribution()
	if r.q.Aggregation.Func == Max { // only the lower bound of the last bucket is known
		values = []string{"if(empty(Sizes) OR NOT isFinite(High) AND has(tupleElement(Filled, 2), inf), NULL, arrayMax(Highs)) AS Value"}
	}
	return metricMeasure{rows: rows, columns: bucketColumns("Low", "High"), value: append([]string{
		"arrayFilter((k, c) -> c > 0, Buckets.1, Buckets.2) AS Filled, arrayFilter(c -> c > 0, Buckets.2) AS Sizes",
		// The outermost buckets have only one bound. The least and the largest observation bound them, or else zero bounds the
		// first one.
		"arrayMap(k -> if(isFinite(k.1), k.1, if(isFinite(Low), least(Low, k.2), if(k.2 > 0 AND isFinite(k.2), 0., k.2))), Filled) AS Opened",
		"arrayMap((k, l) -> if(isFinite(k.2), k.2, if(isFinite(High), greatest(High, k.1), l)), Filled, Opened) AS Closed",
		"arrayMap((l, h) -> if(Low > l AND Low <= h, Low, l), Opened, Closed) AS Lows",
		"arrayMap((l, h) -> if(High < h AND High >= l, High, h), Lows, Closed) AS Highs",
	}, values...)}
}

// UnsentExtremeRow is the row of UnsentExtremes.
type UnsentExtremeRow struct {
	Points uint64 `ch:"Points"`
	Unsent uint64 `ch:"Unsent"`
}

// UnsentExtremes gives one UnsentExtremeRow: the number of points of a histogram in a window, and the number of those sent
// without the largest observation. If the query asks for the smallest, it counts points without the smallest one.
func UnsentExtremes(q *Spec, w Window) sqlbuild.Statement {
	r := &metricRead{b: newPlanner(), q: q, w: w}
	column := "Max"
	if q.Aggregation.Func == Min {
		column = "Min"
	}
	return r.b.Statement(fmt.Sprintf(`SELECT count() AS Points, countIf(isNull(%s)) AS Unsent
FROM %s
WHERE %s`, column, r.table(), r.ofOrganization(w.Start, "Count > 0").Join(4)))
}

// distribution looks for a value in counts between Lows and Highs. It spreads each count evenly between its bounds. Buckets of
// several layouts may overlap.
func (r *metricRead) distribution() []string {
	switch r.q.Aggregation.Func {
	case Min:
		return []string{"if(empty(Sizes), NULL, arrayMin(Lows)) AS Value"}
	case Max:
		return []string{"if(empty(Sizes), NULL, arrayMax(Highs)) AS Value"}
	default:
	}
	return []string{
		"arraySort(arrayDistinct(arrayConcat(Lows, Highs))) AS Edges",
		// Count the observations below each edge, and up to each edge.
		"arrayMap(e -> arraySum((l, h, c) -> if(h > l, c * least(greatest((e - l) / (h - l), 0), 1), if(e > h, c, 0.)), Lows, Highs, Sizes), " +
			"Edges) AS Below",
		"arrayMap(e -> arraySum((l, h, c) -> if(h > l, c * least(greatest((e - l) / (h - l), 0), 1), if(e >= h, c, 0.)), Lows, Highs, Sizes), " +
			"Edges) AS UpTo",
		"arraySum(Sizes) * " + r.level() + " AS Wanted",
		"arrayFirstIndex(n -> n >= Wanted * (1 - 1e-12), UpTo) AS At",
		`multiIf(empty(Sizes), NULL, At <= 1 OR Below[At] <= Wanted, Edges[At],
        Edges[At - 1] + (Edges[At] - Edges[At - 1]) * (Wanted - UpTo[At - 1]) / (Below[At] - UpTo[At - 1])) AS Value`,
	}
}

func bucketColumns(extremes ...string) []metricColumn {
	columns := []metricColumn{{"Buckets", "sumMap(tupleElement(%[1]s, 1), tupleElement(%[1]s, 2))"}}
	for _, name := range extremes {
		merge := "max(%s)"
		if name == "Low" {
			merge = "min(%s)"
		}
		columns = append(columns, metricColumn{name, merge})
	}
	return columns
}

// exponential is the distribution of exponential histograms, keyed by the scale and the code of a bucket. The code is zero for
// the bucket around zero. For a positive bucket it is the bucket's index plus codeOffset, and for a negative bucket the negative
// of that.
//
// Differences between points do not need equal scales. The earlier point counts negatively at its own scale. The difference
// results when all counts are brought to the coarsest scale.
func (r *metricRead) exponential() metricMeasure {
	point := epochPoint{
		columns: strings.Fields("Count Scale ZeroCount ZeroThreshold PositiveOffset PositiveBucketCounts NegativeOffset NegativeBucketCounts Min Max"),
		zeros: "toUInt64(0), toInt32(0), toUInt64(0), 0., toInt32(0), emptyArrayUInt64(), toInt32(0), emptyArrayUInt64(), " +
			noSum + ", " + noSum,
	}
	cells := func(p, sign string) string {
		return fmt.Sprintf(`arrayMap((c, i) -> (%[1]s.3, toInt64(%[1]s.6) + i - 1 + %[3]s, %[2]stoFloat64(c)), %[1]s.7, arrayEnumerate(%[1]s.7)),
        arrayMap((c, i) -> (%[1]s.3, -(toInt64(%[1]s.8) + i - 1 + %[3]s), %[2]stoFloat64(c)), %[1]s.9, arrayEnumerate(%[1]s.9)),
        [(%[1]s.3, toInt64(0), %[2]stoFloat64(%[1]s.4))]`, p, sign, codeOffset)
	}
	rows := fmt.Sprintf(`SELECT Bucket, %[1]s(groupArray(Cell), groupArray(Size)) AS Buckets, min(Floor) AS Low, max(Ceiling) AS High, max(Threshold) AS Zero
FROM
(
SELECT Bucket, %[1]s(Part.1, Part.2) AS Cell, sum(Part.3) AS Size, min(Least) AS Floor, max(Most) AS Ceiling, max(Width) AS Threshold
FROM
(
SELECT %[1]s%[2]s AS Bucket, ifNull(P.10, -inf) AS Least, ifNull(P.11, inf) AS Most, P.5 AS Width,
    arrayConcat(
        %[3]s,
        if(P.2 >= B.2, arrayConcat(
        %[4]s), [])) AS Cells
FROM
(
SELECT %[1]sP, B
FROM
(
%[5]s
)
ARRAY JOIN Points AS P, Before AS B
)
WHERE P.2 != B.2 AND P.2 > 0 AND P.1 >= %[6]s
)
ARRAY JOIN Cells AS Part
GROUP BY %[7]s
HAVING Size != 0
)
GROUP BY %[8]s`, listed(r.labels()), r.bucketOf("P.1"), cells("P", ""), cells("B", "-"), r.epochs(point), r.start(), r.labels("Bucket", "Cell"), r.labels("Bucket"))
	value := []string{
		"arrayMin(tupleElement(Buckets.1, 1)) AS Coarsest",
		fmt.Sprintf(`arrayReduce('sumMap', [arrayMap(k -> sign(k.2) * (toInt64(floor((abs(k.2) - %[1]s) / exp2(k.1 - Coarsest))) + %[1]s) * (k.2 != 0), Buckets.1)], [Buckets.2]) AS Scaled`, codeOffset),
		"arrayFilter((k, c) -> c > 0, Scaled.1, Scaled.2) AS Codes",
		"arrayFilter(c -> c > 0, Scaled.2) AS Sizes",
		fmt.Sprintf("arrayMap(k -> exp2((abs(k) - %[1]s) * exp2(-Coarsest)), Codes) AS Nearer", codeOffset),
		fmt.Sprintf("arrayMap(k -> least(exp2((abs(k) - %[1]s + 1) * exp2(-Coarsest)), 1.7976931348623157e308), Codes) AS Farther", codeOffset),
		"arrayMap((k, n, f) -> multiIf(k > 0, n, k < 0, -f, Codes[1] < 0, -Zero, 0.), Codes, Nearer, Farther) AS Opened",
		"arrayMap((k, n, f) -> multiIf(k > 0, f, k < 0, -n, Zero), Codes, Nearer, Farther) AS Closed",
		"arrayMap((l, h) -> if(Low > l AND Low <= h, Low, l), Opened, Closed) AS Lows",
		"arrayMap((l, h) -> if(High < h AND High >= l, High, h), Lows, Closed) AS Highs",
	}
	if r.q.Aggregation.Func == Quantile {
		value = append(value,
			"arrayCumSum(Sizes) AS UpTo",
			"arraySum(Sizes) * "+r.level()+" AS Wanted",
			"arrayFirstIndex(n -> n >= Wanted * (1 - 1e-12), UpTo) AS At",
			"(Wanted - if(At > 1, UpTo[At - 1], 0.)) / Sizes[At] AS Share",
			"Lows[At] AS L", "Highs[At] AS H",
			"multiIf(empty(Sizes), NULL, L > 0, L * pow(H / L, Share), H < 0, L * pow(H / L, Share), L + (H - L) * Share) AS Value")
	} else {
		value = append(value, r.distribution()...)
	}
	return metricMeasure{rows: rows, columns: append(bucketColumns("Low", "High"), metricColumn{"Zero", "max(%s)"}), value: value}
}

const codeOffset = "8589934592"
