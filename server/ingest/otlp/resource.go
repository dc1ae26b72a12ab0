package otlp

import (
	"bytes"
	"runtime"
	"slices"

	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// attribute is an attribute of a resource or scope, which are read once and written on many rows. Its memory belongs to the body
// or to the arena of its owner.
type attribute struct {
	key, text []byte
	typ       blocks.ValueType
	// stamped marks attributes that the server added. They are not listed among the sender's attribute keys and are not part of a
	// series.
	stamped bool
}

// attributeList holds the attributes of a resource or scope.
type attributeList struct {
	attributes []attribute
	arena      []byte
	last       map[string]int
}

func (l *attributeList) forget() {
	clear(l.attributes)
	l.attributes, l.arena = l.attributes[:0], l.arena[:0]
	clear(l.last)
	if cap(l.attributes) > maxGuessAttributes || cap(l.arena) > maxScratch {
		*l = attributeList{}
	}
}

const maxGuessAttributes = 1024

// add reads a KeyValue at the given depth.
func (l *attributeList) add(w *walker, b []byte, depth int) bool {
	if len(l.attributes) >= maxAttributes {
		return w.extraAttribute(b, depth)
	}
	var key []byte
	var v anyValue
	if !w.readKeyValue(b, depth, &key, &v) {
		return false
	}
	text := v.bytes
	if v.typ != blocks.StringValue || len(text) > maxValueBytes {
		from := len(l.arena)
		var ok bool
		if l.arena, ok = w.appendLimited(l.arena, &v, depth+1); !ok {
			return false
		}
		text = l.arena[from:]
	}
	l.attributes = append(l.attributes, attribute{key: w.limitKey(key), text: text, typ: v.typ})
	return true
}

// addText adds an attribute of the server.
func (l *attributeList) addText(key, text string, stamped bool) {
	from := len(l.arena)
	l.arena = append(append(l.arena, key...), text...)
	mid := from + len(key)
	l.attributes = append(l.attributes, attribute{key: l.arena[from:mid], text: l.arena[mid:], stamped: stamped})
}

// keepLast drops attributes whose key occurs again later.
func (l *attributeList) keepLast() {
	const few = 24
	a := l.attributes
	repeated := func(i int) bool {
		for j := i + 1; j < len(a); j++ {
			if bytes.Equal(a[i].key, a[j].key) {
				return true
			}
		}
		return false
	}
	if len(a) > few {
		if l.last == nil {
			l.last = make(map[string]int, len(a))
		}
		clear(l.last)
		for i := range a {
			l.last[string(a[i].key)] = i
		}
		repeated = func(i int) bool { return l.last[string(a[i].key)] != i }
	}
	n := 0
	for i := range a {
		if !repeated(i) {
			a[n] = a[i]
			n++
		}
	}
	l.attributes = a[:n]
}

func (l *attributeList) find(key string) (attribute, bool) {
	for i := range l.attributes {
		if string(l.attributes[i].key) == key {
			return l.attributes[i], true
		}
	}
	return attribute{}, false
}

// first returns the first text that is not empty among the given keys.
func (l *attributeList) first(keys ...string) []byte {
	for _, k := range keys {
		if a, ok := l.find(k); ok && len(a.text) > 0 {
			return a.text
		}
	}
	return nil
}

func (l *attributeList) remove(drop func(key []byte) bool) {
	l.attributes = slices.DeleteFunc(l.attributes, func(a attribute) bool { return drop(a.key) })
}

// resource is the current resource.
type resource struct {
	attributeList
	service, namespace, version, environment []byte
	// series is the contribution of the resource to a series hash.
	series uint64
	// rows counts the rows in the current hour, for attribute_keys.
	rows uint64
}

func (r *resource) forget() {
	r.attributeList.forget()
	r.service, r.namespace, r.version, r.environment = nil, nil, nil, nil
	r.series, r.rows = 0, 0
}

// readResource reads a Resource message. A repeated message in the same place adds to the first.
func (w *walker) readResource(b []byte) bool {
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		var m []byte
		switch tag {
		case 1<<3 | wireBytes:
			if m, i = chunk(b, i); i < 0 || !w.resource.add(w, m, 4) {
				return false
			}
		case 3<<3 | wireBytes:
			if m, i = chunk(b, i); i < 0 || checkMessage(entityRefMsg, m, maxDepth-3) != nil {
				return false
			}
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	return true
}

// stampResource completes the resource after all of it was read.
func (w *walker) stampResource() {
	r := &w.resource
	r.keepLast()
	r.remove(func(key []byte) bool { return string(key) == "org_id" || bytes.HasPrefix(key, []byte("svc_")) })
	sent := r.first(environmentOld, environmentName)
	for _, a := range w.stamp.Attributes {
		if _, found := r.find(a.Key); found {
			if a.IfMissing {
				continue
			}
			r.remove(func(key []byte) bool { return string(key) == a.Key })
		}
		r.addText(a.Key, a.Value, false)
	}
	r.service = r.first("service.name")
	if r.service == nil {
		r.service = []byte(unknownService)
	}
	r.namespace, r.version = r.first("service.namespace"), r.first("service.version")
	switch text, decided := w.alwaysSet(environmentOld, environmentName); {
	case decided:
		r.environment = text
	case sent != nil:
		r.environment = sent
	default:
		r.environment = r.first(environmentOld, environmentName)
	}
	if w.signal == Metrics {
		r.series = seriesSum(r.attributes)
	}
	r.addText("svc_org_id", string(w.stamp.Org), true)
	r.addText("svc_ingest_key_type", w.stamp.KeyType, true)
	r.addText("svc_ingest_source", "svc-ingest-gateway", true)
	if w.stamp.KeyID != "" {
		r.addText("svc_ingest_key_id", w.stamp.KeyID, true)
	}
	for i := range w.places {
		w.places[i].hasResource = false
	}
	if w.signal == Traces {
		w.hotKeys.mapper.enterResource(r)
	}
}

const unknownService = "unknown_service"

// The environment has two attribute names. If both are present, the old name wins. Attributes that the key always sets come
// first, then the sender's attributes, then attributes that the key adds if missing, each under either name.
const (
	environmentOld  = "deployment.environment"
	environmentName = "deployment.environment.name"
)

// alwaysSet returns the first text that is not empty among the given attributes. The result decided says that the key sets one of
// them regardless of the sender.
func (w *walker) alwaysSet(keys ...string) (text []byte, decided bool) {
	for _, k := range keys {
		for i := range w.stamp.Attributes {
			if a := &w.stamp.Attributes[i]; a.Key == k && !a.IfMissing {
				decided = true
				if text == nil {
					text = w.resource.first(k)
				}
			}
		}
	}
	return text, decided
}

// scope is the current instrumentation scope.
type scope struct {
	attributeList
	name, version []byte
}

func (s *scope) forget() {
	s.attributeList.forget()
	s.name, s.version = nil, nil
}

// readScope reads an InstrumentationScope message. A repeated message in the same place adds to the first.
func (w *walker) readScope(b []byte) bool {
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		switch tag {
		case 1<<3 | wireBytes:
			w.scope.name, i = text(b, i)
		case 2<<3 | wireBytes:
			w.scope.version, i = text(b, i)
		case 3<<3 | wireBytes:
			var m []byte
			if m, i = chunk(b, i); i < 0 || !w.scope.add(w, m, 5) {
				return false
			}
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	return true
}

// each calls do with each message of one field, in order. It serves the resource and scope levels of all signals.
func each(b []byte, number uint64, do func(m []byte, index int) bool) bool {
	index := 0
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		if tag != number<<3|wireBytes {
			if i = skip(b, next, tag); i < 0 {
				return false
			}
			continue
		}
		var m []byte
		if m, i = chunk(b, next); i < 0 || !do(m, index) {
			return false
		}
		index++
	}
	return true
}

// items walks the levels that all signals share and calls item with each span, log record or metric. The resource may come after
// its items on the wire, so items goes over each level twice. The second time it skips the parts that the first has read.
func (w *walker) items(body []byte, item func(m []byte) bool) bool {
	return each(body, 1, func(m []byte, index int) bool {
		w.flushKeys()
		w.resourceAt, w.scopeAt, w.metricAt, w.itemAt = index, -1, -1, -1
		w.resource.forget()
		if !w.grow(levelSize) || !each(m, 1, func(r []byte, _ int) bool { return w.readResource(r) }) || !schemaURL(m) {
			return false
		}
		w.stampResource()
		return each(m, 2, func(m []byte, index int) bool {
			w.scopeAt, w.metricAt, w.itemAt = index, -1, -1
			w.scope.forget()
			if !w.grow(levelSize) || !each(m, 1, func(s []byte, _ int) bool { return w.readScope(s) }) || !schemaURL(m) {
				return false
			}
			w.scope.keepLast()
			w.scope.name, w.scope.version = w.limitName(w.scope.name, "name"), w.limitName(w.scope.version, "version")
			for i := range w.places {
				w.places[i].hasScope = false
			}
			return each(m, 2, func(m []byte, index int) bool {
				w.itemAt = index
				if w.unyielded += len(m); w.unyielded >= yieldEvery {
					w.unyielded = 0
					runtime.Gosched()
				}
				return item(m)
			})
		})
	})
}

// yieldEvery is the number of bytes that are walked, in about 0.1 ms, before other requests get the processor. The scheduler by
// itself would give a large body 10 ms at a time.
const yieldEvery = 128 << 10

// schemaURL checks the schema URL, which is not stored.
func schemaURL(b []byte) bool {
	return each(b, 3, func(s []byte, _ int) bool { return validText(s) })
}
