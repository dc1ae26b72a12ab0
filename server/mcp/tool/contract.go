package tool

import (
	"fmt"
	"slices"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
)

// RulesOf returns the rules by which the API checks a field.
func RulesOf(f protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

// fieldOf returns a field of the contract by its name, such as QueryMetric.type.
func fieldOf(name string) (protoreflect.FieldDescriptor, error) {
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName("svc.v2." + name))
	if err != nil {
		return nil, fmt.Errorf("the contract has no field %s: %w", name, err)
	}
	f, ok := d.(protoreflect.FieldDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is not a field of the contract", name)
	}
	return f, nil
}

// choicesOf returns the values of a field: those that a request may have, those that an answer can have, or those that are usual. It
// returns nil if the contract does not list them.
func choicesOf(f protoreflect.FieldDescriptor) []string {
	rules := RulesOf(f)
	values := slices.Concat(rules.GetString().GetIn(), rules.GetRepeated().GetItems().GetString().GetIn())
	if spec, ok := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec); ok && len(values) == 0 {
		if values = slices.Clone(spec.GetValues()); len(values) == 0 {
			values = slices.Clone(spec.GetUsualValues())
		}
	}
	return slices.DeleteFunc(values, func(v string) bool { return v == "" }) // an empty text means that the request leaves the field out
}

// Choices returns the possible or usual values of a field of the contract, such as QueryMetric.type.
func Choices(name string) ([]string, error) {
	f, err := fieldOf(name)
	if err != nil {
		return nil, err
	}
	values := choicesOf(f)
	if len(values) == 0 {
		return nil, fmt.Errorf("the contract lists no values for %s", name)
	}
	return values, nil
}

// boundsOf returns the inclusive bounds of a number. A bound that the contract excludes, or does not have, is nil.
func boundsOf(f protoreflect.FieldDescriptor) (low, high *float64) {
	rules := RulesOf(f)
	if r := rules.GetInt32(); r != nil {
		if r.HasGte() {
			low = new(float64(r.GetGte()))
		}
		if r.HasLte() {
			high = new(float64(r.GetLte()))
		}
	}
	if r := rules.GetDouble(); r != nil {
		if r.HasGte() {
			low = new(r.GetGte())
		}
		if r.HasLte() {
			high = new(r.GetLte())
		}
	}
	return low, high
}
