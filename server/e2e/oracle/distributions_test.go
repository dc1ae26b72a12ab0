package oracle_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// distribution is the part of a point that histograms and summaries have.
type distribution struct {
	// seen are the observations since the count began. A delta point has those since the point before.
	seen     []float64
	layout   []float64 // the bounds of an explicit histogram
	scale    int32     // of an exponential histogram
	extremes bool      // the sender sends the least and the largest observation
}

// layouts are the bounds of explicit histograms. The second layout cuts the buckets of the first.
var layouts = [][]float64{{0, 1, 2.5, 5, 10, 50}, {0.5, 1, 3, 7, 20}}

// coarsest is the lowest scale of the exponential histograms.
const coarsest = 3

// zeroThreshold bounds the observations that an exponential histogram counts as zero.
const zeroThreshold = 0.001

// addDistributions adds explicit and exponential histograms of both temporalities, and summaries. It uses random numbers of its own,
// so that the other telemetry of a seed stays the same.
func (t *telemetry) addDistributions(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 15))
	for n, o := range t.origins {
		for _, kind := range []string{"histogram", "exponential_histogram", "summary"} {
			for _, pool := range []string{"a", "ü"} {
				if kind == "summary" && pool == "a" {
					continue
				}
				t.addDistribution(r, n, o, kind, pool)
			}
		}
	}
}

func (t *telemetry) addDistribution(r *rand.Rand, n int, o *origin, kind, pool string) {
	name := map[string]string{"histogram": "request.duration", "exponential_histogram": "request.size", "summary": "gc.pause"}[kind]
	delta, scale := pool == "a", coarsest+int32(n%2)
	began, seen := t.start.Add(time.Duration(n%3-2)*time.Hour), []float64(nil)
	attributes := map[string]string{"pool": pool}
	for at := t.start.Add(time.Duration(r.IntN(600)) * time.Second); at.Before(t.end); at = at.Add(10 * time.Minute) {
		if delta {
			began, seen = at.Add(-10*time.Minute), nil
		}
		fresh := observe(r, kind)
		switch restart := r.IntN(8); {
		case delta:
		case restart == 0: // the sender says when it began anew
			began, seen = at.Add(-time.Minute), nil
		case restart == 1: // the sender does not know when it began
			began, seen = at, nil
		case restart == 2 && len(fresh) < len(seen): // the sender began anew and does not say so
			seen = nil
		case restart == 3:
			scale = coarsest
		}
		seen = slices.Concat(seen, fresh)
		t.points = append(t.points, &point{
			origin: o, name: name, kind: kind, at: at, began: began, delta: delta, attributes: attributes,
			distribution: &distribution{seen: seen, layout: layouts[n%2], scale: scale, extremes: n%4 != 3},
		})
	}
}

// observe draws observations. Some points have none. Explicit histograms also get observations on the bounds of buckets.
func observe(r *rand.Rand, kind string) (out []float64) {
	if r.IntN(8) == 0 {
		return nil
	}
	for range 1 + r.IntN(12) {
		v := r.ExpFloat64() * 4
		switch r.IntN(12) {
		case 0:
			v = 0
		case 1:
			v = 1
			if kind == "exponential_histogram" {
				v = -r.ExpFloat64() - 0.01
			}
		case 2:
			v *= 10
		}
		if kind == "exponential_histogram" && v > 0 && v < 2*zeroThreshold {
			v = zeroThreshold / 2
		}
		out = append(out, v)
	}
	return out
}

func total(list []float64) (sum float64) {
	for _, v := range list {
		sum += v
	}
	return sum
}

func (p *point) distributionMetric() *metricspb.Metric {
	m := &metricspb.Metric{Name: p.name, Unit: "s"}
	temporality := metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	if p.delta {
		temporality = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	}
	at, began, count, sum := uint64(p.at.UnixNano()), uint64(p.began.UnixNano()), uint64(len(p.seen)), total(p.seen)
	var low, high *float64
	if p.extremes && count > 0 {
		least, most := slices.Min(p.seen), slices.Max(p.seen)
		low, high = &least, &most
	}
	switch p.kind {
	case "histogram":
		counts := make([]uint64, len(p.layout)+1)
		for _, v := range p.seen {
			n, _ := slices.BinarySearch(p.layout, v) // a bucket includes its upper bound
			counts[n]++
		}
		m.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{
			AggregationTemporality: temporality, DataPoints: []*metricspb.HistogramDataPoint{{
				TimeUnixNano: at, StartTimeUnixNano: began, Attributes: keyValues(p.attributes), Count: count, Sum: &sum, Min: low, Max: high,
				BucketCounts: counts, ExplicitBounds: p.layout,
			}},
		}}
	case "exponential_histogram":
		d := &metricspb.ExponentialHistogramDataPoint{
			TimeUnixNano: at, StartTimeUnixNano: began, Attributes: keyValues(p.attributes), Count: count, Sum: &sum, Min: low, Max: high,
			Scale: p.scale, ZeroThreshold: zeroThreshold,
		}
		positive, negative := map[int]uint64{}, map[int]uint64{}
		for _, v := range p.seen {
			switch {
			case math.Abs(v) <= zeroThreshold:
				d.ZeroCount++
			case v > 0:
				positive[index(v, p.scale)]++
			default:
				negative[index(-v, p.scale)]++
			}
		}
		d.Positive, d.Negative = dense(positive), dense(negative)
		m.Data = &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: &metricspb.ExponentialHistogram{
			AggregationTemporality: temporality, DataPoints: []*metricspb.ExponentialHistogramDataPoint{d},
		}}
	default:
		d := &metricspb.SummaryDataPoint{
			TimeUnixNano: at, StartTimeUnixNano: began, Attributes: keyValues(p.attributes), Count: count, Sum: sum,
		}
		for _, level := range []float64{0, 0.5, 0.95, 1} {
			if v, ok := p.sent(level); ok {
				d.QuantileValues = append(d.QuantileValues, &metricspb.SummaryDataPoint_ValueAtQuantile{Quantile: level, Value: v})
			}
		}
		m.Data = &metricspb.Metric_Summary{Summary: &metricspb.Summary{DataPoints: []*metricspb.SummaryDataPoint{d}}}
	}
	return m
}

// index is the number of the bucket of a positive observation in an exponential histogram.
func index(v float64, scale int32) int {
	return int(math.Ceil(math.Log2(v)*math.Exp2(float64(scale)))) - 1
}

// dense makes buckets without gaps.
func dense(counts map[int]uint64) *metricspb.ExponentialHistogramDataPoint_Buckets {
	if len(counts) == 0 {
		return nil
	}
	low, high := math.MaxInt, math.MinInt
	for n := range counts {
		low, high = min(low, n), max(high, n)
	}
	b := &metricspb.ExponentialHistogramDataPoint_Buckets{Offset: int32(low), BucketCounts: make([]uint64, high-low+1)}
	for n, c := range counts {
		b.BucketCounts[n-low] = c
	}
	return b
}

// sent is a quantile that the sender of a summary computes.
func (d *distribution) sent(level float64) (float64, bool) {
	if len(d.seen) == 0 || !slices.Contains([]float64{0, 0.5, 0.95, 1}, level) {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(d.seen))
	return sorted[int(level*float64(len(sorted)-1))], true
}
