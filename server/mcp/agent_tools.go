package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type agentToolsResult struct {
	TimeRange     timeRange         `json:"timeRange"`
	Selection     map[string]string `json:"selection"`
	Description   string            `json:"description,omitempty"`
	FirstSeen     string            `json:"firstSeen,omitempty"`
	LastSeen      string            `json:"lastSeen,omitempty"`
	Current       agentTool         `json:"current"`
	Previous      *agentTool        `json:"previous,omitempty"`
	AllSessions   *agentTool        `json:"allSessions,omitempty"`
	Tools         []agentTool       `json:"tools"`
	FailureGroups *agentToolGroups  `json:"failureGroups,omitempty"`
}

type agentTool struct {
	Name      string  `json:"name,omitempty"`
	Calls     float64 `json:"calls"`
	Failed    float64 `json:"failed"`
	ErrorRate float64 `json:"errorRate"`
	AvgMs     float64 `json:"avgMs"`
	P95Ms     float64 `json:"p95Ms"`
	Sessions  float64 `json:"sessions"`
}

type agentToolGroups struct {
	Tool          string           `json:"tool"`
	BucketSeconds int32            `json:"bucketSeconds"`
	Cap           int              `json:"cap"`
	Groups        []agentToolGroup `json:"groups"`
}

type agentToolGroup struct {
	Fingerprint string    `json:"fingerprint"`
	ErrorType   string    `json:"errorType"`
	Message     string    `json:"message"`
	Count       float64   `json:"count"`
	Sessions    float64   `json:"sessions"`
	LastSeen    string    `json:"lastSeen"`
	Trend       []float64 `json:"trend"`
}

func toAgentTool(t *svcv2.AgentTool) agentTool {
	return agentTool{t.GetName(), t.GetCalls(), t.GetFailed(), t.GetFailed() / max(t.GetCalls(), 1), t.GetAvgMs(), t.GetP95Ms(), t.GetSessions()}
}

func toAgentToolGroup(f *svcv2.AgentToolFailure) agentToolGroup {
	return agentToolGroup{f.GetFingerprint(), f.GetErrorType(), clip(f.GetMessage(), 500), f.GetCount(), f.GetSessions(), clock(f.GetLastSeen().AsTime()), f.GetTrend()}
}

func agentToolParams(required bool) []param {
	return append(agentWindowParams(), param{name: "tool", kind: kindText, required: required}, param{name: "model", kind: kindText}, serviceParam(), environmentParam())
}

// chosen are the arguments that narrow a call, as texts.
func (a *arguments) chosen(names ...string) map[string]string {
	out := map[string]string{}
	for _, n := range names {
		if v, ok := a.values[n]; ok {
			out[n] = fmt.Sprint(v)
		}
	}
	return out
}

func newGetAgentToolsOverview(s *Server) (*tool, error) {
	return define[agentToolsResult](&tool{
		name: "get_agent_tools_overview", title: "Tools of agents",
		description: "How often tools of AI agents were called and failed, and how long they took, against the equally long time before; at most 7 days. With tool, also its failures by fingerprint.",
		params:      append(agentToolParams(false), param{name: "tool_contains", kind: kindText}),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := agentWindow(a, maxSearch)
			if err != nil {
				return nil, err
			}
			out, err := s.clients.agents.GetAgentToolsOverview(ctx, &svcv2.GetAgentToolsOverviewRequest{
				StartTime: w.startProto(), EndTime: w.endProto(), Filters: agentFilters(a), Tool: a.textOr("tool", ""), ToolContains: a.textOr("tool_contains", ""),
			})
			if err != nil {
				return nil, err
			}
			// What a model, service or environment has says little without what there is elsewhere.
			var all *svcv2.AgentToolsOverview
			if len(a.chosen("model", "service", "environment")) > 0 {
				if all, err = s.clients.agents.GetAgentToolsOverview(ctx, &svcv2.GetAgentToolsOverviewRequest{
					StartTime: w.startProto(), EndTime: w.endProto(), Tool: a.textOr("tool", ""), ToolContains: a.textOr("tool_contains", ""),
				}); err != nil {
					return nil, err
				}
			}
			return toolsAnswer(a, w, out, all), nil
		},
	})
}

// toolsAnswer takes in all what the same call has without model, service and environment; nil when it has none.
func toolsAnswer(a *arguments, w timeRange, out, all *svcv2.AgentToolsOverview) *answer {
	narrowed := []string{"tool", "tool_contains", "model", "service", "environment"}
	res := agentToolsResult{TimeRange: w, Selection: a.chosen(narrowed...), Current: toAgentTool(out.GetCurrent()), Tools: []agentTool{}, Description: out.GetCurrent().GetDescription()}
	if t := out.GetCurrent(); t.GetFirstSeen() != nil {
		res.FirstSeen, res.LastSeen = clock(t.GetFirstSeen().AsTime()), clock(t.GetLastSeen().AsTime())
	}
	if out.GetPrevious().GetCalls() > 0 {
		previous := toAgentTool(out.GetPrevious())
		res.Previous = &previous
	}
	var cells [][]string
	worst := agentTool{}
	for _, t := range out.GetTools() {
		row := toAgentTool(t)
		res.Tools = append(res.Tools, row)
		cells = append(cells, []string{row.Name, number(row.Calls), number(row.Failed), percent(row.ErrorRate), number(row.AvgMs), number(row.P95Ms), number(row.Sessions)})
		if row.Failed > worst.Failed {
			worst = row
		}
	}
	text := page{scope: a.scope(w, narrowed...), shown: shownOf(len(cells), false, "tools")}
	if res.Description != "" {
		text.scope = append(text.scope, pair{"It is described to models as", clip(res.Description, 500)})
	}
	c := res.Current
	summary := []string{fmt.Sprintf("- now: %s calls, %s failed (%s), p95 %s ms, %s sessions", number(c.Calls), number(c.Failed), percent(c.ErrorRate), number(c.P95Ms), number(c.Sessions))}
	if p := res.Previous; p != nil {
		summary = append(summary, fmt.Sprintf("- the time before: %s calls, %s failed (%s), p95 %s ms", number(p.Calls), number(p.Failed), percent(p.ErrorRate), number(p.P95Ms)))
	} else {
		summary = append(summary, "- the time before: no calls")
	}
	if all != nil {
		every := toAgentTool(all.GetCurrent())
		res.AllSessions = &every
		summary = append(summary, fmt.Sprintf("- in all sessions: %s calls, %s failed (%s), p95 %s ms, %s sessions", number(every.Calls), number(every.Failed), percent(every.ErrorRate), number(every.P95Ms), number(every.Sessions)))
	}
	text.blocks = []block{{heading: "All calls", rows: summary}}
	tool := a.textOr("tool", "")
	if tool != "" {
		text.blocks[0].heading = "Calls of " + tool
		res.FailureGroups = &agentToolGroups{Tool: tool, BucketSeconds: out.GetBucketSeconds(), Cap: 20, Groups: []agentToolGroup{}}
		var rows [][]string
		for _, f := range out.GetFailures() {
			g := toAgentToolGroup(f)
			res.FailureGroups.Groups = append(res.FailureGroups.Groups, g)
			rows = append(rows, []string{g.Fingerprint, g.ErrorType, clip(g.Message, 200), number(g.Count), number(g.Sessions), g.LastSeen, spark(g.Trend)})
		}
		text.blocks = append(text.blocks, table("Failures", "It did not fail.", []string{"Fingerprint", "Type", "Latest message", "Count", "Sessions", "Last", "Trend"}, rows))
		if len(rows) > 0 {
			text.next = append(text.next, suggestion{"get_agent_tool_error", a.again(w, map[string]any{"tool": tool, "fingerprint": rows[0][0]}, "service", "environment", "model"), "its most frequent failure with arguments and results"})
		}
	}
	text.blocks = append(text.blocks, table("Tools", "No tool was called.", []string{"Tool", "Calls", "Failed", "Rate", "avg ms", "p95 ms", "Sessions"}, cells))
	if tool == "" && worst.Failed > 0 {
		text.next = append(text.next, suggestion{"get_agent_tools_overview", a.again(w, map[string]any{"tool": worst.Name}, "service", "environment", "model"), "how the tool with most failures fails"})
	}
	if len(text.next) == 0 {
		text.next = append(text.next, suggestion{"list_agent_sessions", map[string]any{"start_time": w.Start, "end_time": w.End}, "the sessions of this time"})
	}
	return &answer{data: res, text: text}
}

// spark draws a trend with a digit for each bucket: 0 to 9, of the highest.
func spark(trend []float64) string {
	highest := 0.0
	for _, v := range trend {
		highest = max(highest, v)
	}
	var b strings.Builder
	for _, v := range trend {
		if v == 0 {
			b.WriteByte('.')
		} else {
			b.WriteByte("123456789"[int(v/highest*8)])
		}
	}
	return b.String()
}

type agentToolErrorResult struct {
	TimeRange      timeRange         `json:"timeRange"`
	Tool           string            `json:"tool"`
	Fingerprint    string            `json:"fingerprint"`
	Selection      map[string]string `json:"selection"`
	SamplesSession *string           `json:"samplesSession,omitempty"`
	PayloadChars   int               `json:"payloadChars"`
	Failure        agentToolGroup    `json:"failure"`
	Sessions       []agentCount      `json:"sessions"`
	SessionsCap    int               `json:"sessionsCap"`
	Variants       []agentCount      `json:"variants"`
	VariantsCap    int               `json:"variantsCap"`
	Breakdown      []agentCount      `json:"breakdown"`
	Samples        []agentToolSample `json:"samples"`
	HasMoreSamples bool              `json:"hasMoreSamples"`
}

type agentCount struct {
	Kind  string  `json:"kind"`
	Name  string  `json:"name"`
	Count float64 `json:"count"`
}

type agentToolSample struct {
	SessionID  string  `json:"sessionId"`
	TraceID    string  `json:"traceId"`
	SpanID     string  `json:"spanId"`
	Timestamp  string  `json:"timestamp"`
	DurationMs float64 `json:"durationMs"`
	Message    string  `json:"message"`
	Arguments  string  `json:"arguments"`
	Result     string  `json:"result"`
}

func newGetAgentToolError(s *Server) (*tool, error) {
	return define[agentToolErrorResult](&tool{
		name: "get_agent_tool_error", title: "Failure of a tool", description: "One way in which a tool of AI agents fails: how often, where, in which sessions, and samples with arguments and results.",
		params: append(agentToolParams(true),
			param{name: "fingerprint", kind: kindText, required: true, pattern: "^[0-9]{1,20}$", form: "a whole number as text", example: "1234567890, from get_agent_tools_overview"},
			param{name: "scope", kind: kindText, description: "all: ignore model, service and environment.", enum: []string{"selection", "all"}, fallback: "selection"},
			param{name: "samples_session", kind: kindText, description: "Samples of this session alone."},
			param{name: "samples_limit", kind: kindInteger, minimum: num(1), maximum: num(100), clamped: true, fallback: 10},
			param{name: "payload_chars", kind: kindInteger, minimum: num(20), maximum: num(10_000), clamped: true, fallback: 800}),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := agentWindow(a, maxSearch)
			if err != nil {
				return nil, err
			}
			if a.textOr("scope", "") == "all" {
				for _, name := range []string{"model", "service", "environment"} {
					delete(a.values, name)
				}
			}
			limit := int32(a.integer("samples_limit"))
			out, err := s.clients.agents.GetAgentToolError(ctx, &svcv2.GetAgentToolErrorRequest{
				StartTime: w.startProto(), EndTime: w.endProto(), Tool: *a.text("tool"), Fingerprint: *a.text("fingerprint"), Filters: agentFilters(a), SessionId: a.textOr("samples_session", ""), Limit: &limit,
				PayloadChars: int32(a.integer("payload_chars")),
			})
			if err != nil {
				return nil, err
			}
			return toolErrorAnswer(a, w, out), nil
		},
	})
}

func toolErrorAnswer(a *arguments, w timeRange, out *svcv2.AgentToolError) *answer {
	res := agentToolErrorResult{
		TimeRange: w, Tool: *a.text("tool"), Fingerprint: *a.text("fingerprint"), Selection: a.chosen("model", "service", "environment"), SamplesSession: a.text("samples_session"), PayloadChars: a.integer("payload_chars"),
		Failure: toAgentToolGroup(out.GetFailure()), SessionsCap: 20, VariantsCap: 10, Sessions: []agentCount{}, Variants: []agentCount{}, Breakdown: []agentCount{}, Samples: []agentToolSample{}, HasMoreSamples: out.GetHasMore(),
	}
	counted := func(list []*svcv2.AgentCount, to *[]agentCount) [][]string {
		var cells [][]string
		for _, c := range list {
			*to = append(*to, agentCount{c.GetKind(), c.GetName(), c.GetCount()})
			cells = append(cells, []string{c.GetKind(), clip(c.GetName(), 200), number(c.GetCount())})
		}
		return cells
	}
	columns := []string{"Of", "Name", "Count"}
	f := res.Failure
	text := page{scope: append(a.scope(w, "tool", "model", "service", "environment"), pair{"Failure", f.ErrorType + ": " + f.Message})}
	text.blocks = []block{
		{heading: "How often", rows: []string{fmt.Sprintf("- %s times in %s sessions, last at %s", number(f.Count), number(f.Sessions), f.LastSeen), "- over time: " + spark(f.Trend)}},
		table("Where", "", columns, counted(out.GetBreakdown(), &res.Breakdown)),
		table("Messages", "", columns, counted(out.GetVariants(), &res.Variants)),
		table("Sessions", "", columns, counted(out.GetSessions(), &res.Sessions)),
	}
	var samples [][]string
	for _, one := range out.GetSamples() {
		sp := one.GetSpan()
		row := agentToolSample{one.GetSessionId(), sp.GetTraceId(), sp.GetSpanId(), clock(sp.GetStartTime().AsTime()), sp.GetDurationMs(), clip(sp.GetMessage(), 500), sp.GetInput(), sp.GetOutput()}
		res.Samples = append(res.Samples, row)
		samples = append(samples, []string{row.Timestamp, row.SessionID, seconds(row.DurationMs), row.Arguments, row.Result})
	}
	text.blocks = append(text.blocks, table("Samples, newest first", "There are no samples in this session.", []string{"Time", "Session", "Duration", "Arguments", "Result"}, samples))
	text.shown = shownOf(len(samples), out.GetHasMore(), "samples")
	if len(res.Samples) > 0 {
		one := res.Samples[0]
		start := out.GetSamples()[0].GetSpan().GetStartTime().AsTime()
		around := func(by time.Duration) string { return clock(start.Add(by)) }
		text.next = []suggestion{
			{"inspect_trace", map[string]any{"trace_id": one.TraceID}, "the turn around the latest sample: what the tool itself called"},
			{"get_agent_session_transcript", map[string]any{"session_id": one.SessionID, "start_time": around(-6 * time.Hour), "end_time": around(6 * time.Hour), "failed_only": true}, "what the user and the model said around it"},
		}
	}
	return &answer{data: res, text: text}
}
