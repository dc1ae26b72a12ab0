package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// These are the types of metrics. Each type has its own table.
const (
	GaugeMetric       = "gauge"
	SumMetric         = "sum"
	HistogramMetric   = "histogram"
	ExponentialMetric = "exponential_histogram"
	SummaryMetric     = "summary"
)

// MetricTypes lists the types that a metric can have.
func MetricTypes() []string {
	return []string{SumMetric, GaugeMetric, HistogramMetric, ExponentialMetric, SummaryMetric}
}

// MetricLookback is how long before a window a read searches for the previous point of a cumulative series. The first point in
// the window is compared with it.
const MetricLookback = limits.MetricLookback

// NoRecordedValue excludes points that only mark a gap.
const NoRecordedValue = "bitAnd(Flags, 1) = 0"

// metricRead is the part of a statement that all types of metrics share.
type metricRead struct {
	b planner
	q *Spec
	w Window
	// bucket is zero for a single bucket, which is the window.
	bucket time.Duration
	// keys are the expressions of the group. label names the columns that hold them.
	keys []string
	// without excludes groups.
	without sqlbuild.Conditions
}

func planMetricTimeseries(q *Spec, w Window, bucket time.Duration) (Plan, error) {
	return planMetric(q, w, bucket)
}

func planMetricBreakdown(q *Spec, w Window) (Plan, error) { return planMetric(q, w, 0) }

func planMetric(q *Spec, w Window, bucket time.Duration) (Plan, error) {
	r := &metricRead{b: newPlanner(), q: q, w: w, bucket: bucket}
	if bucket > 0 {
		r.b.bindBucket(w, bucket)
	}
	r.keys, r.without = r.b.grouped(q)
	m, err := r.measure()
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Additive: m.additive, Zero: q.Aggregation.countLike(), Reads: r.table(), Warnings: m.warnings}
	if bucket > 0 {
		p.SQL = r.timeseries(m)
	} else {
		p.SQL = r.breakdown(m)
	}
	p.Args = r.b.Args
	return p, nil
}

// measure picks the computation for the type of the metric and the aggregation.
func (r *metricRead) measure() (metricMeasure, error) {
	f := r.q.Aggregation.Func
	if !slices.Contains(MetricTypes(), r.q.Metric.Type) {
		return metricMeasure{}, invalid("metric.type", "must be %s, not %q", strings.Join(MetricTypes(), ", "), r.q.Metric.Type)
	}
	if (f == Rate || f == Increase) && r.q.Metric.Type != SumMetric {
		return metricMeasure{}, invalid("aggregation", "%s needs a sum that only grows, and this metric has the type %s", f, r.q.Metric.Type)
	}
	switch f {
	case Rate, Increase:
		return r.increase(), nil
	case Avg, Sum, Count, Min, Max:
	case Quantile:
		if l := r.q.Aggregation.Level; !(l >= 0 && l <= 1) {
			return metricMeasure{}, invalid("aggregation", "is a quantile that is not between 0 and 1")
		}
	default:
		return metricMeasure{}, invalid("aggregation", "must be one of %s, not %q", strings.Join(Aggregations(Metrics), ", "), f)
	}
	switch t := r.q.Metric.Type; {
	case t == GaugeMetric || t == SumMetric:
		return r.values(), nil
	case f == Avg || f == Sum || f == Count:
		return r.observations(), nil
	case t == HistogramMetric:
		return r.histogram(), nil
	case t == ExponentialMetric:
		return r.exponential(), nil
	default:
		return r.summaries(), nil
	}
}

func (r *metricRead) table() string { return "metrics_" + r.q.Metric.Type }

// ofOrganization returns the conditions on the rows of the table from a time on, that of the organization among them.
func (r *metricRead) ofOrganization(from time.Time, more ...string) sqlbuild.Conditions {
	return sqlbuild.OfOrganization().With("MetricName = "+r.b.Bind("metric_name", "String", r.q.Metric.Name),
		"Timestamp >= "+r.b.Time("from", from),
		"Timestamp <= "+r.b.Time("end", r.w.End), NoRecordedValue).With(more...).With(r.b.filter(Metrics, r.q.Filter)...).With(r.without...)
}

// bucketOf is the expression for the bucket of a time, in seconds.
func (r *metricRead) bucketOf(at string) string {
	if r.bucket == 0 {
		return "toUInt32(0)"
	}
	return fmt.Sprintf("toUInt32(%s)", secondsOfBucket(at))
}

// selectKeys begins a SELECT: it prints the keys of the group, each in a function and under the name of its column.
func (r *metricRead) selectKeys(function string) string {
	var b strings.Builder
	for i, k := range r.keys {
		fmt.Fprintf(&b, "%s(%s) AS Label%d, ", function, k, i+1)
	}
	return b.String()
}

// labels prints the columns of the group after other columns.
func (r *metricRead) labels(before ...string) string {
	return strings.Join(append(before, numbered("Label", len(r.keys))...), ", ")
}

func numbered(name string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s%d", name, i+1)
	}
	return all
}

// covered is the expression for the seconds of a bucket that are in the window.
func (r *metricRead) covered() string {
	if r.bucket == 0 {
		return r.b.Bind("seconds", "Float64", r.w.Length().Seconds())
	}
	return coveredSeconds(r.b, r.w, "Bucket")
}

// Service is the only service whose rows pass. It is nil unless a condition at the top of the filter names a service.
func (f Filter) Service() *string {
	for _, child := range append([]Filter{f}, f.All...) {
		if m := child.Match; m != nil && m.Field == (Field{Key: "service.name"}) && m.Op == OpEqual {
			return &m.Values[0]
		}
	}
	return nil
}
