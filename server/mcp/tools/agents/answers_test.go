package agents

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
)

// toolUse answers with more calls if no filter narrows the request.
type toolUse struct {
	svcv2.AgentSessionsServiceClient
	asked int
}

func (f *toolUse) GetAgentToolsOverview(
	_ context.Context, req *svcv2.GetAgentToolsOverviewRequest, _ ...grpc.CallOption,
) (*svcv2.AgentToolsOverview, error) {
	f.asked++
	if len(req.GetFilters().GetModels()) > 0 {
		return &svcv2.AgentToolsOverview{Current: &svcv2.AgentTool{Name: req.GetTool(), Calls: 4, Failed: 2}}, nil
	}
	return &svcv2.AgentToolsOverview{Current: &svcv2.AgentTool{Name: req.GetTool(), Calls: 10, Failed: 1}}, nil
}

func TestToolsOfAllSessions(t *testing.T) {
	f := &toolUse{}
	made, err := newGetAgentToolsOverview(&tool.Clients{Agents: f})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]*agentTool{
		`{"tool":"find","model":"m"}`: {Name: "find", Calls: 10, Failed: 1, ErrorRate: 0.1}, `{"tool":"find"}`: nil,
	} {
		out, err := made.Call(t.Context(), []byte(args), tooltest.Now())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.Data.(agentToolsResult).AllSessions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
	if f.asked != 3 {
		t.Errorf("%d reads", f.asked)
	}
}

func TestSessionsAreCounted(t *testing.T) {
	out := agentSessionsAnswer(&listAgentSessionsArgs{Limit: 1}, tool.Period(tooltest.Now(), tooltest.Now()),
		&svcv2.SearchAgentSessionsResponse{
			Sessions: []*svcv2.AgentSessionSummary{{Id: "s"}}, HasMore: true, TotalCount: 547, ErrorCount: 12,
		})
	if res := out.Data.(agentSessionsResult); *res.Pagination.Total != 547 || res.WithErrors != 12 {
		t.Errorf("%+v", res)
	}
	if want := "Sessions that match: 547, of them 12 with errors"; !strings.Contains(out.Text.Render("Agent sessions"), want) {
		t.Errorf("no %q in\n%s", want, out.Text.Render(""))
	}
}
