package metrics

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// layouts are bounds of explicit histograms. Each series has one layout.
func layouts() [][]float64 {
	return [][]float64{{0, 1, 2, 5, 10, 25, 50, 100, 250}, {0.5, 1, 2, 4, 8, 16, 32}, {3, 30}}
}

// span is the bucket of an observation: above one bound, up to the other.
type span struct{ low, high float64 }

func (s *series) layout() []float64 {
	all := layouts()
	return all[s.hash/2%uint64(len(all))]
}

func (s *series) explicit(v float64) (int, span) {
	bounds := s.layout()
	i, _ := slices.BinarySearch(bounds, v)
	in := span{math.Inf(-1), math.Inf(1)}
	if i > 0 {
		in.low = bounds[i-1]
	}
	if i < len(bounds) {
		in.high = bounds[i]
	}
	return i, in
}

// scale is the scale of a series. It is coarser from some point on, as with exporters whose range grows.
func (h happened) scale() int32 {
	scale := int32(h.series.hash/2%5) - 1
	if h.at.Minute() >= 15 {
		scale -= int32(h.series.hash / 16 % 3)
	}
	return scale
}

const coarsest = -3 // the coarsest scale of all

// exponential is the index of the bucket of a value above zero.
func exponential(v float64, scale int32) int32 {
	index := int32(math.Ceil(math.Log2(v)*math.Exp2(float64(scale)))) - 1
	for width := math.Exp2(-float64(scale)); ; {
		switch { // corrects rounding
		case v <= math.Exp2(float64(index)*width):
			index--
		case v > math.Exp2(float64(index+1)*width):
			index++
		default:
			return index
		}
	}
}

func buckets(values []float64, scale int32) (offset int32, counts []uint64, zeros uint64) {
	var indexes []int32
	for _, v := range values {
		if v == 0 {
			zeros++
			continue
		}
		indexes = append(indexes, exponential(math.Abs(v), scale))
	}
	if len(indexes) == 0 {
		return 0, []uint64{}, zeros
	}
	offset = slices.Min(indexes)
	counts = make([]uint64, slices.Max(indexes)-offset+1)
	for _, i := range indexes {
		counts[i-offset]++
	}
	return offset, counts, zeros
}

// histograms sends the observations of a play in both forms.
func (p *play) histograms(t tester, w *warehouse.Warehouse, org string) {
	var explicit, exponentials [][]any
	for _, s := range p.series {
		for _, h := range s.points {
			values := h.all
			if s.delta {
				values = h.seen
			}
			counts := make([]uint64, len(s.layout())+1)
			total, least, most := 0.0, math.Inf(1), math.Inf(-1)
			var negative, positive []float64
			for _, v := range values {
				i, _ := s.explicit(v)
				counts[i]++
				total += v
				least, most = min(least, v), max(most, v)
				if v < 0 {
					negative = append(negative, v)
				} else {
					positive = append(positive, v)
				}
			}
			var sum, low, high *float64
			if sum = &total; len(values) > 0 && s.hash%3 != 0 { // some exporters omit the extremes
				low, high = &least, &most
			}
			explicit = append(explicit, h.row(org, "latency", 0, uint64(len(values)), sum, low, high, counts, s.layout(), s.temporality()))
			scale := h.scale()
			offset, up, zeros := buckets(positive, scale)
			downOffset, down, _ := buckets(negative, scale)
			exponentials = append(exponentials, h.row(org, "latency.exponential", 0, uint64(len(values)), sum, low, high, scale, zeros, 0.0, offset,
				up, downOffset, down, s.temporality()))
		}
	}
	insert(t, w, p.r, "metrics_histogram", "Count Sum Min Max BucketCounts ExplicitBounds AggregationTemporality", explicit)
	insert(t, w, p.r, "metrics_exponential_histogram",
		"Count Sum Min Max Scale ZeroCount ZeroThreshold PositiveOffset PositiveBucketCounts NegativeOffset NegativeBucketCounts "+
			"AggregationTemporality", exponentials)
}

// observed holds the observations of a cell, each with the bucket in which it was counted.
type observed struct {
	values []float64
	in     []span
	sum    float64
	// sent and unsent say that some of their points had extremes, and that some had none.
	sent, unsent bool
}

// admits reports whether a value can be a quantile. The right number of observations must lie at or below it. Observations in the
// same bucket may count on either side.
func (o *observed) admits(q, value float64) (wanted, least, most float64, ok bool) {
	wanted = q * float64(len(o.values))
	for _, in := range o.in {
		switch {
		case in.high < value:
			least++
			most++
		case in.low <= value:
			most++
		}
	}
	const one = 1 // a quantile lies between two observations
	return wanted, least, most, least <= wanted+one && most >= wanted-one
}

func TestHistogramsAgree(t *testing.T) {
	w := warehousetest.Shared(t)
	// In this play, a cumulative series starts again with a point of no observations, which has no extremes.
	histogramsAgree(t, w, 0x3b, []query.Field{{Key: "service.name"}}, 5*time.Minute)
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		groups := rapid.SampledFrom(groupings()).Draw(rt, "groups")
		bucket := rapid.SampledFrom([]time.Duration{0, time.Minute, 5 * time.Minute}).Draw(rt, "bucket")
		histogramsAgree(rt, w, seed, groups, bucket)
	})
}

// histogramsAgree compares each aggregation of the histograms of a play with the observations that they were made from.
func histogramsAgree(t tester, w *warehouse.Warehouse, seed uint64, groups []query.Field, bucket time.Duration) {
	start := warehousetest.Noon()
	end := start.Add(30 * time.Minute)
	org := fmt.Sprintf("org_histograms_%d", time.Now().UnixNano())
	p, window := newPlay(seed, start, end), query.Window{Start: start, End: end}
	p.histograms(t, w, org)
	for _, kind := range []string{"histogram", "exponential_histogram"} {
		q := query.Spec{Source: query.Metrics, Metric: query.Metric{Name: "latency", Type: kind}, GroupBy: groups, Limit: 100, SeriesLimit: 100}
		if kind == "exponential_histogram" {
			q.Metric.Name = "latency.exponential"
		}
		truth := map[cell]*observed{}
		p.each(groups, bucket, func(c cell, h happened) {
			_, seen := h.visible(start.Add(-query.MetricLookback))
			for _, v := range seen {
				if truth[c] == nil {
					truth[c] = &observed{}
				}
				o := truth[c]
				o.sent, o.unsent = o.sent || h.series.hash%3 != 0, o.unsent || h.series.hash%3 == 0
				o.values, o.sum = append(o.values, v), o.sum+v
				_, in := h.series.explicit(v)
				if kind == "exponential_histogram" {
					in = span{0, 0}
					if width := math.Exp2(-coarsest); v != 0 {
						index := float64(exponential(v, coarsest))
						in = span{math.Exp2(index * width), math.Exp2((index + 1) * width)}
					}
				}
				o.in = append(o.in, in)
			}
		})
		count, sum, avg := map[cell]float64{}, map[cell]float64{}, map[cell]float64{}
		for c, o := range truth {
			count[c], sum[c], avg[c] = float64(len(o.values)), o.sum, o.sum/float64(len(o.values))
		}
		q.Aggregation.Func = query.Count
		same(t, kind+" count", count, asked(t, w, org, q, window, bucket), 0)
		q.Aggregation.Func = query.Sum
		same(t, kind+" sum", sum, asked(t, w, org, q, window, bucket), 0)
		q.Aggregation.Func = query.Avg
		same(t, kind+" avg", avg, asked(t, w, org, q, window, bucket), math.NaN())

		for _, quantile := range []float64{0.5, 0.9, 0.95, 0.99, 0, 1} {
			a := query.Aggregation{Func: query.Quantile, Level: quantile}
			switch quantile {
			case 0:
				a = query.Aggregation{Func: query.Min}
			case 1:
				a = query.Aggregation{Func: query.Max}
			}
			q.Aggregation = a
			got := asked(t, w, org, q, window, bucket)
			unbounded := kind == "histogram" && a.Func == query.Max
			if len(got) != len(truth) && !unbounded {
				t.Fatalf("%s %s: %d cells, want %d", kind, a, len(got), len(truth))
			}
			for c, o := range truth {
				value, there := got[c]
				open := unbounded && o.unsent && slices.ContainsFunc(o.in, func(in span) bool { return math.IsInf(in.high, 1) })
				if there && open && !o.sent {
					t.Fatalf("%s %s: %v is %v, which nobody knows", kind, a, c, value)
				}
				if open && !there {
					continue
				}
				if !there {
					t.Fatalf("%s %s: %v is missing", kind, a, c)
				}
				if wanted, least, most, ok := o.admits(quantile, value); !ok {
					t.Fatalf("%s %s: %v: %v has %v to %v of %d observations at or below it, want %v: %v", kind, a, c, value, least, most,
						len(o.values), wanted, sorted(o.values))
				}
			}
		}
	}
}
