package rpc

import (
	"errors"
	"fmt"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
)

// newValidator compiles the rules of every request type, so that a bad rule stops the start and no request pays for compiling.
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

// validate checks a request against the rules of its .proto file. What an error is called depends on where REST reads the field
// from, on every door alike.
func (c *Chain) validate(m *contract.Method, msg proto.Message) error {
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
		violations[i] = apierr.Violation{Field: path, Message: explain(path, v)}
	}
	first := violations[0]
	message := first.Message
	if n := len(violations) - 1; n > 0 {
		message += fmt.Sprintf(" (and %d other invalid %s)", n, plural(n, "field"))
	}
	tag := apierr.InvalidRequest
	top, _, _ := strings.Cut(first.Field, ".")
	top, _, _ = strings.Cut(top, "[")
	if m.HTTP.Source(top) == contract.InQuery {
		tag = apierr.ParameterInvalid
		if broken.Violations[0].Proto.GetRuleId() == "required" {
			tag = apierr.ParameterMissing
		}
	}
	return apierr.New(tag, message, apierr.Param(first.Field), apierr.Violations(violations...))
}

// explain says in one sentence what is wrong with a field.
func explain(path string, v *protovalidate.Violation) string {
	if v.Proto.GetRuleId() == "required" {
		return fmt.Sprintf("`%s` is required.", path)
	}
	text := strings.TrimPrefix(v.Proto.GetMessage(), "value ")
	if text == "" {
		text = "is not valid"
	}
	if bounds, ok := strings.CutPrefix(text, "must be greater than or equal to "); ok {
		if low, high, ok := strings.Cut(bounds, " and less than or equal to "); ok {
			text = "must be between " + low + " and " + high
		}
	}
	return fmt.Sprintf("`%s` %s.", path, text)
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
