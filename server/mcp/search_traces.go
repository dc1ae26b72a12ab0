package mcp

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

const maxSearch = 7 * 24 * time.Hour

type tracesResult struct {
	TimeRange timeRange     `json:"timeRange"`
	Traces    []traceRow    `json:"traces" jsonschema:"latest first, each described by its root span"`
	Filters   tracesFilters `json:"filters"`
	// SpanLevel says that the filters held on any span of a trace, not on its root alone.
	SpanLevel  bool       `json:"spanLevel"`
	Pagination pagination `json:"pagination"`
}

type traceRow struct {
	TraceID         string   `json:"traceId"`
	RootSpanName    string   `json:"rootSpanName"`
	RootServiceName string   `json:"rootServiceName"`
	DurationMs      float64  `json:"durationMs" jsonschema:"duration of the root span in milliseconds"`
	HasError        bool     `json:"hasError" jsonschema:"whether the root span failed"`
	StatusCode      string   `json:"statusCode" jsonschema:"Ok, Error or Unset"`
	StartTime       string   `json:"startTime" jsonschema:"start of the root span, RFC 3339"`
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

func traceFilterNames() []string {
	return []string{
		"service", "environment", "span_name", "root_only", "has_error", "min_duration_ms", "max_duration_ms", "http_method", "trace_id", "attribute_key", "attribute_value",
	}
}

func newSearchTraces(s *Server) (*tool, error) {
	output, err := outputOf[tracesResult](nil)
	if err != nil {
		return nil, err
	}
	return &tool{
		name: "search_traces", title: "Traces",
		description: "Search traces in a time range of at most 7 days, latest first. All filters must hold on one span of the trace, on any span unless root_only is true. inspect_trace reads one trace.",
		params: append(windowParams(), serviceParam(), environmentParam(),
			param{name: "span_name", kind: kindText, description: "Text in the span name, any letter case."},
			param{name: "root_only", kind: kindFlag, description: "Match root spans only.", fallback: false},
			param{name: "has_error", kind: kindFlag, description: "true: status Error or HTTP 500 and above; false: the others."},
			param{name: "min_duration_ms", kind: kindNumber, minimum: num(0)},
			param{name: "max_duration_ms", kind: kindNumber, minimum: num(0)},
			param{name: "http_method", kind: kindText}, traceIDParam("Default time range 7 days.", false),
			param{name: "attribute_key", kind: kindText, description: "Span attribute that must exist."},
			param{name: "attribute_value", kind: kindText, description: "Exact value of attribute_key."},
			offsetParam(), limitParam(20, 200)),
		output: output,
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			if _, started := a.values["start_time"]; a.text("trace_id") != nil && !started {
				a.startBefore(maxSearch)
			}
			w, err := a.window(maxSearch)
			if err != nil {
				return nil, err
			}
			filters, err := traceFilters(a)
			if err != nil {
				return nil, err
			}
			offset, limit := a.integer("offset"), a.integer("limit")
			rows, more, err := collect(ctx, nil, offset, limit, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.TraceSummary, *string, error) {
				res, err := s.clients.traces.SearchTraces(ctx, &svcv2.SearchTracesRequest{
					StartTime: w.startProto(), EndTime: w.endProto(), Limit: &limit, Cursor: cursor, Filters: filters,
				})
				return res.GetData(), nextCursor(res), err
			})
			if err != nil {
				return nil, err
			}
			list, err := s.traceRows(ctx, rows)
			if err != nil {
				return nil, err
			}
			return tracesAnswer(a, w, list, newPagination(offset, limit, len(rows), more)), nil
		},
	}, nil
}

// traceFilters returns nil without filters: that search is much cheaper.
func traceFilters(a *arguments) (*svcv2.TraceFilters, error) {
	key, value := a.text("attribute_key"), a.text("attribute_value")
	if value != nil && key == nil {
		return nil, badInput("attribute_value", "needs attribute_key: the name of the attribute that has this value.", "")
	}
	f := &svcv2.TraceFilters{
		ServiceName: a.text("service"), SpanNameContains: a.text("span_name"), HasError: a.flag("has_error"), MinDurationMs: a.number("min_duration_ms"),
		MaxDurationMs: a.number("max_duration_ms"), HttpMethod: a.text("http_method"), DeploymentEnvironment: a.text("environment"), TraceId: a.text("trace_id"),
	}
	if root := a.flag("root_only"); root != nil && *root {
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
	for _, name := range traceFilterNames() {
		if v, ok := a.values[name]; ok && v != false {
			return f, nil
		}
	}
	if f.HasError != nil {
		return f, nil
	}
	return nil, nil
}

func tracesAnswer(a *arguments, w timeRange, rows []traceRow, p pagination) *answer {
	res := tracesResult{TimeRange: w, Traces: rows, Pagination: p, SpanLevel: a.text("span_name") != nil && a.values["root_only"] != true, Filters: tracesFilters{
		Service: a.text("service"), Environment: a.text("environment"), SpanName: a.text("span_name"), HasError: a.flag("has_error"),
		MinDurationMs: a.number("min_duration_ms"), MaxDurationMs: a.number("max_duration_ms"), HTTPMethod: a.text("http_method"), TraceID: a.text("trace_id"),
		AttributeKey: a.text("attribute_key"), AttributeValue: a.text("attribute_value"), RootOnly: a.values["root_only"] == true,
	}}
	text := page{scope: a.scope(w, traceFilterNames()...), shown: p.shown(len(rows), "traces")}
	text.blocks = []block{traceTable("", "No trace matches. Services and environments are matched exactly, as list_services and explore_attributes with source=services have them; try a longer time range or fewer filters.", rows)}
	if len(rows) > 0 {
		pick, reason := rows[0], "the latest of these traces in full"
		for _, r := range rows {
			if r.HasError {
				pick, reason = r, "the latest failed trace in full, with its logs"
				break
			}
		}
		text.next = append(text.next, suggestion{"inspect_trace", map[string]any{"trace_id": pick.TraceID}, reason})
	} else {
		text.next = append(text.next, suggestion{"list_services", a.again(w, nil, "environment"), "which services sent spans"})
	}
	if p.NextOffset != nil {
		text.next = append(text.next, suggestion{"search_traces", a.again(w, map[string]any{"offset": *p.NextOffset}, append(traceFilterNames(), "limit")...), "the next page"})
	}
	return &answer{data: res, text: text}
}
