package query_test

import (
	"maps"
	"slices"
	"testing"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/query"
)

// TestSessionDimensionsAreInTheContract compares the dimensions of a funnel with those that the contract calls usual.
func TestSessionDimensionsAreInTheContract(t *testing.T) {
	f := (&svcv2.SearchProductEventFunnelRequest{}).ProtoReflect().Descriptor().Fields().ByName("breakdown_by")
	usual := slices.Sorted(slices.Values(contract.UsualValues(f)))
	if got := slices.Sorted(maps.Keys(query.SessionDimensions())); !slices.Equal(got, usual) {
		t.Errorf("%q, and %q in the contract", got, usual)
	}
}
