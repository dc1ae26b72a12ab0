package diagnose

import (
	"cmp"
	"context"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/genai"
	"github.com/svc-observability/svc/server/limits"
)

// AgentSessionFigures measures an agent's session.
func (e *Engine) AgentSessionFigures(ctx context.Context, id string, p Period) (*svcv2.AgentSessionFigures, error) {
	s, err := e.agentSession(ctx, id, p)
	if err != nil {
		return nil, err
	}
	return measureAgentSession(s), nil
}

// agentSession reads a session with the beginnings of its messages.
func (e *Engine) agentSession(ctx context.Context, id string, p Period) (*svcv2.AgentSession, error) {
	return e.read.Agents.GetAgentSession(ctx, &svcv2.GetAgentSessionRequest{
		SessionId: id, StartTime: p.start(), EndTime: p.end(), PayloadChars: 400,
	})
}

// measureAgentSession computes the figures of a session from its spans and turns.
func measureAgentSession(s *svcv2.AgentSession) *svcv2.AgentSessionFigures {
	spans := s.GetSpans()
	f := &svcv2.AgentSessionFigures{
		Object: "agent_session_figures", SessionId: s.GetId(), StartTime: spans[0].GetStartTime(), Truncated: s.GetTruncated(),
		SpanCount: int32(len(spans)), TokenReporting: tokenReporting(spans), Turns: s.GetTurns(),
	}
	if s.GetTruncated() {
		f.ResumeStartTime = spans[len(spans)-1].GetStartTime()
	}
	vendors, agents, services, traces := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	models, tools := map[string]*svcv2.AgentModelUse{}, map[string]*svcv2.AgentToolUse{}
	failures := map[string]*svcv2.AgentFailureCount{}
	calls, rolled := &svcv2.AgentTokens{}, &svcv2.AgentTokens{}
	var callCost, rolledCost float64
	var costs bool
	for _, sp := range spans {
		vendors[sp.GetVendor()], agents[sp.GetAgent()], services[sp.GetServiceName()], traces[sp.GetTraceId()] = true, true, true, true
		costs = costs || sp.GetHasCost()
		switch op := sp.GetOperation(); {
		case genai.ModelCall(op):
			f.ModelCallCount++
			addTokens(calls, sp)
			callCost += sp.GetCost()
			f.FirstTokenMs += sp.GetFirstTokenMs()
			f.InferenceMs += max(sp.GetDurationMs()-sp.GetFirstTokenMs(), 0)
			m := entry(models, sp.GetModel(), &svcv2.AgentModelUse{Model: sp.GetModel()})
			m.CallCount++
			m.TotalTokens += sp.GetInputTokens() + sp.GetOutputTokens()
			if sp.GetHasCost() {
				m.Cost = new(m.GetCost() + sp.GetCost())
			}
		case op == genai.OperationTool:
			f.ToolCallCount++
			f.ToolMs += sp.GetDurationMs()
			t := entry(tools, sp.GetTool(), &svcv2.AgentToolUse{Name: sp.GetTool()})
			t.CallCount++
			if sp.GetFailed() {
				t.FailedCount++
			}
			t.TotalMs += sp.GetDurationMs()
			t.SlowestMs = max(t.GetSlowestMs(), sp.GetDurationMs())
		case op == genai.OperationTurn: // it repeats the tokens and the cost of its calls
			addTokens(rolled, sp)
			rolledCost += sp.GetCost()
		}
		if sp.GetFailed() {
			kind, label := failureKind(sp), failureLabel(sp)
			entry(failures, kind+"\x00"+label, &svcv2.AgentFailureCount{Kind: kind, Label: label}).Count++
		}
	}
	f.Tokens = calls
	if f.GetTokenReporting() == "roll-up" {
		f.Tokens = rolled
	}
	if costs {
		f.Cost = new(cmp.Or(callCost, rolledCost))
	}
	f.Vendors, f.Agents, f.Services, f.TraceCount = names(vendors), names(agents), names(services), int32(len(traces))
	f.Models = sorted(models, func(x, y *svcv2.AgentModelUse) int {
		return cmp.Or(cmp.Compare(y.GetCallCount(), x.GetCallCount()), cmp.Compare(x.GetModel(), y.GetModel()))
	})
	f.Tools = sorted(tools, func(x, y *svcv2.AgentToolUse) int {
		return cmp.Or(cmp.Compare(y.GetCallCount(), x.GetCallCount()), cmp.Compare(x.GetName(), y.GetName()))
	})
	f.Failures = sorted(failures, func(x, y *svcv2.AgentFailureCount) int {
		return cmp.Or(cmp.Compare(y.GetCount(), x.GetCount()), cmp.Compare(x.GetLabel(), y.GetLabel()), cmp.Compare(x.GetKind(), y.GetKind()))
	})
	measureTimes(f)
	return f
}

// measureTimes fills in how much of the time the agent worked.
func measureTimes(f *svcv2.AgentSessionFigures) {
	var until, began time.Time
	for _, t := range f.GetTurns() {
		start := t.GetStartTime().AsTime()
		end := start.Add(time.Duration(t.GetDurationMs() * float64(time.Millisecond)))
		switch {
		case until.IsZero():
			began, until = start, end
			f.ActiveMs = t.GetDurationMs()
			continue
		case start.After(until):
			f.IdleMs += ms(start.Sub(until))
			if start.Sub(until) > limits.AgentIdleGap {
				f.IdleGapCount++
			}
			f.ActiveMs += t.GetDurationMs()
		case end.After(until):
			f.ActiveMs += ms(end.Sub(until))
		}
		if end.After(until) {
			until = end
		}
	}
	f.WallClockMs = ms(until.Sub(began))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func addTokens(t *svcv2.AgentTokens, sp *svcv2.AgentSpan) {
	t.Input += sp.GetInputTokens()
	t.Output += sp.GetOutputTokens()
	t.CacheRead += sp.GetCacheReadTokens()
	t.CacheWrite += sp.GetCacheWriteTokens()
	t.Reasoning += sp.GetReasoningTokens()
	t.Total += sp.GetInputTokens() + sp.GetOutputTokens()
}

// entry returns the value of a key. If the map does not have the key, first becomes its value.
func entry[T any](m map[string]*T, key string, first *T) *T {
	if m[key] == nil {
		m[key] = first
	}
	return m[key]
}

// names are the keys of a set in order, without the empty one.
func names(set map[string]bool) []string {
	list := []string{}
	for v := range set {
		if v != "" {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return list
}

func sorted[T any](m map[string]*T, compare func(x, y *T) int) []*T {
	var list []*T
	for _, v := range m {
		list = append(list, v)
	}
	slices.SortFunc(list, compare)
	return list
}
