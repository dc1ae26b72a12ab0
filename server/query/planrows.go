package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// rows describes a table to aggregations.
type rows struct {
	table string
	// time is the column of a row's time.
	time string
	// weight is the number of the sender's rows that one row stands for. It is empty if that is always one.
	weight string
	// failed is the condition that a row is an error.
	failed string
}

func rowsOf(s Source) rows {
	switch s {
	case Traces:
		return rows{table: "spans", time: "Timestamp", weight: "SampleRate", failed: "HasError"}
	case Logs:
		return rows{
			table: "logs", time: "Timestamp",
			failed: "(SeverityNumber >= 17 OR SeverityNumber = 0 AND SeverityText IN ('ERROR', 'FATAL', 'CRITICAL', 'ALERT', 'EMERGENCY'))",
		}
	default:
		return rows{table: "product_events", time: "Timestamp"}
	}
}

// count and countIf count rows by their weight.
func (r rows) count() string {
	if r.weight == "" {
		return "count()"
	}
	return "sum(" + r.weight + ")"
}

func (r rows) countIf(condition string) string {
	if r.weight == "" {
		return "countIf(" + condition + ")"
	}
	return fmt.Sprintf("sumIf(%s, %s)", r.weight, condition)
}

// weightScale keeps fractions of a weight, because quantiles take whole numbers as weights.
const weightScale = 16

// aggregate prints an aggregation over rows as a Float64, or NaN if there is no value. A rate is printed as a count: the engine
// divides it.
func (b planner) aggregate(s Source, r rows, a Aggregation) string {
	switch a.Func {
	case Count, Rate:
		return fmt.Sprintf("toFloat64(%s)", r.count())
	case ErrorCount:
		return fmt.Sprintf("toFloat64(%s)", r.countIf(r.failed))
	case ErrorRate:
		return fmt.Sprintf("%s / %s", r.countIf(r.failed), r.count())
	case Apdex:
		t := b.Bind("apdex", "Float64", float64(a.Threshold))
		return fmt.Sprintf("round((%s + %s / 2) / %s, 4)", r.countIf(fmt.Sprintf("NOT %s AND DurationNano < %s", r.failed, t)),
			r.countIf(fmt.Sprintf("NOT %s AND DurationNano >= %s AND DurationNano < 4 * %[2]s", r.failed, t)), r.count())
	case CountDistinct:
		f := b.field(s, *a.Value)
		if s == ProductEvents { // lists and funnels count in the same way
			if *a.Value == (Field{Key: "person"}) {
				return "toFloat64(uniqExactIf(Key, Key != ''))"
			}
			return fmt.Sprintf("toFloat64(uniqExactIf(%s, %s))", f.text(), f.present)
		}
		return fmt.Sprintf("toFloat64(uniqIf(%s, %s))", f.text(), f.present)
	}
	value := b.field(s, *a.Value).number()
	switch a.Func {
	case Sum:
		return "ifNull(" + r.sum(value) + ", nan)"
	case Avg:
		return fmt.Sprintf("ifNull(%s / %s, nan)", r.sum(value), r.countIf("isNotNull("+value+")"))
	case Min, Max:
		return fmt.Sprintf("ifNull(toFloat64(%sOrNull(%s)), nan)", a.Func, value)
	default:
		level := b.Bind("level", "Float64", a.Level)
		if r.weight == "" {
			return fmt.Sprintf("ifNull(toFloat64(quantileTDigest(%s)(%s)), nan)", level, value)
		}
		return fmt.Sprintf(
			"ifNull(toFloat64(quantileTDigestWeighted(%s)(%s, toUInt64(round(%s * %d)))), nan)",
			level,
			value,
			r.weight,
			weightScale,
		)
	}
}

func (r rows) sum(value string) string {
	if r.weight == "" {
		return "sumOrNull(" + value + ")"
	}
	return fmt.Sprintf("sumOrNull(%s * %s)", value, r.weight)
}

// planRows plans a query over spans, logs or product events: a timeseries if it has a bucket, otherwise a breakdown.
func planRows(q *Spec, w Window, bucket time.Duration) Plan {
	b := newPlanner()
	if p, ok := b.planRollup(q, w, bucket); ok {
		return p
	}
	b = newPlanner()
	r := rowsOf(q.Source)
	if q.identities() {
		table, c := b.identified(q, w)
		return b.plan(q, w, table, r.time, c, b.groupKey(q.Source, q.GroupBy), b.aggregate(q.Source, r, q.Aggregation), bucket)
	}
	c := sqlbuild.OfOrganization().With(r.time+" >= "+b.Time("start", w.Start), r.time+" <= "+b.Time("end", w.End))
	c = c.With(b.filter(q.Source, q.Filter)...)
	keys, without := b.grouped(q)
	c = c.With(without...)
	value := b.aggregate(q.Source, r, q.Aggregation)
	return b.plan(q, w, r.table, r.time, c, keys, value, bucket)
}

// plan combines the parts of a statement over one table.
func (b planner) plan(q *Spec, w Window, table, at string, c sqlbuild.Conditions, keys []string, value string, bucket time.Duration) Plan {
	p := Plan{Additive: q.Aggregation.Additive(), Zero: q.Aggregation.countLike(), PerSecond: q.Aggregation.Func == Rate, Reads: table}
	if bucket == 0 {
		p.SQL = b.breakdownSQL(q, w, table, c, keys, value)
	} else {
		p.SQL = b.timeseriesSQL(q, w, table, at, c, keys, value, bucket)
		if p.SeriesLimit = seriesLimit(q); len(keys) > 0 {
			p.Quick = quickSQL(table, b.bucketOf(at), c, keys, value, w.rows(bucket, p.SeriesLimit))
		}
	}
	p.Args = b.Args
	return p
}

// named prints expressions with the names Key1, Key2 …
func named(prefix string, expressions []string) (list string, names []string) {
	var items []string
	for i, e := range expressions {
		name := fmt.Sprintf("%s%d", prefix, i+1)
		items, names = append(items, e+" AS "+name), append(names, name)
	}
	return strings.Join(items, ",\n        "), names
}

func (b planner) timeseriesSQL(
	q *Spec,
	w Window,
	table, at string,
	c sqlbuild.Conditions,
	keys []string,
	value string,
	bucket time.Duration,
) string {
	start := b.bucketSQL(at, w, bucket)
	if len(keys) == 0 {
		return fmt.Sprintf(`SELECT
    %s AS Bucket,
    CAST([], 'Array(String)') AS GroupKey,
    false AS Other,
    %s AS Value
FROM %s%s
GROUP BY Bucket`, start, value, table, c.Clause(0))
	}
	// A read of its own ranks the groups. The states of a million groups in every bucket would not fit into memory.
	list, names := named("Top", keys)
	limit := b.Bind("limit", "UInt32", int64(readSeries(q)))
	ranked := fmt.Sprintf(`SELECT
        %s
    FROM %s%s
    GROUP BY %s
    ORDER BY %s DESC, %s
    LIMIT %s`, list, table, c.Clause(4), strings.Join(names, ", "), value, strings.Join(names, ", "), limit)
	if len(q.Having) > 0 || !q.Aggregation.Additive() {
		ranked = fmt.Sprintf(`SELECT
        %[1]s
    FROM
    (
        SELECT
        %[2]s,
        %[6]s AS TopBucket,
        %[3]s AS TopValue
        FROM %[4]s%[5]s
        GROUP BY %[1]s, TopBucket
    )
    GROUP BY %[1]s
    ORDER BY %[8]s DESC, %[1]s
    LIMIT %[7]s`, strings.Join(names, ", "), list, value, table, c.Clause(8), start, limit, b.rank(q, w, bucket))
	}
	var picked []string
	for _, k := range keys {
		picked = append(picked, fmt.Sprintf("if(Ranked, %s, '')", k))
	}
	keyList, keyNames := named("Key", picked)
	return fmt.Sprintf(`WITH (%[1]s) GLOBAL IN (
    %[2]s
) AS Ranked
SELECT
    Bucket,
    [%[3]s] AS GroupKey,
    Other,
    Value
FROM
(
    SELECT
        %[4]s AS Bucket,
        %[5]s,
        NOT Ranked AS Other,
        %[6]s AS Value
    FROM %[7]s%[8]s
    GROUP BY Bucket, %[9]s, Other
)`, strings.Join(keys, ", "), ranked, textArray(keyNames), start, keyList, value, table, c.Clause(4), strings.Join(keyNames, ", "))
}

// rank prints the order of groups, over TopBucket and TopValue of each bucket. Groups with a bucket that passes the conditions
// come first. Within these and the others, the sum of the passing values decides, or their maximum if values do not add up.
func (b planner) rank(q *Spec, w Window, bucket time.Duration) string {
	if len(q.Having) == 0 {
		return "maxIf(TopValue, isFinite(TopValue))"
	}
	value := "TopValue"
	if q.Aggregation.Func == Rate {
		// The engine divides the totals of a rate by the same seconds.
		value = "TopValue / " + coveredSeconds(b, w, "toUnixTimestamp(TopBucket)")
	}
	condition := "isFinite(TopValue) AND " + b.having(q, value)
	function := "maxIf"
	if q.Aggregation.Additive() {
		function = "sumIf"
	}
	return fmt.Sprintf("%s DESC, %s(TopValue, %s)", q.passing(w, bucket, condition, q.Aggregation.countLike()), function, condition)
}

// coveredSeconds is the expression for the seconds of a bucket that are in the window. A rate is over these seconds. They are the
// difference of whole nanoseconds: seconds since 1970 as floats are a quarter of a microsecond apart.
func coveredSeconds(b planner, w Window, bucket string) string {
	return fmt.Sprintf(
		"(greatest(least((toInt64(%[1]s) + {bucket:UInt32}) * 1000000000, %[2]s) - greatest(toInt64(%[1]s) * 1000000000, %[3]s), 1) / 1e9)",
		bucket,
		b.Bind("covered_end", "Int64", w.End.UnixNano()),
		b.Bind("covered_start", "Int64", w.Start.UnixNano()),
	)
}

// rows is the highest number of rows in a timeseries with this many groups.
func (w Window) rows(bucket time.Duration, groups int) int {
	return (int(w.Length()/bucket) + 2) * (groups + 1)
}

// quickSQL groups without ranking the groups first. The engine stops it if there are too many.
func quickSQL(table, start string, c sqlbuild.Conditions, keys []string, value string, most int) string {
	list, names := named("Key", keys)
	return fmt.Sprintf(`SELECT
    Bucket,
    [%s] AS GroupKey,
    false AS Other,
    Value
FROM
(
    SELECT
        %s AS Bucket,
        %s,
        %s AS Value
    FROM %s%s
    GROUP BY Bucket, %s
)
SETTINGS max_rows_to_group_by = %d, group_by_overflow_mode = 'throw'`, textArray(names), start, list, value, table, c.Clause(4), strings.Join(names, ", "), most)
}

func textArray(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, "toString("+n+")")
	}
	return strings.Join(out, ", ")
}

func (b planner) breakdownSQL(q *Spec, w Window, table string, c sqlbuild.Conditions, keys []string, value string) string {
	list, names := named("Key", keys)
	group, order := "", "Value "+direction(q.Order)
	groupKey := "CAST([], 'Array(String)')"
	if len(keys) > 0 {
		list += ",\n        "
		group = "\n    GROUP BY " + strings.Join(names, ", ")
		groupKey = "[" + textArray(names) + "]"
		var ordered []string
		for _, n := range names {
			ordered = append(ordered, n+" "+direction(Order{Ascending: q.Order.Ascending || !q.Order.ByGroup}))
		}
		if q.Order.ByGroup {
			order = strings.Join(ordered, ", ")
		} else {
			order += ", " + strings.Join(ordered, ", ")
		}
	}
	having := ""
	if len(q.Having) > 0 {
		of := "Value"
		if q.Aggregation.Func == Rate {
			of = "Value / " + b.Bind("having_seconds", "Float64", w.Length().Seconds())
		}
		having = "\nWHERE " + b.having(q, of)
	}
	return fmt.Sprintf(`SELECT
    %s AS GroupKey,
    Value,
    sum(Value) OVER () AS Total,
    count() OVER () AS Groups
FROM
(
    SELECT
        %s%s AS Value
    FROM %s%s%s
)%s
ORDER BY %s
LIMIT %s`, groupKey, list, value, table, c.Clause(4), group, having, order, b.Bind("limit", "UInt32", int64(groupLimit(q))))
}

func direction(o Order) string {
	if o.Ascending {
		return "ASC"
	}
	return "DESC"
}
