package agents

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
)

// agentStep is a span that begins after a number of seconds.
func agentStep(trace, id, operation string, after, lasts float64) *svcv2.AgentSpan {
	return &svcv2.AgentSpan{
		TraceId: trace, SpanId: id, Operation: operation, StartTime: timestamppb.New(tooltest.Now().Add(time.Duration(after * float64(time.Second)))), DurationMs: lasts * 1000, ServiceName: "bot", Agent: "bot",
	}
}

func agentSession() *svcv2.AgentSession {
	turn := agentStep("t1", "a", "invoke_agent", 0, 10)
	turn.Input = `[{"role":"user","parts":[{"type":"text","content":"Where is it?"}]}]`
	turn.InputTokens, turn.HasTokens = 999, true
	call := agentStep("t1", "b", "chat", 1, 2)
	call.Model, call.Input, call.Output = "m-1", turn.Input, `[{"role":"assistant","parts":[{"type":"tool_call","name":"find","arguments":{"id":7}}]}]`
	call.InputTokens, call.OutputTokens, call.HasTokens, call.FirstTokenMs = 100, 20, true, 500
	call.Cost, call.HasCost = 0.5, true
	called := agentStep("t1", "c", "execute_tool", 4, 1)
	called.Tool, called.Input, called.Failed, called.ErrorType, called.Message = "find", `{"id":7}`, true, "Timeout", "no answer"
	second := agentStep("t2", "d", "chat", 60, 3)
	second.Model, second.Output = "m-1", "gen_ai.choice: It is on its way.\nReally."
	for i, sp := range []*svcv2.AgentSpan{turn, call, called, second} {
		sp.Turn = int32(1 + i/3)
	}
	return &svcv2.AgentSession{
		Id: "s", Spans: []*svcv2.AgentSpan{turn, call, called, second},
		Turns: []*svcv2.AgentTurn{
			{
				Number: 1, Kind: "agent", Agent: "bot", TraceId: "t1", SpanId: "a", StartTime: turn.GetStartTime(), DurationMs: 10_000,
				SpanCount: 3, ErrorSpanCount: 1, Asked: "Where is it?",
			},
			{Number: 2, Kind: "trace", TraceId: "t2", SpanId: "d", StartTime: second.GetStartTime(), DurationMs: 3000, SpanCount: 1},
		},
	}
}

// reader gives the session to the diagnosis.
type reader struct{}

func (reader) GetAgentSession(context.Context, *svcv2.GetAgentSessionRequest) (*svcv2.AgentSession, error) {
	return agentSession(), nil
}

func TestAgentSession(t *testing.T) {
	engine := diagnose.New(diagnose.Readers{Agents: reader{}})
	verdict, err := engine.AgentSessionVerdict(t.Context(), "s", diagnose.Period{})
	if err != nil {
		t.Fatal(err)
	}
	figures, err := engine.AgentSessionFigures(t.Context(), "s", diagnose.Period{})
	if err != nil {
		t.Fatal(err)
	}
	got := agentSessionAnswer(tool.Period(tooltest.Now(), tooltest.Now().Add(time.Hour)), figures, verdict).Data.(agentSessionResult)
	if got.TurnCount != 2 || got.Title != "Where is it?" || got.Verdict.Status != "attention" || got.Verdict.SpanID != "c" ||
		!strings.Contains(got.Verdict.Headline, "find: Timeout failed in turn 1") {
		t.Errorf("%+v", got)
	}
	// A turn repeats the tokens of its calls.
	if got.Tokens.Total != 120 || got.TokenReporting != "per-call" || got.Cost == nil || *got.Cost != 0.5 {
		t.Errorf("tokens %+v of %s, cost %v", got.Tokens, got.TokenReporting, got.Cost)
	}
	if diff := cmp.Diff(agentVitals{
		WallClockMs: 63_000, ActiveMs: 13_000, IdleMs: 50_000, IdleGapCount: 1, AgentTimeMs: 6000,
		AgentTimeSegments: []agentSegment{{"ttft", 500}, {"inference", 4500}, {"tool", 1000}},
	}, got.Vitals); diff != "" {
		t.Errorf("vitals (-want +got):\n%s", diff)
	}
	if got.CheckCounts["warning"] != 1 || got.CheckCounts["failed"] != 0 || got.FindingCount != 1 || got.Tools[0].Failed != 1 {
		t.Errorf("%+v %+v", got.CheckCounts, got.Findings)
	}
}

func TestTranscriptSaysEachMessageOnce(t *testing.T) {
	answer, err := transcriptAnswer(&getAgentSessionTranscriptArgs{PayloadChars: 300, Limit: 100},
		tool.Period(tooltest.Now(), tooltest.Now().Add(time.Hour)), agentSession())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range answer.Data.(agentTranscriptResult).Rows {
		lines = append(lines, l.Kind+" "+l.Text)
	}
	want := []string{
		"turn ", "user Where is it?", `assistant → find {"id":7}`, `tool {"id":7} → Timeout: no answer`,
		"turn ", "assistant It is on its way.\nReally.",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
