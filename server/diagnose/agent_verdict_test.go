package diagnose

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

func now() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

func agentStep(trace, id, operation string, after, lasts float64) *svcv2.AgentSpan {
	return &svcv2.AgentSpan{
		TraceId: trace, SpanId: id, Operation: operation, StartTime: timestamppb.New(now().Add(time.Duration(after * float64(time.Second)))),
		DurationMs: lasts * 1000, ServiceName: "bot", Agent: "bot",
	}
}

func TestRepeatedCallsAreFound(t *testing.T) {
	var spans []*svcv2.AgentSpan
	for i := range 4 {
		sp := agentStep("t", string(rune('a'+i)), "execute_tool", float64(i), 0.5)
		sp.Tool, sp.Input = "find", `{"id":7}`
		spans = append(spans, sp)
	}
	if got := repeatedToolCalls(spans); len(got) != 1 || got[0].Count != 4 {
		t.Errorf("%+v", got)
	}
	if got := repeatedToolCalls(spans[:2]); got != nil {
		t.Errorf("a second attempt is no loop: %+v", got)
	}
}

func TestAFailureIsListedOnce(t *testing.T) {
	var spans []*svcv2.AgentSpan
	for turn := range int32(4) {
		agent := agentStep("t", string('a'+turn), "invoke_agent", float64(10*turn), 5)
		call := agentStep("t", string('k'+turn), "chat", float64(10*turn), 2)
		agent.Model, call.Model, agent.Turn, call.Turn = "m-1", "m-1", turn+1, turn+1
		if turn == 0 || turn == 3 {
			for _, sp := range []*svcv2.AgentSpan{agent, call} {
				sp.Failed, sp.ErrorType, sp.Message = true, "Overloaded", "the model is overloaded"
			}
		}
		spans = append(spans, agent, call)
	}
	got := judgeAgentSession(&svcv2.AgentSession{Spans: spans, Turns: make([]*svcv2.AgentTurn, 4)})
	want := []*svcv2.AgentFinding{{
		Kind: "model", Severity: "failure", Label: "m-1: Overloaded", Count: 2, Turn: 1, Turns: []int32{1, 4}, Detail: "the model is overloaded",
		SpanId: "k",
	}}
	if diff := cmp.Diff(want, got.GetFindings(), protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.GetStatus() != "failed" || got.GetSpanId() != "k" ||
		got.GetHeadline() != "m-1: Overloaded failed in turns 1 and 4. the model is overloaded" {
		t.Errorf("%v", got)
	}
	if turns := got.GetChecks()[0]; turns.GetHeadline() != "2 of 4 turns failed." {
		t.Errorf("%v", turns)
	}
	// A turn that fails by itself is listed.
	spans[1].Failed, spans[7].Failed = false, false
	if got := judgeAgentSession(&svcv2.AgentSession{Spans: spans}).GetFindings(); len(got) != 1 || got[0].GetKind() != "turn" ||
		got[0].GetLabel() != "bot: Overloaded" {
		t.Errorf("%v", got)
	}
}
