package query

import (
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
)

// bounded refuses text of a filter that is too long or contains a NUL. The path is where it is in the request.
func bounded(path, text string, most int) error {
	n := utf8.RuneCountInString(text)
	if n <= most && validUTF8(text) {
		return nil
	}
	return apierr.New(
		apierr.InvalidRequest,
		fmt.Sprintf("%s must be text of at most %d characters, without a NUL. This text has %d characters.", path, most, n),
		apierr.Param(path),
	)
}

// BoundedFilters checks the text of every field of a signal's filters, except their conditions on attributes,
// which AttributeFilters checks. The path is where they are in the request.
func BoundedFilters(path string, filters proto.Message) (err error) {
	filters.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Kind() == protoreflect.StringKind && !f.IsList() {
			err = bounded(path+"."+string(f.Name()), v.String(), maxFilterText)
		}
		return err == nil
	})
	return err
}

// AttributeFilters reads the conditions of a request on the attributes of a scope. The path is where they are in the request.
func AttributeFilters(path string, scope Scope, in []*svcv2.AttributeFilter) (Filter, error) {
	if len(in) > limits.AttributeFilters {
		return Filter{}, apierr.New(apierr.InvalidRequest,
			fmt.Sprintf("%s holds %d conditions. At most %d are allowed.", path, len(in), limits.AttributeFilters), apierr.Param(path))
	}
	var all []Filter
	for i, f := range in {
		m, err := attributeMatch(fmt.Sprintf("%s[%d]", path, i), scope, f)
		if err != nil {
			return Filter{}, err
		}
		all = append(all, m)
	}
	return And(all...), nil
}

// attributeMatch reads one condition. Equality, containment and existence have negated operators of their own, which the planner prints
// without the index.
func attributeMatch(at string, scope Scope, f *svcv2.AttributeFilter) (Filter, error) {
	if f.GetKey() == "" {
		return Filter{}, apierr.New(
			apierr.InvalidRequest,
			at+".key is required: the name of an attribute, for example http.route.",
			apierr.Param(at+".key"),
		)
	}
	if err := bounded(at+".key", f.GetKey(), limits.FieldKey); err != nil {
		return Filter{}, err
	}
	m := &Match{Field: Field{Scope: scope, Key: f.GetKey()}}
	negated := Op("")
	switch f.GetOperator() {
	case "exists":
		if f.GetValue() != nil {
			return Filter{}, apierr.New(
				apierr.InvalidRequest,
				at+".value must be left out: the operator exists takes no value.",
				apierr.Param(at+".value"),
			)
		}
		m.Op, negated = OpExists, OpNotExists
	case "equals", "contains":
		text, ok := f.GetValue().GetKind().(*structpb.Value_StringValue)
		if !ok {
			return Filter{}, apierr.New(apierr.InvalidRequest,
				fmt.Sprintf("%s.value must be text for the operator %s.", at, f.GetOperator()), apierr.Param(at+".value"))
		}
		if err := bounded(at+".value", text.StringValue, maxFilterText); err != nil {
			return Filter{}, err
		}
		if m.Op, negated = OpEqual, OpNotEqual; f.GetOperator() == "contains" {
			m.Op, negated = OpContains, OpNotContains
		}
		m.Values = []string{text.StringValue}
	case "gt", "gte", "lt", "lte":
		number, ok := f.GetValue().GetKind().(*structpb.Value_NumberValue)
		if !ok || math.IsInf(number.NumberValue, 0) || math.IsNaN(number.NumberValue) {
			return Filter{}, apierr.New(apierr.InvalidRequest,
				fmt.Sprintf("%s.value must be a finite number for the operator %s.", at, f.GetOperator()), apierr.Param(at+".value"))
		}
		m.Op = map[string]Op{"gt": OpGreater, "gte": OpGreaterOrEqual, "lt": OpLess, "lte": OpLessOrEqual}[f.GetOperator()]
		m.Values = []string{numberText(number.NumberValue)}
	default:
		return Filter{}, apierr.New(apierr.InvalidRequest,
			at+".operator must be exists, equals, contains, gt, gte, lt or lte.", apierr.Param(at+".operator"))
	}
	switch {
	case f.GetNegated() && negated == "":
		return Filter{Not: &Filter{Match: m}}, nil
	case f.GetNegated():
		m.Op = negated
	}
	return Filter{Match: m}, nil
}
