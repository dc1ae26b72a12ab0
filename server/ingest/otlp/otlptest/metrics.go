package otlptest

import (
	"fmt"
	"math"
	"time"

	colmetricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
)

const pointsPerMetric = 8

// Metrics returns a request with n data points at about the given time, of all five kinds, some with exemplars.
func Metrics(seed uint64, n int, at time.Time) *colmetricspb.ExportMetricsServiceRequest {
	g := newGenerator(seed, at)
	request := &colmetricspb.ExportMetricsServiceRequest{}
	for made := 0; made < n; {
		resource, _ := g.resource()
		metrics := &metricspb.ScopeMetrics{Scope: g.scope()}
		for left := min(itemsPerResource(n), n-made); left > 0; {
			points := min(left, pointsPerMetric)
			metrics.Metrics = append(metrics.Metrics, g.metric((made/pointsPerMetric)%5, points))
			made += points
			left -= points
		}
		request.ResourceMetrics = append(request.ResourceMetrics, &metricspb.ResourceMetrics{
			Resource: resource, ScopeMetrics: []*metricspb.ScopeMetrics{metrics},
		})
	}
	return request
}

func (g *generator) metric(kind, points int) *metricspb.Metric {
	switch kind {
	case 0:
		m := &metricspb.Gauge{}
		for i := range points {
			p := g.number(i)
			p.Value = &metricspb.NumberDataPoint_AsDouble{AsDouble: g.Float64() * 100}
			m.DataPoints = append(m.DataPoints, p)
		}
		return &metricspb.Metric{
			Name:        "process.cpu.utilization",
			Description: "Share of CPU in use.",
			Unit:        "1",
			Data:        &metricspb.Metric_Gauge{Gauge: m},
		}
	case 1:
		m := &metricspb.Sum{AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, IsMonotonic: true}
		for i := range points {
			p := g.number(i)
			p.Value = &metricspb.NumberDataPoint_AsInt{AsInt: g.Int64N(1_000_000)}
			m.DataPoints = append(m.DataPoints, p)
		}
		return &metricspb.Metric{Name: "shop.orders", Description: "Orders placed.", Unit: "{order}", Data: &metricspb.Metric_Sum{Sum: m}}
	case 2:
		m := &metricspb.Histogram{AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA}
		for i := range points {
			m.DataPoints = append(m.DataPoints, g.histogram(i))
		}
		return &metricspb.Metric{
			Name: "http.server.request.duration", Description: "Duration of requests.", Unit: "s", Data: &metricspb.Metric_Histogram{Histogram: m},
		}
	case 3:
		m := &metricspb.ExponentialHistogram{AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA}
		for i := range points {
			m.DataPoints = append(m.DataPoints, g.exponentialHistogram(i))
		}
		return &metricspb.Metric{
			Name:        "rpc.client.duration",
			Description: "Duration of calls.",
			Unit:        "ms",
			Data:        &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: m},
		}
	default:
		m := &metricspb.Summary{}
		for i := range points {
			m.DataPoints = append(m.DataPoints, g.summary(i))
		}
		return &metricspb.Metric{Name: "go.gc.duration", Description: "Pauses.", Unit: "s", Data: &metricspb.Metric_Summary{Summary: m}}
	}
}

func (g *generator) times() (start, at uint64) {
	return nanos(g.at.Add(-time.Hour)), nanos(g.at.Add(-time.Duration(g.IntN(1_000_000_000))))
}

func (g *generator) attributes(i int) []*commonpb.KeyValue {
	return []*commonpb.KeyValue{
		Text("http.request.method", pick(g, "GET", "POST")),
		Text("http.route", routes()[i%len(routes())]),
		Int("http.response.status_code", pick(g, int64(200), 201, 404, 500)),
		Text("network.protocol.name", "http"),
		Text("url.scheme", "https"),
		Text("worker", fmt.Sprintf("w%d", i)),
	}
}

func (g *generator) exemplars(at uint64) []*metricspb.Exemplar {
	if g.IntN(4) > 0 {
		return nil
	}
	return []*metricspb.Exemplar{{
		TimeUnixNano: at, TraceId: g.bytes(16), SpanId: g.bytes(8), Value: &metricspb.Exemplar_AsDouble{AsDouble: g.Float64()},
		FilteredAttributes: []*commonpb.KeyValue{Text("user.id", fmt.Sprintf("u-%d", g.IntN(1000)))},
	}}
}

func (g *generator) number(i int) *metricspb.NumberDataPoint {
	start, at := g.times()
	return &metricspb.NumberDataPoint{StartTimeUnixNano: start, TimeUnixNano: at, Attributes: g.attributes(i), Exemplars: g.exemplars(at)}
}

func (g *generator) counts(n int) (counts []uint64, total uint64) {
	for range n {
		c := uint64(g.IntN(500))
		counts, total = append(counts, c), total+c
	}
	return counts, total
}

func (g *generator) histogram(i int) *metricspb.HistogramDataPoint {
	start, at := g.times()
	bounds := []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	counts, total := g.counts(len(bounds) + 1)
	sum, low, high := g.Float64()*1000, 0.001, 12.5
	return &metricspb.HistogramDataPoint{
		StartTimeUnixNano: start, TimeUnixNano: at, Attributes: g.attributes(i), Exemplars: g.exemplars(at),
		Count: total, Sum: &sum, Min: &low, Max: &high, BucketCounts: counts, ExplicitBounds: bounds,
	}
}

func (g *generator) exponentialHistogram(i int) *metricspb.ExponentialHistogramDataPoint {
	start, at := g.times()
	positive, total := g.counts(20)
	negative, more := g.counts(g.IntN(3))
	sum := g.Float64() * 1000
	return &metricspb.ExponentialHistogramDataPoint{
		StartTimeUnixNano: start, TimeUnixNano: at, Attributes: g.attributes(i), Exemplars: g.exemplars(at),
		Count: total + more + 3, Sum: &sum, Scale: int32(g.IntN(9) - 4), ZeroCount: 3, ZeroThreshold: math.Ldexp(1, -20),
		Positive: &metricspb.ExponentialHistogramDataPoint_Buckets{Offset: int32(g.IntN(20) - 10), BucketCounts: positive},
		Negative: &metricspb.ExponentialHistogramDataPoint_Buckets{Offset: 2, BucketCounts: negative},
	}
}

func (g *generator) summary(i int) *metricspb.SummaryDataPoint {
	start, at := g.times()
	return &metricspb.SummaryDataPoint{
		StartTimeUnixNano: start, TimeUnixNano: at, Attributes: g.attributes(i), Count: uint64(g.IntN(1000)), Sum: g.Float64(),
		QuantileValues: []*metricspb.SummaryDataPoint_ValueAtQuantile{
			{Quantile: 0, Value: 0.001}, {Quantile: 0.5, Value: 0.01}, {Quantile: 1, Value: g.Float64()},
		},
	}
}
