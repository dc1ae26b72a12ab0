package oracle_test

import (
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// point is a data point of a metric. Metrics of several types and services share one name.
type point struct {
	*origin
	name, kind string // gauge, sum or the kind of a distribution
	at, began  time.Time
	value      float64
	delta      bool
	attributes map[string]string
	*distribution
}

// addPoints adds gauges, and sums of both temporalities. The cumulative sums restart now and then.
func (t *telemetry) addPoints() {
	for _, o := range t.origins {
		for _, pool := range []string{"a", "ü"} {
			attributes := map[string]string{"pool": pool}
			began, total := t.start, 0.0
			for at := t.start.Add(time.Duration(t.r.IntN(2)) * 30 * time.Second); at.Before(t.end); at = at.Add(5 * time.Minute) {
				t.points = append(t.points, &point{
					origin: o, name: "queue.length", kind: "gauge", at: at, value: float64(t.r.IntN(1000)) / 8, attributes: attributes,
				})
				t.points = append(t.points, &point{
					origin: o, name: "jobs.done", kind: "sum", delta: true, began: at.Add(-5 * time.Minute), at: at, value: float64(t.r.IntN(50)),
					attributes: attributes,
				})
				if t.r.IntN(12) == 0 {
					began, total = at.Add(-time.Minute), 0
				}
				total += float64(t.r.IntN(50))
				if !began.Before(at) {
					began = at.Add(-time.Second)
				}
				t.points = append(t.points, &point{
					origin: o, name: "requests.total", kind: "sum", began: began, at: at, value: total, attributes: attributes,
				})
			}
		}
	}
}

func (p *point) metric() *metricspb.Metric {
	data := []*metricspb.NumberDataPoint{{
		TimeUnixNano: uint64(p.at.UnixNano()), Attributes: keyValues(p.attributes), Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: p.value},
	}}
	if p.distribution != nil {
		return p.distributionMetric()
	}
	m := &metricspb.Metric{Name: p.name, Unit: "1"}
	if p.kind == "gauge" {
		m.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: data}}
		return m
	}
	data[0].StartTimeUnixNano = uint64(p.began.UnixNano())
	temporality := metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	if p.delta {
		temporality = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	}
	m.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{DataPoints: data, IsMonotonic: true, AggregationTemporality: temporality}}
	return m
}
