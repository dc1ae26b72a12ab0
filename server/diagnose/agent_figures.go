package diagnose

import (
	"cmp"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// longestIdle is the pause above which a person or a queue was idle, not the agent.
const longestIdle = 5 * time.Second

// AgentFigures are the figures of an agent's session. Durations are in milliseconds.
type AgentFigures struct {
	// ModelCalls, ToolCalls and Traces are numbers of what the session has.
	ModelCalls, ToolCalls, Traces int
	// Vendors, Agents and Services are sorted names.
	Vendors, Agents, Services []string
	// TokenReporting is per-call, roll-up or none (see TokenReporting).
	TokenReporting string
	Tokens         AgentTokens
	// Cost is nil if no span reports a cost.
	Cost *float64
	// Models and Tools come in the order of their calls, Failures in the order of their counts, the most frequent first.
	Models   []AgentModel
	Tools    []AgentToolUse
	Failures []AgentFailures
	// FirstTokenMs is the time of model calls until their first token, InferenceMs the rest of these calls, ToolMs the time of tools.
	FirstTokenMs, InferenceMs, ToolMs float64
	// WallClockMs lasts from the first to the last span. ActiveMs is the part of it in turns, IdleMs the pauses between turns.
	WallClockMs, ActiveMs, IdleMs float64
	// IdleGaps is the number of pauses of more than 5 seconds.
	IdleGaps int
}

// AgentTokens are the tokens of a session.
type AgentTokens struct{ Input, CacheRead, CacheWrite, Output, Reasoning, Total float64 }

// AgentModel is a model with its calls. Cost is nil if no call reports one.
type AgentModel struct {
	Model       string
	LLMCalls    int
	TotalTokens float64
	Cost        *float64
}

// AgentToolUse is a tool with its calls.
type AgentToolUse struct {
	Name               string
	Calls, Failed      int
	TotalMs, SlowestMs float64
}

// AgentFailures counts failures of one kind and label.
type AgentFailures struct {
	Kind, Label string
	Count       int
}

// MeasureAgentSession computes the figures of a session from its spans.
func MeasureAgentSession(s *svcv2.AgentSession) AgentFigures {
	var f AgentFigures
	vendors, agents, services, traces := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	models, tools, failures := map[string]*AgentModel{}, map[string]*AgentToolUse{}, map[string]*AgentFailures{}
	var calls, rolled AgentTokens
	var callCost, rolledCost float64
	var costs bool
	for _, sp := range s.GetSpans() {
		vendors[sp.GetVendor()], agents[sp.GetAgent()], services[sp.GetServiceName()], traces[sp.GetTraceId()] = true, true, true, true
		costs = costs || sp.GetHasCost()
		switch op := sp.GetOperation(); {
		case ModelCall(op):
			f.ModelCalls++
			calls.add(sp)
			callCost += sp.GetCost()
			f.FirstTokenMs += sp.GetFirstTokenMs()
			f.InferenceMs += max(sp.GetDurationMs()-sp.GetFirstTokenMs(), 0)
			entry(models, sp.GetModel(), AgentModel{Model: sp.GetModel()}).add(sp)
		case op == OperationTool:
			f.ToolCalls++
			f.ToolMs += sp.GetDurationMs()
			entry(tools, sp.GetTool(), AgentToolUse{Name: sp.GetTool()}).add(sp)
		case op == OperationTurn: // it repeats the tokens and the cost of its calls
			rolled.add(sp)
			rolledCost += sp.GetCost()
		}
		if sp.GetFailed() {
			label := AgentFailureLabel(sp)
			entry(failures, sp.GetOperation()+label, AgentFailures{Kind: AgentFailureKind(sp), Label: label}).Count++
		}
	}
	f.Tokens, f.TokenReporting = calls, TokenReporting(s.GetSpans())
	if f.TokenReporting == "roll-up" {
		f.Tokens = rolled
	}
	if costs {
		if callCost == 0 {
			callCost = rolledCost
		}
		f.Cost = &callCost
	}
	f.Vendors, f.Agents, f.Services, f.Traces = names(vendors), names(agents), names(services), len(traces)
	f.Models = sorted(models, func(x, y AgentModel) int { return cmp.Or(y.LLMCalls-x.LLMCalls, cmp.Compare(x.Model, y.Model)) })
	f.Tools = sorted(tools, func(x, y AgentToolUse) int { return cmp.Or(y.Calls-x.Calls, cmp.Compare(x.Name, y.Name)) })
	f.Failures = sorted(failures, func(x, y AgentFailures) int { return cmp.Or(y.Count-x.Count, cmp.Compare(x.Label, y.Label)) })
	f.times(AgentTurns(s.GetSpans()))
	return f
}

// times fills in how much of the time the agent worked.
func (f *AgentFigures) times(turns []*AgentTurn) {
	var until, began time.Time
	for _, t := range turns {
		switch start := t.Start(); {
		case until.IsZero():
			began, until = start, t.End()
			f.ActiveMs = ms(until.Sub(start))
			continue
		case start.After(until):
			f.IdleMs += ms(start.Sub(until))
			if start.Sub(until) > longestIdle {
				f.IdleGaps++
			}
			f.ActiveMs += ms(t.End().Sub(start))
		case t.End().After(until):
			f.ActiveMs += ms(t.End().Sub(until))
		}
		if t.End().After(until) {
			until = t.End()
		}
	}
	f.WallClockMs = ms(until.Sub(began))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (t *AgentTokens) add(sp *svcv2.AgentSpan) {
	t.Input += sp.GetInputTokens()
	t.Output += sp.GetOutputTokens()
	t.CacheRead += sp.GetCacheReadTokens()
	t.CacheWrite += sp.GetCacheWriteTokens()
	t.Reasoning += sp.GetReasoningTokens()
	t.Total += sp.GetInputTokens() + sp.GetOutputTokens()
}

func (m *AgentModel) add(sp *svcv2.AgentSpan) {
	m.LLMCalls++
	m.TotalTokens += sp.GetInputTokens() + sp.GetOutputTokens()
	if sp.GetHasCost() {
		sum := sp.GetCost()
		if m.Cost != nil {
			sum += *m.Cost
		}
		m.Cost = &sum
	}
}

func (t *AgentToolUse) add(sp *svcv2.AgentSpan) {
	t.Calls++
	if sp.GetFailed() {
		t.Failed++
	}
	t.TotalMs += sp.GetDurationMs()
	t.SlowestMs = max(t.SlowestMs, sp.GetDurationMs())
}

// entry returns the value of a key, and makes it from first if the map does not have it.
func entry[T any](m map[string]*T, key string, first T) *T {
	if m[key] == nil {
		m[key] = &first
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

func sorted[T any](m map[string]*T, compare func(x, y T) int) []T {
	var list []T
	for _, v := range m {
		list = append(list, *v)
	}
	slices.SortFunc(list, compare)
	return list
}
