// Package agentsessions answers the methods of svc.v2.AgentSessionsService. It reports the work of AI agents from spans with
// gen_ai attributes.
package agentsessions

import (
	"context"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	maxSessionWindow = limits.AgentSessionWindow
	// trendBuckets is the approximate number of buckets of a trend.
	trendBuckets = 24
	// tracesAtOnce is the number of traces of which one statement reads the parents of spans.
	tracesAtOnce = 500
)

// Service implements svcv2connect.AgentSessionsServiceHandler. It is safe for concurrent use.
type Service struct{ warehouse read.Warehouse }

// New returns the service.
func New(w read.Warehouse) *Service { return &Service{w} }

func filters(f *svcv2.AgentFilters) reads.AgentFilters {
	return reads.AgentFilters{
		Services: f.GetServices(), Environments: f.GetEnvironments(), Models: f.GetModels(), Agents: f.GetAgents(), Tools: f.GetTools(),
		Vendors: f.GetVendors(),
	}
}

// SearchAgentSessions lists the sessions of a window.
func (s *Service) SearchAgentSessions(
	ctx context.Context, req *svcv2.SearchAgentSessionsRequest,
) (*svcv2.SearchAgentSessionsResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	search := reads.AgentSessionSearch{
		Window: window, Filters: filters(req.GetFilters()), Search: req.GetSearch(), HasErrors: req.HasErrors,
		NoTraces: req.GetExcludeTraceSessions(), SortBy: req.GetSortBy(), Ascending: req.GetAscending(), Offset: int(req.GetOffset()),
		Limit: limits.DefaultPage,
	}
	if req.Limit != nil {
		search.Limit = int(req.GetLimit())
	}
	for _, r := range req.GetRanges() {
		search.Ranges = append(search.Ranges, reads.AgentRange{Figure: r.GetFigure(), Least: r.Least, Most: r.Most})
	}
	search.Limit++
	rows, err := read.All[reads.AgentSessionRow](ctx, s.warehouse, org, reads.AgentSessions(search))
	if err != nil {
		return nil, err
	}
	res := &svcv2.SearchAgentSessionsResponse{HasMore: len(rows) == search.Limit}
	counted := rows
	if len(rows) == 0 && search.Offset > 0 { // a page beyond the end has no row that tells the totals
		first := search
		first.Offset, first.Limit = 0, 1
		if counted, err = read.All[reads.AgentSessionRow](ctx, s.warehouse, org, reads.AgentSessions(first)); err != nil {
			return nil, err
		}
	}
	if len(counted) > 0 {
		res.TotalCount, res.ErrorCount = int32(counted[0].Total), int32(counted[0].Failing)
	}
	for _, r := range rows[:min(len(rows), search.Limit-1)] {
		res.Sessions = append(res.Sessions, &svcv2.AgentSessionSummary{
			Id: r.Session, Vendors: r.Vendors, TraceCount: int32(r.Traces), SpanCount: int32(r.Spans), ErrorSpanCount: int32(r.Errors),
			ToolErrorCount: int32(r.ToolErrors), TurnErrorCount: int32(r.TurnErrors), Turns: int32(r.Turns), Services: r.Services,
			Models: r.Models, Agents: r.Agents, StartTime: timestamppb.New(r.Start), EndTime: timestamppb.New(r.End),
			LlmCalls: int32(r.ModelCalls), ToolCalls: int32(r.ToolCalls), TotalTokens: r.Tokens, Cost: r.Cost,
		})
	}
	return res, nil
}

// GetAgentSession reads the spans of a session.
func (s *Service) GetAgentSession(ctx context.Context, req *svcv2.GetAgentSessionRequest) (*svcv2.AgentSession, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), maxSessionWindow)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.AgentSpanRow](ctx, s.warehouse, org,
		reads.AgentSessionSpans(window, req.GetSessionId(), int(req.GetPayloadChars())))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, apierr.New(apierr.AgentSessionNotFound, "This organization has no agent session with this id in the window.",
			apierr.Param("session_id"))
	}
	res := &svcv2.AgentSession{Id: req.GetSessionId(), Truncated: len(rows) > limits.AgentSpans}
	for _, r := range rows[:min(len(rows), limits.AgentSpans)] {
		res.Spans = append(res.Spans, toSpan(r))
	}
	parents := parentsOf(res.GetSpans())
	for traces := range slices.Chunk(severed(res.GetSpans(), parents), tracesAtOnce) {
		links, err := read.All[reads.AgentLinkRow](ctx, s.warehouse, org, reads.AgentLinks(window, traces))
		if err != nil {
			return nil, err
		}
		for _, l := range links {
			parents[spanKey{l.TraceID, l.SpanID}] = l.Parent
		}
	}
	takeTurns(res, parents)
	return res, nil
}

// GetAgentToolsOverview counts the calls of tools.
func (s *Service) GetAgentToolsOverview(ctx context.Context, req *svcv2.GetAgentToolsOverviewRequest) (*svcv2.AgentToolsOverview, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	f, tool := filters(req.GetFilters()), req.GetTool()
	before := window.Before()
	res := &svcv2.AgentToolsOverview{Current: &svcv2.AgentTool{}, Previous: &svcv2.AgentTool{}}
	rows, err := read.All[reads.AgentToolRow](ctx, s.warehouse, org, reads.AgentTools(window, f, req.GetToolContains()))
	if err != nil {
		return nil, err
	}
	selected := f
	if tool != "" {
		selected.Tools = []string{tool}
	}
	for _, r := range rows {
		if r.Tool != "" {
			res.Tools = append(res.Tools, toTool(r))
		}
		if r.Tool == tool {
			res.Current = toTool(r)
		}
	}
	earlier, err := read.All[reads.AgentToolRow](ctx, s.warehouse, org, reads.AgentTools(before, selected, req.GetToolContains()))
	if err != nil {
		return nil, err
	}
	for _, r := range earlier {
		if r.Tool == "" {
			res.Previous = toTool(r)
		}
	}
	if tool == "" {
		return res, nil
	}
	failures, err := read.All[reads.AgentFailureRow](ctx, s.warehouse, org, reads.AgentToolFailures(window, selected, nil))
	if err != nil {
		return nil, err
	}
	bucket := trendBucket(window)
	res.BucketSeconds = int32(bucket / time.Second)
	for _, r := range failures {
		res.Failures = append(res.Failures, toFailure(r, window, bucket))
	}
	return res, nil
}

// GetAgentToolError reads one kind of failure of a tool.
func (s *Service) GetAgentToolError(ctx context.Context, req *svcv2.GetAgentToolErrorRequest) (*svcv2.AgentToolError, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	missing := apierr.New(apierr.AgentToolErrorNotFound, "This tool has no failure with this fingerprint in the window.",
		apierr.Param("fingerprint"))
	fingerprint, err := strconv.ParseUint(req.GetFingerprint(), 10, 64)
	if err != nil {
		return nil, missing
	}
	f := filters(req.GetFilters())
	f.Tools = []string{req.GetTool()}
	failures, err := read.All[reads.AgentFailureRow](ctx, s.warehouse, org, reads.AgentToolFailures(window, f, &fingerprint))
	if err != nil {
		return nil, err
	}
	if len(failures) == 0 {
		return nil, missing
	}
	counts, err := read.All[reads.AgentCountRow](ctx, s.warehouse, org, reads.AgentFailureCounts(window, f, fingerprint))
	if err != nil {
		return nil, err
	}
	limit := limits.DefaultToolErrorSamples
	if req.Limit != nil {
		limit = int(req.GetLimit())
	}
	samples, err := read.All[reads.AgentSpanRow](ctx, s.warehouse, org,
		reads.AgentFailureSamples(window, f, fingerprint, req.GetSessionId(), int(req.GetPayloadChars()), limit+1))
	if err != nil {
		return nil, err
	}
	res := &svcv2.AgentToolError{Failure: toFailure(failures[0], window, trendBucket(window)), HasMore: len(samples) > limit}
	for _, r := range counts {
		c := &svcv2.AgentCount{Kind: r.Kind, Name: r.Name, Count: r.Count}
		switch {
		case r.Kind == "message" && len(res.Variants) < limits.AgentMessages:
			res.Variants = append(res.Variants, c)
		case r.Kind == "session":
			res.Sessions = append(res.Sessions, c)
		case r.Kind != "message":
			res.Breakdown = append(res.Breakdown, c)
		}
	}
	for _, r := range samples[:min(len(samples), limit)] {
		res.Samples = append(res.Samples, &svcv2.AgentToolSample{SessionId: r.Session, Span: toSpan(r)})
	}
	return res, nil
}

// trendBucket is a whole number of minutes that divides the window into about trendBuckets.
func trendBucket(w query.Window) time.Duration {
	return max((w.Length() / trendBuckets).Round(time.Minute), time.Minute)
}

func toFailure(r reads.AgentFailureRow, w query.Window, bucket time.Duration) *svcv2.AgentToolFailure {
	out := &svcv2.AgentToolFailure{
		Fingerprint: strconv.FormatUint(r.Fingerprint, 10), ErrorType: r.ErrorType, Message: r.Message, Count: r.Count,
		Sessions: float64(r.Sessions), LastSeen: timestamppb.New(r.Last),
		Trend: make([]float64, w.Length()/bucket+1),
	}
	for n, at := range r.Times {
		if i := int(at.Sub(w.Start) / bucket); i >= 0 && i < len(out.Trend) {
			out.Trend[i] += r.Weights[n]
		}
	}
	return out
}

func toTool(r reads.AgentToolRow) *svcv2.AgentTool {
	out := &svcv2.AgentTool{
		Name: r.Tool, Calls: r.Calls, Failed: r.Failed, AvgMs: r.AvgMs, P95Ms: r.P95Ms,
		Sessions: float64(r.Sessions),
	}
	if r.Tool != "" { // the row of all tools together holds the description of any of them
		out.Description = r.Description
	}
	if r.Calls > 0 {
		out.FirstSeen, out.LastSeen = timestamppb.New(r.First), timestamppb.New(r.Last)
	}
	return out
}

func toSpan(r reads.AgentSpanRow) *svcv2.AgentSpan {
	return &svcv2.AgentSpan{
		TraceId: r.TraceID, SpanId: r.SpanID, ParentSpanId: r.Parent, StartTime: timestamppb.New(r.Start),
		DurationMs: float64(r.Duration) / 1e6, Operation: r.Operation, Name: r.Name,
		ServiceName: r.Service, Failed: r.Failed, Message: r.Message, ErrorType: r.ErrorType, Model: r.Model, Vendor: r.Vendor,
		Agent: r.Agent, Tool: r.Tool, InputTokens: r.Input, OutputTokens: r.Output, CacheReadTokens: r.CacheRead,
		CacheWriteTokens: r.CacheWrite, ReasoningTokens: r.Reasoning, Cost: r.Cost,
		HasTokens: r.HasTokens, HasCost: r.HasCost, FirstTokenMs: r.FirstToken, System: r.System, Input: r.Asked, Output: r.Answered,
	}
}
