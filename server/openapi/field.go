package openapi

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/publicid"
)

// field returns the schema of a field's value, with its comment.
func (b *builder) field(f protoreflect.FieldDescriptor, to direction) (*schema, error) {
	var s *schema
	var err error
	switch {
	case f.IsMap():
		s, err = b.mapOf(f, to)
	case f.IsList():
		s, err = b.listOf(f, to)
	default:
		s, err = b.value(f, to, true)
	}
	if err != nil {
		return nil, err
	}
	if nullable(f, to) {
		s = s.nullable()
	}
	s.Description = publicText(contract.Comment(f))
	return s, nil
}

// nullable reports whether null may stand for the value: an answer writes it for "not set", or a request may send it.
func nullable(f protoreflect.FieldDescriptor, to direction) bool {
	switch {
	case contract.Rules(f).GetRequired() || to == answer && omitted(f):
		return false
	case f.IsList(), f.IsMap():
		return specOf(f).GetNullWhenEmpty()
	default:
		return f.HasPresence()
	}
}

func (b *builder) listOf(f protoreflect.FieldDescriptor, to direction) (*schema, error) {
	items, err := b.value(f, to, false)
	if err != nil {
		return nil, err
	}
	s := &schema{Type: types{"array"}, Items: items}
	if specOf(f).GetNullWhenEmpty() {
		s.MinItems = "1"
	}
	return s, s.constrain(contract.Rules(f))
}

func (b *builder) mapOf(f protoreflect.FieldDescriptor, to direction) (*schema, error) {
	values, err := b.value(f.MapValue(), to, false)
	if err != nil {
		return nil, err
	}
	s := &schema{Type: types{"object"}, AdditionalProperties: values}
	return s, s.constrain(contract.Rules(f))
}

// value returns the schema of one value: of a singular field, or of an element of a list or map. own says that the field's rules
// apply to it.
func (b *builder) value(f protoreflect.FieldDescriptor, to direction, own bool) (*schema, error) {
	if m := f.Message(); m != nil {
		return b.messageValue(m, to)
	}
	s, err := scalar(f)
	if err != nil {
		return nil, err
	}
	spec, rules := specOf(f), contract.Rules(f)
	if !own {
		rules = rules.GetRepeated().GetItems()
	}
	if err := s.constrain(rules); err != nil {
		return nil, err
	}
	if values := spec.GetValues(); len(values) > 0 {
		s.Enum = nil // the rules of a message that requests hold too already list them
		for _, v := range values {
			s.Enum = append(s.Enum, v)
		}
	}
	if len(s.Enum) == 1 {
		s.Const, s.Enum = s.Enum[0], nil
	}
	if spec.GetPattern() != "" {
		s.Pattern = spec.GetPattern()
	}
	if prefix := spec.GetIdPrefix(); prefix != "" {
		s.Format, s.Pattern = "svc.public_id", idPattern(prefix)
		s.example = exampleID(prefix)
	}
	if text := spec.GetExample(); text != "" {
		if s.example, err = readExample(f, text); err != nil {
			return nil, err
		}
	}
	if s.example != nil {
		s.Examples = []any{s.example}
	}
	if name := spec.GetSchema(); name != "" {
		return b.sharedScalar(name, s)
	}
	return s, nil
}

// sharedScalar makes a component of a scalar. Every field that names the component must describe the same values.
func (b *builder) sharedScalar(name string, s *schema) (*schema, error) {
	if known, ok := b.schemas[name]; ok && !reflect.DeepEqual(known.schema, s) {
		return nil, fmt.Errorf(
			"the schema %s means something else elsewhere: the fields that name it must agree in rules, pattern and example", name)
	}
	return b.add(name, "field option schema: "+strconv.Quote(name), func() (*schema, error) { return s, nil })
}

func (b *builder) messageValue(m protoreflect.MessageDescriptor, to direction) (*schema, error) {
	switch m.FullName() {
	case "google.protobuf.Timestamp":
		s := &schema{Type: types{"string"}, Format: "date-time"}
		if to == request {
			s.Pattern = `(Z|[+-]00:00)$`
		} else {
			s.Pattern = `Z$`
		}
		return s, nil
	case "google.protobuf.Struct":
		return &schema{Type: types{"object"}, AdditionalProperties: true}, nil
	case "google.protobuf.ListValue":
		return &schema{Type: types{"array"}, Items: &schema{}}, nil
	case "google.protobuf.Value":
		return &schema{}, nil
	}
	if m.ParentFile().Package() == "google.protobuf" {
		return nil, fmt.Errorf("%s has no form in JSON here (package wirejson)", m.FullName())
	}
	return b.message(m, to)
}

func scalar(f protoreflect.FieldDescriptor) (*schema, error) {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return &schema{Type: types{"boolean"}}, nil
	case protoreflect.StringKind:
		return &schema{Type: types{"string"}}, nil
	case protoreflect.BytesKind:
		return &schema{Type: types{"string"}, Format: "byte"}, nil
	case protoreflect.FloatKind:
		return &schema{Type: types{"number"}, Format: "float"}, nil
	case protoreflect.DoubleKind:
		return &schema{Type: types{"number"}, Format: "double"}, nil
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return &schema{Type: types{"integer"}, Format: "int32"}, nil
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return &schema{Type: types{"integer"}, Format: "int64"}, nil
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return &schema{Type: types{"integer"}, Format: "int64", Minimum: "0", Maximum: "4294967295"}, nil
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return &schema{Type: types{"integer"}, Minimum: "0"}, nil
	case protoreflect.EnumKind:
		s := &schema{Type: types{"string"}}
		for i := range f.Enum().Values().Len() {
			s.Enum = append(s.Enum, string(f.Enum().Values().Get(i).Name()))
		}
		return s, nil
	default:
		return nil, fmt.Errorf("a field of kind %s cannot be described", f.Kind())
	}
}

// passedThrough lists the prefixes whose ids keep the form that they have in the database.
func passedThrough() []string { return []string{"org", "user"} }

func idPattern(prefix string) string {
	if slices.Contains(passedThrough(), prefix) {
		return "^" + prefix + "_"
	}
	return "^" + prefix + "_[1-9A-HJ-NP-Za-km-z]+$"
}

func exampleID(prefix string) string {
	id := uuid.UUID{0x01, 0x9a, 0x3c, 0x5e, 0x7f, 0x10, 0x7a, 0x2b, 0x8c, 0x3d, 0x4e, 0x5f, 0x60, 0x71, 0x82, 0x93}
	return publicid.Encode(prefix, id)
}
