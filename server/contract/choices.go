package contract

import (
	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
)

// Rules returns the rules by which the API checks a field.
func Rules(f protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

// Choices returns the possible values of a text field, or of the elements of a list of texts: allowed are those that a request may
// have, shown are those that an answer can have. A list is empty if the contract does not have it.
func Choices(f protoreflect.FieldDescriptor) (allowed, shown []string) {
	rules := Rules(f)
	if f.IsList() {
		rules = rules.GetRepeated().GetItems()
	}
	spec, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec)
	return rules.GetString().GetIn(), spec.GetValues()
}

// UsualValues returns the usual values of a field that takes any text. It is empty if the contract does not list them.
func UsualValues(f protoreflect.FieldDescriptor) []string {
	spec, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec)
	return spec.GetUsualValues()
}
