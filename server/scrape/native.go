package scrape

import (
	"cmp"
	"fmt"
	"slices"

	prom "github.com/prometheus/prometheus/model/histogram"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/svc-observability/svc/server/limits"
)

const (
	leastScale   = -10
	largestScale = 20
	// mostBuckets bounds the buckets of one side. A histogram with a wider range loses resolution until it fits.
	mostBuckets = limits.ScrapeBuckets
)

// nativeHistogram is a native histogram of Prometheus in the form of OTLP's exponential histogram.
type nativeHistogram struct {
	count, zeros       uint64
	sum, threshold     float64
	scale              int32
	positive, negative []indexed
}

// indexed is the count of one bucket. Bucket i of OTLP is (base^i, base^(i+1)]; Prometheus counts the upper bound, so its index is one
// higher.
type indexed struct {
	index int32
	count uint64
}

func ofHistogram(h *prom.Histogram) (*nativeHistogram, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	n := &nativeHistogram{count: h.Count, zeros: h.ZeroCount, sum: h.Sum, threshold: h.ZeroThreshold, scale: h.Schema}
	for it := h.PositiveBucketIterator(); it.Next(); {
		b := it.At()
		n.positive = append(n.positive, indexed{b.Index - 1, b.Count})
	}
	for it := h.NegativeBucketIterator(); it.Next(); {
		b := it.At()
		n.negative = append(n.negative, indexed{b.Index - 1, b.Count})
	}
	return n, n.fit()
}

func ofFloatHistogram(h *prom.FloatHistogram) (*nativeHistogram, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	n := &nativeHistogram{count: whole(h.Count), zeros: whole(h.ZeroCount), sum: h.Sum, threshold: h.ZeroThreshold, scale: h.Schema}
	for it := h.PositiveBucketIterator(); it.Next(); {
		b := it.At()
		n.positive = append(n.positive, indexed{b.Index - 1, whole(b.Count)})
	}
	for it := h.NegativeBucketIterator(); it.Next(); {
		b := it.At()
		n.negative = append(n.negative, indexed{b.Index - 1, whole(b.Count)})
	}
	return n, n.fit()
}

// fit halves the resolution until each side has at most mostBuckets.
func (n *nativeHistogram) fit() error {
	if n.scale < leastScale || n.scale > largestScale {
		return fmt.Errorf("a native histogram has the schema %d, which is not supported", n.scale)
	}
	// A hostile histogram may have indices that overflow.
	byIndex := func(x, y indexed) int { return cmp.Compare(x.index, y.index) }
	slices.SortFunc(n.positive, byIndex)
	slices.SortFunc(n.negative, byIndex)
	for wide(n.positive) || wide(n.negative) {
		if n.scale == leastScale {
			return fmt.Errorf("the buckets of a native histogram span more than %d at the lowest resolution", mostBuckets)
		}
		n.scale--
		n.positive, n.negative = halve(n.positive), halve(n.negative)
	}
	return nil
}

func wide(b []indexed) bool {
	return len(b) > 0 && int64(b[len(b)-1].index)-int64(b[0].index) >= mostBuckets
}

func halve(b []indexed) []indexed {
	out := b[:0]
	for _, one := range b {
		index := one.index >> 1
		if n := len(out); n > 0 && out[n-1].index == index {
			out[n-1].count += one.count
			continue
		}
		out = append(out, indexed{index, one.count})
	}
	return out
}

func (n *nativeHistogram) appendTo(b []byte) []byte {
	b = appendFixed(b, exponentialCount, n.count)
	b = appendDouble(b, exponentialSum, n.sum)
	b = appendVarint(b, exponentialScale, protowire.EncodeZigZag(int64(n.scale)))
	b = appendFixed(b, exponentialZeroCount, n.zeros)
	b = appendBuckets(b, exponentialPositive, n.positive)
	b = appendBuckets(b, exponentialNegative, n.negative)
	return appendDouble(b, exponentialThreshold, n.threshold)
}

func appendBuckets(b []byte, field protowire.Number, list []indexed) []byte {
	if len(list) == 0 {
		return b
	}
	var counts []byte
	at := list[0].index
	for _, one := range list {
		for ; at < one.index; at++ {
			counts = append(counts, 0)
		}
		counts = protowire.AppendVarint(counts, one.count)
		at++
	}
	body := appendBytes(appendVarint(nil, bucketsOffset, protowire.EncodeZigZag(int64(list[0].index))), bucketsCounts, counts)
	return appendBytes(b, field, body)
}
