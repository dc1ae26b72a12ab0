package contract_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
)

// TestPageLimits holds the limit of every list to one bound. Package paging relies on it.
func TestPageLimits(t *testing.T) {
	for _, m := range load(t).Methods() {
		f := m.Descriptor.Input().Fields().ByName("limit")
		if f == nil || f.Kind() != protoreflect.Int32Kind {
			continue
		}
		largest := int32(limits.LargestPage)
		if m.OperationID == "listPlanetScaleEvents" {
			largest = limits.PlatformEventPage // the interface has a bound of its own for it
		}
		if r := contract.Rules(f).GetInt32(); r.GetGte() != 1 || r.GetLte() < 1 || r.GetLte() > largest {
			t.Errorf("%s needs (buf.validate.field).int32 = {gte: 1, lte: %d}", f.FullName(), largest)
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
			got, _ := contract.Choices(f)
			_, want := contract.Choices(shown)
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
