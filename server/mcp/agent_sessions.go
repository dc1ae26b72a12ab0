package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// Agents are seen in spans with gen_ai attributes: a conversation is a session, chat spans are model calls, execute_tool spans are
// tool calls.
const (
	conversationField = "attr.gen_ai.conversation.id"
	operationField    = "attr.gen_ai.operation.name"
	toolField         = "attr.gen_ai.tool.name"
)

type agentSessionsResult struct {
	TimeRange timeRange         `json:"timeRange"`
	Sessions  []agentSessionRow `json:"sessions"`
	Truncated bool              `json:"truncated"`
}

type agentSessionRow struct {
	SessionID      string  `json:"sessionId"`
	SpanCount      float64 `json:"spanCount"`
	ErrorSpanCount float64 `json:"errorSpanCount"`
	LLMCalls       float64 `json:"llmCalls"`
	ToolCalls      float64 `json:"toolCalls"`
	ToolErrorCount float64 `json:"toolErrorCount"`
	Turns          float64 `json:"turns"`
	InputTokens    float64 `json:"inputTokens"`
	OutputTokens   float64 `json:"outputTokens"`
	TotalTokens    float64 `json:"totalTokens"`
	Cost           float64 `json:"cost" jsonschema:"USD, as reported"`
}

func equals(field string, v any) *svcv2.QueryFilter {
	op := "="
	return &svcv2.QueryFilter{Field: &field, Operator: &op, Value: structValue(v)}
}

func in(field string, values []string) *svcv2.QueryFilter {
	op := "in"
	f := &svcv2.QueryFilter{Field: &field, Operator: &op}
	for _, v := range values {
		f.Values = append(f.Values, structValue(v))
	}
	return f
}

func exists(field string) *svcv2.QueryFilter {
	op := "exists"
	return &svcv2.QueryFilter{Field: &field, Operator: &op}
}

// chatOperations are model calls.
func chatOperations() []string { return []string{"chat", "generate_content", "text_completion"} }

// agentFilters are the conditions that every read of agents has.
func agentFilters(a *arguments) []*svcv2.QueryFilter {
	list := []*svcv2.QueryFilter{exists(operationField)}
	for name, field := range map[string]string{"service": "service.name", "environment": "deployment.environment", "agent": "attr.gen_ai.agent.name", "session_id": conversationField, "tool": toolField} {
		if v := a.text(name); v != nil {
			list = append(list, equals(field, *v))
		}
	}
	return list
}

// agentQuery is one figure of agents.
func agentQuery(a *arguments, name, aggregation, valueField, group string, more ...*svcv2.QueryFilter) *svcv2.QuerySpec {
	most := int32(100)
	q := &svcv2.QuerySpec{Name: name, Source: "traces", Aggregation: aggregation, Filter: &svcv2.QueryFilter{All: append(agentFilters(a), more...)}, Limit: &most}
	if valueField != "" {
		q.ValueField = &valueField
	}
	if group != "" {
		q.GroupBy = []string{group}
	}
	return q
}

// agentRows reads the figures of sessions, by their first column.
func (s *Server) agentRows(ctx context.Context, a *arguments, w timeRange) ([]agentSessionRow, bool, error) {
	chat, tool := in(operationField, chatOperations()), equals(operationField, "execute_tool")
	out, err := s.clients.query.QueryBreakdown(ctx, &svcv2.QueryBreakdownRequest{StartTime: w.startProto(), EndTime: w.endProto(), Queries: []*svcv2.QuerySpec{
		agentQuery(a, "spans", "count", "", conversationField, exists(conversationField)),
		agentQuery(a, "errors", "error_count", "", conversationField, exists(conversationField)),
		agentQuery(a, "llm", "count", "", conversationField, exists(conversationField), chat),
		agentQuery(a, "tools", "count", "", conversationField, exists(conversationField), tool),
		agentQuery(a, "toolErrors", "error_count", "", conversationField, exists(conversationField), tool),
		agentQuery(a, "turns", "count", "", conversationField, exists(conversationField), equals(operationField, "invoke_agent")),
		// Tokens and cost are summed over model calls: a turn repeats the sum of its own.
		agentQuery(a, "input", "sum", "attr.gen_ai.usage.input_tokens", conversationField, exists(conversationField), chat),
		agentQuery(a, "output", "sum", "attr.gen_ai.usage.output_tokens", conversationField, exists(conversationField), chat),
		agentQuery(a, "cost", "sum", "attr.gen_ai.usage.cost", conversationField, exists(conversationField), chat),
	}})
	if err != nil {
		return nil, false, err
	}
	var rows []agentSessionRow
	for _, r := range out.GetData() {
		v := func(i int) float64 {
			if i < len(r.GetValues()) {
				return r.GetValues()[i].GetValue()
			}
			return 0
		}
		if !r.GetOther() && v(0) > 0 {
			rows = append(rows, agentSessionRow{r.GetName(), v(0), v(1), v(2), v(3), v(4), v(5), v(6), v(7), v(6) + v(7), v(8)})
		}
	}
	return rows, out.GetTruncated(), nil
}

func agentWindow(a *arguments) (timeRange, error) {
	if _, ok := a.values["start_time"]; !ok {
		end := a.now
		if t, ok := a.values["end_time"].(time.Time); ok {
			end = t
		}
		a.values["start_time"] = end.Add(-24 * time.Hour)
	}
	return a.window(maxSearch)
}

func agentParams() []param {
	return []param{
		{name: "start_time", kind: kindTime, description: "Default 24 hours before end_time."},
		{name: "end_time", kind: kindTime, description: "Default now."},
		serviceParam(), environmentParam(),
		{name: "agent", kind: kindText, description: "Exact name."},
	}
}

func newListAgentSessions(s *Server) (*tool, error) {
	return define[agentSessionsResult](&tool{
		name: "list_agent_sessions", title: "Agent sessions",
		description: "List sessions of AI agents (spans with gen_ai attributes, by conversation) of at most 7 days, with model calls, tool calls, errors, tokens and cost.",
		params:      append(agentParams(), param{name: "has_errors", kind: kindFlag}, limitParam(25, 100)),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := agentWindow(a)
			if err != nil {
				return nil, err
			}
			rows, more, err := s.agentRows(ctx, a, w)
			if err != nil {
				return nil, err
			}
			res := agentSessionsResult{TimeRange: w, Sessions: []agentSessionRow{}, Truncated: more}
			var cells [][]string
			for _, r := range rows {
				if a.isSet("has_errors") && r.ErrorSpanCount == 0 {
					continue
				}
				if len(res.Sessions) == a.integer("limit") {
					res.Truncated = true
					break
				}
				res.Sessions = append(res.Sessions, r)
				cells = append(cells, []string{r.SessionID, number(r.Turns), number(r.LLMCalls), number(r.ToolCalls), number(r.ErrorSpanCount), number(r.ToolErrorCount), number(r.TotalTokens), number(r.Cost)})
			}
			text := page{scope: a.scope(w, "service", "environment", "agent", "has_errors"), shown: shownOf(len(cells), res.Truncated, "sessions")}
			text.blocks = []block{table("", "No span with a gen_ai.conversation.id was seen in this time range.", []string{"Session", "Turns", "Model calls", "Tool calls", "Errors", "Tool errors", "Tokens", "Cost USD"}, cells)}
			if len(res.Sessions) > 0 {
				args := a.again(w, map[string]any{"session_id": res.Sessions[0].SessionID})
				text.next = []suggestion{{"get_agent_session", args, "the busiest session"}, {"get_agent_tools_overview", a.again(w, nil, "service", "environment", "agent"), "its tools"}}
			}
			return &answer{data: res, text: text}, nil
		},
	})
}

type agentToolsResult struct {
	TimeRange timeRange   `json:"timeRange"`
	Tools     []agentTool `json:"tools" jsonschema:"busiest first"`
}

type agentTool struct {
	Name      string  `json:"name"`
	Calls     float64 `json:"calls"`
	Failed    float64 `json:"failed"`
	ErrorRate float64 `json:"errorRate"`
	AvgMs     float64 `json:"avgMs"`
	P95Ms     float64 `json:"p95Ms"`
}

func (s *Server) agentTools(ctx context.Context, a *arguments, w timeRange) ([]agentTool, error) {
	call := equals(operationField, "execute_tool")
	out, err := s.clients.query.QueryBreakdown(ctx, &svcv2.QueryBreakdownRequest{StartTime: w.startProto(), EndTime: w.endProto(), Queries: []*svcv2.QuerySpec{
		agentQuery(a, "calls", "count", "", toolField, call), agentQuery(a, "failed", "error_count", "", toolField, call),
		agentQuery(a, "mean", "avg_duration", "", toolField, call), agentQuery(a, "p95", "p95_duration", "", toolField, call),
	}})
	if err != nil {
		return nil, err
	}
	list := []agentTool{}
	for _, r := range out.GetData() {
		if v := r.GetValues(); !r.GetOther() && len(v) == 4 {
			list = append(list, agentTool{r.GetName(), v[0].GetValue(), v[1].GetValue(), v[1].GetValue() / max(v[0].GetValue(), 1), v[2].GetValue(), v[3].GetValue()})
		}
	}
	return list, nil
}

func agentToolTable(heading string, list []agentTool) block {
	var cells [][]string
	for _, t := range list {
		cells = append(cells, []string{t.Name, number(t.Calls), number(t.Failed), percent(t.ErrorRate), number(t.AvgMs), number(t.P95Ms)})
	}
	return table(heading, "No tool was called.", []string{"Tool", "Calls", "Failed", "Rate", "avg ms", "p95 ms"}, cells)
}

func newGetAgentToolsOverview(s *Server) (*tool, error) {
	return define[agentToolsResult](&tool{
		name: "get_agent_tools_overview", title: "Tools of agents", description: "How often the tools of AI agents were called, failed, and how long they took, in at most 7 days.",
		params: append(agentParams(), param{name: "tool", kind: kindText, description: "Exact name."}),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := agentWindow(a)
			if err != nil {
				return nil, err
			}
			list, err := s.agentTools(ctx, a, w)
			if err != nil {
				return nil, err
			}
			text := page{scope: a.scope(w, "service", "environment", "agent", "tool"), blocks: []block{agentToolTable("", list)}}
			for _, t := range list {
				if t.Failed > 0 {
					args := clampWindow(a.again(w, map[string]any{"attribute_key": "gen_ai.tool.name", "attribute_value": t.Name, "has_error": true}, "service", "environment"), w, 7)
					text.next = []suggestion{{"search_traces", args, "traces in which " + oneLine(t.Name) + " failed"}}
					break
				}
			}
			return &answer{data: agentToolsResult{w, list}, text: text}, nil
		},
	})
}

type agentSessionResult struct {
	TimeRange timeRange       `json:"timeRange"`
	Session   agentSessionRow `json:"session"`
	Verdict   agentVerdict    `json:"verdict"`
	Models    []agentModel    `json:"models"`
	Tools     []agentTool     `json:"tools"`
	Turns     []agentTurn     `json:"turns" jsonschema:"traces, latest first"`
}

type agentVerdict struct {
	Status   string `json:"status" jsonschema:"failed, attention or clean"`
	Headline string `json:"headline"`
}

type agentModel struct {
	Model    string  `json:"model"`
	LLMCalls float64 `json:"llmCalls"`
	Failed   float64 `json:"failed"`
}

type agentTurn struct {
	TraceID    string  `json:"traceId"`
	StartTime  string  `json:"startTime"`
	DurationMs float64 `json:"durationMs"`
	Failed     bool    `json:"failed"`
}

func newGetAgentSession(s *Server) (*tool, error) {
	return define[agentSessionResult](&tool{
		name: "get_agent_session", title: "Agent session", description: "Read one session of an AI agent: verdict, model calls, tools, tokens, cost and its turns.",
		params: append([]param{{name: "session_id", kind: kindText, description: "From list_agent_sessions.", required: true}}, agentParams()[:2]...),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := agentWindow(a)
			if err != nil {
				return nil, err
			}
			return s.agentSession(ctx, a, w)
		},
	})
}

func (s *Server) agentSession(ctx context.Context, a *arguments, w timeRange) (*answer, error) {
	id := *a.text("session_id")
	var rows []agentSessionRow
	var list []agentTool
	var models *svcv2.QueryBreakdownResponse
	var turns []*svcv2.TraceSummary
	err := parallel(
		func() (err error) { rows, _, err = s.agentRows(ctx, a, w); return err },
		func() (err error) { list, err = s.agentTools(ctx, a, w); return err },
		func() (err error) {
			chat := in(operationField, chatOperations())
			models, err = s.clients.query.QueryBreakdown(ctx, &svcv2.QueryBreakdownRequest{StartTime: w.startProto(), EndTime: w.endProto(), Queries: []*svcv2.QuerySpec{
				agentQuery(a, "calls", "count", "", "attr.gen_ai.request.model", chat), agentQuery(a, "failed", "error_count", "", "attr.gen_ai.request.model", chat),
			}})
			return err
		},
		func() (err error) {
			turns, _, err = collect(ctx, nil, 0, 100, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.TraceSummary, *string, error) {
				res, err := s.clients.traces.SearchTraces(ctx, &svcv2.SearchTracesRequest{StartTime: w.startProto(), EndTime: w.endProto(), Limit: &limit, Cursor: cursor, Filters: &svcv2.TraceFilters{
					Attributes: []*svcv2.AttributeFilter{{Key: "gen_ai.conversation.id", Operator: "equals", Value: structValue(id)}},
				}})
				return res.GetData(), nextCursor(res), err
			})
			return err
		},
	)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, badInput("session_id", "has no spans in this time range. list_agent_sessions has the sessions; give the start_time and end_time of its list.", "")
	}
	res := agentSessionResult{TimeRange: w, Session: rows[0], Models: []agentModel{}, Tools: list, Turns: []agentTurn{}}
	r := res.Session
	switch {
	case r.ErrorSpanCount > 0:
		res.Verdict = agentVerdict{"failed", fmt.Sprintf("%s of %s spans failed, %s of them tool calls.", number(r.ErrorSpanCount), number(r.SpanCount), number(r.ToolErrorCount))}
	case r.LLMCalls == 0:
		res.Verdict = agentVerdict{"attention", "No model call was recorded."}
	default:
		res.Verdict = agentVerdict{"clean", "No span failed."}
	}
	var cells, traces [][]string
	for _, m := range models.GetData() {
		if v := m.GetValues(); len(v) == 2 {
			res.Models = append(res.Models, agentModel{m.GetName(), v[0].GetValue(), v[1].GetValue()})
			cells = append(cells, []string{m.GetName(), number(v[0].GetValue()), number(v[1].GetValue())})
		}
	}
	pick := ""
	for _, t := range turns {
		res.Turns = append(res.Turns, agentTurn{t.GetId(), clock(t.GetStartTime().AsTime()), t.GetDurationMs(), t.GetRootHasError()})
		traces = append(traces, traceCells(t))
		if pick == "" || t.GetRootHasError() {
			pick = t.GetId()
		}
	}
	text := page{scope: []pair{{"Session", id}, w.label(), {"Verdict", strings.TrimSpace(res.Verdict.Status + ": " + res.Verdict.Headline)}}}
	text.blocks = []block{
		{heading: "Work", rows: []string{
			fmt.Sprintf("- %s turns, %s model calls, %s tool calls (%s failed)", number(r.Turns), number(r.LLMCalls), number(r.ToolCalls), number(r.ToolErrorCount)),
			fmt.Sprintf("- %s tokens in, %s out; cost %s USD as reported", number(r.InputTokens), number(r.OutputTokens), number(r.Cost)),
		}},
		table("Models", "No model call was recorded.", []string{"Model", "Calls", "Failed"}, cells), agentToolTable("Tools", list),
		table("Turns", "No trace.", []string{"Trace", "Start", "Service", "Root span", "ms", ""}, traces),
	}
	if pick != "" {
		text.next = []suggestion{{"inspect_trace", map[string]any{"trace_id": pick}, "one turn in full; inspect_span has the messages of its model calls"}}
	}
	return &answer{data: res, text: text}, nil
}
