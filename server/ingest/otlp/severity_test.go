package otlp

import (
	"testing"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/contract"
)

// TestSeverityNames compares the names that records get with those that the contract calls usual.
func TestSeverityNames(t *testing.T) {
	f := (&svcv2.LogFilters{}).ProtoReflect().Descriptor().Fields().ByName("severity")
	usual := contract.UsualValues(f)
	if len(usual)*4 != maxSeverity {
		t.Fatalf("%d names for %d numbers", len(usual), maxSeverity)
	}
	for n := range uint32(maxSeverity) {
		if got := severityName(n + 1); got != usual[n/4] {
			t.Errorf("%d is %s, and %s in the contract", n+1, got, usual[n/4])
		}
	}
}
