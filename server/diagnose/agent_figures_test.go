package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

func TestFiguresOfASession(t *testing.T) {
	turn := agentStep("t1", "a", "invoke_agent", 0, 10)
	turn.InputTokens, turn.HasTokens, turn.Cost, turn.HasCost = 999, true, 9, true
	call := agentStep("t1", "b", "chat", 1, 2)
	call.Model, call.InputTokens, call.OutputTokens, call.HasTokens, call.FirstTokenMs, call.Cost, call.HasCost = "m-1", 100, 20, true, 500, 0.5, true
	called := agentStep("t1", "c", "execute_tool", 4, 1)
	called.Tool, called.Failed, called.ErrorType = "find", true, "Timeout"
	second := agentStep("t2", "d", "chat", 60, 3)
	second.Model = "m-1"
	s := &svcv2.AgentSession{Spans: []*svcv2.AgentSpan{turn, call, called, second}}
	want := AgentFigures{
		ModelCalls: 2, ToolCalls: 1, Traces: 2, Vendors: []string{}, Agents: []string{"bot"}, Services: []string{"bot"}, TokenReporting: "per-call",
		Tokens: AgentTokens{Input: 100, Output: 20, Total: 120}, Cost: new(0.5),
		Models:       []AgentModel{{"m-1", 2, 120, new(0.5)}},
		Tools:        []AgentToolUse{{"find", 1, 1, 1000, 1000}},
		Failures:     []AgentFailures{{"tool", "find: Timeout", 1}},
		FirstTokenMs: 500, InferenceMs: 4500, ToolMs: 1000, WallClockMs: 63_000, ActiveMs: 13_000, IdleMs: 50_000, IdleGaps: 1,
	}
	if diff := cmp.Diff(want, MeasureAgentSession(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Without tokens on model calls, those of the turns count.
	call.InputTokens, call.OutputTokens, call.HasTokens, call.Cost, call.HasCost = 0, 0, false, 0, false
	if got := MeasureAgentSession(s); got.Tokens.Total != 999 || got.TokenReporting != "roll-up" || *got.Cost != 9 {
		t.Errorf("%+v cost %v", got, *got.Cost)
	}
}
