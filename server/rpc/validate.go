package rpc

import (
	"errors"
	"fmt"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
)

// newValidator compiles the rules of every request type at the start: a bad rule stops the start, and no request waits for the
// compiler.
func newValidator(c *contract.Contract) (protovalidate.Validator, error) {
	var requests []proto.Message
	for _, m := range c.Methods() {
		t, err := protoregistry.GlobalTypes.FindMessageByName(m.Descriptor.Input().FullName())
		if err != nil {
			return nil, fmt.Errorf("rpc: request type of %s: %w", m.FullName, err)
		}
		requests = append(requests, t.Zero().Interface())
	}
	v, err := protovalidate.New(protovalidate.WithMessages(requests...))
	if err != nil {
		return nil, fmt.Errorf("rpc: compile validation rules: %w", err)
	}
	return v, nil
}

// validate checks a request against the rules of its .proto file. The tag of a failure depends on where REST reads the field from,
// at every door alike.
func (c *Chain) validate(m *contract.Method, msg proto.Message) error {
	if path := zeroByte(msg.ProtoReflect()); path != "" {
		return apierr.New(tagOf(m, path, false), fmt.Sprintf("`%s` holds a zero byte.", path), apierr.Param(path))
	}
	if err := completeMask(m, msg.ProtoReflect()); err != nil {
		return err
	}
	err := c.validator.Validate(msg)
	if err == nil {
		return nil
	}
	var broken *protovalidate.ValidationError
	if !errors.As(err, &broken) || len(broken.Violations) == 0 {
		return fmt.Errorf("validate %s: %w", msg.ProtoReflect().Descriptor().FullName(), err)
	}
	violations := make([]apierr.Violation, len(broken.Violations))
	for i, v := range broken.Violations {
		path := protovalidate.FieldPathString(v.Proto.GetField())
		violations[i] = apierr.Violation{Field: path, Message: explain(msg.ProtoReflect().Descriptor(), path, v)}
	}
	first := violations[0]
	message := first.Message
	if n := len(violations) - 1; n > 0 {
		message += fmt.Sprintf(" (and %d other invalid %s)", n, plural(n, "field"))
	}
	tag := tagOf(m, first.Field, broken.Violations[0].Proto.GetRuleId() == "required")
	return apierr.New(tag, message, apierr.Param(first.Field), apierr.Violations(violations...))
}

// tagOf returns the tag for a failure of a field, by the place where REST reads the field from.
func tagOf(m *contract.Method, path string, missing bool) apierr.Tag {
	top, _, _ := strings.Cut(path, ".")
	top, _, _ = strings.Cut(top, "[")
	switch {
	case m.HTTP.Source(top) != contract.InQuery:
		return apierr.InvalidRequest
	case missing:
		return apierr.ParameterMissing
	default:
		return apierr.ParameterInvalid
	}
}

// zeroByte returns the path of the first text that holds a zero byte, which PostgreSQL cannot store; empty if no text does.
func zeroByte(m protoreflect.Message) (path string) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Kind() != protoreflect.StringKind || f.IsMap() {
			return true
		}
		if !f.IsList() {
			if strings.ContainsRune(v.String(), 0) {
				path = string(f.Name())
			}
			return path == ""
		}
		for i := range v.List().Len() {
			if strings.ContainsRune(v.List().Get(i).String(), 0) {
				path = fmt.Sprintf("%s[%d]", f.Name(), i)
				return false
			}
		}
		return true
	})
	if path != "" {
		return path
	}
	eachMessage(m, func(at string, inner protoreflect.Message) bool {
		if found := zeroByte(inner); found != "" {
			path = at + "." + found
			if inner.Descriptor().FullName() == "google.protobuf.Value" {
				path = at // a caller does not write the names of the kinds of a value
			}
		}
		return path == ""
	})
	return path
}

// notBlank is the pattern of a text that must not be blank.
const notBlank = `\S`

// explain describes in one sentence what is wrong with a field.
func explain(d protoreflect.MessageDescriptor, path string, v *protovalidate.Violation) string {
	if v.Proto.GetRuleId() == "required" {
		return fmt.Sprintf("`%s` is required.", path)
	}
	text := strings.TrimPrefix(v.Proto.GetMessage(), "value ")
	if text == "" {
		text = "is not valid"
	}
	text = strings.ReplaceAll(text, "item(s)", "items")
	if list, ok := strings.CutPrefix(text, "must be in list ["); ok {
		text = "must be one of " + strings.TrimSuffix(list, "]")
	}
	switch v.Proto.GetRuleId() {
	case "string.pattern":
		if v.RuleValue.IsValid() && v.RuleValue.String() == notBlank {
			text = "must not be blank"
			break
		}
		text = "has the wrong form"
		if example := exampleOf(d, v); example != "" {
			text += "; an example is `" + example + "`"
		}
	case "repeated.unique":
		text = "must not hold a value twice"
	case "string.min_len":
		if strings.HasSuffix(text, " 1 characters") {
			text = "must not be empty"
		}
	}
	if bounds, ok := strings.CutPrefix(text, "must be greater than or equal to "); ok {
		if low, high, ok := strings.Cut(bounds, " and less than or equal to "); ok {
			text = "must be between " + low + " and " + high
		}
	}
	return fmt.Sprintf("`%s` %s.", path, text)
}

// exampleOf returns the example that the .proto file gives for the field.
func exampleOf(d protoreflect.MessageDescriptor, v *protovalidate.Violation) string {
	var f protoreflect.FieldDescriptor
	for _, element := range v.Proto.GetField().GetElements() {
		if d == nil {
			return ""
		}
		if f = d.Fields().ByNumber(protoreflect.FieldNumber(element.GetFieldNumber())); f == nil {
			return ""
		}
		d = f.Message()
	}
	if f == nil {
		return ""
	}
	spec, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec)
	return spec.GetExample()
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
