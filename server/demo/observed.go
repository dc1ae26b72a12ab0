package demo

import (
	"math"
	"slices"
	"strings"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Services derive these metrics from their work. The metrics agree with the spans, each counted with its weight.

type shape uint8

const (
	explicitHistogram shape = iota
	exponentialHistogram
	deltaCounter
)

// measure is the metric type for the observations of one name.
type measure struct {
	shape             shape
	unit, description string
	bounds            []float64
}

func measures() map[string]measure {
	latency := []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	return map[string]measure{
		"http.server.request.duration": {explicitHistogram, "s", "Duration of HTTP server requests.", latency},
		"http.client.request.duration": {explicitHistogram, "s", "Duration of HTTP client requests.", latency},
		"rpc.server.duration":          {exponentialHistogram, "ms", "Duration of inbound RPCs.", nil},
		"db.client.operation.duration": {exponentialHistogram, "s", "Duration of database client operations.", nil},
		"messaging.process.duration":   {explicitHistogram, "s", "Duration of processing a message.", latency},
		"gen_ai.client.operation.duration": {
			explicitHistogram, "s", "Duration of operations of a language model.",
			[]float64{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6},
		},
		"gen_ai.client.token.usage": {
			explicitHistogram, "{token}", "Tokens that went in and came out.",
			[]float64{1, 4, 16, 64, 256, 1024, 4096, 16384},
		},
		"shop.orders.placed":  {deltaCounter, "{order}", "Orders that were paid.", nil},
		"shop.cart.additions": {deltaCounter, "{item}", "Items put into carts.", nil},
		"shop.order.value":    {explicitHistogram, "EUR", "Value of orders.", []float64{10, 25, 50, 100, 150, 200, 300}},
	}
}

// exponentialScale gives buckets that are 4.4 % wide.
const exponentialScale = 4

// observation is one series in one minute.
type observation struct {
	from       *resource
	name       string
	attributes []attribute

	count             uint64
	sum, low, high    float64
	buckets           []uint64
	exponential       map[int32]uint64
	worst             float64
	worstAt           int64
	worstID, worstSpn []byte
}

type observations struct {
	byKey map[string]*observation
	list  []*observation
}

func (g *slot) observe(
	from *resource, name string, at int64, value, weight float64, span *tracepb.Span, traceID []byte, attributes []attribute,
) {
	minute := at / nanosPerMinute
	all := g.observed[minute]
	if all == nil {
		all = &observations{byKey: map[string]*observation{}}
		g.observed[minute] = all
	}
	var key strings.Builder
	key.WriteString(name)
	key.WriteString(textOf(from.pb.Attributes, "service.instance.id"))
	key.WriteString(textOf(from.pb.Attributes, "service.version"))
	for _, a := range attributes {
		key.WriteByte(0)
		if s := a.Value.GetStringValue(); s != "" {
			key.WriteString(s)
		} else {
			key.WriteString(a.Value.String())
		}
	}
	o := all.byKey[key.String()]
	m := g.measures[name]
	if o == nil {
		o = &observation{
			from: from, name: name, attributes: attributes, low: math.Inf(1), high: math.Inf(-1), buckets: make([]uint64, len(m.bounds)+1),
		}
		all.byKey[key.String()] = o
		all.list = append(all.list, o)
	}
	o.add(m, value, weight)
	if value >= o.worst {
		o.worst, o.worstAt, o.worstID, o.worstSpn = value, at, traceID, span.SpanId
	}
}

func (o *observation) add(m measure, value, weight float64) {
	times := uint64(weight)
	o.count += times
	o.sum += value * weight
	o.low, o.high = min(o.low, value), max(o.high, value)
	switch m.shape {
	case explicitHistogram:
		i, _ := slices.BinarySearch(m.bounds, value)
		o.buckets[i] += times
	case exponentialHistogram:
		if o.exponential == nil {
			o.exponential = map[int32]uint64{}
		}
		o.exponential[int32(math.Ceil(math.Log2(max(value, 1e-9))*(1<<exponentialScale)))-1] += times
	}
}

// takeObserved returns the metrics of the observations of a minute, which must be over.
func (sh *shop) takeObserved(minute int64) []metricOf {
	all := sh.observed[minute]
	delete(sh.observed, minute)
	if all == nil {
		return nil
	}
	var out []metricOf
	for _, o := range all.list {
		m := sh.measures[o.name]
		out = append(out, metricOf{o.from, o.metric(m, minute)})
	}
	return out
}

func (o *observation) metric(m measure, minute int64) *metricspb.Metric {
	start, end := uint64(minute*nanosPerMinute), uint64((minute+1)*nanosPerMinute)
	out := &metricspb.Metric{Name: o.name, Unit: m.unit, Description: m.description}
	const delta = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	exemplars := []*metricspb.Exemplar{
		{TimeUnixNano: uint64(o.worstAt), TraceId: o.worstID, SpanId: o.worstSpn, Value: &metricspb.Exemplar_AsDouble{AsDouble: o.worst}},
	}
	switch m.shape {
	case deltaCounter:
		out.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{
			AggregationTemporality: delta, IsMonotonic: true,
			DataPoints: []*metricspb.NumberDataPoint{{
				Attributes: o.attributes, StartTimeUnixNano: start, TimeUnixNano: end, Value: &metricspb.NumberDataPoint_AsInt{AsInt: int64(o.sum)},
			}},
		}}
	case explicitHistogram:
		out.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{
			AggregationTemporality: delta,
			DataPoints: []*metricspb.HistogramDataPoint{{
				Attributes: o.attributes, StartTimeUnixNano: start, TimeUnixNano: end, Count: o.count, Sum: &o.sum, Min: &o.low, Max: &o.high,
				BucketCounts: o.buckets, ExplicitBounds: m.bounds, Exemplars: exemplars,
			}},
		}}
	case exponentialHistogram:
		low, high := int32(math.MaxInt32), int32(math.MinInt32)
		for i := range o.exponential {
			low, high = min(low, i), max(high, i)
		}
		counts := make([]uint64, high-low+1)
		for i, n := range o.exponential {
			counts[i-low] = n
		}
		out.Data = &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: &metricspb.ExponentialHistogram{
			AggregationTemporality: delta,
			DataPoints: []*metricspb.ExponentialHistogramDataPoint{{
				Attributes: o.attributes, StartTimeUnixNano: start, TimeUnixNano: end, Count: o.count, Sum: &o.sum, Min: &o.low, Max: &o.high,
				Scale: exponentialScale, Positive: &metricspb.ExponentialHistogramDataPoint_Buckets{Offset: low, BucketCounts: counts},
				Exemplars: exemplars,
			}},
		}}
	}
	return out
}
