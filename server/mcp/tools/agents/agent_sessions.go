package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type agentSessionsResult struct {
	TimeRange  tool.TimeRange    `json:"timeRange"`
	Sessions   []agentSessionRow `json:"sessions"`
	Pagination tool.Pagination   `json:"pagination"`
	// WithErrors is the number of matching sessions that have a failed span, on all pages.
	WithErrors int            `json:"withErrors"`
	Filters    map[string]any `json:"filters"`
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

// dayWindow holds the arguments for a time range. Without start_time it has limits.DefaultAgentToolWindow.
type dayWindow struct {
	tool.Call
	StartTime *time.Time `doc:"default now-{DefaultAgentToolWindow}"`
	EndTime   *time.Time
}

// Range is the time range of a call.
func (w *dayWindow) Range(longest time.Duration) (tool.TimeRange, error) {
	return w.Between(w.StartTime, w.EndTime, limits.DefaultAgentToolWindow, longest)
}

// narrowed holds the arguments that narrow the tools for agents to a model, a service or an environment.
type narrowed struct {
	Model       *string
	Service     *string
	Environment *string
}

func (n *narrowed) fields() []any { return []any{&n.Model, &n.Service, &n.Environment} }

func (n *narrowed) filters() *svcv2.AgentFilters {
	f := &svcv2.AgentFilters{}
	for v, to := range map[*string]*[]string{n.Service: &f.Services, n.Environment: &f.Environments, n.Model: &f.Models} {
		if v != nil {
			*to = []string{*v}
		}
	}
	return f
}

type listAgentSessionsArgs struct {
	dayWindow
	Services             []string
	Environments         []string
	Models               []string
	Agents               []string
	Tools                []string
	Vendors              []string
	Search               *string `doc:"Text in the session id or in messages."`
	HasErrors            *bool
	ExcludeTraceSessions *bool `doc:"Leave out traces without a session id."`
	DurationMin          *float64
	DurationMax          *float64
	CostMin              *float64
	CostMax              *float64
	TokensMin            *float64
	TokensMax            *float64
	LLMCallsMin          *float64
	LLMCallsMax          *float64
	ToolCallsMin         *float64
	ToolCallsMax         *float64
	SortBy               string    `default:"startTime" of:"SearchAgentSessionsRequest.sort_by" case:"camel"`
	SortDir              direction `default:"desc"`
	Offset               int       `default:"0" of:"SearchAgentSessionsRequest.offset" clamp:""`
	Limit                int       `default:"{DefaultToolSessions}" of:"SearchAgentSessionsRequest.limit" clamp:""`
}

// direction is the order of a list.
type direction string

const (
	descending direction = "desc"
	ascending  direction = "asc"
)

// Choices lists both orders.
func (direction) Choices() []string { return []string{string(descending), string(ascending)} }

func newListAgentSessions(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[agentSessionsResult](&tool.Tool{
		Name: "list_agent_sessions", View: "/agents",
		Title: "Agent sessions",
		Description: "List sessions of AI agents (spans with gen_ai attributes, grouped by conversation) in at most " +
			limits.Lasts(limits.SearchWindow) + ", with calls, errors, tokens and the reported cost in USD, and the number of all that match. Durations are in ms.",
		Run: tool.With(func(ctx context.Context, a *listAgentSessionsArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			offset, limit := int32(a.Offset), int32(a.Limit)
			req := &svcv2.SearchAgentSessionsRequest{
				StartTime: w.StartProto(),
				EndTime:   w.EndProto(),
				Filters: &svcv2.AgentFilters{
					Services:     a.Services,
					Environments: a.Environments,
					Models:       a.Models,
					Agents:       a.Agents,
					Tools:        a.Tools,
					Vendors:      a.Vendors,
				},
				Search:               tool.Or(a.Search, ""),
				HasErrors:            a.HasErrors,
				ExcludeTraceSessions: tool.Or(a.ExcludeTraceSessions, false),
				SortBy:               tool.SnakeCase(a.SortBy),
				Ascending:            a.SortDir == ascending,
				Offset:               offset,
				Limit:                &limit,
			}
			for figure, v := range map[string][2]*float64{
				"duration_ms": {a.DurationMin, a.DurationMax}, "cost": {a.CostMin, a.CostMax}, "total_tokens": {a.TokensMin, a.TokensMax},
				"llm_calls":  {a.LLMCallsMin, a.LLMCallsMax},
				"tool_calls": {a.ToolCallsMin, a.ToolCallsMax},
			} {
				if v[0] != nil || v[1] != nil {
					req.Ranges = append(req.Ranges, &svcv2.AgentRange{Figure: figure, Least: v[0], Most: v[1]})
				}
			}
			out, err := s.Agents.SearchAgentSessions(ctx, req)
			if err != nil {
				return nil, err
			}
			return agentSessionsAnswer(a, w, out), nil
		}),
	})
}

func (a *listAgentSessionsArgs) filters() []any {
	return []any{
		&a.Services,
		&a.Environments,
		&a.Models,
		&a.Agents,
		&a.Tools,
		&a.Vendors,
		&a.Search,
		&a.HasErrors,
		&a.ExcludeTraceSessions,
		&a.DurationMin,
		&a.DurationMax,
		&a.CostMin,
		&a.CostMax,
		&a.TokensMin,
		&a.TokensMax,
		&a.LLMCallsMin,
		&a.LLMCallsMax,
		&a.ToolCallsMin,
		&a.ToolCallsMax,
	}
}

func agentSessionsAnswer(a *listAgentSessionsArgs, w tool.TimeRange, out *svcv2.SearchAgentSessionsResponse) *tool.Answer {
	res := agentSessionsResult{
		TimeRange:  w,
		Sessions:   []agentSessionRow{},
		Pagination: tool.NewPagination(a.Offset, a.Limit, len(out.GetSessions()), out.GetHasMore()),
		WithErrors: int(out.GetErrorCount()),
		Filters:    a.Echo(a.filters()...),
	}
	res.Pagination.Total = new(int(out.GetTotalCount()))
	var cells [][]string
	for _, r := range out.GetSessions() {
		start, end := r.GetStartTime().AsTime(), r.GetEndTime().AsTime()
		row := agentSessionRow{
			SessionID:      r.GetId(),
			VendorID:       strings.Join(r.GetVendors(), ","),
			AgentNames:     tool.NonNil(r.GetAgents()),
			ServiceNames:   tool.NonNil(r.GetServices()),
			Models:         tool.NonNil(r.GetModels()),
			StartTime:      wording.Clock(start),
			EndTime:        wording.Clock(end),
			DurationMs:     end.Sub(start).Seconds() * 1000,
			TraceCount:     r.GetTraceCount(),
			SpanCount:      r.GetSpanCount(),
			ErrorSpanCount: r.GetErrorSpanCount(),
			ToolErrorCount: r.GetToolErrorCount(),
			TurnErrorCount: r.GetTurnErrorCount(),
			Turns:          r.GetTurns(),
			LLMCalls:       r.GetLlmCalls(),
			ToolCalls:      r.GetToolCalls(),
			TotalTokens:    r.GetTotalTokens(),
			Cost:           r.GetCost(),
		}
		if len(row.AgentNames) > 0 {
			row.AgentName = row.AgentNames[0]
		}
		res.Sessions = append(res.Sessions, row)
		cells = append(cells, []string{
			row.SessionID,
			row.StartTime,
			tool.Seconds(row.DurationMs),
			row.AgentName,
			fmt.Sprint(row.Turns),
			fmt.Sprint(row.LLMCalls),
			fmt.Sprint(row.ToolCalls),
			fmt.Sprint(row.ErrorSpanCount),
			fmt.Sprint(row.ToolErrorCount),
			wording.Number(row.TotalTokens),
			wording.Number(row.Cost),
		})
	}
	filters := a.filters()
	text := tool.Page{Scope: a.Labels(w, filters...), Shown: res.Pagination.Shown(len(cells), "sessions")}
	text.Scope = append(
		text.Scope,
		tool.Labeled("Sessions that match", fmt.Sprintf("%d, of them %d with errors", out.GetTotalCount(), out.GetErrorCount())),
	)
	text.Blocks = []tool.Block{
		tool.Table(
			"",
			"No session matches. Sessions come from spans with gen_ai.operation.name. Try a longer time range or fewer filters.",
			[]string{
				"Session",
				"Start",
				"Duration",
				"Agent",
				"Turns",
				"Model calls",
				"Tool calls",
				"Errors",
				"Tool errors",
				"Tokens",
				"Cost USD",
			},
			cells,
		),
	}
	if len(res.Sessions) > 0 {
		pick, reason := res.Sessions[0], "details of the first session"
		for _, r := range res.Sessions {
			if r.ErrorSpanCount > 0 {
				pick, reason = r, "failures of this session"
				break
			}
		}
		text.Next = []tool.Suggestion{
			tool.Next("get_agent_session", map[string]any{"session_id": pick.SessionID, "start_time": w.Start, "end_time": w.End}, reason),
			tool.Next("get_agent_tools_overview", map[string]any{"start_time": w.Start, "end_time": w.End}, "the tools that fail"),
		}
	}
	if res.Pagination.NextOffset != nil {
		text.Next = append(
			text.Next,
			tool.Next(
				"list_agent_sessions",
				a.Again(w, map[string]any{"offset": *res.Pagination.NextOffset}, append(filters, &a.Limit, &a.SortBy, &a.SortDir)...),
				"the next page",
			),
		)
	}
	return &tool.Answer{Data: res, Text: text}
}
