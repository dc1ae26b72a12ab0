package diagnose

import (
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// These are operations of agents' spans (semantic conventions for generative AI, `gen_ai.operation.name`).
const (
	OperationTurn = "invoke_agent"
	OperationTool = "execute_tool"
)

// ModelCall reports whether an operation calls a model.
func ModelCall(operation string) bool {
	return operation == "chat" || operation == "generate_content" || operation == "text_completion"
}

// AgentTurn is a turn of a session, with its spans in order of time.
type AgentTurn struct {
	// Anchor is the invoke_agent span. It is nil if the trace has none.
	Anchor *svcv2.AgentSpan
	Spans  []*svcv2.AgentSpan
}

// AgentTurns splits a session into turns. Each outermost invoke_agent span is a turn, with the spans of its trace that lie in its
// time. A trace without such a span is a turn too.
func AgentTurns(spans []*svcv2.AgentSpan) []*AgentTurn {
	var turns []*AgentTurn
	open := map[string]*AgentTurn{} // by trace
	for _, sp := range spans {
		t := open[sp.GetTraceId()]
		inner := t != nil && t.Anchor != nil && !sp.GetStartTime().AsTime().After(endOf(t.Anchor))
		if outermost := sp.GetOperation() == OperationTurn && !inner; t == nil || outermost {
			t = &AgentTurn{}
			if outermost {
				t.Anchor = sp
			}
			open[sp.GetTraceId()] = t
			turns = append(turns, t)
		}
		t.Spans = append(t.Spans, sp)
	}
	return turns
}

// Start is the start of the first span.
func (t *AgentTurn) Start() time.Time { return t.Spans[0].GetStartTime().AsTime() }

// End is the latest end of a span.
func (t *AgentTurn) End() time.Time {
	var end time.Time
	for _, sp := range t.Spans {
		if e := endOf(sp); e.After(end) {
			end = e
		}
	}
	return end
}

// Failed reports whether the agent failed in the turn.
func (t *AgentTurn) Failed() bool {
	if t.Anchor != nil {
		return t.Anchor.GetFailed()
	}
	return slices.ContainsFunc(t.Spans, (*svcv2.AgentSpan).GetFailed)
}

func endOf(sp *svcv2.AgentSpan) time.Time {
	return sp.GetStartTime().AsTime().Add(time.Duration(sp.GetDurationMs() * float64(time.Millisecond)))
}
