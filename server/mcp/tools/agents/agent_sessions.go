package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type agentSessionsResult struct {
	TimeRange  tool.TimeRange    `json:"timeRange"`
	Sessions   []agentSessionRow `json:"sessions"`
	Pagination tool.Pagination   `json:"pagination"`
	Filters    map[string]any    `json:"filters"`
}

type agentSessionRow struct {
	SessionID      string   `json:"sessionId"`
	VendorID       string   `json:"vendorId"`
	AgentName      string   `json:"agentName"`
	AgentNames     []string `json:"agentNames"`
	ServiceNames   []string `json:"serviceNames"`
	Models         []string `json:"models"`
	StartTime      string   `json:"startTime"`
	EndTime        string   `json:"endTime"`
	DurationMs     float64  `json:"durationMs"`
	TraceCount     int32    `json:"traceCount"`
	SpanCount      int32    `json:"spanCount"`
	ErrorSpanCount int32    `json:"errorSpanCount"`
	ToolErrorCount int32    `json:"toolErrorCount"`
	TurnErrorCount int32    `json:"turnErrorCount"`
	Turns          int32    `json:"turns"`
	LLMCalls       int32    `json:"llmCalls"`
	ToolCalls      int32    `json:"toolCalls"`
	TotalTokens    float64  `json:"totalTokens"`
	Cost           float64  `json:"cost"`
}

// agentWindow has 24 hours when no start is given.
func agentWindow(a *tool.Arguments, longest time.Duration) (tool.TimeRange, error) {
	if _, ok := a.Values["start_time"]; !ok {
		a.StartBefore(24 * time.Hour)
	}
	return a.Window(longest)
}

func agentWindowParams() []tool.Param {
	return []tool.Param{{Name: "start_time", Kind: tool.KindTime, Description: "default now-24h"}, {Name: "end_time", Kind: tool.KindTime}}
}

// agentLists are parameters that hold one of several names, and the fields that they fill.
func agentLists() []string {
	return []string{"services", "environments", "models", "agents", "tools", "vendors"}
}

// agentRanges are the figures that a session can be bounded by, with the parts of the names of their parameters.
func agentRanges() map[string]string {
	return map[string]string{"duration": "duration_ms", "cost": "cost", "tokens": "total_tokens", "llm_calls": "llm_calls", "tool_calls": "tool_calls"}
}

func newListAgentSessions(s *tool.Clients) (*tool.Tool, error) {
	params := agentWindowParams()
	for _, name := range agentLists() {
		params = append(params, tool.Param{Name: name, Kind: tool.KindList})
	}
	params = append(params,
		tool.Param{Name: "search", Kind: tool.KindText, Description: "Text in the session id or in messages."},
		tool.Param{Name: "has_errors", Kind: tool.KindFlag}, tool.Param{Name: "exclude_trace_sessions", Kind: tool.KindFlag, Description: "Leave out traces without a session id."})
	for _, name := range []string{"duration", "cost", "tokens", "llm_calls", "tool_calls"} {
		params = append(params, tool.Param{Name: name + "_min", Kind: tool.KindNumber}, tool.Param{Name: name + "_max", Kind: tool.KindNumber})
	}
	sorts := map[string]string{
		"startTime": "start_time", "durationMs": "duration_ms", "cost": "cost", "totalTokens": "total_tokens", "errorSpanCount": "error_span_count", "llmCalls": "llm_calls", "toolCalls": "tool_calls",
	}
	params = append(params,
		tool.Param{Name: "sort_by", Kind: tool.KindText, Enum: []string{"startTime", "durationMs", "cost", "totalTokens", "errorSpanCount", "llmCalls", "toolCalls"}, Fallback: "startTime"},
		tool.Param{Name: "sort_dir", Kind: tool.KindText, Enum: []string{"desc", "asc"}, Fallback: "desc"}, tool.OffsetParam(), tool.LimitParam(25, 100))
	return tool.Define[agentSessionsResult](&tool.Tool{
		Name: "list_agent_sessions", Title: "Agent sessions",
		Description: "List sessions of AI agents (spans with gen_ai attributes, by conversation) in at most 7 days, with calls, errors, tokens and cost in USD as reported. Durations in ms.",
		Params:      params,
		Run: func(ctx context.Context, a *tool.Arguments) (*tool.Answer, error) {
			w, err := agentWindow(a, tool.MaxSearch)
			if err != nil {
				return nil, err
			}
			offset, limit := int32(a.Integer("offset")), int32(a.Integer("limit"))
			req := &svcv2.SearchAgentSessionsRequest{
				StartTime: w.StartProto(), EndTime: w.EndProto(), Filters: agentFilters(a), Search: a.TextOr("search", ""), HasErrors: a.Flag("has_errors"), ExcludeTraceSessions: a.IsSet("exclude_trace_sessions"),
				SortBy: sorts[a.TextOr("sort_by", "startTime")], Ascending: a.TextOr("sort_dir", "desc") == "asc", Offset: offset, Limit: &limit,
			}
			for name, figure := range agentRanges() {
				if least, most := a.Number(name+"_min"), a.Number(name+"_max"); least != nil || most != nil {
					req.Ranges = append(req.Ranges, &svcv2.AgentRange{Figure: figure, Least: least, Most: most})
				}
			}
			out, err := s.Agents.SearchAgentSessions(ctx, req)
			if err != nil {
				return nil, err
			}
			return agentSessionsAnswer(a, w, out), nil
		},
	})
}

func agentFilters(a *tool.Arguments) *svcv2.AgentFilters {
	f := &svcv2.AgentFilters{Services: a.List("services"), Environments: a.List("environments"), Models: a.List("models"), Agents: a.List("agents"), Tools: a.List("tools"), Vendors: a.List("vendors")}
	for name, to := range map[string]*[]string{"service": &f.Services, "environment": &f.Environments, "model": &f.Models} {
		if v := a.Text(name); v != nil {
			*to = []string{*v}
		}
	}
	return f
}

func agentSessionsAnswer(a *tool.Arguments, w tool.TimeRange, out *svcv2.SearchAgentSessionsResponse) *tool.Answer {
	res := agentSessionsResult{TimeRange: w, Sessions: []agentSessionRow{}, Pagination: tool.NewPagination(a.Integer("offset"), a.Integer("limit"), len(out.GetSessions()), out.GetHasMore()), Filters: a.Echo(listAgentFilterNames()...)}
	var cells [][]string
	for _, r := range out.GetSessions() {
		start, end := r.GetStartTime().AsTime(), r.GetEndTime().AsTime()
		row := agentSessionRow{
			SessionID: r.GetId(), VendorID: strings.Join(r.GetVendors(), ","), AgentNames: tool.NonNil(r.GetAgents()), ServiceNames: tool.NonNil(r.GetServices()), Models: tool.NonNil(r.GetModels()),
			StartTime: tool.Clock(start), EndTime: tool.Clock(end), DurationMs: end.Sub(start).Seconds() * 1000, TraceCount: r.GetTraceCount(), SpanCount: r.GetSpanCount(), ErrorSpanCount: r.GetErrorSpanCount(),
			ToolErrorCount: r.GetToolErrorCount(), TurnErrorCount: r.GetTurnErrorCount(), Turns: r.GetTurns(), LLMCalls: r.GetLlmCalls(), ToolCalls: r.GetToolCalls(), TotalTokens: r.GetTotalTokens(), Cost: r.GetCost(),
		}
		if len(row.AgentNames) > 0 {
			row.AgentName = row.AgentNames[0]
		}
		res.Sessions = append(res.Sessions, row)
		cells = append(cells, []string{
			row.SessionID, row.StartTime, tool.Seconds(row.DurationMs), row.AgentName, fmt.Sprint(row.Turns), fmt.Sprint(row.LLMCalls), fmt.Sprint(row.ToolCalls), fmt.Sprint(row.ErrorSpanCount),
			fmt.Sprint(row.ToolErrorCount), tool.Number(row.TotalTokens), tool.Number(row.Cost),
		})
	}
	names := listAgentFilterNames()
	text := tool.Page{Scope: a.Scope(w, names...), Shown: res.Pagination.Shown(len(cells), "sessions")}
	text.Blocks = []tool.Block{tool.Table("", "No session matches. Sessions come from spans with gen_ai.operation.name; try a longer time range or fewer filters.",
		[]string{"Session", "Start", "Duration", "Agent", "Turns", "Model calls", "Tool calls", "Errors", "Tool errors", "Tokens", "Cost USD"}, cells)}
	if len(res.Sessions) > 0 {
		pick, reason := res.Sessions[0], "what happened in the first of these"
		for _, r := range res.Sessions {
			if r.ErrorSpanCount > 0 {
				pick, reason = r, "what failed in this one"
				break
			}
		}
		text.Next = []tool.Suggestion{
			tool.Next("get_agent_session", map[string]any{"session_id": pick.SessionID, "start_time": w.Start, "end_time": w.End}, reason),
			tool.Next("get_agent_tools_overview", map[string]any{"start_time": w.Start, "end_time": w.End}, "which tools fail"),
		}
	}
	if res.Pagination.NextOffset != nil {
		text.Next = append(text.Next, tool.Next("list_agent_sessions", a.Again(w, map[string]any{"offset": *res.Pagination.NextOffset}, append(names, "limit", "sort_by", "sort_dir")...), "the next page"))
	}
	return &tool.Answer{Data: res, Text: text}
}

func listAgentFilterNames() []string {
	names := append(agentLists(), "search", "has_errors", "exclude_trace_sessions")
	for name := range agentRanges() {
		names = append(names, name+"_min", name+"_max")
	}
	return names
}
