package agents

import (
	"cmp"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type agentSessionResult struct {
	SessionID      string           `json:"sessionId"`
	Title          string           `json:"title"`
	TimeRange      tool.TimeRange   `json:"timeRange"`
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
	// FixArea is the place of the action: agent, model, tool or instrumentation.
	FixArea string `json:"fixArea,omitempty"`
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

// toAgentSession writes the figures of a session.
func toAgentSession(f *svcv2.AgentSessionFigures) agentSessionResult {
	t := f.GetTokens()
	res := agentSessionResult{
		SessionID:    f.GetSessionId(),
		Load:         agentLoad{Spans: int(f.GetSpanCount()), Truncated: "none"},
		VendorIDs:    tool.NonNil(f.GetVendors()),
		AgentNames:   tool.NonNil(f.GetAgents()),
		ServiceNames: tool.NonNil(f.GetServices()),
		Checks:       []agentCheck{},
		CheckCounts:  map[string]int{"failed": 0, "warning": 0, "passed": 0, "skipped": 0},
		Findings:     []agentFinding{},
		Work: agentWork{
			Turns:     len(f.GetTurns()),
			LLMCalls:  int(f.GetModelCallCount()),
			ToolCalls: int(f.GetToolCallCount()),
			Spans:     int(f.GetSpanCount()),
			Traces:    int(f.GetTraceCount()),
		},
		Tokens: agentTokens{
			t.GetInput(), t.GetCacheRead(), t.GetCacheWrite(), t.GetOutput(), t.GetReasoning(), t.GetTotal(),
		},
		TokenReporting: f.GetTokenReporting(),
		Cost:           f.Cost,
		ToolCount:      len(f.GetTools()),
		Models:         []agentModel{},
		Tools:          []agentToolUse{},
		FailureGroups:  []agentFailGroup{},
		TurnCount:      len(f.GetTurns()),
		Turns:          []agentTurn{},
		Vitals: agentVitals{
			WallClockMs:       f.GetWallClockMs(),
			ActiveMs:          f.GetActiveMs(),
			IdleMs:            f.GetIdleMs(),
			IdleGapCount:      int(f.GetIdleGapCount()),
			AgentTimeMs:       f.GetFirstTokenMs() + f.GetInferenceMs() + f.GetToolMs(),
			AgentTimeSegments: []agentSegment{{"ttft", f.GetFirstTokenMs()}, {"inference", f.GetInferenceMs()}, {"tool", f.GetToolMs()}},
		},
	}
	if f.GetTruncated() {
		res.Load.Truncated, res.Load.ResumeStartTime = "cap", wording.Clock(f.GetResumeStartTime().AsTime())
	}
	for _, m := range f.GetModels() {
		res.Models = append(res.Models, agentModel{m.GetModel(), int(m.GetCallCount()), m.GetTotalTokens(), m.Cost})
	}
	for _, t := range f.GetTools() {
		res.Tools = append(
			res.Tools,
			agentToolUse{t.GetName(), int(t.GetCallCount()), int(t.GetFailedCount()), t.GetTotalMs(), t.GetSlowestMs()},
		)
	}
	for _, g := range f.GetFailures() {
		res.FailureGroups = append(res.FailureGroups, agentFailGroup{g.GetKind(), g.GetLabel(), int(g.GetCount())})
	}
	for _, t := range f.GetTurns() {
		res.Turns = append(res.Turns, agentTurn{
			Ordinal:    int(t.GetNumber()),
			AnchorKind: anchorKind(t),
			AgentName:  t.GetAgent(),
			OffsetMs:   ms(t.GetStartTime().AsTime().Sub(f.GetStartTime().AsTime())),
			DurationMs: t.GetDurationMs(),
			SpanCount:  int(t.GetSpanCount()),
			Failed:     t.GetFailed(),
			Label:      wording.Clip(wording.OneLine(t.GetAsked()), 120),
		})
	}
	if len(res.Turns) > 0 {
		res.Title = res.Turns[0].Label
	}
	return res
}

// anchorKind returns the name that tools use for the kind of a turn.
func anchorKind(t *svcv2.AgentTurn) string {
	if t.GetKind() == "agent" {
		return "agent-root"
	}
	return t.GetKind()
}

// judge adopts a verdict. If a tool has the next step, the action names that tool.
func (r *agentSessionResult) judge(v *svcv2.AgentSessionVerdict) {
	actions := map[string]string{
		"turns": "Read the failed turn with get_agent_session_transcript and failed_only.",
		"tools": "Call get_agent_tools_overview with the tool: it shows how often and why the tool fails.",
	}
	r.Verdict = agentVerdict{v.GetStatus(), v.GetHeadline(), v.GetSpanId()}
	if v.SpanId != nil {
		r.Evidence = &agentEvidence{v.GetTraceId(), v.GetSpanId(), wording.Clock(v.GetFailedAt().AsTime())}
	}
	for _, c := range v.GetChecks() {
		r.Checks = append(
			r.Checks,
			agentCheck{c.GetId(), c.GetName(), c.GetStatus(), c.GetHeadline(), cmp.Or(actions[c.GetId()], c.GetAction()), c.GetFixArea()},
		)
		r.CheckCounts[c.GetStatus()]++
	}
	for _, f := range v.GetFindings() {
		r.Findings = append(
			r.Findings,
			agentFinding{
				f.GetKind(),
				f.GetSeverity(),
				f.GetLabel(),
				int(f.GetCount()),
				wording.Turns(f.GetTurns()),
				f.GetDetail(),
				f.GetSpanId(),
			},
		)
	}
	r.FindingCount = len(r.Findings)
}
