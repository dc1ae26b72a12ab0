package telemetry

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type tracesResult struct {
	TimeRange tool.TimeRange `json:"timeRange"`
	Traces    []TraceRow     `json:"traces"`
	Filters   tracesFilters  `json:"filters" summary:""`
	// SpanLevel says that the filters apply to any span of a trace, not only to its root.
	SpanLevel  bool            `json:"spanLevel"`
	Pagination tool.Pagination `json:"pagination"`
}

type TraceRow struct {
	TraceID         string   `json:"traceId"`
	RootSpanName    string   `json:"rootSpanName"`
	RootServiceName string   `json:"rootServiceName"`
	DurationMs      float64  `json:"durationMs"`
	HasError        bool     `json:"hasError"`
	StatusCode      string   `json:"statusCode"`
	StartTime       string   `json:"startTime"`
	SpanCount       int32    `json:"spanCount"`
	ErrorCount      int32    `json:"errorCount"`
	Services        []string `json:"services"`
	ErrorMessage    string   `json:"errorMessage,omitempty"`
}

type tracesFilters struct {
	Service        *string  `json:"service,omitempty"`
	Environment    *string  `json:"environment,omitempty"`
	SpanName       *string  `json:"spanName,omitempty"`
	HasError       *bool    `json:"hasError,omitempty"`
	MinDurationMs  *float64 `json:"minDurationMs,omitempty"`
	MaxDurationMs  *float64 `json:"maxDurationMs,omitempty"`
	HTTPMethod     *string  `json:"httpMethod,omitempty"`
	TraceID        *string  `json:"traceId,omitempty"`
	AttributeKey   *string  `json:"attributeKey,omitempty"`
	AttributeValue *string  `json:"attributeValue,omitempty"`
	RootOnly       bool     `json:"rootOnly"`
}

type searchTracesArgs struct {
	tool.Window
	Service        *string
	Environment    *string
	SpanName       *string  `doc:"Text in the span name; letter case is ignored."`
	RootOnly       bool     `doc:"Match root spans only." default:"false"`
	HasError       *bool    `doc:"true: status Error, or HTTP status 500 and above; false: others."`
	MinDurationMs  *float64 `of:"TraceFilters.min_duration_ms"`
	MaxDurationMs  *float64 `of:"TraceFilters.max_duration_ms"`
	HTTPMethod     *string
	TraceID        *string `doc:"With it, the default time range is {SearchWindow}." shape:"trace"`
	AttributeKey   *string `doc:"Span attribute that must exist."`
	AttributeValue *string `doc:"Exact value of attribute_key."`
	Offset         int     `default:"0" clamp:"0..{SearchOffset}"`
	Limit          int     `default:"{DefaultPage}" clamp:"1..{ToolRows}"`
}

func (a *searchTracesArgs) filters() []any {
	return []any{
		&a.Service,
		&a.Environment,
		&a.SpanName,
		&a.RootOnly,
		&a.HasError,
		&a.MinDurationMs,
		&a.MaxDurationMs,
		&a.HTTPMethod,
		&a.TraceID,
		&a.AttributeKey,
		&a.AttributeValue,
	}
}

func newSearchTraces(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[tracesResult](&tool.Tool{
		Name: "search_traces", View: "/traces?q:service.name = {service}&q:span.name contains {span_name}&q:has_error = {has_error}&q:duration " +
			">= {min_duration_ms}&q:duration <= {max_duration_ms}&q:http.method = {http_method}&q:trace_id = {trace_id}&q:root = {root_only}",
		Title: "Traces",
		Description: "Search traces in at most " + limits.Lasts(limits.SearchWindow) +
			", the latest first. One span of the trace must match all filters: any span, or the root span if root_only is true. inspect_trace " +
			"reads one trace.",
		Run: tool.With(func(ctx context.Context, a *searchTracesArgs) (*tool.Answer, error) {
			fallback := limits.DefaultToolWindow
			if a.TraceID != nil {
				fallback = limits.SearchWindow
			}
			w, err := a.Between(a.StartTime, a.EndTime, fallback, limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			filters, err := traceFilters(a)
			if err != nil {
				return nil, err
			}
			offset, limit := a.Offset, a.Limit
			rows, more, err := tool.Collect(
				ctx,
				nil,
				offset,
				limit,
				func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.TraceSummary, *string, error) {
					res, err := s.Traces.SearchTraces(ctx, &svcv2.SearchTracesRequest{
						StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &limit, Cursor: cursor, Filters: filters,
					})
					return res.GetData(), tool.NextCursor(res), err
				},
			)
			if err != nil {
				return nil, err
			}
			list, err := TraceRows(ctx, s, rows)
			if err != nil {
				return nil, err
			}
			return tracesAnswer(a, w, list, tool.NewPagination(offset, limit, len(rows), more)), nil
		}),
	})
}

// traceFilters returns nil if there are no filters, because a search without filters is much cheaper.
func traceFilters(a *searchTracesArgs) (*svcv2.TraceFilters, error) {
	key, value := a.AttributeKey, a.AttributeValue
	if value != nil && key == nil {
		return nil, a.Bad(&a.AttributeValue, "needs attribute_key, the name of the attribute that has this value.", "")
	}
	f := &svcv2.TraceFilters{
		ServiceName: a.Service, SpanNameContains: a.SpanName, HasError: a.HasError, MinDurationMs: a.MinDurationMs,
		MaxDurationMs: a.MaxDurationMs, HttpMethod: a.HTTPMethod, DeploymentEnvironment: a.Environment, TraceId: a.TraceID,
	}
	if a.RootOnly {
		scope := "root"
		f.SpanScope = &scope
	}
	if key != nil {
		condition := &svcv2.AttributeFilter{Key: *key, Operator: "exists"}
		if value != nil {
			condition.Operator, condition.Value = "equals", structpb.NewStringValue(*value)
		}
		f.Attributes = []*svcv2.AttributeFilter{condition}
	}
	if !a.RootOnly && !slices.ContainsFunc(a.filters(), func(field any) bool { return field != any(&a.RootOnly) && a.Given(field) }) {
		return nil, nil
	}
	return f, nil
}

func tracesAnswer(a *searchTracesArgs, w tool.TimeRange, rows []TraceRow, p tool.Pagination) *tool.Answer {
	res := tracesResult{TimeRange: w, Traces: rows, Pagination: p, SpanLevel: a.SpanName != nil && !a.RootOnly, Filters: tracesFilters{
		Service: a.Service, Environment: a.Environment, SpanName: a.SpanName, HasError: a.HasError,
		MinDurationMs: a.MinDurationMs, MaxDurationMs: a.MaxDurationMs, HTTPMethod: a.HTTPMethod, TraceID: a.TraceID,
		AttributeKey: a.AttributeKey, AttributeValue: a.AttributeValue, RootOnly: a.RootOnly,
	}}
	text := tool.Page{Scope: a.Labels(w, a.filters()...), Shown: p.Shown(len(rows), "traces")}
	text.Blocks = []tool.Block{
		TraceTable(
			"",
			"No trace matches. Names of services and environments must be exact: list_services and explore_attributes with source=services have "+
				"them. Or try a longer time range or fewer filters.",
			rows,
		),
	}
	if len(rows) > 0 {
		pick, reason := rows[0], "the latest of these traces in full"
		for _, r := range rows {
			if r.HasError {
				pick, reason = r, "the latest failed trace in full, with its logs"
				break
			}
		}
		text.Next = append(text.Next, tool.Next("inspect_trace", map[string]any{"trace_id": pick.TraceID}, reason))
	} else {
		text.Next = append(text.Next, tool.Next("list_services", a.Again(w, nil, &a.Environment), "the services that sent spans"))
	}
	if p.NextOffset != nil {
		text.Next = append(
			text.Next,
			tool.Next("search_traces", a.Again(w, map[string]any{"offset": *p.NextOffset}, append(a.filters(), &a.Limit)...), "the next page"),
		)
	}
	return &tool.Answer{Data: res, Text: text}
}
