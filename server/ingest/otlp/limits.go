package otlp

import (
	"strconv"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// Limits on the attributes and texts of one item, resource, scope, event, link or exemplar. Larger values are cut or left out, and the sender is
// told by a warning; the item itself is stored.
//
// Rows depend on these numbers, also when a record of the durable queue is walked again: they are constants, not settings.
const (
	// maxAttributes is far above the 128 that SDKs allow by default. A row with more is a map that was meant as one value.
	maxAttributes = limits.ItemAttributes
	// maxKeyBytes bounds keys, which are kept in dictionaries and listed by hour.
	maxKeyBytes = limits.AttributeKeyBytes
	// maxValueBytes bounds a value as text. Reading one attribute reads those of all rows in a granule of 8,192: longer values would
	// make that gigabytes. Stack traces and statements are shorter; what is long goes into the body of a log record.
	maxValueBytes = limits.AttributeValue
	// maxBodyBytes bounds the body of a log record, which may hold a document.
	maxBodyBytes = limits.LogBody
	// maxNameBytes bounds names, versions and units, many of which are kept in dictionaries.
	maxNameBytes = limits.TelemetryNameBytes
	// maxTextBytes bounds the message of a status, a trace state and the description of a metric.
	maxTextBytes = limits.TelemetryTextBytes
	// maxElements bounds the events of a span, its links, and the exemplars of a data point. SDKs allow 128 by default.
	maxElements = limits.ItemElements
	// maxSampleRate bounds how many spans one stands for, its sampling policy included. Sums of weights, and of durations by weight, stay far from
	// where numbers end: the views of the store refuse the whole block otherwise.
	maxSampleRate = 1_000_000_000
	// cutMark ends a text that was cut. It counts towards the limit.
	cutMark = "…[cut]"
)

// distinctKeySize is about what a key takes that was not in the request before, in the dictionaries and in attribute_keys.
const distinctKeySize = 256

// cutText shortens the text that begins at b[from] to limit bytes, mark included, between two characters.
func cutText(b []byte, from, limit int) []byte {
	end := from + limit - len(cutMark)
	for end > from && !utf8.RuneStart(b[end]) {
		end--
	}
	return append(b[:end], cutMark...)
}

// limitKey is the key as it is stored.
func (w *walker) limitKey(key []byte) []byte {
	if len(key) <= maxKeyBytes {
		return key
	}
	w.note(issueLongKey, "attributes")
	return cutText(append(make([]byte, 0, maxKeyBytes), key[:maxKeyBytes]...), 0, maxKeyBytes)
}

// limitName is a name as it is stored; field is where it stands.
func (w *walker) limitName(s []byte, field string) []byte {
	if len(s) <= maxNameBytes {
		return s
	}
	return w.shorten(s, maxNameBytes, issueLongName, field)
}

// limitText is a text as it is stored.
func (w *walker) limitText(s []byte, field string) []byte {
	if len(s) <= maxTextBytes {
		return s
	}
	return w.shorten(s, maxTextBytes, issueLongText, field)
}

func (w *walker) shorten(s []byte, limit int, k issueKind, field string) []byte {
	w.note(k, field)
	return cutText(append(make([]byte, 0, limit), s[:limit]...), 0, limit)
}

// extraElement is an event, link or exemplar beyond maxElements: it is checked, and left out. Depth is that of the element.
func (w *walker) extraElement(of message, b []byte, depth int, field string) bool {
	w.note(issueManyElements, field)
	return checkMessage(of, b, maxDepth-depth+1) == nil
}

// appendLimited appends the text of an attribute as it is stored.
func (w *walker) appendLimited(dst []byte, v *anyValue, depth int) ([]byte, bool) {
	dst, long, ok := w.appendUpTo(maxValueBytes, dst, v, depth)
	if long {
		w.note(issueLongValue, "attributes")
	}
	return dst, ok
}

// bodyText is the body of a log record as it is stored, in the request's memory or in scratch.
func (w *walker) bodyText(v *anyValue, depth int) ([]byte, bool) {
	if v.typ == blocks.StringValue && len(v.bytes) <= maxBodyBytes {
		return v.bytes, true
	}
	var long, ok bool
	if w.scratch, long, ok = w.appendUpTo(maxBodyBytes, w.scratch[:0], v, depth); long {
		w.note(issueLongBody, "body")
	}
	return w.scratch, ok && w.grow(len(w.scratch))
}

// appendUpTo appends the text of a value, cut when it is longer than the limit. Of a longer one only the beginning is made; all of it is checked.
func (w *walker) appendUpTo(limit int, dst []byte, v *anyValue, depth int) (text []byte, long, ok bool) {
	from := len(dst)
	w.textEnd = from + limit
	dst, ok = w.appendText(dst, v, depth)
	if !ok || len(dst)-from <= limit {
		return dst, false, ok
	}
	return cutText(dst, from, limit), true, true
}

// upTo is the beginning of s, when s alone passes the end of the text that is made in dst.
func (w *walker) upTo(dst, s []byte) []byte {
	if room := max(w.textEnd-len(dst), 0); len(s) > room {
		return s[:room+1]
	}
	return s
}

// extraAttribute is an attribute beyond maxAttributes: it is checked, and left out.
func (w *walker) extraAttribute(b []byte, depth int) bool {
	w.note(issueManyAttributes, "attributes")
	return checkMessage(keyValueMsg, b, maxDepth-depth+1) == nil
}

// key begins an entry of the open row, and counts the memory of a key that is new.
func (w *walker) key(m *native.Map, key []byte, typ blocks.ValueType) (uint32, bool) {
	n := m.KeyCount()
	id := m.Key(key, uint8(typ))
	return id, m.KeyCount() == n || w.grow(distinctKeySize+len(key))
}

// joined appends more to a, in memory of our own from the first time on, so that many pieces cost no more than their bytes. Values within
// each other may all be in pieces, each level a copy of those below it: the copies count against the bound of the request.
func (w *walker) joined(a []byte, owned bool, more []byte) ([]byte, bool) {
	if owned {
		return append(a, more...), w.grow(2 * len(more))
	}
	n := 2 * (len(a) + len(more))
	if !w.grow(n) {
		return nil, false
	}
	return append(append(make([]byte, 0, n), a...), more...), true
}

func limitMessage(k issueKind) string {
	switch k {
	case issueLongKey:
		return "a key is longer than " + strconv.Itoa(maxKeyBytes) + " bytes and was cut: it ends with " + cutMark
	case issueLongValue:
		return "a value is longer than " + strconv.Itoa(maxValueBytes) + " bytes as text and was cut: it ends with " + cutMark
	case issueLongBody:
		return "is longer than " + strconv.Itoa(maxBodyBytes) + " bytes as text and was cut: it ends with " + cutMark
	case issueLongName:
		return "is longer than " + strconv.Itoa(maxNameBytes) + " bytes and was cut: it ends with " + cutMark
	case issueLongText:
		return "is longer than " + strconv.Itoa(maxTextBytes) + " bytes and was cut: it ends with " + cutMark
	case issueManyElements:
		return "there are more than " + strconv.Itoa(maxElements) + " on one item: those after them were left out"
	default:
		return "there are more than " + strconv.Itoa(maxAttributes) + " attributes: those after them were left out"
	}
}
