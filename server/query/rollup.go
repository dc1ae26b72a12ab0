package query

import (
	"fmt"
	"time"
)

// Rollups says what the planner may read of rollups instead of rows.
type Rollups struct {
	// Complete says that service_minutes has everything since Since, with weighted durations; the zero Since is always.
	Complete bool
	Since    time.Time
}

// shortestRolledUp is the shortest window that is read from minutes although it does not begin and end with one: a shorter one is as
// quickly read from rows.
const shortestRolledUp = time.Hour

// minuteColumns are those that both halves of minutesTable have.
const minuteColumns = "ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry"

// planMinutes plans a query over the rollup of spans by service and minute; false when that cannot answer it.
func (b *builder) planMinutes(q *Spec, w Window, bucket time.Duration) (Plan, bool) {
	if !q.minutesAnswer(w, bucket) {
		return Plan{}, false
	}
	value, ok := b.minutesAggregate(q.Aggregation)
	if !ok {
		return Plan{}, false
	}
	table := b.minutesTable(w, b.filter(Traces, q.Filter))
	p := b.plan(q, w, table, "Minute", nil, b.groupKey(Traces, q.GroupBy), value, bucket)
	p.Reads = "service_minutes"
	return p, true
}

// minutesTable is the whole minutes of a window, and of the minutes that it cuts the spans inside it, as minutes of the same columns.
func (b *builder) minutesTable(w Window, filter conditions) string {
	first, last := w.Start.Truncate(time.Minute), w.End.Truncate(time.Minute)
	if first.Before(w.Start) {
		first = first.Add(time.Minute)
	}
	whole := where().with("Minute >= toDateTime("+b.bind("first", "Int64", first.Unix())+", 'UTC')",
		"Minute < toDateTime("+b.bind("last", "Int64", last.Unix())+", 'UTC')").with(filter...)
	minutes := fmt.Sprintf(`
        SELECT Minute, %s, EstimatedSpanCount, EstimatedErrorCount, EstimatedDurationNano, WeightedDurations
        FROM service_minutes
        WHERE %s`, minuteColumns, whole.join(12))
	lo, hi := b.time("first_minute", first), b.time("last_minute", last)
	cut := where().with("Timestamp >= "+b.time("start", w.Start), "Timestamp <= "+b.time("end", w.End), "(Timestamp < "+lo+" OR Timestamp >= "+hi+")").with(filter...)
	return fmt.Sprintf(`(%s
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, %s,
            sum(SampleRate) AS EstimatedSpanCount,
            sumIf(SampleRate, HasError) AS EstimatedErrorCount,
            sum(SampleRate * DurationNano) AS EstimatedDurationNano,
            quantilesTDigestWeightedState(0.5, 0.95, 0.99)(DurationNano, toUInt64(round(SampleRate * 16))) AS WeightedDurations
        FROM spans
        WHERE %s
        GROUP BY Minute, %[2]s
    )`, minutes, minuteColumns, cut.join(12))
}

// minutesAnswer reports whether the rollup holds the rows and fields of a query.
func (q *Spec) minutesAnswer(w Window, bucket time.Duration) bool {
	if q.Source != Traces || !q.Rollups.Complete || w.Start.Before(q.Rollups.Since) || bucket%time.Minute != 0 {
		return false
	}
	whole := w.Start.Equal(w.Start.Truncate(time.Minute)) && w.End.Equal(w.End.Truncate(time.Minute))
	if !whole && w.End.Sub(w.Start) < shortestRolledUp {
		return false
	}
	fields := true
	q.Filter.Matches(func(m *Match) bool {
		fields = fields && inMinutes(m.Field)
		return fields
	})
	for _, f := range q.GroupBy {
		fields = fields && inMinutes(f)
	}
	return fields
}

func inMinutes(f Field) bool {
	return RollupColumn(Traces, f) != "" || f == Field{Key: "is_entry"}
}

// minutesAggregate prints an aggregation over minutes.
func (b *builder) minutesAggregate(a Aggregation) (string, bool) {
	ofDuration := a.Value != nil && *a.Value == Field{Key: "duration"}
	switch {
	case a.Func == Count || a.Func == Rate:
		return "toFloat64(sum(EstimatedSpanCount))", true
	case a.Func == ErrorCount:
		return "toFloat64(sum(EstimatedErrorCount))", true
	case a.Func == ErrorRate:
		return "sum(EstimatedErrorCount) / sum(EstimatedSpanCount)", true
	case a.Func == Avg && ofDuration:
		return "sum(EstimatedDurationNano) / sum(EstimatedSpanCount) / 1e6", true
	case a.Func == Quantile && ofDuration:
		level := b.bind("level", "Float64", a.Level)
		return fmt.Sprintf("toFloat64(quantilesTDigestWeightedMerge(%s)(WeightedDurations)[1]) / 1e6", level), true
	default:
		return "", false
	}
}
