package telemetry

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type tracesResult struct {
	TimeRange tool.TimeRange `json:"timeRange"`
	Traces    []TraceRow     `json:"traces" jsonschema:"latest first, each described by its root span"`
	Filters   tracesFilters  `json:"filters"`
	// SpanLevel says that the filters held on any span of a trace, not on its root alone.
	SpanLevel  bool            `json:"spanLevel"`
	Pagination tool.Pagination `json:"pagination"`
}

type TraceRow struct {
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

func newSearchTraces(s *tool.Clients) (*tool.Tool, error) {
	output, err := tool.OutputOf[tracesResult](nil)
	if err != nil {
		return nil, err
	}
	return &tool.Tool{
		Name: "search_traces", Title: "Traces",
		Description: "Search traces in a time range of at most 7 days, latest first. All filters must hold on one span of the trace, on any span unless root_only is true. inspect_trace reads one trace.",
		Params: append(tool.WindowParams(), tool.ServiceParam(), tool.EnvironmentParam(),
			tool.Param{Name: "span_name", Kind: tool.KindText, Description: "Text in the span name, any letter case."},
			tool.Param{Name: "root_only", Kind: tool.KindFlag, Description: "Match root spans only.", Fallback: false},
			tool.Param{Name: "has_error", Kind: tool.KindFlag, Description: "true: status Error or HTTP 500 and above; false: the others."},
			tool.Param{Name: "min_duration_ms", Kind: tool.KindNumber, Minimum: tool.Num(0)},
			tool.Param{Name: "max_duration_ms", Kind: tool.KindNumber, Minimum: tool.Num(0)},
			tool.Param{Name: "http_method", Kind: tool.KindText}, tool.TraceIDParam("Default time range 7 days.", false),
			tool.Param{Name: "attribute_key", Kind: tool.KindText, Description: "Span attribute that must exist."},
			tool.Param{Name: "attribute_value", Kind: tool.KindText, Description: "Exact value of attribute_key."},
			tool.OffsetParam(), tool.LimitParam(20, 200)),
		Output: output,
		Run: func(ctx context.Context, a *tool.Arguments) (*tool.Answer, error) {
			if _, started := a.Values["start_time"]; a.Text("trace_id") != nil && !started {
				a.StartBefore(tool.MaxSearch)
			}
			w, err := a.Window(tool.MaxSearch)
			if err != nil {
				return nil, err
			}
			filters, err := traceFilters(a)
			if err != nil {
				return nil, err
			}
			offset, limit := a.Integer("offset"), a.Integer("limit")
			rows, more, err := tool.Collect(ctx, nil, offset, limit, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.TraceSummary, *string, error) {
				res, err := s.Traces.SearchTraces(ctx, &svcv2.SearchTracesRequest{
					StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &limit, Cursor: cursor, Filters: filters,
				})
				return res.GetData(), tool.NextCursor(res), err
			})
			if err != nil {
				return nil, err
			}
			list, err := TraceRows(ctx, s, rows)
			if err != nil {
				return nil, err
			}
			return tracesAnswer(a, w, list, tool.NewPagination(offset, limit, len(rows), more)), nil
		},
	}, nil
}

// traceFilters returns nil without filters: that search is much cheaper.
func traceFilters(a *tool.Arguments) (*svcv2.TraceFilters, error) {
	key, value := a.Text("attribute_key"), a.Text("attribute_value")
	if value != nil && key == nil {
		return nil, tool.BadInput("attribute_value", "needs attribute_key: the name of the attribute that has this value.", "")
	}
	f := &svcv2.TraceFilters{
		ServiceName: a.Text("service"), SpanNameContains: a.Text("span_name"), HasError: a.Flag("has_error"), MinDurationMs: a.Number("min_duration_ms"),
		MaxDurationMs: a.Number("max_duration_ms"), HttpMethod: a.Text("http_method"), DeploymentEnvironment: a.Text("environment"), TraceId: a.Text("trace_id"),
	}
	if root := a.Flag("root_only"); root != nil && *root {
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
		if v, ok := a.Values[name]; ok && v != false {
			return f, nil
		}
	}
	if f.HasError != nil {
		return f, nil
	}
	return nil, nil
}

func tracesAnswer(a *tool.Arguments, w tool.TimeRange, rows []TraceRow, p tool.Pagination) *tool.Answer {
	res := tracesResult{TimeRange: w, Traces: rows, Pagination: p, SpanLevel: a.Text("span_name") != nil && a.Values["root_only"] != true, Filters: tracesFilters{
		Service: a.Text("service"), Environment: a.Text("environment"), SpanName: a.Text("span_name"), HasError: a.Flag("has_error"),
		MinDurationMs: a.Number("min_duration_ms"), MaxDurationMs: a.Number("max_duration_ms"), HTTPMethod: a.Text("http_method"), TraceID: a.Text("trace_id"),
		AttributeKey: a.Text("attribute_key"), AttributeValue: a.Text("attribute_value"), RootOnly: a.Values["root_only"] == true,
	}}
	text := tool.Page{Scope: a.Scope(w, traceFilterNames()...), Shown: p.Shown(len(rows), "traces")}
	text.Blocks = []tool.Block{TraceTable("", "No trace matches. Services and environments are matched exactly, as list_services and explore_attributes with source=services have them; try a longer time range or fewer filters.", rows)}
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
		text.Next = append(text.Next, tool.Next("list_services", a.Again(w, nil, "environment"), "which services sent spans"))
	}
	if p.NextOffset != nil {
		text.Next = append(text.Next, tool.Next("search_traces", a.Again(w, map[string]any{"offset": *p.NextOffset}, append(traceFilterNames(), "limit")...), "the next page"))
	}
	return &tool.Answer{Data: res, Text: text}
}
