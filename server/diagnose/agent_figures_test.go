package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// agentTurn is a turn that begins after a number of seconds.
func agentTurn(number int32, after, lasts float64) *svcv2.AgentTurn {
	return &svcv2.AgentTurn{Number: number, StartTime: agentStep("", "", "", after, 0).GetStartTime(), DurationMs: lasts * 1000}
}

func TestFiguresOfASession(t *testing.T) {
	turn := agentStep("t1", "a", "invoke_agent", 0, 10)
	turn.InputTokens, turn.HasTokens, turn.Cost, turn.HasCost = 999, true, 9, true
	call := agentStep("t1", "b", "chat", 1, 2)
	call.Model, call.InputTokens, call.OutputTokens, call.HasTokens, call.FirstTokenMs, call.Cost, call.HasCost = "m-1", 100, 20, true, 500,
		0.5, true
	called := agentStep("t1", "c", "execute_tool", 4, 1)
	called.Tool, called.Failed, called.ErrorType = "find", true, "Timeout"
	second := agentStep("t2", "d", "chat", 60, 3)
	second.Model = "m-1"
	s := &svcv2.AgentSession{
		Id: "s", Spans: []*svcv2.AgentSpan{turn, call, called, second}, Turns: []*svcv2.AgentTurn{agentTurn(1, 0, 10), agentTurn(2, 60, 3)},
	}
	want := &svcv2.AgentSessionFigures{
		Object: "agent_session_figures", SessionId: "s", StartTime: timestamppb.New(now()), SpanCount: 4, ModelCallCount: 2, ToolCallCount: 1,
		TraceCount: 2, Agents: []string{"bot"}, Services: []string{"bot"}, TokenReporting: "per-call",
		Tokens: &svcv2.AgentTokens{Input: 100, Output: 20, Total: 120}, Cost: new(0.5),
		Models:       []*svcv2.AgentModelUse{{Model: "m-1", CallCount: 2, TotalTokens: 120, Cost: new(0.5)}},
		Tools:        []*svcv2.AgentToolUse{{Name: "find", CallCount: 1, FailedCount: 1, TotalMs: 1000, SlowestMs: 1000}},
		Failures:     []*svcv2.AgentFailureCount{{Kind: "tool", Label: "find: Timeout", Count: 1}},
		FirstTokenMs: 500, InferenceMs: 4500, ToolMs: 1000, WallClockMs: 63_000, ActiveMs: 13_000, IdleMs: 50_000, IdleGapCount: 1,
		Turns: s.GetTurns(),
	}
	if diff := cmp.Diff(want, measureAgentSession(s), protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Without tokens on model calls, those of the turns count.
	call.InputTokens, call.OutputTokens, call.HasTokens, call.Cost, call.HasCost = 0, 0, false, 0, false
	if got := measureAgentSession(s); got.GetTokens().GetTotal() != 999 || got.GetTokenReporting() != "roll-up" || got.GetCost() != 9 {
		t.Errorf("%v", got)
	}
}
