// Package wirejson is the JSON of the REST and MCP doors: deterministic when it writes, strict when it reads.
//
// Writing: names are snake_case, in the order of the .proto file. Every unset nullable field and message is an explicit null. Lists
// and maps are always present, empty ones as [] and {}. 64-bit integers are numbers. A Timestamp is RFC 3339 with Z. Map keys are
// sorted. There is no white space. Field options change this: omit_unset leaves an unset field out, null_when_empty writes an empty
// list as null.
//
// Reading takes exactly that shape. It refuses an unknown or camelCase name, a duplicate key, a number in quotes, null for a field
// that is not nullable, and an empty list where null_when_empty holds. Each problem names the path of its value.
//
// A request with a field `google.protobuf.FieldMask update_mask` changes a resource. Reading fills the mask with the names in the
// text, and takes null only for fields with the option clearable. The mask does not name a field with the option precondition. A
// field with the option former_name is read under that name too, and written under its own.
//
// Messages may hold google.protobuf.Timestamp, Struct, Value and ListValue. Other well-known types are refused, in both directions.
package wirejson

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
)

// form is the kind of JSON that a message becomes.
type form int

const (
	formObject form = iota
	formTimestamp
	formStruct
	formValue
	formList
	formRefused
)

// layout describes a message type for the codec.
type layout struct {
	form   form
	fields []fieldLayout
	byName map[string]*fieldLayout
	// mask is the field update_mask of a request that changes a resource. It has no name in JSON. Reading fills it with the names
	// in the text, so that a field that was left out differs from a field that null cleared.
	mask protoreflect.FieldDescriptor
}

type fieldLayout struct {
	desc          protoreflect.FieldDescriptor
	name          string // as in JSON
	quoted        string // with quotes and colon
	omitUnset     bool
	nullWhenEmpty bool
	nullable      bool // null may stand for "not set"
	takesNull     bool // null is accepted when read
	precondition  bool // never named by the mask
	formerName    string
}

// Layouts derive from descriptors, which never change, so all codecs of the process share them.
var layouts sync.Map // protoreflect.FullName → *layout; see layoutOf for the identity check

type cachedLayout struct {
	desc   protoreflect.MessageDescriptor
	layout *layout
}

func layoutOf(d protoreflect.MessageDescriptor) *layout {
	if c, ok := layouts.Load(d.FullName()); ok {
		if cached, ok := c.(cachedLayout); ok && cached.desc == d {
			return cached.layout
		}
	}
	l := newLayout(d)
	layouts.Store(d.FullName(), cachedLayout{d, l})
	return l
}

func newLayout(d protoreflect.MessageDescriptor) *layout {
	switch d.FullName() {
	case "google.protobuf.Timestamp":
		return &layout{form: formTimestamp}
	case "google.protobuf.Struct":
		return &layout{form: formStruct}
	case "google.protobuf.Value":
		return &layout{form: formValue}
	case "google.protobuf.ListValue":
		return &layout{form: formList}
	}
	if d.ParentFile().Package() == "google.protobuf" {
		return &layout{form: formRefused}
	}
	fields := d.Fields()
	l := &layout{fields: make([]fieldLayout, 0, fields.Len()), byName: make(map[string]*fieldLayout, fields.Len())}
	for i := range fields.Len() {
		f := fields.Get(i)
		if IsUpdateMask(f) {
			l.mask = f
			continue
		}
		spec, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec)
		l.fields = append(l.fields, fieldLayout{
			desc: f, name: string(f.Name()), quoted: fmt.Sprintf("%q:", string(f.Name())),
			omitUnset:     spec.GetOmitUnset() || inOneof(f),
			nullWhenEmpty: spec.GetNullWhenEmpty(),
			nullable:      f.HasPresence() || spec.GetNullWhenEmpty(),
			takesNull:     spec.GetClearable(),
			precondition:  spec.GetPrecondition(),
			formerName:    spec.GetFormerName(),
		})
	}
	for i := range l.fields {
		f := &l.fields[i]
		l.byName[f.name] = f
		if f.formerName != "" {
			l.byName[f.formerName] = f
		}
		if l.mask == nil {
			f.takesNull = f.nullable
		}
	}
	return l
}

// IsUpdateMask reports whether a field is the mask of a request that changes a resource. It is not part of the JSON.
func IsUpdateMask(f protoreflect.FieldDescriptor) bool {
	return f.Name() == "update_mask" && f.Message() != nil && f.Message().FullName() == "google.protobuf.FieldMask"
}

// inOneof reports whether the field is one of several alternatives. JSON leaves out those that are not chosen.
func inOneof(f protoreflect.FieldDescriptor) bool {
	o := f.ContainingOneof()
	return o != nil && !o.IsSynthetic()
}
