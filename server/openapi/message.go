package openapi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/contract"
)

// direction says who writes the JSON. A request and an answer allow different values (see package wirejson).
type direction int

const (
	request direction = iota
	answer
)

// builder collects the components that operations refer to.
type builder struct {
	validator protovalidate.Validator
	schemas   map[string]named
	// inAnswers holds every message that an answer can hold. Such a message has another schema in a request.
	inAnswers map[protoreflect.FullName]bool
}

// named is a component with its source, so that two sources cannot share a name.
type named struct {
	source string
	schema *schema
}

func (b *builder) components() object[*schema] {
	var out object[*schema]
	for _, name := range slices.Sorted(maps.Keys(b.schemas)) {
		out.set(name, b.schemas[name].schema)
	}
	return out
}

// add makes a component once. fill runs after the name is taken, so that a message may hold itself.
func (b *builder) add(name, source string, fill func() (*schema, error)) (*schema, error) {
	if known, ok := b.schemas[name]; ok {
		if known.source != source {
			return nil, fmt.Errorf("%s and %s are both called %s: give one of them another name with (svc.options.v1.message).schema",
				known.source, source, name)
		}
		return refTo(name), nil
	}
	b.schemas[name] = named{source, &schema{}}
	s, err := fill()
	if err != nil {
		return nil, err
	}
	b.schemas[name] = named{source, s}
	return refTo(name), nil
}

// findAnswers notes the messages that an answer holds.
func (b *builder) findAnswers(d protoreflect.MessageDescriptor) {
	if b.inAnswers == nil {
		b.inAnswers = map[protoreflect.FullName]bool{}
	}
	if b.inAnswers[d.FullName()] {
		return
	}
	b.inAnswers[d.FullName()] = true
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if f.IsMap() {
			f = f.MapValue()
		}
		if f.Message() != nil {
			b.findAnswers(f.Message())
		}
	}
}

// message refers to the component of a message.
func (b *builder) message(d protoreflect.MessageDescriptor, to direction) (*schema, error) {
	name, source := componentName(d), string(d.FullName())
	if to == request && b.inAnswers[d.FullName()] {
		name, source = name+"Params", source+" in requests"
	}
	return b.add(name, source, func() (*schema, error) { return b.objectOf(d, to, nil) })
}

// objectOf returns the schema of a message without the fields that the path of the request gives.
func (b *builder) objectOf(d protoreflect.MessageDescriptor, to direction, without []string) (*schema, error) {
	s := &schema{Description: publicText(contract.Comment(d)), Type: types{"object"}, Properties: &object[*schema]{}}
	if to == request {
		s.AdditionalProperties = false
	}
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		name := string(f.Name())
		if slices.Contains(without, name) || isFieldMask(f) {
			continue
		}
		property, err := b.field(f, to)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.Properties.set(name, property)
		if to == answer && !omitted(f) || to == request && b.mustBeGiven(f) {
			s.Required = append(s.Required, name)
		}
	}
	for i := range d.Oneofs().Len() {
		if o := d.Oneofs().Get(i); !o.IsSynthetic() {
			s.Description = joinText(s.Description, oneOfText(o))
		}
	}
	return s, nil
}

func oneOfText(o protoreflect.OneofDescriptor) string {
	names := make([]string, o.Fields().Len())
	for i := range names {
		names[i] = "`" + string(o.Fields().Get(i).Name()) + "`"
	}
	amount := "At most one"
	if rules, ok := proto.GetExtension(o.Options(), validate.E_Oneof).(*validate.OneofRules); ok && rules.GetRequired() {
		amount = "Exactly one"
	}
	return amount + " of " + strings.Join(names, ", ") + " is given."
}

// omitted reports whether an answer leaves the field out instead of writing null.
func omitted(f protoreflect.FieldDescriptor) bool {
	o := f.ContainingOneof()
	return specOf(f).GetOmitUnset() || o != nil && !o.IsSynthetic()
}

// mustBeGiven asks the validator: a field must be given if the validator refuses a message without it, and names the field.
func (b *builder) mustBeGiven(f protoreflect.FieldDescriptor) bool {
	if contract.Rules(f).GetRequired() {
		return true
	}
	if f.HasPresence() || !proto.HasExtension(f.Options(), validate.E_Field) {
		return false
	}
	empty := dynamicpb.NewMessage(f.ContainingMessage())
	err := b.validator.Validate(empty, protovalidate.WithFilter(protovalidate.FilterFunc(
		func(_ protoreflect.Message, d protoreflect.Descriptor) bool { return d.FullName() == f.FullName() })))
	// An error of another kind is a defect of the rules. It stops the start in package rpc.
	var broken *protovalidate.ValidationError
	return errors.As(err, &broken)
}

func specOf(f protoreflect.FieldDescriptor) *optionsv1.FieldSpec {
	spec, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec)
	return spec
}

// isFieldMask reports a field that the door fills from the keys of a PATCH body.
func isFieldMask(f protoreflect.FieldDescriptor) bool {
	return f.Message() != nil && f.Message().FullName() == "google.protobuf.FieldMask"
}

// componentName returns the name of a message's component: (svc.options.v1.message).schema, or a name by the rules of
// MessageSpec.schema.
func componentName(d protoreflect.MessageDescriptor) string {
	if spec, ok := proto.GetExtension(d.Options(), optionsv1.E_Message).(*optionsv1.MessageSpec); ok && spec.GetSchema() != "" {
		return spec.GetSchema()
	}
	name := string(d.Name())
	data := d.Fields().ByName("data")
	isPage := data != nil && data.IsList() && data.Message() != nil && d.Fields().ByName("has_more") != nil
	if isPage && strings.HasSuffix(name, "Response") {
		return componentName(data.Message()) + "List"
	}
	if action, isRequest := strings.CutSuffix(name, "Request"); isRequest {
		if end := strings.IndexFunc(action[1:], unicode.IsUpper) + 1; end > 0 {
			noun := action[end:]
			if verb := action[:end]; verb == "Search" || verb == "List" {
				noun = strings.TrimSuffix(noun, "s")
			}
			return noun + action[:end] + "Params"
		}
		return action + "Params"
	}
	return name
}
