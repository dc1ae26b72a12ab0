package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// longestIdle is the pause above which a person or a queue was idle, not the agent.
const longestIdle = 5 * time.Second

type getAgentSessionArgs struct {
	SessionID string `required:"true" example:"conv_…, from list_agent_sessions"`
	dayWindow
}

func newGetAgentSession(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[agentSessionResult](&tool.Tool{
		Name: "get_agent_session", Title: "Agent session", Description: "Read one session of an AI agent: verdict, checks, findings, times, tokens, cost, models, tools and turns.",
		Run: tool.With(func(ctx context.Context, a *getAgentSessionArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.AgentSessionWindow)
			if err != nil {
				return nil, err
			}
			out, err := s.Agents.GetAgentSession(ctx, &svcv2.GetAgentSessionRequest{SessionId: a.SessionID, StartTime: w.StartProto(), EndTime: w.EndProto(), PayloadChars: 400})
			if err != nil {
				return nil, err
			}
			return agentSessionAnswer(w, out), nil
		}),
	})
}

func agentSessionAnswer(w tool.TimeRange, s *svcv2.AgentSession) *tool.Answer {
	res := measure(s)
	res.TimeRange = w
	turns := diagnose.AgentTurns(s.GetSpans())
	first := s.GetSpans()[0].GetStartTime().AsTime()
	for i, t := range turns {
		row := agentTurn{Ordinal: i + 1, AnchorKind: "trace", OffsetMs: ms(t.Start().Sub(first)), DurationMs: ms(t.End().Sub(t.Start())), SpanCount: len(t.Spans), Failed: t.Failed(), Label: wording.Clip(wording.OneLine(asked(t)), 120)}
		if t.Anchor != nil {
			row.AnchorKind, row.AgentName = "agent-root", t.Anchor.GetAgent()
		}
		res.Turns = append(res.Turns, row)
	}
	res.TurnCount, res.Work.Turns = len(turns), len(turns)
	if len(res.Turns) > 0 {
		res.Title = res.Turns[0].Label
	}
	idle(&res.Vitals, turns)
	res.judge(diagnose.JudgeAgentSession(s))
	return &tool.Answer{Data: res, Text: agentSessionText(w, &res)}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// measure computes the figures of a session from its spans.
func measure(s *svcv2.AgentSession) agentSessionResult {
	res := agentSessionResult{
		SessionID: s.GetId(), Load: agentLoad{Spans: len(s.GetSpans()), Truncated: "none"}, Checks: []agentCheck{}, CheckCounts: map[string]int{"failed": 0, "warning": 0, "passed": 0, "skipped": 0},
		Findings: []agentFinding{}, Models: []agentModel{}, Tools: []agentToolUse{}, FailureGroups: []agentFailGroup{}, Turns: []agentTurn{},
	}
	if s.GetTruncated() {
		res.Load.Truncated, res.Load.ResumeStartTime = "cap", wording.Clock(s.GetSpans()[len(s.GetSpans())-1].GetStartTime().AsTime())
	}
	vendors, agents, services, traces := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	models, tools, groups := map[string]*agentModel{}, map[string]*agentToolUse{}, map[string]*agentFailGroup{}
	var calls, rolled agentTokens
	var callCost, rolledCost float64
	var costs bool
	segments := map[string]float64{}
	for _, sp := range s.GetSpans() {
		vendors[sp.GetVendor()], agents[sp.GetAgent()], services[sp.GetServiceName()], traces[sp.GetTraceId()] = true, true, true, true
		costs = costs || sp.GetHasCost()
		switch op := sp.GetOperation(); {
		case diagnose.ModelCall(op):
			res.Work.LLMCalls++
			calls.add(sp)
			callCost += sp.GetCost()
			segments["ttft"] += sp.GetFirstTokenMs()
			segments["inference"] += max(sp.GetDurationMs()-sp.GetFirstTokenMs(), 0)
			m := models[sp.GetModel()]
			if m == nil {
				m = &agentModel{Model: sp.GetModel()}
				models[sp.GetModel()] = m
			}
			m.LLMCalls++
			m.TotalTokens += sp.GetInputTokens() + sp.GetOutputTokens()
			if sp.GetHasCost() {
				sum := sp.GetCost()
				if m.Cost != nil {
					sum += *m.Cost
				}
				m.Cost = &sum
			}
		case op == diagnose.OperationTool:
			res.Work.ToolCalls++
			segments["tool"] += sp.GetDurationMs()
			t := tools[sp.GetTool()]
			if t == nil {
				t = &agentToolUse{Name: sp.GetTool()}
				tools[sp.GetTool()] = t
			}
			t.Calls++
			if sp.GetFailed() {
				t.Failed++
			}
			t.TotalMs += sp.GetDurationMs()
			t.SlowestMs = max(t.SlowestMs, sp.GetDurationMs())
		case op == diagnose.OperationTurn:
			rolled.add(sp)
			rolledCost += sp.GetCost()
		}
		if sp.GetFailed() {
			label := diagnose.AgentFailureLabel(sp)
			g := groups[sp.GetOperation()+label]
			if g == nil {
				g = &agentFailGroup{Kind: diagnose.AgentFailureKind(sp), Label: label}
				groups[sp.GetOperation()+label] = g
			}
			g.Count++
		}
	}
	res.Tokens, res.TokenReporting = calls, diagnose.TokenReporting(s.GetSpans())
	if res.TokenReporting == "roll-up" {
		res.Tokens = rolled
	}
	if costs {
		if callCost == 0 {
			callCost = rolledCost
		}
		res.Cost = &callCost
	}
	res.VendorIDs, res.AgentNames, res.ServiceNames = sorted(vendors), sorted(agents), sorted(services)
	res.Work.Spans, res.Work.Traces, res.ToolCount = len(s.GetSpans()), len(traces), len(tools)
	for _, m := range models {
		res.Models = append(res.Models, *m)
	}
	for _, t := range tools {
		res.Tools = append(res.Tools, *t)
	}
	for _, g := range groups {
		res.FailureGroups = append(res.FailureGroups, *g)
	}
	slices.SortFunc(res.Models, func(x, y agentModel) int { return cmp.Or(y.LLMCalls-x.LLMCalls, cmp.Compare(x.Model, y.Model)) })
	slices.SortFunc(res.Tools, func(x, y agentToolUse) int { return cmp.Or(y.Calls-x.Calls, cmp.Compare(x.Name, y.Name)) })
	slices.SortFunc(res.FailureGroups, func(x, y agentFailGroup) int { return cmp.Or(y.Count-x.Count, cmp.Compare(x.Label, y.Label)) })
	for _, kind := range []string{"ttft", "inference", "tool"} {
		res.Vitals.AgentTimeSegments = append(res.Vitals.AgentTimeSegments, agentSegment{kind, segments[kind]})
		res.Vitals.AgentTimeMs += segments[kind]
	}
	return res
}

func sorted(set map[string]bool) []string {
	list := []string{}
	for v := range set {
		if v != "" {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return list
}

// idle fills in how much of the time the agent worked.
func idle(v *agentVitals, turns []*diagnose.AgentTurn) {
	var until, began time.Time
	for _, t := range turns {
		switch start := t.Start(); {
		case until.IsZero():
			began, until = start, t.End()
			v.ActiveMs = ms(until.Sub(start))
			continue
		case start.After(until):
			v.IdleMs += ms(start.Sub(until))
			if start.Sub(until) > longestIdle {
				v.IdleGapCount++
			}
			v.ActiveMs += ms(t.End().Sub(start))
		case t.End().After(until):
			v.ActiveMs += ms(t.End().Sub(until))
		}
		if t.End().After(until) {
			until = t.End()
		}
	}
	v.WallClockMs = ms(until.Sub(began))
}

func agentSessionText(w tool.TimeRange, res *agentSessionResult) tool.Page {
	text := tool.Page{Scope: []tool.Pair{tool.Labeled("Session", res.SessionID), w.Label(), tool.Labeled("Verdict", res.Verdict.Status+": "+res.Verdict.Headline)}}
	if res.Load.Truncated != "none" {
		text.Notes = append(text.Notes, fmt.Sprintf("Only the first %d spans were read. To read the others, call again with start_time=%s.", res.Load.Spans, res.Load.ResumeStartTime))
	}
	cost := "not reported"
	if res.Cost != nil {
		cost = fmt.Sprintf("%.4g USD", *res.Cost)
	}
	var checks, findings, models, tools, turns [][]string
	for _, c := range res.Checks {
		action := ""
		if c.Status == "failed" || c.Status == "warning" {
			action = c.Action
		}
		checks = append(checks, []string{c.Name, c.Status, c.Headline, action})
	}
	for _, f := range res.Findings {
		findings = append(findings, []string{f.Label, fmt.Sprint(f.Count), f.TurnText, f.Detail, f.SpanID})
	}
	for _, m := range res.Models {
		paid := ""
		if m.Cost != nil {
			paid = fmt.Sprintf("%.4g", *m.Cost)
		}
		models = append(models, []string{m.Model, fmt.Sprint(m.LLMCalls), wording.Number(m.TotalTokens), paid})
	}
	for _, t := range res.Tools {
		tools = append(tools, []string{t.Name, fmt.Sprint(t.Calls), fmt.Sprint(t.Failed), tool.Seconds(t.TotalMs), tool.Seconds(t.SlowestMs)})
	}
	for _, t := range res.Turns {
		turns = append(turns, []string{fmt.Sprint(t.Ordinal), "+" + tool.Seconds(t.OffsetMs), tool.Seconds(t.DurationMs), fmt.Sprint(t.SpanCount), map[bool]string{true: "failed"}[t.Failed], t.Label})
	}
	v := res.Vitals
	text.Blocks = []tool.Block{
		{Heading: "Work", Rows: []string{
			fmt.Sprintf("- %d turns, %d model calls, %d tool calls in %d traces of %s", res.TurnCount, res.Work.LLMCalls, res.Work.ToolCalls, res.Work.Traces, strings.Join(res.ServiceNames, ", ")),
			fmt.Sprintf("- %s from first to last span: %s active, %s idle in %d gaps; model %s (first token %s), tools %s", tool.Seconds(v.WallClockMs), tool.Seconds(v.ActiveMs), tool.Seconds(v.IdleMs), v.IdleGapCount,
				tool.Seconds(v.AgentTimeSegments[0].Ms+v.AgentTimeSegments[1].Ms), tool.Seconds(v.AgentTimeSegments[0].Ms), tool.Seconds(v.AgentTimeSegments[2].Ms)),
			fmt.Sprintf("- Tokens: %s in (%s from cache), %s out, %s in all (%s); cost %s", wording.Number(res.Tokens.Input), wording.Number(res.Tokens.CacheRead), wording.Number(res.Tokens.Output), wording.Number(res.Tokens.Total), res.TokenReporting, cost),
		}},
		tool.Table("Findings", "No step failed, and no call was repeated.", []string{"Finding", "Count", "Where", "Detail", "Span"}, findings),
		tool.Table("Checks", "", []string{"Check", "Status", "Figures", "Action"}, checks),
		tool.Table("Models", "No model call was recorded.", []string{"Model", "Calls", "Tokens", "Cost USD"}, models),
		tool.Table("Tools", "No tool was called.", []string{"Tool", "Calls", "Failed", "Time", "Slowest"}, tools),
		tool.Table("Turns", "The session has no turns.", []string{"Turn", "Start", "Duration", "Spans", "", "Asked"}, turns),
	}
	again := map[string]any{"session_id": res.SessionID, "start_time": w.Start, "end_time": w.End}
	if res.Evidence != nil {
		failed := map[string]any{"session_id": res.SessionID, "start_time": w.Start, "end_time": w.End, "failed_only": true}
		text.Next = append(text.Next, tool.Next("get_agent_session_transcript", failed, "the messages around the failures"),
			tool.Next("inspect_span", map[string]any{"trace_id": res.Evidence.TraceID, "span_id": res.Evidence.SpanID}, "the whole failed step"))
		for _, t := range res.Tools {
			if t.Failed > 0 {
				text.Next = append(text.Next, tool.Next("get_agent_tools_overview", map[string]any{"tool": t.Name, "start_time": w.Start, "end_time": w.End}, "failures of this tool in other sessions"))
				break
			}
		}
	} else {
		text.Next = append(text.Next, tool.Next("get_agent_session_transcript", again, "the messages of the session"))
	}
	return text
}
