package wirejson

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// EncodeError reports a value of a message that has no form in JSON. It is a defect of the server, never of the caller.
type EncodeError struct {
	Path   string
	Reason string
}

// Error returns path and reason.
func (e *EncodeError) Error() string { return fmt.Sprintf("encode %s: %s", e.Path, e.Reason) }

// scratch holds the buffers in which Marshal writes, so that a large message does not grow a new buffer step by step.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// maxScratch bounds the buffers that are kept.
const maxScratch = 1 << 20

// Marshal returns the JSON of a message.
func Marshal(m proto.Message) ([]byte, error) {
	buffer, ok := scratch.Get().(*[]byte)
	if !ok {
		return Append(nil, m)
	}
	b, err := Append((*buffer)[:0], m)
	out := bytes.Clone(b)
	if *buffer = b; cap(b) <= maxScratch {
		scratch.Put(buffer)
	}
	return out, err
}

// Append appends the JSON of a message. On error, the text is incomplete.
func Append(b []byte, m proto.Message) ([]byte, error) {
	return appendMessage(b, m.ProtoReflect())
}

func appendMessage(b []byte, m protoreflect.Message) ([]byte, error) {
	l := layoutOf(m.Descriptor())
	switch l.form {
	case formTimestamp:
		return appendTimestamp(b, m)
	case formStruct:
		return appendMap(b, m.Descriptor().Fields().ByNumber(1), m.Get(m.Descriptor().Fields().ByNumber(1)).Map())
	case formList:
		return appendList(b, m.Descriptor().Fields().ByNumber(1), m.Get(m.Descriptor().Fields().ByNumber(1)).List())
	case formValue:
		return appendValue(b, m)
	case formRefused:
		return b, &EncodeError{string(m.Descriptor().FullName()), "the type has no form in JSON here"}
	}
	b = append(b, '{')
	first := true
	for i := range l.fields {
		f := &l.fields[i]
		d := f.desc
		set := !f.omitUnset && !f.nullable || m.Has(d) // Has is reflection: asked only where the answer matters
		if !set && f.omitUnset {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, f.quoted...)
		var err error
		switch {
		case !set && f.nullable:
			b = append(b, "null"...)
		case d.IsList():
			b, err = appendList(b, d, m.Get(d).List())
		case d.IsMap():
			b, err = appendMap(b, d, m.Get(d).Map())
		default:
			b, err = appendScalar(b, d, m.Get(d))
		}
		if err != nil {
			return b, within(f.name, err)
		}
	}
	return append(b, '}'), nil
}

func within(name string, err error) error {
	if e, ok := err.(*EncodeError); ok { //nolint:errorlint // made in this file, never wrapped
		if e.Path != "" && e.Path[0] != '[' {
			name += "."
		}
		return &EncodeError{name + e.Path, e.Reason}
	}
	return err
}

func appendList(b []byte, d protoreflect.FieldDescriptor, list protoreflect.List) ([]byte, error) {
	b = append(b, '[')
	for i := range list.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendScalar(b, d, list.Get(i)); err != nil {
			return b, within("["+strconv.Itoa(i)+"]", err)
		}
	}
	return append(b, ']'), nil
}

func appendMap(b []byte, d protoreflect.FieldDescriptor, m protoreflect.Map) ([]byte, error) {
	type entry struct {
		key   string
		value protoreflect.Value
	}
	entries := make([]entry, 0, m.Len())
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		entries = append(entries, entry{k.String(), v})
		return true
	})
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	b = append(b, '{')
	for i, e := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendString(b, e.key); err != nil {
			return b, err
		}
		b = append(b, ':')
		if b, err = appendScalar(b, d.MapValue(), e.value); err != nil {
			return b, within("["+strconv.Quote(e.key)+"]", err)
		}
	}
	return append(b, '}'), nil
}

// appendScalar appends one value: of a singular field, of a list or of a map.
func appendScalar(b []byte, d protoreflect.FieldDescriptor, v protoreflect.Value) ([]byte, error) {
	switch d.Kind() {
	case protoreflect.BoolKind:
		return strconv.AppendBool(b, v.Bool()), nil
	case protoreflect.StringKind:
		return appendString(b, v.String())
	case protoreflect.BytesKind:
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, v.Bytes())
		return append(b, '"'), nil
	case protoreflect.EnumKind:
		if e := d.Enum().Values().ByNumber(v.Enum()); e != nil {
			return appendString(b, string(e.Name()))
		}
		return b, &EncodeError{"", fmt.Sprintf("%d is not a value of %s", v.Enum(), d.Enum().FullName())}
	case protoreflect.FloatKind:
		return appendFloat(b, v.Float(), 32)
	case protoreflect.DoubleKind:
		return appendFloat(b, v.Float(), 64)
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		return strconv.AppendUint(b, v.Uint(), 10), nil
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return appendMessage(b, v.Message())
	default: // the signed integers
		return strconv.AppendInt(b, v.Int(), 10), nil
	}
}

// appendFloat writes the shortest text that reads back as the same number, as ECMAScript does.
func appendFloat(b []byte, f float64, bits int) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return b, &EncodeError{"", fmt.Sprintf("%v is not a JSON number", f)}
	}
	abs := math.Abs(f)
	format := byte('f')
	if abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	if f == 0 {
		return append(b, '0'), nil // no negative zero
	}
	return strconv.AppendFloat(b, f, format, -1, bits), nil
}

func appendString(b []byte, s string) ([]byte, error) {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				return b, &EncodeError{"", "the text is not valid UTF-8"}
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"'), nil
}

func appendTimestamp(b []byte, m protoreflect.Message) ([]byte, error) {
	fields := m.Descriptor().Fields()
	seconds, nanos := m.Get(fields.ByNumber(1)).Int(), m.Get(fields.ByNumber(2)).Int()
	if seconds < minTimestamp || seconds > maxTimestamp || nanos < 0 || nanos > 999_999_999 {
		return b, &EncodeError{"", "the time is outside the years 1 to 9999"}
	}
	t := time.Unix(seconds, nanos).UTC()
	pattern := "2006-01-02T15:04:05"
	switch { // 0, 3, 6 or 9 digits
	case nanos%1_000_000_000 == 0:
	case nanos%1_000_000 == 0:
		pattern += ".000"
	case nanos%1_000 == 0:
		pattern += ".000000"
	default:
		pattern += ".000000000"
	}
	b = append(b, '"')
	b = t.AppendFormat(b, pattern)
	return append(b, 'Z', '"'), nil
}

// appendValue writes google.protobuf.Value; an empty one is null.
func appendValue(b []byte, m protoreflect.Message) ([]byte, error) {
	f := m.WhichOneof(m.Descriptor().Oneofs().Get(0))
	if f == nil || f.Number() == 1 {
		return append(b, "null"...), nil
	}
	return appendScalar(b, f, m.Get(f))
}
