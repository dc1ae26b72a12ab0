package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type spanResult struct {
	TraceID            string            `json:"traceId"`
	SpanID             string            `json:"spanId"`
	Found              bool              `json:"found"`
	Timestamp          string            `json:"timestamp"`
	SpanName           string            `json:"spanName"`
	ServiceName        string            `json:"serviceName"`
	DurationMs         float64           `json:"durationMs"`
	StatusCode         string            `json:"statusCode"`
	StatusMessage      string            `json:"statusMessage"`
	Attributes         map[string]string `json:"attributes"`
	ResourceAttributes map[string]string `json:"resourceAttributes"`
	Events             []spanEvent       `json:"events"`
	AI                 *spanAI           `json:"ai,omitempty"`
}

func spanIDParam(description string, required bool) param {
	return param{name: "span_id", kind: kindText, description: description, required: required, pattern: "^[0-9a-fA-F]{16}$", form: "16 hexadecimal digits", example: "00f067aa0ba902b7"}
}

func newInspectSpan(s *Server) (*tool, error) {
	return define[spanResult](&tool{
		name: "inspect_span", title: "Span",
		description: "Read one span whole: attributes, events with stack traces, and the messages and payloads of model and tool calls.",
		params: []param{
			traceIDParam("", true), spanIDParam("", true), timestampParam(),
			{name: "payload_chars", kind: kindInteger, description: "Characters of each long value.", minimum: num(100), maximum: num(20000), clamped: true, fallback: 2000},
		},
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			req := &svcv2.GetSpanRequest{TraceId: *a.text("trace_id"), SpanId: *a.text("span_id"), Timestamp: a.moment("timestamp")}
			sp, err := s.clients.traces.GetSpan(ctx, req)
			if err != nil && req.Timestamp != nil && isNotFound(err) {
				a.note("The span does not begin within an hour of timestamp; it was looked for at all times.")
				req.Timestamp = nil
				sp, err = s.clients.traces.GetSpan(ctx, req)
			}
			if err != nil {
				return nil, err
			}
			most := a.integer("payload_chars")
			cut := func(m map[string]string) map[string]string {
				out := map[string]string{}
				for k, v := range m {
					out[k] = clip(v, most)
				}
				return out
			}
			res := spanResult{
				TraceID: sp.GetTraceId(), SpanID: sp.GetId(), Found: true, Timestamp: clock(sp.GetStartTime().AsTime()), SpanName: clip(sp.GetName(), most), ServiceName: sp.GetServiceName(),
				DurationMs: sp.GetDurationMs(), StatusCode: sp.GetStatusCode(), StatusMessage: clip(sp.GetStatusMessage(), most), Attributes: cut(sp.GetAttributes()),
				ResourceAttributes: cut(sp.GetResourceAttributes()), Events: []spanEvent{},
			}
			text := page{scope: []pair{
				{"Span", res.SpanName}, {"Service", res.ServiceName}, {"Start", res.Timestamp}, {"Duration", number(res.DurationMs) + " ms"}, {"Status", strings.TrimSpace(res.StatusCode + " " + clip(res.StatusMessage, 300))},
			}}
			if res.AI = aiOf(sp, most); res.AI != nil {
				text.blocks = append(text.blocks, res.AI.block())
			}
			text.blocks = append(text.blocks, fields("Attributes", "The span has no attributes.", res.Attributes))
			for _, e := range sp.GetEvents() {
				event := spanEvent{clock(e.GetTimestamp().AsTime()), clip(e.GetName(), most), cut(e.GetAttributes())}
				res.Events = append(res.Events, event)
				text.blocks = append(text.blocks, fields("Event "+oneLine(event.Name)+" at "+event.Timestamp, "The event has no attributes.", event.Attributes))
			}
			text.blocks = append(text.blocks, fields("Resource", "The resource has no attributes.", res.ResourceAttributes))
			text.next = []suggestion{
				{"inspect_trace", map[string]any{"trace_id": res.TraceID}, "the trace around it"},
				{"search_logs", map[string]any{"trace_id": res.TraceID, "span_id": res.SpanID, "start_time": clock(sp.GetStartTime().AsTime().Add(-3600e9)), "end_time": clock(sp.GetStartTime().AsTime().Add(3600e9))}, "its log records"},
			}
			return &answer{data: res, text: text}, nil
		},
	})
}

// fields is a list of names and values; a value of several lines is a code block.
func fields(heading, empty string, m map[string]string) block {
	b := block{heading: heading, empty: empty}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if v := m[k]; strings.Contains(strings.TrimSpace(v), "\n") {
			b.rows = append(b.rows, fmt.Sprintf("- %s:\n```\n%s\n```", k, strings.ReplaceAll(v, "```", "'''")))
		} else {
			b.rows = append(b.rows, "- "+k+": "+oneLine(v))
		}
	}
	return b
}

func structValue(v any) *structpb.Value {
	out, err := structpb.NewValue(v)
	if err != nil { // callers give texts, numbers and flags
		return structpb.NewNullValue()
	}
	return out
}
