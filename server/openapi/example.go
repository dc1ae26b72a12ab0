package openapi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/wirejson"
)

// readExample reads FieldSpec.example as a value of the field's type.
func readExample(f protoreflect.FieldDescriptor, text string) (any, error) {
	v, err := wirejson.ParseScalar(f, text)
	if err != nil {
		return nil, fmt.Errorf("the example %q %w", text, err)
	}
	if f.Kind() == protoreflect.EnumKind {
		return text, nil
	}
	return scalarOf(f, v), nil
}

// exampleBodies adds an example to every request and answer for which one can be made.
func (b *builder) exampleBodies(doc *document) {
	for _, path := range doc.Paths.names {
		for _, method := range doc.Paths.values[path].names {
			op := doc.Paths.values[path].values[method]
			if op.RequestBody != nil {
				b.exampleBody(op.RequestBody.Content, request)
			}
			if ok, found := op.Responses.get("200"); found {
				b.exampleBody(ok.Content, answer)
			}
		}
	}
}

func (b *builder) exampleBody(content object[*mediaType], to direction) {
	body := content.values[jsonType]
	if v, ok := b.example("", body.Schema, to, nil); ok {
		body.Example = v
	}
}

// exampleOf returns an example of a parameter.
func (b *builder) exampleOf(f protoreflect.FieldDescriptor, s *schema) any {
	v, _ := b.example(string(f.Name()), s, request, nil)
	return v
}

// example makes a value that fits a schema. It returns false if the schema asks for a value that cannot be invented. stack holds
// the enclosing components: a component that holds itself ends there.
func (b *builder) example(name string, s *schema, to direction, stack []string) (any, bool) {
	switch {
	case s.example != nil && s.Items == nil:
		return s.example, true
	case s.Const != nil:
		return s.Const, true
	case len(s.Enum) > 0:
		return s.Enum[0], true
	case s.Ref != "":
		component := strings.TrimPrefix(s.Ref, refPrefix)
		for _, outer := range stack {
			if outer == component {
				return nil, false
			}
		}
		return b.example(name, b.schemas[component].schema, to, append(stack[:len(stack):len(stack)], component))
	case len(s.AnyOf) > 0: // a component or null
		if v, ok := b.example(name, s.AnyOf[0], to, stack); ok {
			return v, true
		}
		return json.RawMessage("null"), true
	case len(s.Type) == 0:
		return nil, false
	case to == answer && len(s.Type) > 1: // a nullable field is shown as null, unless its author gave an example
		return json.RawMessage("null"), true
	}
	switch s.Type[0] {
	case "object":
		return b.exampleObject(s, to, stack)
	case "array":
		if v, ok := b.example(name, s.Items, to, stack); ok {
			return []any{v}, true
		}
		return []any{}, s.MinItems == ""
	case "boolean":
		return false, true
	case "integer", "number":
		return exampleNumber(s), true
	default:
		return exampleText(name, s)
	}
}

func (b *builder) exampleObject(s *schema, to direction, stack []string) (any, bool) {
	out := object[any]{}
	if s.Properties == nil {
		return out, s.MinProperties == ""
	}
	for _, name := range s.Properties.names {
		property := s.Properties.values[name]
		required := false
		for _, r := range s.Required {
			required = required || r == name
		}
		// A request shows its required fields, and the fields whose author gave an example.
		if !required && (to == answer || property.example == nil) {
			continue
		}
		v, ok := b.example(name, property, to, stack)
		if !ok && required {
			return nil, false
		}
		if ok {
			out.set(name, v)
		}
	}
	return out, true
}

func exampleNumber(s *schema) json.Number {
	for _, bound := range []json.Number{s.Minimum, s.Maximum} {
		if bound != "" {
			return bound
		}
	}
	if s.ExclusiveMaximum != "" {
		return "0"
	}
	return "1"
}

func exampleText(name string, s *schema) (any, bool) {
	text := "text"
	switch s.Format {
	case "date-time":
		text = "2026-01-31T09:30:00Z"
		if strings.HasPrefix(name, "end") || strings.HasPrefix(name, "expires") || name == "until" || strings.HasPrefix(name, "last") {
			text = "2026-01-31T10:30:00Z"
		}
		return text, true
	case "email":
		text = "someone@acme.test"
	case "uri":
		text = "https://acme.test/"
	case "uuid":
		text = "019a3c5e-7f10-7a2b-8c3d-4e5f60718293"
	case "byte":
		text = "AA=="
	}
	if s.Pattern != "" {
		if ok, err := regexp.MatchString(s.Pattern, text); err != nil || !ok {
			return nil, false
		}
	}
	fits := func(bound json.Number, ok func(int, int64) bool) bool {
		n, err := bound.Int64()
		return bound == "" || err == nil && ok(len(text), n)
	}
	return text, fits(s.MinLength, func(l int, n int64) bool { return int64(l) >= n }) &&
		fits(s.MaxLength, func(l int, n int64) bool { return int64(l) <= n })
}
