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

// attributeColumn is a map column, whether its pairs are indexed, and the columns that hold a copy of some keys.
type attributeColumn struct {
	name string
	// indexed columns have a bloom filter over cityHash64(key, value) of every pair.
	indexed bool
	// promoted maps a key to the column that has the same value whenever the key is present and not empty.
	promoted map[string]string
}

func resourceColumn() attributeColumn {
	return attributeColumn{name: "ResourceAttributes", promoted: map[string]string{
		"service.name": "ServiceName", "service.namespace": "ServiceNamespace", "service.version": "ServiceVersion",
	}}
}

func spanColumn() attributeColumn {
	return attributeColumn{name: "SpanAttributes", indexed: true, promoted: map[string]string{"http.route": "HttpRoute"}}
}

func logColumn() attributeColumn { return attributeColumn{name: "LogAttributes", indexed: true} }

func (c *conditions) attributes(b *builder, column attributeColumn, filters []AttributeFilter) {
	for _, f := range filters {
		text := b.attribute(column, f)
		if f.Negated {
			text = "NOT (" + text + ")"
		}
		*c = append(*c, text)
	}
}

// attribute prints one condition. A missing key makes every condition false, also when its default, the empty text, would match.
func (b *builder) attribute(column attributeColumn, f AttributeFilter) string {
	key := b.next("attribute_key", "String", f.Key)
	m := column.name
	switch f.Operator {
	case Equals:
		value := b.next("attribute_value", "String", f.Text)
		text := fmt.Sprintf("mapContains(%s, %s) AND %s[%s] = %s", m, key, m, key, value)
		if column.indexed && !f.Negated {
			// The same expression as the index, which then skips most granules.
			text = fmt.Sprintf("has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(%s), mapValues(%s)), cityHash64(%s, %s)) AND ", m, m, key, value) + text
		}
		if promoted := column.promoted[f.Key]; promoted != "" && f.Text != "" {
			text = fmt.Sprintf("%s = %s AND ", promoted, value) + text
		}
		return text
	case Contains:
		return fmt.Sprintf("mapContains(%s, %s) AND positionCaseInsensitiveUTF8(%s[%s], %s) > 0", m, key, m, key, b.next("attribute_value", "String", f.Text))
	case Greater, GreaterOrEqual, Less, LessOrEqual:
		sign := map[Operator]string{Greater: ">", GreaterOrEqual: ">=", Less: "<", LessOrEqual: "<="}[f.Operator]
		return fmt.Sprintf("ifNull(toFloat64OrNull(%s[%s]) %s %s, 0)", m, key, sign, b.next("attribute_value", "Float64", f.Number))
	default: // Exists
		return fmt.Sprintf("mapContains(%s, %s)", m, key)
	}
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
