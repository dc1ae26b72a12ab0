package mcp

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// TestTags sends every error of the API over the loopback through a tool and checks the result. server/apierr/testdata has the
// same table for the other doors.
func TestTags(t *testing.T) {
	var b strings.Builder
	for _, tag := range apierr.All() {
		e := apierr.New(tag, "What went wrong.")
		st, err := status.New(codes.Unknown, "not shown").WithDetails(e.Detail())
		if err != nil {
			t.Fatal(err)
		}
		res, err := tool.ErrorResult(&tool.Tool{Name: "search_traces"}, st.Err())
		if err != nil {
			t.Fatal(err)
		}
		if !res.IsError || len(res.Content) != 1 {
			t.Fatalf("%s is no error result: %+v", tag, res)
		}
		text, ok := res.Content[0].(*sdk.TextContent)
		if !ok {
			t.Fatalf("%s: content is a %T", tag, res.Content[0])
		}
		fmt.Fprintf(&b, "%s\n  text %s\n  structured %s\n", apierr.Spec(tag).GetTag(), text.Text, res.StructuredContent)
	}
	golden.Compare(t, "tags.golden", b.String())
}
