package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type agentSessionsResult struct {
	TimeRange  timeRange         `json:"timeRange"`
	Sessions   []agentSessionRow `json:"sessions"`
	Pagination pagination        `json:"pagination"`
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
func agentWindow(a *arguments, longest time.Duration) (timeRange, error) {
	if _, ok := a.values["start_time"]; !ok {
		a.startBefore(24 * time.Hour)
	}
	return a.window(longest)
}

func agentWindowParams() []param {
	return []param{{name: "start_time", kind: kindTime, description: "default now-24h"}, {name: "end_time", kind: kindTime}}
}

// agentLists are parameters that hold one of several names, and the fields that they fill.
func agentLists() []string {
	return []string{"services", "environments", "models", "agents", "tools", "vendors"}
}

// agentRanges are the figures that a session can be bounded by, with the parts of the names of their parameters.
func agentRanges() map[string]string {
	return map[string]string{"duration": "duration_ms", "cost": "cost", "tokens": "total_tokens", "llm_calls": "llm_calls", "tool_calls": "tool_calls"}
}

func newListAgentSessions(s *Server) (*tool, error) {
	params := agentWindowParams()
	for _, name := range agentLists() {
		params = append(params, param{name: name, kind: kindList})
	}
	params = append(params,
		param{name: "search", kind: kindText, description: "Text in the session id or in messages."},
		param{name: "has_errors", kind: kindFlag}, param{name: "exclude_trace_sessions", kind: kindFlag, description: "Leave out traces without a session id."})
	for _, name := range []string{"duration", "cost", "tokens", "llm_calls", "tool_calls"} {
		params = append(params, param{name: name + "_min", kind: kindNumber}, param{name: name + "_max", kind: kindNumber})
	}
	sorts := map[string]string{
		"startTime": "start_time", "durationMs": "duration_ms", "cost": "cost", "totalTokens": "total_tokens", "errorSpanCount": "error_span_count", "llmCalls": "llm_calls", "toolCalls": "tool_calls",
	}
	params = append(params,
		param{name: "sort_by", kind: kindText, enum: []string{"startTime", "durationMs", "cost", "totalTokens", "errorSpanCount", "llmCalls", "toolCalls"}, fallback: "startTime"},
		param{name: "sort_dir", kind: kindText, enum: []string{"desc", "asc"}, fallback: "desc"}, offsetParam(), limitParam(25, 100))
	return define[agentSessionsResult](&tool{
		name: "list_agent_sessions", title: "Agent sessions",
		description: "List sessions of AI agents (spans with gen_ai attributes, by conversation) in at most 7 days, with calls, errors, tokens and cost in USD as reported. Durations in ms.",
		params:      params,
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := agentWindow(a, maxSearch)
			if err != nil {
				return nil, err
			}
			offset, limit := int32(a.integer("offset")), int32(a.integer("limit"))
			req := &svcv2.SearchAgentSessionsRequest{
				StartTime: w.startProto(), EndTime: w.endProto(), Filters: agentFilters(a), Search: a.textOr("search", ""), HasErrors: a.flag("has_errors"), ExcludeTraceSessions: a.isSet("exclude_trace_sessions"),
				SortBy: sorts[a.textOr("sort_by", "startTime")], Ascending: a.textOr("sort_dir", "desc") == "asc", Offset: offset, Limit: &limit,
			}
			for name, figure := range agentRanges() {
				if least, most := a.number(name+"_min"), a.number(name+"_max"); least != nil || most != nil {
					req.Ranges = append(req.Ranges, &svcv2.AgentRange{Figure: figure, Least: least, Most: most})
				}
			}
			out, err := s.clients.agents.SearchAgentSessions(ctx, req)
			if err != nil {
				return nil, err
			}
			return agentSessionsAnswer(a, w, out), nil
		},
	})
}

func agentFilters(a *arguments) *svcv2.AgentFilters {
	f := &svcv2.AgentFilters{Services: a.list("services"), Environments: a.list("environments"), Models: a.list("models"), Agents: a.list("agents"), Tools: a.list("tools"), Vendors: a.list("vendors")}
	for name, to := range map[string]*[]string{"service": &f.Services, "environment": &f.Environments, "model": &f.Models} {
		if v := a.text(name); v != nil {
			*to = []string{*v}
		}
	}
	return f
}

func agentSessionsAnswer(a *arguments, w timeRange, out *svcv2.SearchAgentSessionsResponse) *answer {
	res := agentSessionsResult{TimeRange: w, Sessions: []agentSessionRow{}, Pagination: newPagination(a.integer("offset"), a.integer("limit"), len(out.GetSessions()), out.GetHasMore()), Filters: a.echo(listAgentFilterNames()...)}
	var cells [][]string
	for _, r := range out.GetSessions() {
		start, end := r.GetStartTime().AsTime(), r.GetEndTime().AsTime()
		row := agentSessionRow{
			SessionID: r.GetId(), VendorID: strings.Join(r.GetVendors(), ","), AgentNames: listOf(r.GetAgents()), ServiceNames: listOf(r.GetServices()), Models: listOf(r.GetModels()),
			StartTime: clock(start), EndTime: clock(end), DurationMs: end.Sub(start).Seconds() * 1000, TraceCount: r.GetTraceCount(), SpanCount: r.GetSpanCount(), ErrorSpanCount: r.GetErrorSpanCount(),
			ToolErrorCount: r.GetToolErrorCount(), TurnErrorCount: r.GetTurnErrorCount(), Turns: r.GetTurns(), LLMCalls: r.GetLlmCalls(), ToolCalls: r.GetToolCalls(), TotalTokens: r.GetTotalTokens(), Cost: r.GetCost(),
		}
		if len(row.AgentNames) > 0 {
			row.AgentName = row.AgentNames[0]
		}
		res.Sessions = append(res.Sessions, row)
		cells = append(cells, []string{
			row.SessionID, row.StartTime, seconds(row.DurationMs), row.AgentName, fmt.Sprint(row.Turns), fmt.Sprint(row.LLMCalls), fmt.Sprint(row.ToolCalls), fmt.Sprint(row.ErrorSpanCount),
			fmt.Sprint(row.ToolErrorCount), number(row.TotalTokens), number(row.Cost),
		})
	}
	names := listAgentFilterNames()
	text := page{scope: a.scope(w, names...), shown: res.Pagination.shown(len(cells), "sessions")}
	text.blocks = []block{table("", "No session matches. Sessions come from spans with gen_ai.operation.name; try a longer time range or fewer filters.",
		[]string{"Session", "Start", "Duration", "Agent", "Turns", "Model calls", "Tool calls", "Errors", "Tool errors", "Tokens", "Cost USD"}, cells)}
	if len(res.Sessions) > 0 {
		pick, reason := res.Sessions[0], "what happened in the first of these"
		for _, r := range res.Sessions {
			if r.ErrorSpanCount > 0 {
				pick, reason = r, "what failed in this one"
				break
			}
		}
		text.next = []suggestion{
			{"get_agent_session", map[string]any{"session_id": pick.SessionID, "start_time": w.Start, "end_time": w.End}, reason},
			{"get_agent_tools_overview", map[string]any{"start_time": w.Start, "end_time": w.End}, "which tools fail"},
		}
	}
	if res.Pagination.NextOffset != nil {
		text.next = append(text.next, suggestion{"list_agent_sessions", a.again(w, map[string]any{"offset": *res.Pagination.NextOffset}, append(names, "limit", "sort_by", "sort_dir")...), "the next page"})
	}
	return &answer{data: res, text: text}
}

func listAgentFilterNames() []string {
	names := append(agentLists(), "search", "has_errors", "exclude_trace_sessions")
	for name := range agentRanges() {
		names = append(names, name+"_min", name+"_max")
	}
	return names
}

// listOf is never nil.
func listOf(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

// seconds writes milliseconds for reading.
func seconds(ms float64) string {
	if ms < 1000 {
		return number(ms) + " ms"
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(100 * time.Millisecond).String()
}
