package logpush

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/svc-observability/svc/server/limits"
)

// members yields the members of an object that is known to be valid JSON. The names keep their quotes.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		at := space(object, 1)
		for object[at] != '}' {
			end := valueEnd(object, at)
			name := object[at:end]
			from := space(object, space(object, end)+1)
			end = valueEnd(object, from)
			if !yield(name, object[from:end]) {
				return
			}
			if at = space(object, end); object[at] == ',' {
				at = space(object, at+1)
			}
		}
	}
}

// elements yields the elements of an array that is known to be valid JSON.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		at := space(array, 1)
		for array[at] != ']' {
			end := valueEnd(array, at)
			if !yield(array[at:end]) {
				return
			}
			if at = space(array, end); array[at] == ',' {
				at = space(array, at+1)
			}
		}
	}
}

// space returns the position of the next token.
func space(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\r' || b[at] == '\n') {
		at++
	}
	return at
}

// valueEnd returns the end of the value that begins at at.
func valueEnd(b []byte, at int) int {
	switch b[at] {
	case '"':
		return textEnd(b, at)
	case '{', '[':
		for depth := 0; ; {
			switch b[at] {
			case '"':
				at = textEnd(b, at)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if at++; depth == 0 {
				return at
			}
		}
	default:
		for at < len(b) {
			switch b[at] {
			case ',', '}', ']', ' ', '\t', '\r', '\n':
				return at
			}
			at++
		}
		return at
	}
}

func textEnd(b []byte, at int) int {
	for at++; b[at] != '"'; at++ {
		if b[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// text returns the content of a quoted text. Invalid characters are replaced by U+FFFD.
func text(quoted []byte) []byte {
	inside := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return inside
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // The text is known to be valid JSON.
	return []byte(s)
}

// scalar returns a text, or a number or boolean as it is written. It returns nil for null, objects and arrays.
func scalar(value []byte) []byte {
	switch {
	case len(value) == 0:
		return nil
	case value[0] == '"':
		return text(value)
	case value[0] == 'n', value[0] == '{', value[0] == '[':
		return nil
	default:
		return value
	}
}

// nothing reports whether a value is null or an empty text, object or array.
func nothing(value []byte) bool {
	switch value[0] {
	case 'n':
		return true
	case '"':
		return len(value) == 2
	case '{', '[':
		return space(value, 1) == len(value)-1
	default:
		return false
	}
}

// Bounds up to which objects and arrays are converted to structured values. Deeper or longer ones are kept as JSON text, which is
// also the stored form of all of them.
const (
	maxNesting = limits.LogPushDepth
	maxNested  = limits.LogPushValue
)

// appendAny appends the content of an AnyValue.
func appendAny(b, value []byte, depth int) []byte {
	switch value[0] {
	case '"':
		return protowire.AppendBytes(appendTag(b, 1), text(value))
	case 't', 'f':
		return protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), protowire.EncodeBool(value[0] == 't'))
	case 'n':
		return b
	case '{', '[':
		if depth == maxNesting || len(value) > maxNested {
			var compact bytes.Buffer
			_ = json.Compact(&compact, value) // The value is known to be valid JSON.
			return protowire.AppendBytes(appendTag(b, 1), bytes.ToValidUTF8(compact.Bytes(), []byte("\uFFFD")))
		}
		return appendNested(b, value, depth+1)
	default:
		return appendNumber(b, value)
	}
}

func appendNested(b, value []byte, depth int) []byte {
	var list, entry, at int
	if value[0] == '[' {
		b, list = open(b, 5)
		for element := range elements(value) {
			b, entry = open(b, 1)
			b = shut(appendAny(b, element, depth), entry)
		}
		return shut(b, list)
	}
	b, list = open(b, 6)
	for name, element := range members(value) {
		b, entry = open(b, 1)
		b = protowire.AppendBytes(appendTag(b, 1), text(name))
		b, at = open(b, 2)
		b = shut(shut(appendAny(b, element, depth), at), entry)
	}
	return shut(b, list)
}

// appendNumber keeps whole numbers exact. A number that fits neither number type stays text.
func appendNumber(b, value []byte) []byte {
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), uint64(n))
	}
	if v, err := strconv.ParseFloat(string(value), 64); err == nil && bytes.ContainsAny(value, ".eE") {
		return protowire.AppendFixed64(protowire.AppendTag(b, 4, protowire.Fixed64Type), math.Float64bits(v))
	}
	return protowire.AppendBytes(appendTag(b, 1), value)
}
