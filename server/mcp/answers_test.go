package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// asJSON is a result as clients see it.
func asJSON(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEcho(t *testing.T) {
	tool, err := newSearchSessions(&Server{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := tool.read([]byte(`{"start_time":"now-1h","user_id":"u","has_errors":"true","http_status_min":500,"limit":3}`), now())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"userId": "u", "hasErrors": true, "httpStatusMin": 500.0}, a.echo(sessionFilterNames()...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestServicesBeyondThoseListed(t *testing.T) {
	var rows []*svcv2.Service
	for i := range 150 {
		rows = append(rows, &svcv2.Service{Name: fmt.Sprint("s", i)})
	}
	for more, total := range map[bool]*int{false: ptr(150), true: nil} {
		got := servicesAnswer(&arguments{}, timeRange{}, rows, more).data.(servicesResult)
		if diff := cmp.Diff(total, got.Total); diff != "" || len(got.Services) != maxServices {
			t.Errorf("%d listed, total (-want +got):\n%s", len(got.Services), diff)
		}
	}
}

// toolUse answers with more calls when nothing narrows them.
type toolUse struct {
	svcv2.AgentSessionsServiceClient
	asked int
}

func (f *toolUse) GetAgentToolsOverview(_ context.Context, req *svcv2.GetAgentToolsOverviewRequest, _ ...grpc.CallOption) (*svcv2.AgentToolsOverview, error) {
	f.asked++
	if len(req.GetFilters().GetModels()) > 0 {
		return &svcv2.AgentToolsOverview{Current: &svcv2.AgentTool{Name: req.GetTool(), Calls: 4, Failed: 2}}, nil
	}
	return &svcv2.AgentToolsOverview{Current: &svcv2.AgentTool{Name: req.GetTool(), Calls: 10, Failed: 1}}, nil
}

func TestToolsOfAllSessions(t *testing.T) {
	f := &toolUse{}
	tool, err := newGetAgentToolsOverview(&Server{clients: clients{agents: f}})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]*agentTool{
		`{"tool":"find","model":"m"}`: {Name: "find", Calls: 10, Failed: 1, ErrorRate: 0.1}, `{"tool":"find"}`: nil,
	} {
		a, err := tool.read([]byte(args), now())
		if err != nil {
			t.Fatal(err)
		}
		out, err := tool.run(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.data.(agentToolsResult).AllSessions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
	if f.asked != 3 {
		t.Errorf("%d reads", f.asked)
	}
}
