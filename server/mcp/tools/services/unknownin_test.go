package services

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// warned answers each breakdown with warnings.
type warned struct {
	svcv2.QueryServiceClient
	list []string
}

func (w warned) QueryBreakdown(
	_ context.Context, req *svcv2.QueryBreakdownRequest, _ ...grpc.CallOption,
) (*svcv2.QueryBreakdownResponse, error) {
	if req.GetQueries()[0].GetWhere() != "service.name = payment" {
		return &svcv2.QueryBreakdownResponse{}, nil
	}
	return &svcv2.QueryBreakdownResponse{Warnings: w.list}, nil
}

// TestEmptySideNamesTheUnknown: a side without rows says which name of its condition nobody sends.
func TestEmptySideNamesTheUnknown(t *testing.T) {
	t.Parallel()
	const warning = `No service "payment" was received in this window; the nearest name is "payments".`
	s := &tool.Clients{Query: warned{list: []string{"The formula divides by zero.", warning}}}
	a := &explainDifferenceArgs{Signal: "traces", Selected: new("service.name = payment"), Where: new("has_error = true")}
	for _, c := range []struct {
		selected, other float64
		want            []string
	}{{0, 5, []string{warning}}, {5, 5, nil}} {
		found := &svcv2.Difference{Selected: &svcv2.DifferenceSide{Count: c.selected}, Other: &svcv2.DifferenceSide{Count: c.other}}
		if got := unknownIn(t.Context(), s, a, found, &svcv2.ExplainDifferenceRequest{}); !slices.Equal(got, c.want) {
			t.Errorf("%v and %v rows: %q, want %q", c.selected, c.other, got, c.want)
		}
	}
}
