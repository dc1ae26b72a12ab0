package agentsessions

import (
	"cmp"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/genai"
)

// spanKey identifies a span of a session, which may have several traces.
type spanKey struct{ trace, span string }

func keyOf(sp *svcv2.AgentSpan) spanKey { return spanKey{sp.GetTraceId(), sp.GetSpanId()} }

// parentsOf returns the parents of spans, without roots.
func parentsOf(spans []*svcv2.AgentSpan) map[spanKey]string {
	parents := map[spanKey]string{}
	for _, sp := range spans {
		if p := sp.GetParentSpanId(); p != "" {
			parents[keyOf(sp)] = p
		}
	}
	return parents
}

// severed returns, sorted, the traces for whose turns the parents of further spans must be read. Such a trace has an agent, and
// several spans whose parents are not known: one of them may lie below another.
func severed(spans []*svcv2.AgentSpan, parents map[spanKey]string) []string {
	known, agents, tops, cut := map[spanKey]bool{}, map[string]bool{}, map[string]int{}, map[string]bool{}
	for _, sp := range spans {
		known[keyOf(sp)] = true
		agents[sp.GetTraceId()] = agents[sp.GetTraceId()] || sp.GetOperation() == genai.OperationTurn
	}
	for _, sp := range spans {
		trace := sp.GetTraceId()
		parent, has := parents[keyOf(sp)]
		if !has || !known[spanKey{trace, parent}] {
			tops[trace]++
			cut[trace] = cut[trace] || has
		}
	}
	var traces []string
	for trace, count := range tops {
		if agents[trace] && cut[trace] && count > 1 {
			traces = append(traces, trace)
		}
	}
	slices.Sort(traces)
	return traces
}

// deepest bounds the steps along a chain of parents, because a sender may send parents in a circle.
const deepest = 1000

// ancestry finds the spans above a span.
type ancestry struct {
	parents map[spanKey]string
	spans   map[spanKey]*svcv2.AgentSpan
}

// above returns the agents' spans above a span, the nearest first.
func (a ancestry) above(sp *svcv2.AgentSpan) (list []*svcv2.AgentSpan) {
	key := keyOf(sp)
	for range deepest {
		parent, ok := a.parents[key]
		if !ok {
			break
		}
		key.span = parent
		if one := a.spans[key]; one == sp {
			break
		} else if one != nil {
			list = append(list, one)
		}
	}
	return list
}

// takeTurns divides the spans of a session into turns. A span belongs to the outermost agent above it. Times do not matter,
// because the clocks of services differ, and a span may begin in the same nanosecond as its parent. Spans with the same start are
// ordered by depth.
func takeTurns(s *svcv2.AgentSession, parents map[spanKey]string) {
	spans := s.GetSpans()
	a := ancestry{parents, map[spanKey]*svcv2.AgentSpan{}}
	for _, sp := range spans {
		a.spans[keyOf(sp)] = sp
	}
	anchors, depth := map[*svcv2.AgentSpan]*svcv2.AgentSpan{}, map[*svcv2.AgentSpan]int{}
	anchored, works := map[string]bool{}, map[string]bool{} // by trace
	for _, sp := range spans {
		above := a.above(sp)
		depth[sp] = len(above)
		for _, one := range append([]*svcv2.AgentSpan{sp}, above...) {
			if one.GetOperation() == genai.OperationTurn {
				anchors[sp] = one
			}
		}
		op := sp.GetOperation()
		if anchors[sp] != nil {
			anchored[sp.GetTraceId()] = true
		} else if genai.ModelCall(op) || op == genai.OperationTool {
			works[sp.GetTraceId()] = true
		}
	}
	slices.SortStableFunc(spans, func(x, y *svcv2.AgentSpan) int {
		return cmp.Or(x.GetStartTime().AsTime().Compare(y.GetStartTime().AsTime()), cmp.Compare(depth[x], depth[y]))
	})

	members := map[spanKey][]*svcv2.AgentSpan{} // a turn without an agent has no span in its key
	var order []spanKey
	for _, sp := range spans {
		key := spanKey{trace: sp.GetTraceId()}
		if anchor := anchors[sp]; anchor != nil {
			key = keyOf(anchor)
		} else if anchored[key.trace] && !works[key.trace] { // for example a workflow around its agents
			continue
		}
		if members[key] == nil {
			order = append(order, key)
		}
		members[key] = append(members[key], sp)
	}
	for i, key := range order {
		s.Turns = append(s.Turns, toTurn(int32(i+1), a.spans[key], members[key]))
	}
}

// toTurn makes a turn of its spans. anchor is nil if no agent's span is above them.
func toTurn(number int32, anchor *svcv2.AgentSpan, spans []*svcv2.AgentSpan) *svcv2.AgentTurn {
	first := spans[0]
	t := &svcv2.AgentTurn{
		Number: number, Kind: "trace", TraceId: first.GetTraceId(), SpanId: first.GetSpanId(), StartTime: first.GetStartTime(),
		SpanCount: int32(len(spans)),
	}
	var end time.Time
	for _, sp := range spans {
		sp.Turn = number
		if sp.GetFailed() {
			t.ErrorSpanCount++
		}
		if e := endOf(sp); e.After(end) {
			end = e
		}
	}
	t.DurationMs = float64(end.Sub(t.GetStartTime().AsTime())) / float64(time.Millisecond)
	t.Failed = t.GetErrorSpanCount() > 0
	asked := spans
	if anchor != nil {
		t.Kind, t.Agent, t.SpanId, t.Failed = "agent", anchor.GetAgent(), anchor.GetSpanId(), anchor.GetFailed()
		asked = append([]*svcv2.AgentSpan{anchor}, spans...)
	}
	for _, sp := range asked {
		if sp.GetOperation() == genai.OperationTool {
			continue
		}
		if t.Asked = genai.Asked(sp.GetInput()); t.GetAsked() != "" {
			break
		}
	}
	return t
}

func endOf(sp *svcv2.AgentSpan) time.Time {
	return sp.GetStartTime().AsTime().Add(time.Duration(sp.GetDurationMs() * float64(time.Millisecond)))
}
