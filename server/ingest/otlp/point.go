package otlp

import (
	"math"

	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// point holds the fields of the current data point, of any kind.
type point struct {
	start, time                    uint64
	flags                          uint32
	value                          float64
	count                          uint64
	sum, min, max                  float64
	hasSum, hasMin, hasMax         bool
	scale                          int32
	zeroCount                      uint64
	zeroThreshold                  float64
	positiveOffset, negativeOffset int32

	// problem says why the shape of the point cannot be stored. It is noIssue, or an issue of the field.
	problem issueKind
	field   string

	series    uint64
	exemplars int

	mark                                            native.Mark
	exemplarAttributes, exemplarTrace, exemplarSpan native.Mark
}

const pointAttributeDepth = itemDepth + 3

func appendBool(c *native.UInt8, v bool) { native.AppendBool(c, v) }

// beginPoint prepares the walker for a point. It must be called before the fields of the point are read.
func (w *walker) beginPoint(t *pointTable) {
	w.beginNotes()
	w.point = point{mark: t.Attributes.Mark(), problem: noIssue}
	t.Attributes.BeginRow()
}

// pointAttribute reads an attribute of a point at b[i].
func (w *walker) pointAttribute(t *pointTable, b []byte, i int) int {
	m, i := chunk(b, i)
	n := len(t.Attributes.RowTags())
	if i < 0 || !w.attribute(t.Attributes, m, pointAttributeDepth) {
		return -1
	}
	if len(t.Attributes.RowTags()) == n {
		return i // beyond maxAttributes
	}
	w.point.series += seriesEntry(t.Attributes.KeyName(w.entry.id), w.entry.text)
	return i
}

// readNumber reads a NumberDataPoint.
func (w *walker) readNumber(t *pointTable, b []byte) bool {
	w.beginPoint(t)
	p, given := &w.point, false
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		var v uint64
		switch tag {
		case 2<<3 | wireFixed8:
			p.start, i = fixed64(b, i)
		case 3<<3 | wireFixed8:
			p.time, i = fixed64(b, i)
		case 4<<3 | wireFixed8:
			v, i = fixed64(b, i)
			p.value, given = math.Float64frombits(v), true
		case 5<<3 | wireBytes:
			i = w.exemplar(t, b, i)
		case 6<<3 | wireFixed8:
			v, i = fixed64(b, i)
			p.value, given = float64(int64(v)), true
		case 7<<3 | wireBytes:
			i = w.pointAttribute(t, b, i)
		case 8<<3 | wireVarint:
			v, i = varint(b, i)
			p.flags = uint32(v)
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	if !given && p.flags&flagNoRecordedValue == 0 {
		p.problem, p.field = issueNoValue, "value"
	}
	return true
}

// flagNoRecordedValue marks a point that represents a gap in its series. The point is stored with its flags and a value of 0.
const flagNoRecordedValue = 1

// readHistogram reads a HistogramDataPoint.
func (w *walker) readHistogram(t *pointTable, h *blocks.Histogram, b []byte) bool {
	w.beginPoint(t)
	p := &w.point
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		var v uint64
		switch tag {
		case 2<<3 | wireFixed8:
			p.start, i = fixed64(b, i)
		case 3<<3 | wireFixed8:
			p.time, i = fixed64(b, i)
		case 4<<3 | wireFixed8:
			p.count, i = fixed64(b, i)
		case 5<<3 | wireFixed8:
			p.sum, i = double(b, i)
			p.hasSum = true
		case 6<<3 | wireFixed8:
			v, i = fixed64(b, i)
			h.BucketCounts.Elements.Append(v)
		case 6<<3 | wireBytes:
			i = eachFixed64(b, i, func(v uint64) { h.BucketCounts.Elements.Append(v) })
		case 7<<3 | wireFixed8:
			var f float64
			f, i = double(b, i)
			h.ExplicitBounds.Elements.Append(f)
		case 7<<3 | wireBytes:
			i = eachFixed64(b, i, func(v uint64) { h.ExplicitBounds.Elements.Append(math.Float64frombits(v)) })
		case 8<<3 | wireBytes:
			i = w.exemplar(t, b, i)
		case 9<<3 | wireBytes:
			i = w.pointAttribute(t, b, i)
		case 10<<3 | wireVarint:
			v, i = varint(b, i)
			p.flags = uint32(v)
		case 11<<3 | wireFixed8:
			p.min, i = double(b, i)
			p.hasMin = true
		case 12<<3 | wireFixed8:
			p.max, i = double(b, i)
			p.hasMax = true
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	w.checkBuckets(h.BucketCounts.Elements.Rows()[h.BucketCounts.Start():], h.ExplicitBounds.Elements.Rows()[h.ExplicitBounds.Start():])
	return true
}

// checkBuckets checks a histogram against the data model of OTLP. A gap in the series may have bounds without counts.
func (w *walker) checkBuckets(counts []uint64, bounds []float64) {
	p := &w.point
	if len(counts) == 0 && (len(bounds) == 0 || p.flags&flagNoRecordedValue != 0) {
		return
	}
	if len(counts) != len(bounds)+1 {
		p.problem, p.field = issueBucketCounts, "bucket_counts"
		return
	}
	for i, bound := range bounds {
		if i > 0 && !(bound > bounds[i-1]) || math.IsNaN(bound) {
			p.problem, p.field = issueBounds, "explicit_bounds"
			return
		}
	}
}

func double(b []byte, i int) (float64, int) {
	v, i := fixed64(b, i)
	return math.Float64frombits(v), i
}

// eachFixed64 reads packed numbers.
func eachFixed64(b []byte, i int, do func(uint64)) int {
	p, i := chunk(b, i)
	if i < 0 {
		return i
	}
	for at := 0; at < len(p); {
		var v uint64
		if v, at = fixed64(p, at); at < 0 {
			return -1
		}
		do(v)
	}
	return i
}

// readExponentialHistogram reads an ExponentialHistogramDataPoint.
func (w *walker) readExponentialHistogram(t *pointTable, h *blocks.ExponentialHistogram, b []byte) bool {
	w.beginPoint(t)
	p := &w.point
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		var v uint64
		switch tag {
		case 1<<3 | wireBytes:
			i = w.pointAttribute(t, b, i)
		case 2<<3 | wireFixed8:
			p.start, i = fixed64(b, i)
		case 3<<3 | wireFixed8:
			p.time, i = fixed64(b, i)
		case 4<<3 | wireFixed8:
			p.count, i = fixed64(b, i)
		case 5<<3 | wireFixed8:
			p.sum, i = double(b, i)
			p.hasSum = true
		case 6<<3 | wireVarint:
			v, i = varint(b, i)
			p.scale = zigzag(v)
		case 7<<3 | wireFixed8:
			p.zeroCount, i = fixed64(b, i)
		case 8<<3 | wireBytes:
			i = w.readBuckets(b, i, &p.positiveOffset, h.PositiveBucketCounts.Elements)
		case 9<<3 | wireBytes:
			i = w.readBuckets(b, i, &p.negativeOffset, h.NegativeBucketCounts.Elements)
		case 10<<3 | wireVarint:
			v, i = varint(b, i)
			p.flags = uint32(v)
		case 11<<3 | wireBytes:
			i = w.exemplar(t, b, i)
		case 12<<3 | wireFixed8:
			p.min, i = double(b, i)
			p.hasMin = true
		case 13<<3 | wireFixed8:
			p.max, i = double(b, i)
			p.hasMax = true
		case 14<<3 | wireFixed8:
			p.zeroThreshold, i = double(b, i)
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	return true
}

// readBuckets reads a Buckets message at b[i]. A repeated message adds to the first.
func (w *walker) readBuckets(b []byte, i int, offset *int32, counts *native.UInt64) int {
	m, after := chunk(b, i)
	if after < 0 {
		return after
	}
	for i := 0; i < len(m); {
		tag, next := varint(m, i)
		if next < 0 {
			return -1
		}
		i = next
		var v uint64
		switch tag {
		case 1<<3 | wireVarint:
			v, i = varint(m, i)
			*offset = zigzag(v)
		case 2<<3 | wireVarint:
			v, i = varint(m, i)
			counts.Append(v)
			if !w.grow(countSize) {
				return -1
			}
		case 2<<3 | wireBytes:
			var packed []byte
			if packed, i = chunk(m, i); i < 0 || !w.grow(countSize*numbers(packed)) {
				return -1
			}
			for at := 0; at < len(packed); {
				if v, at = varint(packed, at); at < 0 {
					return -1
				}
				counts.Append(v)
			}
		default:
			i = skip(m, i, tag)
		}
		if i < 0 {
			return -1
		}
	}
	return after
}

// countSize is the size of a stored bucket count in bytes. On the wire it may take only one byte.
const countSize = 8

// numbers returns the number of varints. Each varint ends with a byte below 0x80.
func numbers(packed []byte) int {
	n := 0
	for _, c := range packed {
		n += int(^c >> 7)
	}
	return n
}

// readSummary reads a SummaryDataPoint.
func (w *walker) readSummary(t *pointTable, s *blocks.Summary, b []byte) bool {
	w.beginPoint(t)
	p := &w.point
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		var v uint64
		switch tag {
		case 2<<3 | wireFixed8:
			p.start, i = fixed64(b, i)
		case 3<<3 | wireFixed8:
			p.time, i = fixed64(b, i)
		case 4<<3 | wireFixed8:
			p.count, i = fixed64(b, i)
		case 5<<3 | wireFixed8:
			p.sum, i = double(b, i)
		case 6<<3 | wireBytes:
			i = w.readQuantile(s, b, i)
		case 7<<3 | wireBytes:
			i = w.pointAttribute(t, b, i)
		case 8<<3 | wireVarint:
			v, i = varint(b, i)
			p.flags = uint32(v)
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	return true
}

func (w *walker) readQuantile(s *blocks.Summary, b []byte, i int) int {
	m, after := chunk(b, i)
	if after < 0 || !w.grow(16) {
		return -1
	}
	var quantile, value float64
	for i := 0; i < len(m); {
		tag, next := varint(m, i)
		if next < 0 {
			return -1
		}
		i = next
		switch tag {
		case 1<<3 | wireFixed8:
			quantile, i = double(m, i)
		case 2<<3 | wireFixed8:
			value, i = double(m, i)
		default:
			i = skip(m, i, tag)
		}
		if i < 0 {
			return -1
		}
	}
	s.QuantilesQuantile.Elements.Append(quantile)
	s.QuantilesValue.Elements.Append(value)
	return after
}
