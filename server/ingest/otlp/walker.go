package otlp

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// walker is the state of one walk. It lives in Set.Scratch, so that the next request reuses its memory.
type walker struct {
	signal Signal
	body   []byte
	stamp  *Stamp
	set    *blocks.Set
	org    []byte

	// checked says that the whole body was checked and is well-formed.
	checked  bool
	tooLarge bool
	// size estimates the memory of the columns filled so far.
	size, maxSize int

	resource resource
	scope    scope
	// resourceAt, scopeAt and itemAt are the current place of the walk, for reasons in the result. For metrics, metricAt is the
	// metric and itemAt the data point. An index that does not apply is -1.
	resourceAt, scopeAt, metricAt, itemAt int

	places   [places]placement
	keys     blocks.AttributeKeys
	catalog  blocks.MetricCatalog
	counters [counters]keyCounter
	hour     uint32

	// accepted and sampled count items; events counts the product events of spans.
	accepted, sampled, events int
	// unyielded is the number of bytes walked since the walker last gave up the processor.
	unyielded int

	issues [issues]issue
	// noted counts the issues of the current item. anyNoted avoids clearing the counts for most items.
	noted    [issues]int
	anyNoted bool

	hotKeys hotKeys
	sampler sampler
	// weight is the number of spans that the current span stands for under the sampling policy.
	weight float64
	span   span
	record logRecord
	// exception is that of the current span or log record.
	exception exception
	point     point
	metric    metric

	scratch []byte
	// textEnd is a length for texts in scratch. Formatting may stop once a text is longer.
	textEnd int
	entry   entry
}

// entry is the attribute that was read last.
type entry struct {
	id   uint32
	typ  blocks.ValueType
	text []byte
}

func (w *walker) begin(signal Signal, body []byte, stamp *Stamp, set *blocks.Set) {
	w.signal, w.body, w.stamp, w.set = signal, body, stamp, set
	w.org = append(w.org[:0], stamp.Org...)
	w.checked, w.tooLarge, w.size, w.maxSize = false, false, 0, stamp.MaxBytes
	if w.maxSize <= 0 {
		w.maxSize = DefaultMaxBytes
	}
	w.places = [places]placement{}
	w.keys.Reset()
	w.catalog.Reset()
	for i := range w.counters {
		w.counters[i].reset()
	}
	w.hour, w.accepted, w.sampled, w.events, w.unyielded, w.issues = 0, 0, 0, 0, 0, [issues]issue{}
	w.weight, w.sampler.enabled = 1, false
	w.exception.begin()
	if signal == Traces {
		w.hotKeys.reset(stamp.Mappings)
		w.sampler.reset(stamp.Sampling, w.org)
	}
}

// end releases the request's memory.
func (w *walker) end() {
	w.body, w.stamp, w.set = nil, nil, nil
	w.resource.forget()
	w.scope.forget()
	w.span, w.record, w.point, w.metric, w.entry = span{}, logRecord{}, point{}, metric{}, entry{}
	w.hotKeys.forget()
	w.exception.forget()
	for i := range w.counters {
		w.counters[i].reset()
	}
	if cap(w.scratch) > maxScratch {
		w.scratch = nil
	}
}

const maxScratch = 1 << 16

// checkWhole makes sure that the whole body is well-formed.
func (w *walker) checkWhole() bool {
	if !w.checked {
		w.checked = check(w.signal, w.body) == nil
	}
	return w.checked
}

// grow counts memory against the bound of the request. It returns false above the bound.
func (w *walker) grow(n int) bool {
	w.size += n
	w.tooLarge = w.size > w.maxSize
	return !w.tooLarge
}

// attribute reads a KeyValue at the given depth, appends it to the open row of m and leaves the entry in w.entry. A row takes
// maxAttributes; for further attributes w.entry is unchanged and may belong to another column.
func (w *walker) attribute(m *native.Map, b []byte, depth int) bool {
	if len(m.RowTags()) >= maxAttributes {
		return w.extraAttribute(b, depth)
	}
	// Nearly all attributes have this form: a key below 128 bytes, then a value below 16 KiB that contains only a scalar.
	if len(b) >= 4 && b[0] == 1<<3|wireBytes && b[1] < 0x80 {
		if at := 2 + int(b[1]); at+1 < len(b) && b[at] == 2<<3|wireBytes {
			key, rest := b[2:at], b[at+1:]
			size, from := int(rest[0]), 1
			if size >= 0x80 && len(rest) > 1 && rest[1] < 0x80 {
				size, from = size&0x7f|int(rest[1])<<7, 2
			}
			if size >= 2 && from+size == len(rest) {
				if known, ok := w.scalar(m, key, rest[from:]); known {
					return ok
				}
			}
		}
	}
	return w.anyAttribute(m, b, depth)
}

// scalar appends an attribute whose value is one field of a common type. For any other value it does nothing and returns known as
// false.
func (w *walker) scalar(m *native.Map, key, value []byte) (known, ok bool) {
	e := &w.entry
	switch value[0] {
	case 1<<3 | wireBytes:
		size, from := int(value[1]), 2
		if size >= 0x80 && len(value) > 2 && value[2] < 0x80 {
			size, from = size&0x7f|int(value[2])<<7, 3
		}
		if from+size != len(value) {
			return false, false
		}
		e.text = value[from:]
		if !validText(e.text) || !w.attributeKey(m, key, blocks.StringValue) {
			return true, false
		}
		m.Values.Append(e.text)
	case 3<<3 | wireVarint:
		n, end := varint(value, 1)
		if end != len(value) {
			return false, false
		}
		if !w.attributeKey(m, key, blocks.IntValue) {
			return true, false
		}
		e.text = m.Values.AppendInt(int64(n))
	case 2<<3 | wireVarint:
		if len(value) != 2 || value[1] > 1 {
			return false, false
		}
		if !w.attributeKey(m, key, blocks.BoolValue) {
			return true, false
		}
		w.scratch = strconv.AppendBool(w.scratch[:0], value[1] == 1)
		m.Values.Append(w.scratch)
		e.text = m.Values.Last(len(w.scratch))
	case 4<<3 | wireFixed8:
		if len(value) != 9 {
			return false, false
		}
		if !w.attributeKey(m, key, blocks.DoubleValue) {
			return true, false
		}
		w.scratch = appendDouble(w.scratch[:0], math.Float64frombits(binary.LittleEndian.Uint64(value[1:])))
		m.Values.Append(w.scratch)
		e.text = m.Values.Last(len(w.scratch))
	default:
		return false, false
	}
	return true, true
}

// anyAttribute does the work of attribute for any form of a KeyValue.
func (w *walker) anyAttribute(m *native.Map, b []byte, depth int) bool {
	e := &w.entry
	var v anyValue
	var key []byte
	if !w.readKeyValue(b, depth, &key, &v) {
		return false
	}
	text := v.bytes
	asSent := v.typ == blocks.StringValue && len(text) <= maxValueBytes
	var ok bool
	if !asSent {
		if w.scratch, ok = w.appendLimited(w.scratch[:0], &v, depth+1); !ok || !w.grow(len(w.scratch)) {
			return false
		}
		text = w.scratch
	}
	e.typ = v.typ
	if e.id, ok = w.key(m, w.limitKey(key), v.typ); !ok {
		return false
	}
	m.Values.Append(text)
	if asSent {
		e.text = text
	} else {
		e.text = m.Values.Last(len(text))
	}
	return true
}

// attributeKey begins the entry of an attribute. A key that occurred before is known to be valid.
func (w *walker) attributeKey(m *native.Map, key []byte, typ blocks.ValueType) bool {
	e := &w.entry
	e.typ = typ
	var ok bool
	if e.id, ok = m.Guess(key, uint8(typ)); ok {
		return true
	}
	if !validText(key) {
		return false
	}
	e.id, ok = w.key(m, key, typ)
	return ok
}

// Rows are counted separately for each table, because each table has its own dictionary numbers.
const (
	placeSpans = iota
	placeLogs
	placeGauge
	placeSum
	placeHistogram
	placeExponentialHistogram
	placeSummary
	places
)

// placement is the place where the current resource and scope were first written in a table. Later rows are copied from there.
type placement struct {
	hasOrg, hasResource, hasScope         bool
	org, service, namespace, version, env uint32
	scopeName, scopeVersion               uint32
	resourceRow, scopeRow                 native.Span
	resourceSize, scopeSize               int
}

// resourceColumns are the columns that every table has for a resource and scope. version may be nil.
type resourceColumns struct {
	org, service, namespace, version, env, scopeName, scopeVersion *native.LowCardinality
	scopeAttributes, resourceAttributes                            *native.Map
}

// place appends the resource and scope columns of one row.
func (w *walker) place(at int, c *resourceColumns) bool {
	p := &w.places[at]
	if !p.hasOrg {
		p.org, p.hasOrg = c.org.Intern(w.org), true
	}
	if !p.hasResource {
		r := &w.resource
		p.service, p.namespace, p.env = c.service.Intern(r.service), c.namespace.Intern(r.namespace), c.env.Intern(r.environment)
		if c.version != nil {
			p.version = c.version.Intern(r.version)
		}
		p.resourceRow = appendRow(c.resourceAttributes, r.attributes)
		p.resourceSize, p.hasResource = p.resourceRow.Size(), true
	} else {
		c.resourceAttributes.Repeat(p.resourceRow)
	}
	if !p.hasScope {
		s := &w.scope
		p.scopeName, p.scopeVersion = c.scopeName.Intern(s.name), c.scopeVersion.Intern(s.version)
		p.scopeRow = appendRow(c.scopeAttributes, s.attributes)
		p.scopeSize, p.hasScope = p.scopeRow.Size(), true
	} else {
		c.scopeAttributes.Repeat(p.scopeRow)
	}
	c.org.AppendID(p.org)
	c.service.AppendID(p.service)
	c.namespace.AppendID(p.namespace)
	c.env.AppendID(p.env)
	if c.version != nil {
		c.version.AppendID(p.version)
	}
	c.scopeName.AppendID(p.scopeName)
	c.scopeVersion.AppendID(p.scopeVersion)
	// While a column grows, it needs memory for its old and its new content at the same time.
	repeated := p.resourceSize + p.scopeSize
	return w.grow(rowSize + repeated + repeated/2)
}

// rowSize is the approximate size of the fixed-width columns of one row. A rejected item takes no memory but takes time, so it
// counts as well.
const (
	rowSize      = 256
	rejectedSize = 64
	// levelSize is the same for a resource or scope, which may have no items.
	levelSize = 64
)

func appendRow(m *native.Map, attributes []attribute) native.Span {
	m.BeginRow()
	for i := range attributes {
		m.Key(attributes[i].key, uint8(attributes[i].typ))
		m.Values.Append(attributes[i].text)
	}
	m.EndRow()
	return m.LastRow()
}

const nanosPerHour = 3600 * 1e9

// inWindow reports whether rows with this time may be stored. Rows are partitioned by day, and one bad clock must not create a
// hundred partitions. The bounds are the retention of the signal, and limits.ClockAhead.
func (w *walker) inWindow(t uint64, retention time.Duration) bool {
	if t > math.MaxInt64 {
		return false
	}
	received := w.stamp.ReceivedUnixNano
	return int64(t) >= received-int64(retention) && int64(t) <= received+int64(limits.ClockAhead)
}
