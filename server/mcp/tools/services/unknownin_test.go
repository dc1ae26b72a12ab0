package services

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// warned answers a breakdown of a window and a condition with warnings, and fails for others that it does not know.
type warned struct {
	svcv2.QueryServiceClient
	of map[string][]string // by the second in which the window starts, and the condition
}

func (w warned) QueryBreakdown(
	_ context.Context, req *svcv2.QueryBreakdownRequest, _ ...grpc.CallOption,
) (*svcv2.QueryBreakdownResponse, error) {
	list, ok := w.of[fmt.Sprint(req.GetStartTime().GetSeconds(), " ", req.GetQueries()[0].GetWhere())]
	if !ok {
		return nil, errors.New("no such read")
	}
	return &svcv2.QueryBreakdownResponse{Warnings: list}, nil
}

// TestEmptySideNamesTheUnknown: a side without rows says which name of its condition, or of the condition on both sides, nobody sends. The
// names are looked up in the window of that side, and each is said once. A failed look-up says nothing.
func TestEmptySideNamesTheUnknown(t *testing.T) {
	t.Parallel()
	payment, staging := `No service "payment" was received in this window.`, `No environment "staging" was received in this window.`
	s := &tool.Clients{Query: warned{of: map[string][]string{
		"1 service.name = payment": {"The formula divides by zero.", payment},
		"1 environment = staging":  {staging, payment},
		"1 service.name = cart":    {"this is the window of the other side"},
		"2 service.name = cart":    {`No service "cart" was received in this window.`},
		"2 environment = staging":  nil,
	}}}
	cart := `No service "cart" was received in this window.`
	selected := new("service.name = payment")
	for name, c := range map[string]struct {
		a               explainDifferenceArgs
		selected, other float64
		start           int64 // of the window of the other side; 0 for the same window
		want            []string
	}{
		"selected":                 {explainDifferenceArgs{Selected: selected}, 0, 5, 0, []string{payment}},
		"both conditions":          {explainDifferenceArgs{Selected: selected, Where: new("environment = staging")}, 0, 5, 0, []string{payment, staging}},
		"rows on both sides":       {explainDifferenceArgs{Selected: selected}, 5, 5, 0, nil},
		"other":                    {explainDifferenceArgs{Selected: new("a = b"), Other: selected}, 5, 0, 0, []string{payment}},
		"other in its window":      {explainDifferenceArgs{Selected: selected, Other: new("service.name = cart")}, 5, 0, 2, []string{cart}},
		"both, other window":       {explainDifferenceArgs{Other: new("service.name = cart"), Where: new("environment = staging")}, 5, 0, 2, []string{cart}},
		"other without condition":  {explainDifferenceArgs{Selected: selected}, 5, 0, 0, nil},
		"a look-up that fails":     {explainDifferenceArgs{Selected: new("a = b"), Where: selected}, 0, 5, 0, []string{payment}},
		"sessions have no look-up": {explainDifferenceArgs{Signal: "sessions", Selected: selected}, 0, 5, 0, nil},
	} {
		req := &svcv2.ExplainDifferenceRequest{StartTime: &timestamppb.Timestamp{Seconds: 1}}
		if c.start > 0 {
			req.OtherStartTime = &timestamppb.Timestamp{Seconds: c.start}
		}
		found := &svcv2.Difference{Selected: &svcv2.DifferenceSide{Count: c.selected}, Other: &svcv2.DifferenceSide{Count: c.other}}
		if got := unknownIn(t.Context(), s, &c.a, found, req); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
