package diagnose

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

func now() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

func agentStep(trace, id, operation string, after, lasts float64) *svcv2.AgentSpan {
	return &svcv2.AgentSpan{
		TraceId: trace, SpanId: id, Operation: operation, StartTime: timestamppb.New(now().Add(time.Duration(after * float64(time.Second)))), DurationMs: lasts * 1000, ServiceName: "bot", Agent: "bot",
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
