package wirejson

import (
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
)

func (d *decoder) timestamp(m protoreflect.Message, path string) {
	if d.peek() != '"' {
		d.mismatch(path, "a time in UTC such as `2026-01-31T09:30:00Z`")
		return
	}
	t, err := ParseTime(d.text())
	if err != nil {
		d.problem(path, fmt.Sprintf("`%s` %s.", path, err))
		return
	}
	fields := m.Descriptor().Fields()
	m.Set(fields.ByNumber(1), protoreflect.ValueOfInt64(t.Unix()))
	m.Set(fields.ByNumber(2), protoreflect.ValueOfInt32(int32(t.Nanosecond())))
}

// wellKnown reads google.protobuf.Struct, ListValue and Value: free-form JSON, in which only duplicate keys are refused.
func (d *decoder) wellKnown(m protoreflect.Message, f form, path string, depth int) {
	if d.tooDeep(depth) {
		return
	}
	fields := m.Descriptor().Fields()
	switch f {
	case formStruct:
		if d.peek() != '{' {
			d.mismatch(path, "an object")
			return
		}
		d.mapField(m, fields.ByNumber(1), path, depth)
	case formList:
		if d.peek() != '[' {
			d.mismatch(path, "a list")
			return
		}
		d.list(m, &fieldLayout{desc: fields.ByNumber(1)}, path, depth)
	default:
		d.value(m, path, depth)
	}
}

// Numbers of the fields of google.protobuf.Value.
const (
	valueNull   = 1
	valueNumber = 2
	valueString = 3
	valueBool   = 4
	valueStruct = 5
	valueList   = 6
)

func (d *decoder) value(m protoreflect.Message, path string, depth int) {
	fields := m.Descriptor().Fields()
	switch c := d.peek(); c {
	case 'n':
		d.literal("null")
		m.Set(fields.ByNumber(valueNull), protoreflect.ValueOfEnum(0))
	case 't', 'f':
		d.literal(strconv.FormatBool(c == 't'))
		m.Set(fields.ByNumber(valueBool), protoreflect.ValueOfBool(c == 't'))
	case '"':
		m.Set(fields.ByNumber(valueString), protoreflect.ValueOfString(d.text()))
	case '{':
		d.message(m.Mutable(fields.ByNumber(valueStruct)).Message(), path, depth+1)
	case '[':
		d.message(m.Mutable(fields.ByNumber(valueList)).Message(), path, depth+1)
	default:
		n, err := strconv.ParseFloat(d.anyNumber(), 64)
		if err != nil || math.IsInf(n, 0) {
			d.problem(path, fmt.Sprintf("`%s` is too large a number.", path))
			return
		}
		m.Set(fields.ByNumber(valueNumber), protoreflect.ValueOfFloat64(n))
	}
}
