package otlp

import (
	"testing"

	"google.golang.org/protobuf/proto"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// TestSeverityNames compares the names that records get with those that the contract calls usual.
func TestSeverityNames(t *testing.T) {
	f := (&svcv2.LogFilters{}).ProtoReflect().Descriptor().Fields().ByName("severity")
	spec, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec)
	usual := spec.GetUsualValues()
	if len(usual)*4 != maxSeverity {
		t.Fatalf("%d names for %d numbers", len(usual), maxSeverity)
	}
	for n := range uint32(maxSeverity) {
		if got := severityName(n + 1); got != usual[n/4] {
			t.Errorf("%d is %s, and %s in the contract", n+1, got, usual[n/4])
		}
	}
}
