package otlp

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// anyValue is an AnyValue whose outermost level was read. The payload of an array or kvlist is not parsed yet.
type anyValue struct {
	typ   blocks.ValueType
	set   bool
	owned bool
	// bytes holds the text, bytes, array or kvlist.
	bytes []byte
	// bits holds the bool, int or double.
	bits uint64
}

// readAny reads an AnyValue at the given message depth.
func (w *walker) readAny(b []byte, depth int, v *anyValue) bool {
	if depth > maxDepth {
		return false
	}
	*v = anyValue{}
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		if v.set && (v.typ == blocks.ArrayValue || v.typ == blocks.KvlistValue) && !w.checkWhole() {
			// Values that were replaced or merged are no longer checked in their place, so the request is checked once as a
			// whole.
			return false
		}
		i = next
		switch tag {
		case 1<<3 | wireBytes:
			v.bytes, i = text(b, i)
			v.is(blocks.StringValue)
		case 2<<3 | wireVarint:
			v.bits, i = varint(b, i)
			v.is(blocks.BoolValue)
		case 3<<3 | wireVarint:
			v.bits, i = varint(b, i)
			v.is(blocks.IntValue)
		case 4<<3 | wireFixed8:
			v.bits, i = fixed64(b, i)
			v.is(blocks.DoubleValue)
		case 5<<3 | wireBytes:
			i = w.merge(v, b, i, blocks.ArrayValue)
		case 6<<3 | wireBytes:
			i = w.merge(v, b, i, blocks.KvlistValue)
		case 7<<3 | wireBytes:
			v.bytes, i = chunk(b, i)
			v.is(blocks.BytesValue)
		case 8<<3 | wireVarint:
			// string_value_strindex belongs to profiles. In other signals it refers to nothing.
			_, i = varint(b, i)
			v.bytes = nil
			v.is(blocks.StringValue)
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	return true
}

func (v *anyValue) is(t blocks.ValueType) { v.typ, v.set, v.owned = t, true, false }

// merge reads an array or kvlist. If it is repeated, the elements are joined, as protobuf does: joined bytes are joined elements.
func (w *walker) merge(v *anyValue, b []byte, i int, t blocks.ValueType) int {
	payload, i := chunk(b, i)
	if i < 0 {
		return i
	}
	if !v.set || v.typ != t {
		v.bytes = payload
		v.is(t)
		return i
	}
	var ok bool
	if v.bytes, ok = w.joined(v.bytes, v.owned, payload); !ok {
		return -1
	}
	v.owned = true
	return i
}

// appendText appends a value in the format of attribute maps: text unchanged, bool, int and double as words and digits, bytes in
// hexadecimal, arrays and kvlists as compact JSON. It reports false if a nested value is malformed. If a text is longer than
// w.textEnd, only the part before w.textEnd is right; the result is then longer than w.textEnd too.
func (w *walker) appendText(dst []byte, v *anyValue, depth int) ([]byte, bool) {
	switch v.typ {
	case blocks.BoolValue:
		return strconv.AppendBool(dst, v.bits != 0), true
	case blocks.IntValue:
		return strconv.AppendInt(dst, int64(v.bits), 10), true
	case blocks.DoubleValue:
		return appendDouble(dst, math.Float64frombits(v.bits)), true
	case blocks.BytesValue:
		return hex.AppendEncode(dst, w.upTo(dst, v.bytes)), true
	case blocks.ArrayValue, blocks.KvlistValue:
		return w.appendJSON(dst, v, depth, 1)
	default:
		return append(dst, w.upTo(dst, v.bytes)...), true
	}
}

// maxJSONDepth is the depth to which arrays and kvlists are written out. Deeper values are replaced by deepMark and counted.
const (
	maxJSONDepth = limits.ValueDepth
	deepMark     = `"[nested too deep]"`
)

func (w *walker) appendJSON(dst []byte, v *anyValue, depth, level int) ([]byte, bool) {
	switch v.typ {
	case blocks.ArrayValue, blocks.KvlistValue:
	case blocks.StringValue:
		if !v.set {
			return append(dst, "null"...), true
		}
		return appendQuoted(dst, w.upTo(dst, v.bytes)), true
	case blocks.BytesValue:
		dst = append(dst, '"')
		return append(hex.AppendEncode(dst, w.upTo(dst, v.bytes)), '"'), true
	case blocks.DoubleValue:
		if f := math.Float64frombits(v.bits); math.IsNaN(f) || math.IsInf(f, 0) {
			return append(appendDouble(append(dst, '"'), f), '"'), true
		}
		return w.appendText(dst, v, depth)
	default:
		return w.appendText(dst, v, depth)
	}
	array := v.typ == blocks.ArrayValue
	if level > maxJSONDepth {
		w.note(issueDeepValue, "")
		m := keyValueListMsg
		if array {
			m = arrayValueMsg
		}
		return append(dst, deepMark...), checkMessage(m, v.bytes, maxDepth-depth) == nil
	}
	if depth+1 > maxDepth {
		return dst, false
	}
	open, shut := byte('{'), byte('}')
	if array {
		open, shut = '[', ']'
	}
	dst = append(dst, open)
	first := true
	of := keyValueMsg
	if array {
		of = anyValueMsg
	}
	for i := 0; i < len(v.bytes); {
		tag, next := varint(v.bytes, i)
		if next < 0 {
			return dst, false
		}
		if tag != 1<<3|wireBytes {
			if i = skip(v.bytes, next, tag); i < 0 {
				return dst, false
			}
			continue
		}
		var element []byte
		if element, i = chunk(v.bytes, next); i < 0 {
			return dst, false
		}
		if len(dst) > w.textEnd {
			if checkMessage(of, element, maxDepth-depth-1) != nil {
				return dst, false
			}
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		// In protobuf, the value holds a list message, which holds the elements. So an element is two levels deeper than the value.
		var ok bool
		if array {
			dst, ok = w.appendElement(dst, element, depth+2, level+1)
		} else {
			dst, ok = w.appendMember(dst, element, depth+2, level+1)
		}
		if !ok {
			return dst, false
		}
	}
	return append(dst, shut), true
}

func (w *walker) appendElement(dst, b []byte, depth, level int) ([]byte, bool) {
	var v anyValue
	if !w.readAny(b, depth, &v) {
		return dst, false
	}
	return w.appendJSON(dst, &v, depth, level)
}

func (w *walker) appendMember(dst, kv []byte, depth, level int) ([]byte, bool) {
	var key []byte
	var v anyValue
	if !w.readKeyValue(kv, depth, &key, &v) {
		return dst, false
	}
	dst = append(appendQuoted(dst, w.upTo(dst, key)), ':')
	return w.appendJSON(dst, &v, depth+1, level)
}

// readKeyValue reads a KeyValue with the outermost level of its value. The key may come after the value, and either may be
// repeated.
func (w *walker) readKeyValue(b []byte, depth int, key *[]byte, v *anyValue) bool {
	if depth > maxDepth {
		return false
	}
	var value []byte
	given, owned := false, false
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		switch tag {
		case 1<<3 | wireBytes:
			*key, i = text(b, i)
		case 2<<3 | wireBytes:
			var more []byte
			if more, i = chunk(b, i); i < 0 {
				return false
			}
			if !given {
				value, given = more, true
				break
			}
			if !w.checkWhole() {
				return false
			}
			var ok bool
			if value, ok = w.joined(value, owned, more); !ok {
				return false
			}
			owned = true
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	if !given {
		*v = anyValue{}
		return true
	}
	return w.readAny(value, depth+1, v)
}

// appendDouble writes the shortest text that reads back as the same number, in the format of JavaScript: 1, 0.1, 1e21, NaN,
// -Infinity.
func appendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	const exact = 1 << 53
	if n := int64(f); n > -exact && n < exact && float64(n) == f && (n != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, n, 10)
	}
	if out, ok := appendDecimal(dst, f); ok {
		return out
	}
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// appendDecimal writes numbers of at most 15 digits, six of them after the point. Most measurements are of this kind. Only one
// such text reads as a given double, so the one found is the shortest. The general search costs four times as much.
func appendDecimal(dst []byte, f float64) ([]byte, bool) {
	const scale, most = 1e6, 1e15
	a := math.Abs(f)
	if !(a >= 1/scale && a < most/scale) {
		return dst, false
	}
	n := uint64(math.Round(a * scale))
	if float64(n)/scale != a || n >= most {
		return dst, false
	}
	if f < 0 {
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, n/scale, 10)
	n %= scale
	if n == 0 {
		return dst, true
	}
	dst = append(dst, '.')
	for digit := uint64(scale / 10); n > 0; digit /= 10 {
		dst = append(dst, byte('0'+n/digit))
		n %= digit
	}
	return dst, true
}

// appendQuoted writes a JSON string. The text is valid UTF-8.
func appendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range s {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}

// upper returns the text in upper case. The result lies in scratch memory unless the text is already in upper case.
func (w *walker) upper(s []byte) []byte {
	for i, c := range s {
		if c >= utf8.RuneSelf {
			return bytes.ToUpper(s)
		}
		if c >= 'a' && c <= 'z' {
			w.scratch = append(w.scratch[:0], s...)
			for j := i; j < len(s); j++ {
				if c := w.scratch[j]; c >= 'a' && c <= 'z' {
					w.scratch[j] = c - 'a' + 'A'
				} else if c >= utf8.RuneSelf {
					return bytes.ToUpper(s)
				}
			}
			return w.scratch
		}
	}
	return s
}
