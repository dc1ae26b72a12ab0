package contract_test

import (
	"slices"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/limits"
)

func rules(f protoreflect.FieldDescriptor) *validate.FieldRules {
	r, _ := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
	return r
}

// TestPageLimits holds the limit of every list to one bound. Package paging relies on it.
func TestPageLimits(t *testing.T) {
	for _, m := range load(t).Methods() {
		f := m.Descriptor.Input().Fields().ByName("limit")
		if f == nil || f.Kind() != protoreflect.Int32Kind {
			continue
		}
		if r := rules(f).GetInt32(); r.GetGte() != 1 || r.GetLte() < 1 || r.GetLte() > limits.LargestPage {
			t.Errorf("%s needs (buf.validate.field).int32 = {gte: 1, lte: %d}", f.FullName(), limits.LargestPage)
		}
	}
}

// TestChoicesAgree compares the choices of a field in the requests that create and update a resource with those in the resource.
func TestChoicesAgree(t *testing.T) {
	compared := 0
	for _, m := range load(t).Methods() {
		in, out := m.Descriptor.Input(), m.Descriptor.Output()
		if name := string(in.Name()); !strings.HasPrefix(name, "Create") && !strings.HasPrefix(name, "Update") {
			continue
		}
		for i := range in.Fields().Len() {
			f := in.Fields().Get(i)
			shown := out.Fields().ByName(f.Name())
			if shown == nil {
				continue
			}
			options, _ := proto.GetExtension(shown.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec)
			got, want := choices(f), options.GetValues()
			if len(got) == 0 && len(want) == 0 {
				continue
			}
			compared++
			if !slices.Equal(got, want) {
				t.Errorf("%s allows %q, but %s shows %q", f.FullName(), got, shown.FullName(), want)
			}
		}
	}
	if compared < 5 {
		t.Errorf("compared %d fields only", compared)
	}
}

func choices(f protoreflect.FieldDescriptor) []string {
	r := rules(f)
	if f.IsList() {
		r = r.GetRepeated().GetItems()
	}
	return r.GetString().GetIn()
}
