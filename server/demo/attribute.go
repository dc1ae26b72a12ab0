package demo

import commonpb "go.opentelemetry.io/proto/otlp/common/v1"

type attribute = *commonpb.KeyValue

func text(key, value string) attribute {
	return &commonpb.KeyValue{Key: key, Value: textValue(value)}
}

func textValue(value string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}
}

func whole[T int | int64](key string, value T) attribute {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: int64(value)}}}
}

func decimal(key string, value float64) attribute {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: value}}}
}

func truth(key string, value bool) attribute {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: value}}}
}

func texts(key string, values ...string) attribute {
	list := &commonpb.ArrayValue{}
	for _, v := range values {
		list.Values = append(list.Values, textValue(v))
	}
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}}}
}

// textOf returns a text attribute of a list, or an empty text.
func textOf(list []attribute, key string) string {
	for _, a := range list {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}
