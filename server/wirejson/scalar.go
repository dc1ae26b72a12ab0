package wirejson

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// wanted names the JSON type of a field.
func wanted(d protoreflect.FieldDescriptor) string {
	switch {
	case d.IsMap():
		return "an object"
	case d.IsList():
		return "a list"
	}
	return wantedElement(d)
}

// wantedElement names the JSON type of one value of a field.
func wantedElement(d protoreflect.FieldDescriptor) string {
	switch d.Kind() {
	case protoreflect.BoolKind:
		return "a boolean"
	case protoreflect.StringKind:
		return "a string"
	case protoreflect.BytesKind:
		return "a base64 string"
	case protoreflect.EnumKind:
		return "one of " + enumNames(d.Enum())
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return "a number"
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return "an object"
	default:
		return "an integer"
	}
}

func enumNames(e protoreflect.EnumDescriptor) string {
	names := make([]string, e.Values().Len())
	for i := range names {
		names[i] = "`" + string(e.Values().Get(i).Name()) + "`"
	}
	return strings.Join(names, ", ")
}

// ParseScalar reads a scalar from a query or a path, where every value is text. The error completes a sentence that begins with the
// name of the field.
func ParseScalar(d protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	switch d.Kind() {
	case protoreflect.BoolKind:
		if text != "true" && text != "false" {
			return protoreflect.Value{}, fmt.Errorf("must be `true` or `false`")
		}
		return protoreflect.ValueOfBool(text == "true"), nil
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text), nil
	case protoreflect.MessageKind, protoreflect.GroupKind, protoreflect.BytesKind:
		return protoreflect.Value{}, fmt.Errorf("cannot be given here")
	case protoreflect.EnumKind:
		if v := d.Enum().Values().ByName(protoreflect.Name(text)); v != nil {
			return protoreflect.ValueOfEnum(v.Number()), nil
		}
		return protoreflect.Value{}, fmt.Errorf("must be %s", wantedElement(d))
	default:
		s := scanner{data: []byte(text)}
		if text == "" || s.number() != text || s.err != nil {
			return protoreflect.Value{}, fmt.Errorf("must be %s", wantedElement(d))
		}
		return parseNumber(d, text)
	}
}

// scalar reads a value that is not a list, a map or a message.
func (d *decoder) scalar(f protoreflect.FieldDescriptor, path string) (v protoreflect.Value, ok bool) {
	c := d.peek()
	switch f.Kind() {
	case protoreflect.BoolKind:
		if c == 't' {
			return protoreflect.ValueOfBool(true), d.literal("true")
		}
		if c == 'f' {
			return protoreflect.ValueOfBool(false), d.literal("false")
		}
	case protoreflect.StringKind:
		if c == '"' {
			return protoreflect.ValueOfString(d.text()), d.err == nil
		}
	case protoreflect.BytesKind:
		if c == '"' {
			raw, err := base64.StdEncoding.Strict().DecodeString(d.text())
			if err != nil {
				d.problem(path, fmt.Sprintf("`%s` must be a base64 string.", path))
			}
			return protoreflect.ValueOfBytes(raw), err == nil && d.err == nil
		}
	case protoreflect.EnumKind:
		if c == '"' {
			if e := f.Enum().Values().ByName(protoreflect.Name(d.text())); e != nil {
				return protoreflect.ValueOfEnum(e.Number()), d.err == nil
			}
			d.problem(path, fmt.Sprintf("`%s` must be %s.", path, wantedElement(f)))
			return v, false
		}
	default:
		if c == '-' || c >= '0' && c <= '9' {
			text := d.number()
			if d.err != nil {
				return v, false
			}
			v, err := parseNumber(f, text)
			if err != nil {
				d.problem(path, fmt.Sprintf("`%s` %s.", path, err))
			}
			return v, err == nil
		}
	}
	d.mismatch(path, wantedElement(f))
	return v, false
}

// parseNumber reads the text of a JSON number as the kind of the field. 1.0 and 1e2 are integers.
func parseNumber(f protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	bits := 64
	switch f.Kind() {
	case protoreflect.Int32Kind,
		protoreflect.Sint32Kind,
		protoreflect.Sfixed32Kind,
		protoreflect.Uint32Kind,
		protoreflect.Fixed32Kind,
		protoreflect.FloatKind:
		bits = 32
	}
	whole := text
	if strings.ContainsAny(text, ".eE") {
		// An exact float64 integer prints the same as an integer.
		if n, err := strconv.ParseFloat(text, 64); err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			whole = strconv.FormatInt(int64(n), 10)
		}
	}
	switch f.Kind() {
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		n, err := strconv.ParseFloat(text, bits)
		if err != nil {
			return protoreflect.Value{}, fmt.Errorf("is too large a number")
		}
		if bits == 32 {
			return protoreflect.ValueOfFloat32(float32(n)), nil
		}
		return protoreflect.ValueOfFloat64(n), nil
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		n, err := strconv.ParseUint(whole, 10, bits)
		if err != nil {
			return protoreflect.Value{}, fmt.Errorf("must be an integer between 0 and %d", uint64(math.MaxUint64)>>(64-bits))
		}
		if bits == 32 {
			return protoreflect.ValueOfUint32(uint32(n)), nil
		}
		return protoreflect.ValueOfUint64(n), nil
	default:
		n, err := strconv.ParseInt(whole, 10, bits)
		switch {
		case err != nil && whole == text && strings.ContainsAny(text, ".eE"):
			return protoreflect.Value{}, fmt.Errorf("must be an integer")
		case err != nil:
			return protoreflect.Value{}, fmt.Errorf("must be an integer between %d and %d", math.MinInt64>>(64-bits), math.MaxInt64>>(64-bits))
		case bits == 32:
			return protoreflect.ValueOfInt32(int32(n)), nil
		}
		return protoreflect.ValueOfInt64(n), nil
	}
}

// mapKey reads the key of a map field, which JSON always writes as text.
func mapKey(d protoreflect.FieldDescriptor, text string) (protoreflect.MapKey, bool) {
	v, err := ParseScalar(d, text)
	if err != nil {
		return protoreflect.MapKey{}, false
	}
	return v.MapKey(), true
}
