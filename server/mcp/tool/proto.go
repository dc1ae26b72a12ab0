package tool

import "google.golang.org/protobuf/types/known/structpb"

// StructValue is a text, a number or a flag as a value of a request.
func StructValue(v any) *structpb.Value {
	out, err := structpb.NewValue(v)
	if err != nil { // callers give texts, numbers and flags
		return structpb.NewNullValue()
	}
	return out
}
