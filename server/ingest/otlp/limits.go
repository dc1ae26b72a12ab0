package otlp

import (
	"strconv"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// Limits on the attributes and texts of one item, resource, scope, event, link or exemplar. Larger values are cut or left out.
// The item itself is stored, and the response carries a warning.
//
// These numbers are constants, not settings: walking a record of the durable queue again must give the same rows.
const (
	// maxAttributes is far above the 128 that SDKs allow by default. A row with more is usually a map that was meant as one
	// value.
	maxAttributes = limits.ItemAttributes
	// maxKeyBytes bounds keys, which are kept in dictionaries and listed by hour.
	maxKeyBytes = limits.AttributeKeyBytes
	// maxValueBytes bounds a value as text. To read one attribute, the database reads the attributes of all 8,192 rows of a
	// granule; longer values would make that gigabytes. Stack traces and statements are shorter. Longer texts belong in the body
	// of a log record.
	maxValueBytes = limits.AttributeValue
	// maxBodyBytes bounds the body of a log record, which may hold a document.
	maxBodyBytes = limits.LogBody
	// maxNameBytes bounds names, versions and units, many of which are kept in dictionaries.
	maxNameBytes = limits.TelemetryNameBytes
	// maxTextBytes bounds the message of a status, the trace state, and the description of a metric.
	maxTextBytes = limits.TelemetryTextBytes
	// maxElements bounds the events of a span, its links, and the exemplars of a data point. SDKs allow 128 by default.
	maxElements = limits.ItemElements
	// maxSampleRate bounds how many spans one span stands for, including the factor of the sampling policy. It keeps sums of
	// weights, and of durations times weights, far below overflow. On an overflow the views of the database would refuse the
	// whole block.
	maxSampleRate = limits.SampleRate
	// cutMark ends a text that was cut. It counts towards the limit.
	cutMark = "…[cut]"
)

// distinctKeySize is the approximate memory of a key that is new in the request, in the dictionaries and in attribute_keys.
const distinctKeySize = 256

// cutText shortens the text that begins at b[from] to at most limit bytes, including the mark. It cuts between two characters.
func cutText(b []byte, from, limit int) []byte {
	end := from + limit - len(cutMark)
	for end > from && !utf8.RuneStart(b[end]) {
		end--
	}
	return append(b[:end], cutMark...)
}

// limitKey returns the key as it is stored.
func (w *walker) limitKey(key []byte) []byte {
	if len(key) <= maxKeyBytes {
		return key
	}
	w.note(issueLongKey, "attributes")
	return cutText(append(make([]byte, 0, maxKeyBytes), key[:maxKeyBytes]...), 0, maxKeyBytes)
}

// limitName returns a name as it is stored. The argument field names its place.
func (w *walker) limitName(s []byte, field string) []byte {
	if len(s) <= maxNameBytes {
		return s
	}
	return w.shorten(s, maxNameBytes, issueLongName, field)
}

// limitText returns a text as it is stored.
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

// extraElement checks an event, link or exemplar beyond maxElements, which is not stored. The depth is that of the element.
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

// bodyText returns the body of a log record as it is stored. The result lies in the request's memory or in scratch.
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

// appendUpTo appends the text of a value and cuts it if it is longer than the limit. It formats only the beginning of a longer
// value, but checks all of it.
func (w *walker) appendUpTo(limit int, dst []byte, v *anyValue, depth int) (text []byte, long, ok bool) {
	from := len(dst)
	w.textEnd = from + limit
	dst, ok = w.appendText(dst, v, depth)
	if !ok || len(dst)-from <= limit {
		return dst, false, ok
	}
	return cutText(dst, from, limit), true, true
}

// upTo returns the beginning of s if s alone passes the end of the text that is built in dst.
func (w *walker) upTo(dst, s []byte) []byte {
	if room := max(w.textEnd-len(dst), 0); len(s) > room {
		return s[:room+1]
	}
	return s
}

// extraAttribute checks an attribute beyond maxAttributes, which is not stored.
func (w *walker) extraAttribute(b []byte, depth int) bool {
	w.note(issueManyAttributes, "attributes")
	return checkMessage(keyValueMsg, b, maxDepth-depth+1) == nil
}

// key begins an entry of the open row, and counts the memory of a new key.
func (w *walker) key(m *native.Map, key []byte, typ blocks.ValueType) (uint32, bool) {
	n := m.KeyCount()
	id := m.Key(key, uint8(typ))
	return id, m.KeyCount() == n || w.grow(distinctKeySize+len(key))
}

// joined appends more to a. The first call copies a into memory of the walker's own, so that many pieces cost no more than their
// bytes. Nested values may all come in pieces, and each level then copies the levels below it. The copies therefore count against
// the memory bound of the request.
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
