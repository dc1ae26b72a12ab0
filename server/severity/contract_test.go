package severity_test

import (
	"testing"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/severity"
)

// TestContract compares the texts with those that the contract calls usual.
func TestContract(t *testing.T) {
	f := (&svcv2.LogFilters{}).ProtoReflect().Descriptor().Fields().ByName("severity")
	usual := contract.UsualValues(f)
	if len(usual)*4 != severity.Highest {
		t.Fatalf("%d names for %d numbers", len(usual), severity.Highest)
	}
	for n := range uint32(severity.Highest) {
		if got := severity.Text(n + 1); got != usual[n/4] {
			t.Errorf("%d is %s, and %s in the contract", n+1, got, usual[n/4])
		}
	}
}
