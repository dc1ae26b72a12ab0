package otlp

import (
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// metric holds the fields of the current metric.
type metric struct {
	name, description, unit []byte
	// data is the payload of the oneof field that came last, and tag is that field.
	data    []byte
	tag     uint64
	ownData bool

	temporality uint64
	// aggregated says that the data has a temporality.
	aggregated, monotonic bool
	// run counts the data points of the current hour, for metric_catalog.
	run  blocks.MetricUse
	hour uint32

	nameID, descriptionID, unitID uint32
	interned                      bool
}

const (
	tagGauge                = 5<<3 | wireBytes
	tagSum                  = 7<<3 | wireBytes
	tagHistogram            = 9<<3 | wireBytes
	tagExponentialHistogram = 10<<3 | wireBytes
	tagSummary              = 11<<3 | wireBytes
)

func (w *walker) metrics(body []byte) bool {
	return w.items(body, func(m []byte) bool {
		w.metricAt, w.itemAt = w.itemAt, -1
		return w.readMetric(m)
	})
}

func (w *walker) readMetric(b []byte) bool {
	m := &w.metric
	*m = metric{}
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		switch tag {
		case 1<<3 | wireBytes:
			m.name, i = text(b, i)
		case 2<<3 | wireBytes:
			m.description, i = text(b, i)
		case 3<<3 | wireBytes:
			m.unit, i = text(b, i)
		case 12<<3 | wireBytes:
			var kv []byte
			if kv, i = chunk(b, i); i < 0 || checkMessage(keyValueMsg, kv, maxDepth-itemDepth) != nil {
				return false
			}
		case tagGauge, tagSum, tagHistogram, tagExponentialHistogram, tagSummary:
			var data []byte
			if data, i = chunk(b, i); i < 0 || !w.addData(tag, data) {
				return false
			}
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	ok := true
	switch m.tag {
	case tagGauge:
		ok = w.gauge()
	case tagSum:
		ok = w.sum()
	case tagHistogram:
		ok = w.histogram()
	case tagExponentialHistogram:
		ok = w.exponentialHistogram()
	case tagSummary:
		ok = w.summary()
	}
	w.flushRun()
	return ok
}

// addData keeps the data until the metric is read. Data of the same kind is merged with it; data of another kind replaces it.
func (w *walker) addData(tag uint64, data []byte) bool {
	m := &w.metric
	if m.tag != 0 && !w.checkWhole() {
		return false
	}
	if m.tag == tag {
		var ok bool
		m.data, ok = w.joined(m.data, m.ownData, data)
		m.ownData = true
		return ok
	}
	m.tag, m.data, m.ownData = tag, data, false
	return true
}

// points reads the message that holds the data points. It reads the message's own fields first, because every row needs them,
// then each point.
func (w *walker) points(sum bool, point func(m []byte) bool) bool {
	m := &w.metric
	for i := 0; i < len(m.data); {
		tag, next := varint(m.data, i)
		if next < 0 {
			return false
		}
		i = next
		var v uint64
		switch {
		case tag == 2<<3|wireVarint:
			m.temporality, i = varint(m.data, i)
		case tag == 3<<3|wireVarint && sum:
			v, i = varint(m.data, i)
			m.monotonic = v != 0
		default:
			i = skip(m.data, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	return each(m.data, 1, func(p []byte, index int) bool {
		w.itemAt = index
		return point(p)
	})
}

// pointTable holds the columns that all metrics tables share.
type pointTable struct {
	*blocks.Point
	exemplars *blocks.Exemplars
	typ       blocks.MetricType
}

func (w *walker) pointTable(p *blocks.Point, e *blocks.Exemplars, typ blocks.MetricType) pointTable {
	c := &w.counters[countMetric+int(typ)]
	c.column, c.scope = p.Attributes, blocks.OnMetric
	return pointTable{p, e, typ}
}

func (w *walker) gauge() bool {
	g := w.set.Gauge()
	t := w.pointTable(&g.Point, &g.Exemplars, blocks.GaugeMetric)
	return w.points(false, func(m []byte) bool {
		return w.readNumber(&t, m) && w.finishPoint(&t, func() { g.Value.Append(w.point.value) })
	})
}

func (w *walker) sum() bool {
	s := w.set.Sum()
	t := w.pointTable(&s.Point, &s.Exemplars, blocks.SumMetric)
	w.metric.aggregated = true
	return w.points(true, func(m []byte) bool {
		return w.readNumber(&t, m) && w.finishPoint(&t, func() {
			s.Value.Append(w.point.value)
			s.AggregationTemporality.AppendID(enum(w.metric.temporality, maxTemporality))
			appendBool(s.IsMonotonic, w.metric.monotonic)
		})
	})
}

const maxTemporality = 2

func (w *walker) histogram() bool {
	h := w.set.Histogram()
	t := w.pointTable(&h.Point, &h.Exemplars, blocks.HistogramMetric)
	w.metric.aggregated = true
	return w.points(false, func(m []byte) bool {
		if !w.readHistogram(&t, h, m) {
			return false
		}
		stored := false
		ok := w.finishPoint(&t, func() {
			p := &w.point
			h.Count.Append(p.count)
			h.Sum.Append(p.sum, p.hasSum)
			h.Min.Append(p.min, p.hasMin)
			h.Max.Append(p.max, p.hasMax)
			h.BucketCounts.EndRow()
			h.ExplicitBounds.EndRow()
			h.AggregationTemporality.AppendID(enum(w.metric.temporality, maxTemporality))
			stored = true
		})
		if !stored {
			h.BucketCounts.Elements.Truncate(h.BucketCounts.Start())
			h.ExplicitBounds.Elements.Truncate(h.ExplicitBounds.Start())
		}
		return ok
	})
}

func (w *walker) exponentialHistogram() bool {
	h := w.set.ExponentialHistogram()
	t := w.pointTable(&h.Point, &h.Exemplars, blocks.ExponentialHistogramMetric)
	w.metric.aggregated = true
	return w.points(false, func(m []byte) bool {
		if !w.readExponentialHistogram(&t, h, m) {
			return false
		}
		stored := false
		ok := w.finishPoint(&t, func() {
			p := &w.point
			h.Count.Append(p.count)
			h.Sum.Append(p.sum, p.hasSum)
			h.Min.Append(p.min, p.hasMin)
			h.Max.Append(p.max, p.hasMax)
			h.Scale.Append(p.scale)
			h.ZeroCount.Append(p.zeroCount)
			h.ZeroThreshold.Append(p.zeroThreshold)
			h.PositiveOffset.Append(p.positiveOffset)
			h.PositiveBucketCounts.EndRow()
			h.NegativeOffset.Append(p.negativeOffset)
			h.NegativeBucketCounts.EndRow()
			h.AggregationTemporality.AppendID(enum(w.metric.temporality, maxTemporality))
			stored = true
		})
		if !stored {
			h.PositiveBucketCounts.Elements.Truncate(h.PositiveBucketCounts.Start())
			h.NegativeBucketCounts.Elements.Truncate(h.NegativeBucketCounts.Start())
		}
		return ok
	})
}

func (w *walker) summary() bool {
	s := w.set.Summary()
	t := w.pointTable(&s.Point, nil, blocks.SummaryMetric)
	return w.points(false, func(m []byte) bool {
		if !w.readSummary(&t, s, m) {
			return false
		}
		stored := false
		ok := w.finishPoint(&t, func() {
			s.Count.Append(w.point.count)
			s.Sum.Append(w.point.sum)
			s.QuantilesQuantile.EndRow()
			s.QuantilesValue.EndRow()
			stored = true
		})
		if !stored {
			s.QuantilesQuantile.Elements.Truncate(s.QuantilesQuantile.Start())
			s.QuantilesValue.Elements.Truncate(s.QuantilesValue.Start())
		}
		return ok
	})
}
