package query

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
)

// Operator compares an attribute.
type Operator string

// Operators.
const (
	Exists         Operator = "exists"
	Equals         Operator = "equals"
	Contains       Operator = "contains"
	Greater        Operator = "gt"
	GreaterOrEqual Operator = "gte"
	Less           Operator = "lt"
	LessOrEqual    Operator = "lte"
)

// AttributeFilter is a condition on one attribute. Text belongs to Equals and Contains, Number to the comparisons.
type AttributeFilter struct {
	Key      string
	Operator Operator
	Text     string
	Number   float64
	Negated  bool
}

// bounded refuses text of a filter that is longer than what any read compares with; path is where it is in the request.
func bounded(path, text string, most int) error {
	if len(text) <= most && validUTF8(text) {
		return nil
	}
	return apierr.New(apierr.InvalidRequest, fmt.Sprintf("%s must be text of at most %d bytes, without a NUL; this has %d bytes.", path, most, len(text)), apierr.Param(path))
}

// BoundedFilters checks the text of every field of a signal's filters, but their conditions on attributes (NewAttributeFilters); path is where
// they are in the request.
func BoundedFilters(path string, filters proto.Message) (err error) {
	filters.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Kind() == protoreflect.StringKind && !f.IsList() {
			err = bounded(path+"."+string(f.Name()), v.String(), maxFilterText)
		}
		return err == nil
	})
	return err
}

// NewAttributeFilters reads the conditions of a request; path is where they are in it.
func NewAttributeFilters(path string, in []*svcv2.AttributeFilter) ([]AttributeFilter, error) {
	const most = 20
	if len(in) > most {
		return nil, apierr.New(apierr.InvalidRequest, fmt.Sprintf("%s holds %d conditions; %d are allowed.", path, len(in), most), apierr.Param(path))
	}
	var out []AttributeFilter // nil without conditions
	for i, f := range in {
		at := fmt.Sprintf("%s[%d]", path, i)
		if f.GetKey() == "" {
			return nil, apierr.New(apierr.InvalidRequest, at+".key is required: the name of an attribute, for example http.route.", apierr.Param(at+".key"))
		}
		if err := bounded(at+".key", f.GetKey(), maxKey); err != nil {
			return nil, err
		}
		filter := AttributeFilter{Key: f.GetKey(), Operator: Operator(f.GetOperator()), Negated: f.GetNegated()}
		switch filter.Operator {
		case Exists:
			if f.GetValue() != nil {
				return nil, apierr.New(apierr.InvalidRequest, at+".value must be left out: the operator exists takes none.", apierr.Param(at+".value"))
			}
		case Equals, Contains:
			text, ok := f.GetValue().GetKind().(*structpb.Value_StringValue)
			if !ok {
				return nil, apierr.New(apierr.InvalidRequest, fmt.Sprintf("%s.value must be text for the operator %s.", at, filter.Operator), apierr.Param(at+".value"))
			}
			if err := bounded(at+".value", text.StringValue, maxFilterText); err != nil {
				return nil, err
			}
			filter.Text = text.StringValue
		case Greater, GreaterOrEqual, Less, LessOrEqual:
			number, ok := f.GetValue().GetKind().(*structpb.Value_NumberValue)
			if !ok || math.IsInf(number.NumberValue, 0) || math.IsNaN(number.NumberValue) {
				return nil, apierr.New(apierr.InvalidRequest, fmt.Sprintf("%s.value must be a finite number for the operator %s.", at, filter.Operator), apierr.Param(at+".value"))
			}
			filter.Number = number.NumberValue
		default:
			return nil, apierr.New(apierr.InvalidRequest, at+".operator must be exists, equals, contains, gt, gte, lt or lte.", apierr.Param(at+".operator"))
		}
		out = append(out, filter)
	}
	return out, nil
}
