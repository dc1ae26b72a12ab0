package tool

import "google.golang.org/protobuf/types/known/structpb"

// StructValue converts a text, a number or a flag to a value of a request.
func StructValue(v any) *structpb.Value {
	out, err := structpb.NewValue(v)
	if err != nil { // cannot happen: callers give only texts, numbers and flags
		return structpb.NewNullValue()
	}
	return out
}
