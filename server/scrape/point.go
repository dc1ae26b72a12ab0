package scrape

import (
	"cmp"
	"encoding/hex"
	"math"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/exemplar"
	"github.com/prometheus/prometheus/model/labels"
	"google.golang.org/protobuf/encoding/protowire"
)

// bucket is a bucket of a classic histogram, or a quantile of a summary.
type bucket struct{ at, value float64 }

// point gathers the samples that make one data point of OTLP.
type point struct {
	// name is that of its first sample. It is the name of the metric if each sample is a metric of its own.
	name string
	// from and to is the place of its attributes, without those of the target, in family.attributes.
	from, to int
	hash     uint64
	// millis is the time that the exposition gives, or 0.
	millis int64
	start  int64 // milliseconds, or 0
	value  float64
	// has says that the point has a value: its own sample, not only the sample of its creation.
	has        bool
	count, sum float64
	hasCount   bool
	hasSum     bool
	buckets    []bucket
	native     *nativeHistogram
	// samples is the number of samples in it.
	samples   int
	exemplars []byte // a list of exemplars, each with its length before it
}

// family is the metric that is being read.
type family struct {
	name, help, unit string
	kind             model.MetricType
	points           []point
	attributes       []byte
	byHash           map[uint64]int
}

func (f *family) reset(name string) {
	f.name, f.help, f.unit, f.kind = name, "", "", model.MetricTypeUnknown
	f.points, f.attributes = f.points[:0], f.attributes[:0]
	clear(f.byHash)
}

// shape is the kind of a metric in OTLP.
type shape byte

const (
	gauge shape = iota
	counter
	histogram
	exponential
	summary
)

// appendMetric appends a Metric with all its points. body holds the points, each as a field dataPoints.
func (s shape) appendMetric(b []byte, name, help, unit string, points []byte) []byte {
	field, more := protowire.Number(metricGauge), []byte(nil)
	//exhaustive:enforce
	switch s {
	case gauge:
	case counter:
		field, more = metricSum, appendVarint(appendVarint(nil, dataTemporality, cumulative), dataMonotonic, 1)
	case histogram:
		field, more = metricHistogram, appendVarint(nil, dataTemporality, cumulative)
	case exponential:
		field, more = metricExponential, appendVarint(nil, dataTemporality, cumulative)
	case summary:
		field = metricSummary
	}
	size := protowire.SizeTag(metricName) + protowire.SizeBytes(len(name)) +
		protowire.SizeTag(field) + protowire.SizeBytes(len(points)+len(more))
	if help != "" {
		size += protowire.SizeTag(metricDescription) + protowire.SizeBytes(len(help))
	}
	if unit != "" {
		size += protowire.SizeTag(metricUnit) + protowire.SizeBytes(len(unit))
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, scopeMetrics, protowire.BytesType), uint64(size))
	b = appendText(b, metricName, name)
	if help != "" {
		b = appendText(b, metricDescription, help)
	}
	if unit != "" {
		b = appendText(b, metricUnit, unit)
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(len(points)+len(more)))
	return append(append(b, points...), more...)
}

// attributes is the number of the field that holds the attributes of a point.
func (s shape) attributes() protowire.Number {
	switch s {
	case histogram:
		return histogramAttributes
	case exponential:
		return exponentialAttributes
	case summary:
		return summaryAttributes
	default:
		return numberAttributes
	}
}

// appendPoint appends a point without its attributes. A stale point has no value, only the flag that says so.
func (s shape) appendPoint(b []byte, p *point, nanos uint64, stale bool) []byte {
	var start uint64
	if p.start > 0 && p.start < math.MaxInt64/1_000_000 && s != gauge {
		start = uint64(p.start) * 1_000_000
	}
	// These numbers are the same in all kinds of points.
	if start != 0 {
		b = appendFixed(b, numberStart, start)
	}
	b = appendFixed(b, numberTime, nanos)
	if stale {
		flags := map[shape]protowire.Number{histogram: histogramFlags, exponential: exponentialFlags, summary: summaryFlags}
		return appendVarint(b, cmp.Or(flags[s], numberFlags), noRecordedValue)
	}
	//exhaustive:enforce
	switch s {
	case gauge, counter:
		b = appendDouble(b, numberDouble, p.value)
		return appendExemplars(b, numberExemplars, p.exemplars)
	case histogram:
		return p.appendHistogram(b)
	case exponential:
		return appendExemplars(p.native.appendTo(b), exponentialExemplars, p.exemplars)
	case summary:
		b = appendFixed(b, summaryCount, whole(p.count))
		b = appendDouble(b, summarySum, p.sum)
		slices.SortStableFunc(p.buckets, func(x, y bucket) int { return cmp.Compare(x.at, y.at) })
		for _, q := range p.buckets {
			b = protowire.AppendVarint(protowire.AppendTag(b, summaryQuantiles, protowire.BytesType), 18)
			b = appendDouble(appendDouble(b, quantileQuantile, q.at), quantileValue, q.value)
		}
	}
	return b
}

// appendHistogram turns cumulative buckets with upper bounds into counts of single buckets with explicit bounds.
func (p *point) appendHistogram(b []byte) []byte {
	slices.SortStableFunc(p.buckets, func(x, y bucket) int { return cmp.Compare(x.at, y.at) })
	p.buckets = slices.CompactFunc(p.buckets, func(x, y bucket) bool { return x.at == y.at })
	var total float64
	bounds := p.buckets
	if n := len(bounds); n > 0 {
		total = bounds[n-1].value
		if math.IsInf(bounds[n-1].at, 1) {
			bounds = bounds[:n-1]
		}
	}
	if p.hasCount {
		total = p.count
	}
	b = appendFixed(b, histogramCount, whole(total))
	if p.hasSum {
		b = appendDouble(b, histogramSum, p.sum)
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, histogramBuckets, protowire.BytesType), uint64(8*(len(bounds)+1)))
	var below uint64
	for _, at := range bounds {
		n := max(whole(at.value), below)
		b = protowire.AppendFixed64(b, n-below)
		below = n
	}
	b = protowire.AppendFixed64(b, max(whole(total), below)-below)
	if len(bounds) > 0 {
		b = protowire.AppendVarint(protowire.AppendTag(b, histogramBounds, protowire.BytesType), uint64(8*len(bounds)))
		for _, at := range bounds {
			b = protowire.AppendFixed64(b, math.Float64bits(at.at))
		}
	}
	return appendExemplars(b, histogramExemplars, p.exemplars)
}

// whole is a count that the exposition writes as a float.
func whole(v float64) uint64 {
	switch {
	case !(v > 0): // NaN as well
		return 0
	case v >= math.MaxUint64:
		return math.MaxUint64
	default:
		return uint64(math.Round(v))
	}
}

// appendExemplars appends a list of exemplars, each with its length before it, as fields of a point.
func appendExemplars(b []byte, field protowire.Number, list []byte) []byte {
	for len(list) > 0 {
		one, n := protowire.ConsumeBytes(list)
		b = appendBytes(b, field, one)
		list = list[n:]
	}
	return b
}

// appendExemplar appends an exemplar with its length before it. The labels trace_id and span_id become the ids of OTLP if they are
// such.
func appendExemplar(list []byte, e *exemplar.Exemplar, nanos uint64) []byte {
	var b []byte
	if e.HasTs && e.Ts > 0 {
		nanos = uint64(e.Ts) * 1_000_000
	}
	b = appendDouble(appendFixed(b, exemplarTime, nanos), exemplarDouble, e.Value)
	e.Labels.Range(func(l labels.Label) {
		switch id, err := hex.DecodeString(l.Value); {
		case l.Name == "trace_id" && err == nil && len(id) == 16:
			b = appendBytes(b, exemplarTrace, id)
		case l.Name == "span_id" && err == nil && len(id) == 8:
			b = appendBytes(b, exemplarSpan, id)
		default:
			b = appendKeyValue(b, exemplarAttributes, l.Name, l.Value)
		}
	})
	return protowire.AppendBytes(list, b)
}
