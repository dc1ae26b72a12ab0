package otlp

import (
	"math"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// span holds those fields of the current span that cannot go to a column at once.
type span struct {
	traceID, spanID, parentID   []byte
	traceState, name            []byte
	statusMessage               []byte
	kind, statusCode            uint64
	start, end                  uint64
	flags                       uint32
	events, links               int
	deferredEvent, deferredLink []uint32

	eventMark                                native.Mark
	linkMark, linkTrace, linkSpan, linkState native.Mark
}

// Depths of messages in a request. The request itself has depth 1.
const (
	itemDepth          = 4
	itemAttributeDepth = itemDepth + 1
	partAttributeDepth = itemDepth + 2
)

func (w *walker) traces(body []byte) bool {
	t := w.set.Spans()
	w.counters[countSpan].column, w.counters[countSpan].scope = t.SpanAttributes, blocks.OnSpan
	w.counters[countEvent].column, w.counters[countEvent].scope = t.EventsAttributes.Elements, blocks.OnEvent
	w.counters[countLink].column, w.counters[countLink].scope = t.LinksAttributes.Elements, blocks.OnLink
	columns := resourceColumns{
		org: t.OrgID, service: t.ServiceName, namespace: t.ServiceNamespace, version: t.ServiceVersion, env: t.Environment,
		scopeName: t.ScopeName, scopeVersion: t.ScopeVersion,
		scopeAttributes: t.ScopeAttributes, resourceAttributes: t.ResourceAttributes,
	}
	return w.items(body, func(m []byte) bool { return w.readSpan(t, &columns, m) })
}

func (w *walker) readSpan(t *blocks.Spans, columns *resourceColumns, b []byte) bool {
	s := &w.span
	*s = span{deferredEvent: s.deferredEvent[:0], deferredLink: s.deferredLink[:0]}
	w.hotKeys.given = 0
	w.exception.given = false
	w.beginNotes()
	attributes := t.SpanAttributes
	mark := attributes.Mark()
	attributes.BeginRow()
	for i := 0; i < len(b); {
		// This repeats varint and chunk inline, because most of a span consists of these fields.
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = longVarint(b, i-1); i < 0 {
				return false
			}
		}
		var m []byte
		switch tag {
		case 9<<3 | wireBytes:
			if i < len(b) && b[i] < 0x80 && i+1+int(b[i]) <= len(b) {
				from := i + 1
				i = from + int(b[i])
				m = b[from:i]
			} else if m, i = longChunk(b, i); i < 0 {
				return false
			}
			if len(attributes.RowTags()) >= maxAttributes {
				if !w.extraAttribute(m, itemAttributeDepth) {
					return false
				}
				break
			}
			if !w.attribute(attributes, m, itemAttributeDepth) {
				return false
			}
			w.hotKeys.see(attributes, w.entry.id, w.entry.text, w.entry.typ)
		case 1<<3 | wireBytes:
			s.traceID, i = chunk(b, i)
		case 2<<3 | wireBytes:
			s.spanID, i = chunk(b, i)
		case 3<<3 | wireBytes:
			s.traceState, i = text(b, i)
		case 4<<3 | wireBytes:
			s.parentID, i = chunk(b, i)
		case 5<<3 | wireBytes:
			s.name, i = text(b, i)
		case 6<<3 | wireVarint:
			s.kind, i = varint(b, i)
		case 7<<3 | wireFixed8:
			s.start, i = fixed64(b, i)
		case 8<<3 | wireFixed8:
			s.end, i = fixed64(b, i)
		case 11<<3 | wireBytes:
			if m, i = chunk(b, i); i < 0 || !w.readEvent(t, m) {
				return false
			}
		case 13<<3 | wireBytes:
			if m, i = chunk(b, i); i < 0 || !w.readLink(t, m) {
				return false
			}
		case 15<<3 | wireBytes:
			if m, i = chunk(b, i); i < 0 || !w.readStatus(m) {
				return false
			}
		case 16<<3 | wireFixed4:
			s.flags, i = fixed32(b, i)
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	start, ok := w.admitSpan()
	if !ok {
		w.takeBackWarnings()
	} else if w.hotKeys.given >= 1<<hotProductEvent || w.sampler.enabled || w.hotKeys.mapper.onEach {
		var sound bool
		if ok, sound = w.applyPolicies(t, start); !sound {
			return false
		}
	}
	if !ok {
		attributes.Rollback(mark)
		w.dropElements(t)
		return w.grow(rejectedSize)
	}
	return w.finishSpan(t, columns, start)
}

// applyPolicies applies the rules that concern few spans or few organizations. First it creates the product event from the span
// as the sender sent it, regardless of the fate of the span itself. Then it applies sampling, writes the weight, and applies
// attribute mappings. The result keep says whether the span is stored; ok is false if the request is too large.
func (w *walker) applyPolicies(t *blocks.Spans, start int64) (keep, ok bool) {
	m := t.SpanAttributes
	keep = !w.sampler.enabled || w.sample(start)
	if !keep {
		w.sampled++
		w.takeBackWarnings()
	}
	if w.hotKeys.has(hotProductEvent) && !w.productEvent(m, start) {
		return false, false
	}
	if !keep {
		return false, true
	}
	if !w.stampWeight(m) {
		return false, false
	}
	if w.hotKeys.has(hotMapped) || w.hotKeys.mapper.onEach {
		return true, w.mapAttributes(m)
	}
	return true, true
}

func (w *walker) readStatus(b []byte) bool {
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		switch tag {
		case 2<<3 | wireBytes:
			w.span.statusMessage, i = text(b, i)
		case 3<<3 | wireVarint:
			w.span.statusCode, i = varint(b, i)
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	return true
}

// admitSpan decides whether the span can be stored, and returns its start.
func (w *walker) admitSpan() (start int64, ok bool) {
	s := &w.span
	switch {
	case len(s.traceID) != 16 || allZero(s.traceID):
		w.note(issueTraceID, "trace_id")
		return 0, false
	case len(s.spanID) != 8 || allZero(s.spanID):
		w.note(issueSpanID, "span_id")
		return 0, false
	case s.start == 0:
		w.note(issueNoTime, "start_time_unix_nano")
		s.end = 0
		return w.stamp.ReceivedUnixNano, true
	case !w.inWindow(s.start, limits.TraceRetention):
		w.noteOutside(s.start, "start_time_unix_nano")
		return 0, false
	}
	return int64(s.start), true
}

func (w *walker) noteOutside(t uint64, field string) {
	if t <= math.MaxInt64 && int64(t) < w.stamp.ReceivedUnixNano {
		w.note(issueTooOld, field)
		return
	}
	w.note(issueTooNew, field)
}

func allZero(id []byte) bool {
	for _, c := range id {
		if c != 0 {
			return false
		}
	}
	return true
}

// dropElements drops the events and links of a span that is not stored.
func (w *walker) dropElements(t *blocks.Spans) {
	s := &w.span
	if s.events > 0 {
		n := t.EventsName.Start()
		t.EventsTimestamp.Elements.Truncate(n)
		t.EventsName.Elements.Truncate(n)
		t.EventsAttributes.Elements.Rollback(s.eventMark)
	}
	if s.links > 0 {
		t.LinksTraceID.Elements.Rollback(s.linkTrace)
		t.LinksSpanID.Elements.Rollback(s.linkSpan)
		t.LinksTraceState.Elements.Rollback(s.linkState)
		t.LinksAttributes.Elements.Rollback(s.linkMark)
	}
}

func (w *walker) finishSpan(t *blocks.Spans, columns *resourceColumns, start int64) bool {
	s, h := &w.span, &w.hotKeys
	w.accepted++
	w.enterHour(start)
	w.resource.rows++

	kind := enum(s.kind, kindConsumer)
	status := enum(s.statusCode, statusError)
	if kind == 0 && int32(s.kind) != 0 {
		w.note(issueEnum, "kind")
	}
	if status == 0 && int32(s.statusCode) != 0 {
		w.note(issueEnum, "status.code")
	}
	httpStatus := h.httpStatus()
	hasParent := appendID(t.ParentSpanID, s.parentID, 8)
	if !hasParent && len(s.parentID) != 8 && len(s.parentID) != 0 {
		w.note(issueParentID, "parent_span_id")
	}
	t.Timestamp.Append(start)
	t.TraceID.AppendHex(s.traceID)
	t.SpanID.AppendHex(s.spanID)
	t.TraceState.Append(w.limitText(s.traceState, "trace_state"))
	t.Flags.Append(s.flags)
	name, message := w.limitName(s.name, "name"), w.limitText(s.statusMessage, "status.message")
	t.SpanName.Append(name)
	t.SpanKind.AppendID(kind)
	t.DurationNano.Append(w.duration(start))
	t.StatusCode.AppendID(status)
	t.StatusMessage.Append(message)
	native.AppendBool(t.HasError, status == statusError || httpStatus >= 500)
	native.AppendBool(t.IsEntry, kind == kindServer || kind == kindConsumer || !hasParent)
	t.HTTPMethod.Append(h.httpMethod(s.name))
	t.HTTPRoute.Append(h.httpRoute(kind == kindClient, &w.scratch))
	t.HTTPStatusCode.Append(httpStatus)
	rate := h.sampleRate(s.traceState) * w.weight
	if rate > maxSampleRate {
		w.note(issueSampleRate, "attributes[SampleRate]")
		rate = maxSampleRate
	}
	t.SampleRate.Append(rate)
	if !w.place(placeSpans, columns) {
		return false
	}
	t.SpanAttributes.EndRow()
	if !w.spanError(t, status == statusError, name, message, httpStatus, start, rate) {
		return false
	}
	w.counters[countSpan].countRow()

	if s.events > 0 {
		times := t.EventsTimestamp.Elements.Rows()[t.EventsTimestamp.Start():]
		for i, at := range times {
			if at == 0 {
				times[i] = start
			}
		}
		for _, slot := range s.deferredEvent {
			w.counters[countEvent].count(slot)
		}
	}
	for _, slot := range s.deferredLink {
		w.counters[countLink].count(slot)
	}
	t.EventsTimestamp.EndRow()
	t.EventsName.EndRow()
	t.EventsAttributes.EndRow()
	t.LinksTraceID.EndRow()
	t.LinksSpanID.EndRow()
	t.LinksTraceState.EndRow()
	t.LinksAttributes.EndRow()
	return true
}

// Numbers of the OTLP enums.
const (
	kindServer   = 2
	kindClient   = 3
	kindConsumer = 5
	statusError  = 2
)

// enum returns the number of an enum value, or 0 (unspecified) if the value is not known.
func enum(v uint64, last int32) uint32 {
	if n := int32(v); n >= 0 && n <= last {
		return uint32(n)
	}
	return 0
}

func (w *walker) duration(start int64) uint64 {
	d, problem := w.spanDuration(start)
	if problem != noIssue {
		w.note(problem, "end_time_unix_nano")
	}
	return d
}

func (w *walker) spanDuration(start int64) (d uint64, problem issueKind) {
	switch s := &w.span; {
	case s.start == 0:
		return 0, noIssue
	case s.end < uint64(start):
		return 0, issueNegativeDuration
	case s.end > uint64(w.stamp.ReceivedUnixNano+int64(limits.ClockAhead)):
		return 0, issueEndTooNew
	default:
		return s.end - uint64(start), noIssue
	}
}

// appendID appends an id in hexadecimal. It appends an empty text if the id is all zero or has the wrong size.
func appendID(c *native.String, id []byte, size int) bool {
	if len(id) != size || allZero(id) {
		c.Append(nil)
		return false
	}
	c.AppendHex(id)
	return true
}

func badSize(id []byte, size int) bool { return len(id) != 0 && len(id) != size }
