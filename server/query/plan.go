package query

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// PlanTimeseries gives the statement of a query over time. The Spec must be valid, and bucket must come from Buckets.
func PlanTimeseries(q *Spec, w Window, bucket time.Duration) (p Plan, err error) {
	//exhaustive:enforce
	switch q.Source {
	case Metrics:
		p, err = planMetricTimeseries(q, w, bucket)
	case Traces, Logs, ProductEvents:
		p = planRows(q, w, bucket)
	case Sessions: // only differences read them
		fallthrough
	default:
		return Plan{}, invalid("source", "must be traces, logs, metrics or product_events")
	}
	p.Timeseries = true
	return p, err
}

// PlanBreakdown gives the statement of a query over the whole window.
func PlanBreakdown(q *Spec, w Window) (Plan, error) {
	//exhaustive:enforce
	switch q.Source {
	case Metrics:
		return planMetricBreakdown(q, w)
	case Traces, Logs, ProductEvents:
		return planRows(q, w, 0), nil
	case Sessions: // only differences read them
		fallthrough
	default:
		return Plan{}, invalid("source", "must be traces, logs, metrics or product_events")
	}
}

func seriesLimit(q *Spec) int { return orDefault(q.SeriesLimit, limits.DefaultSeries) }

func groupLimit(q *Spec) int { return orDefault(q.Limit, limits.DefaultBreakdownRows) }

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// bucketSQL is the start of the bucket that contains a time.
func (b planner) bucketSQL(column string, w Window, bucket time.Duration) string {
	b.bindBucket(w, bucket)
	return b.bucketOf(column)
}

// bucketOf is bucketSQL for further uses: it needs bucketSQL to have bound the bucket.
func (planner) bucketOf(column string) string {
	return fmt.Sprintf("toDateTime(%s, 'UTC')", secondsOfBucket(column))
}

// bindBucket binds the parameters of secondsOfBucket.
func (b planner) bindBucket(w Window, bucket time.Duration) {
	b.Bind("bucket", "UInt32", int64(bucket/time.Second))
	b.Bind("last_bucket", "UInt32", lastBucket(w, bucket).Unix())
}

// secondsOfBucket is the expression for the bucket of a time, in seconds since 1970. The last bucket includes the end of the window.
func secondsOfBucket(column string) string {
	return fmt.Sprintf("least(intDiv(toUnixTimestamp(%s), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32})", column)
}
