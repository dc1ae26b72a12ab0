package otlp

import (
	"math"

	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

func (w *walker) readEvent(t *blocks.Spans, b []byte) bool {
	attributes := t.EventsAttributes.Elements
	if w.span.events >= maxElements {
		return w.extraElement(eventMsg, b, itemDepth+1, "events")
	}
	if w.span.events == 0 {
		w.span.eventMark = attributes.Mark()
	}
	attributes.BeginRow()
	var at uint64
	var name []byte
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		switch tag {
		case 1<<3 | wireFixed8:
			at, i = fixed64(b, i)
		case 2<<3 | wireBytes:
			name, i = text(b, i)
		case 3<<3 | wireBytes:
			var m []byte
			if m, i = chunk(b, i); i < 0 || !w.attribute(attributes, m, partAttributeDepth) {
				return false
			}
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	attributes.EndRow()
	if string(name) == exceptionEvent && !w.exception.given {
		w.exception.read(attributes)
		w.exception.at = at
	}
	w.span.deferredEvent = deferRow(w.span.deferredEvent, attributes)
	if at > math.MaxInt64 {
		at = 0
		w.note(issueTimeRange, "events.time_unix_nano")
	}
	t.EventsTimestamp.Elements.Append(int64(at)) // 0 is replaced by the span's start once that is known.
	t.EventsName.Elements.Append(w.limitName(name, "events.name"))
	w.span.events++
	return w.grow(elementSize)
}

// elementSize is the approximate memory of an event, link or exemplar without its attributes.
const elementSize = 64

// deferRow records the keys of the row that was closed last. They are counted later, when it is known whether the span is stored,
// and in which hour.
func deferRow(slots []uint32, m *native.Map) []uint32 {
	tags := m.RowTags()
	for i, id := range m.RowKeys() {
		slots = append(slots, id<<typeBits|uint32(tags[i]))
	}
	return slots
}

func (w *walker) readLink(t *blocks.Spans, b []byte) bool {
	attributes, s := t.LinksAttributes.Elements, &w.span
	if s.links >= maxElements {
		return w.extraElement(linkMsg, b, itemDepth+1, "links")
	}
	if s.links == 0 {
		s.linkMark, s.linkState = attributes.Mark(), t.LinksTraceState.Elements.Mark()
		s.linkTrace, s.linkSpan = t.LinksTraceID.Elements.Mark(), t.LinksSpanID.Elements.Mark()
	}
	attributes.BeginRow()
	var traceID, spanID, state []byte
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		switch tag {
		case 1<<3 | wireBytes:
			traceID, i = chunk(b, i)
		case 2<<3 | wireBytes:
			spanID, i = chunk(b, i)
		case 3<<3 | wireBytes:
			state, i = text(b, i)
		case 4<<3 | wireBytes:
			var m []byte
			if m, i = chunk(b, i); i < 0 || !w.attribute(attributes, m, partAttributeDepth) {
				return false
			}
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	attributes.EndRow()
	w.span.deferredLink = deferRow(w.span.deferredLink, attributes)
	if badSize(traceID, 16) || badSize(spanID, 8) {
		w.note(issueLinkID, "links")
	}
	appendID(t.LinksTraceID.Elements, traceID, 16)
	appendID(t.LinksSpanID.Elements, spanID, 8)
	t.LinksTraceState.Elements.Append(w.limitText(state, "links.trace_state"))
	w.span.links++
	return w.grow(elementSize)
}
