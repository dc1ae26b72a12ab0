package agents

import (
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// turn is a turn with its spans, in order of time.
type turn struct {
	anchor *svcv2.AgentSpan // the invoke_agent span; nil when the trace has none
	spans  []*svcv2.AgentSpan
}

func (t *turn) start() time.Time { return t.spans[0].GetStartTime().AsTime() }

func (t *turn) end() time.Time {
	var end time.Time
	for _, sp := range t.spans {
		if e := endOf(sp); e.After(end) {
			end = e
		}
	}
	return end
}

func (t *turn) failed() bool {
	if t.anchor != nil {
		return t.anchor.GetFailed()
	}
	return slices.ContainsFunc(t.spans, (*svcv2.AgentSpan).GetFailed)
}

// asked is what the user said to begin with.
func (t *turn) asked() string {
	for _, sp := range append([]*svcv2.AgentSpan{t.anchor}, t.spans...) {
		if sp == nil || sp.GetOperation() == OperationTool {
			continue
		}
		for _, m := range MessagesOf(sp.GetInput()) {
			if m.Role == "user" && m.Text != "" {
				return m.Text
			}
		}
	}
	return ""
}

func endOf(sp *svcv2.AgentSpan) time.Time {
	return sp.GetStartTime().AsTime().Add(time.Duration(sp.GetDurationMs() * float64(time.Millisecond)))
}

// turnsOf splits a session: each outermost invoke_agent span is a turn with what lies in its trace and its time; a trace without one is a turn.
func turnsOf(spans []*svcv2.AgentSpan) []*turn {
	var turns []*turn
	open := map[string]*turn{} // by trace
	for _, sp := range spans {
		t := open[sp.GetTraceId()]
		inner := t != nil && t.anchor != nil && !sp.GetStartTime().AsTime().After(endOf(t.anchor))
		if outermost := sp.GetOperation() == operationTurn && !inner; t == nil || outermost {
			t = &turn{}
			if outermost {
				t.anchor = sp
			}
			open[sp.GetTraceId()] = t
			turns = append(turns, t)
		}
		t.spans = append(t.spans, sp)
	}
	return turns
}
