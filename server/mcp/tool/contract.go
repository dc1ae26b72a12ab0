package tool

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/svc-observability/svc/server/contract"
)

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
	values, shown := contract.Choices(f)
	if len(values) == 0 {
		values = shown
	}
	if len(values) == 0 {
		values = contract.UsualValues(f)
	}
	// A request may send an empty text to leave the field out. That is not a choice to offer.
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
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
	rules := contract.Rules(f)
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
