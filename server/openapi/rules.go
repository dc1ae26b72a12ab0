package openapi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// constrain adds the validation rules that JSON Schema can express.
func (s *schema) constrain(rules *validate.FieldRules) error {
	if rules == nil || s.Ref != "" {
		return nil
	}
	m := rules.ProtoReflect()
	kind := m.WhichOneof(m.Descriptor().Oneofs().ByName("type"))
	if kind == nil {
		return nil
	}
	var err error
	m.Get(kind).Message().Range(func(rule protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		err = s.rule(rule, v)
		return err == nil
	})
	return err
}

func (s *schema) rule(rule protoreflect.FieldDescriptor, v protoreflect.Value) error {
	switch rule.Name() {
	case "items", "values", "keys":
		nested, ok := v.Message().Interface().(*validate.FieldRules)
		if !ok {
			return fmt.Errorf("rule %s is of an unknown form", rule.FullName())
		}
		switch rule.Name() {
		case "values":
			if values, ok := s.AdditionalProperties.(*schema); ok {
				return values.constrain(nested)
			}
		case "keys":
			s.PropertyNames = &schema{Type: types{"string"}}
			return s.PropertyNames.constrain(nested)
		}
		return nil // the rules of a list's items were added to the items
	case "in", "not_in":
		var list []any
		for i := range v.List().Len() {
			list = append(list, scalarOf(rule, v.List().Get(i)))
		}
		if rule.Name() == "in" {
			s.Enum = list
		} else {
			s.Not = &schema{Enum: list}
		}
		return nil
	}
	if rule.Kind() == protoreflect.MessageKind || rule.IsList() {
		return nil // bounds on times relative to now have no keyword
	}
	s.plainRule(string(rule.Name()), scalarOf(rule, v), number(v))
	return nil
}

func (s *schema) plainRule(name string, value any, n json.Number) {
	text, _ := value.(string)
	switch name {
	case "const":
		s.Const = value
	case "gt":
		s.ExclusiveMinimum = n
	case "gte":
		s.Minimum = n
	case "lt":
		s.ExclusiveMaximum = n
	case "lte":
		s.Maximum = n
	case "min_len":
		s.MinLength = n
	case "max_len":
		s.MaxLength = n
	case "len":
		s.MinLength, s.MaxLength = n, n
	case "max_bytes": // a character takes a byte or more
		if s.MaxLength == "" {
			s.MaxLength = n
		}
	case "pattern":
		s.Pattern = text
	case "prefix":
		s.Pattern = "^" + regexp.QuoteMeta(text)
	case "suffix":
		s.Pattern = regexp.QuoteMeta(text) + "$"
	case "contains":
		s.Pattern = regexp.QuoteMeta(text)
	case "email", "hostname", "ipv4", "ipv6", "uri", "uuid":
		s.Format = name
	case "uri_ref":
		s.Format = "uri-reference"
	case "min_items":
		s.MinItems = n
	case "max_items":
		s.MaxItems = n
	case "unique":
		s.UniqueItems = true
	case "min_pairs":
		s.MinProperties = n
	case "max_pairs":
		s.MaxProperties = n
	}
}

// scalarOf returns a value in its JSON form.
func scalarOf(d protoreflect.FieldDescriptor, v protoreflect.Value) any {
	switch d.Kind() {
	case protoreflect.BoolKind:
		return v.Bool()
	case protoreflect.StringKind:
		return v.String()
	default:
		return number(v)
	}
}

func number(v protoreflect.Value) json.Number {
	switch n := v.Interface().(type) {
	case int32, int64:
		return json.Number(strconv.FormatInt(v.Int(), 10))
	case uint32, uint64:
		return json.Number(strconv.FormatUint(v.Uint(), 10))
	case float32:
		return json.Number(strconv.FormatFloat(float64(n), 'g', -1, 32))
	case float64:
		return json.Number(strconv.FormatFloat(n, 'g', -1, 64))
	default:
		return ""
	}
}
