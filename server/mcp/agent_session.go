package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

const (
	operationTurn = "invoke_agent"
	operationTool = "execute_tool"
	// longestIdle is a pause of a person or a queue, not of the agent.
	longestIdle = 5 * time.Second
)

// modelCall reports whether an operation calls a model.
func modelCall(operation string) bool {
	return operation == "chat" || operation == "generate_content" || operation == "text_completion"
}

type agentSessionResult struct {
	SessionID      string           `json:"sessionId"`
	Title          string           `json:"title"`
	TimeRange      timeRange        `json:"timeRange"`
	Load           agentLoad        `json:"load"`
	VendorIDs      []string         `json:"vendorIds"`
	AgentNames     []string         `json:"agentNames"`
	ServiceNames   []string         `json:"serviceNames"`
	Verdict        agentVerdict     `json:"verdict"`
	Checks         []agentCheck     `json:"checks"`
	CheckCounts    map[string]int   `json:"checkCounts"`
	Findings       []agentFinding   `json:"findings"`
	FindingCount   int              `json:"findingCount"`
	Vitals         agentVitals      `json:"vitals"`
	Work           agentWork        `json:"work"`
	Tokens         agentTokens      `json:"tokens"`
	TokenReporting string           `json:"tokenReporting"`
	Cost           *float64         `json:"cost,omitempty"`
	Models         []agentModel     `json:"models"`
	ToolCount      int              `json:"toolCount"`
	Tools          []agentToolUse   `json:"tools"`
	FailureGroups  []agentFailGroup `json:"failureGroups"`
	TurnCount      int              `json:"turnCount"`
	Turns          []agentTurn      `json:"turns"`
	Evidence       *agentEvidence   `json:"evidence,omitempty"`
}

type agentLoad struct {
	Spans           int    `json:"spans"`
	Truncated       string `json:"truncated"`
	ResumeStartTime string `json:"resumeStartTime,omitempty"`
}

type agentVerdict struct {
	Status   string `json:"status"`
	Headline string `json:"headline"`
	SpanID   string `json:"spanId,omitempty"`
}

type agentCheck struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Status   string `json:"status"`
	Headline string `json:"headline"`
	Action   string `json:"action,omitempty"`
}

type agentFinding struct {
	Kind     string `json:"kind"`
	Severity string `json:"severity"`
	Label    string `json:"label"`
	Count    int    `json:"count"`
	TurnText string `json:"turnText"`
	Detail   string `json:"detail"`
	SpanID   string `json:"spanId"`
}

type agentVitals struct {
	WallClockMs       float64        `json:"wallClockMs"`
	ActiveMs          float64        `json:"activeMs"`
	IdleMs            float64        `json:"idleMs"`
	IdleGapCount      int            `json:"idleGapCount"`
	AgentTimeMs       float64        `json:"agentTimeMs"`
	AgentTimeSegments []agentSegment `json:"agentTimeSegments"`
}

type agentSegment struct {
	Kind string  `json:"kind"`
	Ms   float64 `json:"ms"`
}

type agentWork struct {
	Turns     int `json:"turns"`
	LLMCalls  int `json:"llmCalls"`
	ToolCalls int `json:"toolCalls"`
	Spans     int `json:"spans"`
	Traces    int `json:"traces"`
}

type agentTokens struct {
	Input      float64 `json:"input"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Output     float64 `json:"output"`
	Reasoning  float64 `json:"reasoning"`
	Total      float64 `json:"total"`
}

type agentModel struct {
	Model       string   `json:"model"`
	LLMCalls    int      `json:"llmCalls"`
	TotalTokens float64  `json:"totalTokens"`
	Cost        *float64 `json:"cost,omitempty"`
}

type agentToolUse struct {
	Name      string  `json:"name"`
	Calls     int     `json:"calls"`
	Failed    int     `json:"failed"`
	TotalMs   float64 `json:"totalMs"`
	SlowestMs float64 `json:"slowestMs"`
}

type agentFailGroup struct {
	Kind  string `json:"kind"`
	Label string `json:"label"`
	Count int    `json:"count"`
}

type agentTurn struct {
	Ordinal    int     `json:"ordinal"`
	AnchorKind string  `json:"anchorKind"`
	AgentName  string  `json:"agentName,omitempty"`
	OffsetMs   float64 `json:"offsetMs"`
	DurationMs float64 `json:"durationMs"`
	SpanCount  int     `json:"spanCount"`
	Failed     bool    `json:"failed"`
	Label      string  `json:"label,omitempty"`
}

type agentEvidence struct {
	TraceID   string `json:"traceId"`
	SpanID    string `json:"spanId"`
	Timestamp string `json:"timestamp"`
}

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
		if sp == nil || sp.GetOperation() == operationTool {
			continue
		}
		for _, m := range messagesOf(sp.GetInput()) {
			if m.role == "user" && m.text != "" {
				return m.text
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

func newGetAgentSession(s *Server) (*tool, error) {
	return define[agentSessionResult](&tool{
		name: "get_agent_session", title: "Agent session", description: "Read one session of an AI agent: verdict, checks, findings, time, tokens, cost, models, tools and turns.",
		params: append([]param{{name: "session_id", kind: kindText, required: true, example: "conv_…, from list_agent_sessions"}}, agentWindowParams()...),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := agentWindow(a, maxAgentSession)
			if err != nil {
				return nil, err
			}
			out, err := s.clients.agents.GetAgentSession(ctx, &svcv2.GetAgentSessionRequest{SessionId: *a.text("session_id"), StartTime: w.startProto(), EndTime: w.endProto(), PayloadChars: 400})
			if err != nil {
				return nil, err
			}
			return agentSessionAnswer(w, out), nil
		},
	})
}

const maxAgentSession = 31 * 24 * time.Hour

func agentSessionAnswer(w timeRange, s *svcv2.AgentSession) *answer {
	res := measure(s)
	res.TimeRange = w
	turns := turnsOf(s.GetSpans())
	first := s.GetSpans()[0].GetStartTime().AsTime()
	turnOf := map[string]int{}
	for i, t := range turns {
		for _, sp := range t.spans {
			turnOf[sp.GetSpanId()] = i + 1
		}
		row := agentTurn{Ordinal: i + 1, AnchorKind: "trace", OffsetMs: ms(t.start().Sub(first)), DurationMs: ms(t.end().Sub(t.start())), SpanCount: len(t.spans), Failed: t.failed(), Label: clip(oneLine(t.asked()), 120)}
		if t.anchor != nil {
			row.AnchorKind, row.AgentName = "agent-root", t.anchor.GetAgent()
		}
		res.Turns = append(res.Turns, row)
	}
	res.TurnCount, res.Work.Turns = len(turns), len(turns)
	if len(res.Turns) > 0 {
		res.Title = res.Turns[0].Label
	}
	idle(&res.Vitals, turns)
	judge(&res, s.GetSpans(), turnOf)
	return &answer{data: res, text: agentSessionText(w, &res)}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// measure sums the spans of a session up.
func measure(s *svcv2.AgentSession) agentSessionResult {
	res := agentSessionResult{
		SessionID: s.GetId(), Load: agentLoad{Spans: len(s.GetSpans()), Truncated: "none"}, Checks: []agentCheck{}, CheckCounts: map[string]int{"failed": 0, "warning": 0, "passed": 0, "skipped": 0},
		Findings: []agentFinding{}, Models: []agentModel{}, Tools: []agentToolUse{}, FailureGroups: []agentFailGroup{}, Turns: []agentTurn{},
	}
	if s.GetTruncated() {
		res.Load.Truncated, res.Load.ResumeStartTime = "cap", clock(s.GetSpans()[len(s.GetSpans())-1].GetStartTime().AsTime())
	}
	vendors, agents, services, traces := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	models, tools, groups := map[string]*agentModel{}, map[string]*agentToolUse{}, map[string]*agentFailGroup{}
	var calls, rolled agentTokens
	var callCost, rolledCost float64
	var costs, reported, callsReported bool
	segments := map[string]float64{}
	for _, sp := range s.GetSpans() {
		vendors[sp.GetVendor()], agents[sp.GetAgent()], services[sp.GetServiceName()], traces[sp.GetTraceId()] = true, true, true, true
		costs = costs || sp.GetHasCost()
		reported = reported || sp.GetHasTokens()
		switch op := sp.GetOperation(); {
		case modelCall(op):
			res.Work.LLMCalls++
			callsReported = callsReported || sp.GetHasTokens()
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
		case op == operationTool:
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
		case op == operationTurn:
			rolled.add(sp)
			rolledCost += sp.GetCost()
		}
		if sp.GetFailed() {
			label := failureLabel(sp)
			g := groups[sp.GetOperation()+label]
			if g == nil {
				g = &agentFailGroup{Kind: failureKind(sp), Label: label}
				groups[sp.GetOperation()+label] = g
			}
			g.Count++
		}
	}
	res.Tokens, res.TokenReporting = calls, "per-call"
	switch {
	case !reported:
		res.TokenReporting = "none"
	case !callsReported:
		res.Tokens, res.TokenReporting = rolled, "roll-up"
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

func (t *agentTokens) add(sp *svcv2.AgentSpan) {
	t.Input += sp.GetInputTokens()
	t.Output += sp.GetOutputTokens()
	t.CacheRead += sp.GetCacheReadTokens()
	t.CacheWrite += sp.GetCacheWriteTokens()
	t.Reasoning += sp.GetReasoningTokens()
	t.Total += sp.GetInputTokens() + sp.GetOutputTokens()
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

func failureKind(sp *svcv2.AgentSpan) string {
	switch op := sp.GetOperation(); {
	case op == operationTool:
		return "tool"
	case modelCall(op):
		return "model"
	case op == operationTurn:
		return "turn"
	default:
		return op
	}
}

func failureLabel(sp *svcv2.AgentSpan) string {
	subject := cmp.Or(sp.GetTool(), sp.GetModel(), sp.GetAgent(), sp.GetName())
	return strings.TrimSuffix(subject+": "+cmp.Or(sp.GetErrorType(), clip(oneLine(sp.GetMessage()), 80)), ": ")
}

// idle fills in how much of the time the agent worked.
func idle(v *agentVitals, turns []*turn) {
	var until, began time.Time
	for _, t := range turns {
		switch start := t.start(); {
		case until.IsZero():
			began, until = start, t.end()
			v.ActiveMs = ms(until.Sub(start))
			continue
		case start.After(until):
			v.IdleMs += ms(start.Sub(until))
			if start.Sub(until) > longestIdle {
				v.IdleGapCount++
			}
			v.ActiveMs += ms(t.end().Sub(start))
		case t.end().After(until):
			v.ActiveMs += ms(t.end().Sub(until))
		}
		if t.end().After(until) {
			until = t.end()
		}
	}
	v.WallClockMs = ms(until.Sub(began))
}

// judge finds what went wrong.
func judge(res *agentSessionResult, spans []*svcv2.AgentSpan, turnOf map[string]int) {
	byLabel := map[string]int{}
	for _, sp := range spans {
		if !sp.GetFailed() {
			continue
		}
		label := failureLabel(sp)
		key := failureKind(sp) + label
		if i, ok := byLabel[key]; ok {
			res.Findings[i].Count++
			continue
		}
		byLabel[key] = len(res.Findings)
		res.Findings = append(res.Findings, agentFinding{failureKind(sp), "failure", label, 1, fmt.Sprintf("turn %d", turnOf[sp.GetSpanId()]), clip(oneLine(sp.GetMessage()), 300), sp.GetSpanId()})
		if res.Evidence == nil || failureKind(sp) != "turn" && res.Verdict.Status == "turn" {
			res.Evidence = &agentEvidence{sp.GetTraceId(), sp.GetSpanId(), clock(sp.GetStartTime().AsTime())}
			res.Verdict.Status, res.Verdict.SpanID = failureKind(sp), sp.GetSpanId()
		}
	}
	failed := map[string]int{}
	for _, sp := range spans {
		if sp.GetFailed() {
			failed[failureKind(sp)]++
		}
	}
	loops := repeats(spans)
	for _, l := range loops {
		l.TurnText = fmt.Sprintf("turn %d", turnOf[l.SpanID])
		res.Findings = append(res.Findings, l)
	}
	add := func(id, name, status, headline, action string) {
		res.Checks = append(res.Checks, agentCheck{id, name, status, headline, action})
		res.CheckCounts[status]++
	}
	result := func(bad bool, status string) string {
		if bad {
			return status
		}
		return "passed"
	}
	add("turns", "Turns end well", result(failed["turn"] > 0, "failed"), fmt.Sprintf("%d of %d turns failed.", failed["turn"], res.TurnCount), "Read the failed turn with get_agent_session_transcript and failed_only.")
	add("model-calls", "Model calls succeed", result(failed["model"] > 0, "failed"), fmt.Sprintf("%d of %d model calls failed.", failed["model"], res.Work.LLMCalls), "Retry with back-off, or fall back to another model.")
	add("tools", "Tool calls succeed", result(failed["tool"] > 0, "warning"), fmt.Sprintf("%d of %d tool calls failed.", failed["tool"], res.Work.ToolCalls), "get_agent_tools_overview with the tool says how often and why.")
	add("loops", "No repeated calls", result(len(loops) > 0, "warning"), fmt.Sprintf("%d calls were repeated with the same arguments.", len(loops)), "Tell the agent the result of the first call, or cap its steps.")
	add("tokens", "Tokens are reported", map[bool]string{true: "passed", false: "skipped"}[res.TokenReporting != "none"], "Reporting: "+res.TokenReporting+".", "Record gen_ai.usage.input_tokens and output_tokens on model calls.")
	res.FindingCount = len(res.Findings)
	v := &res.Verdict
	switch {
	case failed["turn"] > 0 || failed["model"] > 0:
		v.Status = "failed"
	case len(res.Findings) > 0 || res.Work.LLMCalls == 0:
		v.Status = "attention"
	default:
		v.Status, v.Headline = "clean", "Nothing failed."
	}
	switch {
	case v.Status == "clean":
	case len(res.Findings) > 0:
		f := res.Findings[0]
		for _, g := range res.Findings { // a turn fails because of something in it
			if g.Kind != "turn" && g.Severity == "failure" {
				f = g
				break
			}
		}
		v.Headline = strings.TrimSpace(fmt.Sprintf("%s failed in %s. %s", f.Label, f.TurnText, f.Detail))
		if f.Severity != "failure" {
			v.Headline = f.Label
		}
	default:
		v.Headline = "No model call was recorded."
	}
}

// repeats are tool calls with the arguments of an earlier call of the same turn that did not fail.
func repeats(spans []*svcv2.AgentSpan) []agentFinding {
	seen := map[string]int{}
	var out []agentFinding
	at := map[string]int{}
	for _, sp := range spans {
		if sp.GetOperation() != operationTool || sp.GetInput() == "" {
			continue
		}
		key := sp.GetTraceId() + "\x00" + sp.GetTool() + "\x00" + sp.GetInput()
		if seen[key]++; seen[key] < 3 {
			continue
		}
		if i, ok := at[key]; ok {
			out[i].Count = seen[key]
			continue
		}
		at[key] = len(out)
		out = append(out, agentFinding{"loop", "anomaly", sp.GetTool() + " was called again with the same arguments", seen[key], "", clip(oneLine(sp.GetInput()), 200), sp.GetSpanId()})
	}
	return out
}

func agentSessionText(w timeRange, res *agentSessionResult) page {
	text := page{scope: []pair{{"Session", res.SessionID}, w.label(), {"Verdict", res.Verdict.Status + ": " + res.Verdict.Headline}}}
	if res.Load.Truncated != "none" {
		text.notes = append(text.notes, fmt.Sprintf("Only the first %d spans were read; go on with start_time=%s.", res.Load.Spans, res.Load.ResumeStartTime))
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
		models = append(models, []string{m.Model, fmt.Sprint(m.LLMCalls), number(m.TotalTokens), paid})
	}
	for _, t := range res.Tools {
		tools = append(tools, []string{t.Name, fmt.Sprint(t.Calls), fmt.Sprint(t.Failed), seconds(t.TotalMs), seconds(t.SlowestMs)})
	}
	for _, t := range res.Turns {
		turns = append(turns, []string{fmt.Sprint(t.Ordinal), "+" + seconds(t.OffsetMs), seconds(t.DurationMs), fmt.Sprint(t.SpanCount), map[bool]string{true: "failed"}[t.Failed], t.Label})
	}
	v := res.Vitals
	text.blocks = []block{
		{heading: "Work", rows: []string{
			fmt.Sprintf("- %d turns, %d model calls, %d tool calls in %d traces of %s", res.TurnCount, res.Work.LLMCalls, res.Work.ToolCalls, res.Work.Traces, strings.Join(res.ServiceNames, ", ")),
			fmt.Sprintf("- %s from first to last span: %s active, %s idle in %d gaps; model %s (first token %s), tools %s", seconds(v.WallClockMs), seconds(v.ActiveMs), seconds(v.IdleMs), v.IdleGapCount,
				seconds(v.AgentTimeSegments[0].Ms+v.AgentTimeSegments[1].Ms), seconds(v.AgentTimeSegments[0].Ms), seconds(v.AgentTimeSegments[2].Ms)),
			fmt.Sprintf("- Tokens: %s in (%s from cache), %s out, %s in all (%s); cost %s", number(res.Tokens.Input), number(res.Tokens.CacheRead), number(res.Tokens.Output), number(res.Tokens.Total), res.TokenReporting, cost),
		}},
		table("Findings", "Nothing failed and nothing was repeated.", []string{"What", "Count", "Where", "Detail", "Span"}, findings),
		table("Checks", "", []string{"Check", "Status", "Figures", "What to do"}, checks),
		table("Models", "No model call was recorded.", []string{"Model", "Calls", "Tokens", "Cost USD"}, models),
		table("Tools", "No tool was called.", []string{"Tool", "Calls", "Failed", "Time", "Slowest"}, tools),
		table("Turns", "No turn.", []string{"Turn", "Start", "Duration", "Spans", "", "Asked"}, turns),
	}
	again := map[string]any{"session_id": res.SessionID, "start_time": w.Start, "end_time": w.End}
	if res.Evidence != nil {
		failed := map[string]any{"session_id": res.SessionID, "start_time": w.Start, "end_time": w.End, "failed_only": true}
		text.next = append(text.next, suggestion{"get_agent_session_transcript", failed, "what was said around the failures"},
			suggestion{"inspect_span", map[string]any{"trace_id": res.Evidence.TraceID, "span_id": res.Evidence.SpanID}, "the failed step whole"})
		for _, t := range res.Tools {
			if t.Failed > 0 {
				text.next = append(text.next, suggestion{"get_agent_tools_overview", map[string]any{"tool": t.Name, "start_time": w.Start, "end_time": w.End}, "how this tool fails elsewhere"})
				break
			}
		}
	} else {
		text.next = append(text.next, suggestion{"get_agent_session_transcript", again, "what was said"})
	}
	return text
}
