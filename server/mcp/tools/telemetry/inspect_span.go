package telemetry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
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

type inspectSpanArgs struct {
	tool.Call
	TraceID string `required:"true" shape:"trace"`
	SpanID  string `required:"true" shape:"span"`
	tool.Timestamp
	PayloadChars int `doc:"Most characters of a value." default:"{DefaultSpanValue}" clamp:"{LeastSpanValue}..{SpanValue}"`
}

func newInspectSpan(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[spanResult](&tool.Tool{
		Name: "inspect_span", View: "/traces/{trace_id}?span={span_id}", Title: "Span",
		Description: "Read one whole span: attributes, events with stack traces, and the messages and payloads of model and tool calls.",
		Run: tool.With(func(ctx context.Context, a *inspectSpanArgs) (*tool.Answer, error) {
			req := &svcv2.GetSpanRequest{TraceId: a.TraceID, SpanId: a.SpanID, Timestamp: a.Timestamp.Proto()}
			sp, err := s.Traces.GetSpan(ctx, req)
			if err != nil && req.Timestamp != nil && tool.IsNotFound(err) {
				a.Note("The span does not begin within an hour of timestamp, so all times were searched.")
				req.Timestamp = nil
				sp, err = s.Traces.GetSpan(ctx, req)
			}
			if err != nil {
				return nil, err
			}
			most := a.PayloadChars
			cut := func(m map[string]string) map[string]string {
				out := map[string]string{}
				for k, v := range m {
					out[k] = wording.Clip(v, most)
				}
				return out
			}
			res := spanResult{
				TraceID:            sp.GetTraceId(),
				SpanID:             sp.GetId(),
				Found:              true,
				Timestamp:          wording.Clock(sp.GetStartTime().AsTime()),
				SpanName:           wording.Clip(sp.GetName(), most),
				ServiceName:        sp.GetServiceName(),
				DurationMs:         sp.GetDurationMs(),
				StatusCode:         sp.GetStatusCode(),
				StatusMessage:      wording.Clip(sp.GetStatusMessage(), most),
				Attributes:         cut(sp.GetAttributes()),
				ResourceAttributes: cut(sp.GetResourceAttributes()),
				Events:             []spanEvent{},
			}
			text := tool.Page{Scope: []tool.Pair{
				tool.Labeled(
					"Span",
					res.SpanName,
				),
				tool.Labeled("Service", res.ServiceName),
				tool.Labeled("Start", res.Timestamp),
				tool.Labeled("Duration", wording.Number(res.DurationMs)+" ms"),
				tool.Labeled("Status", strings.TrimSpace(res.StatusCode+" "+wording.Clip(res.StatusMessage, 300))),
			}}
			if res.AI = aiOf(sp, most); res.AI != nil {
				text.Blocks = append(text.Blocks, res.AI.block())
			}
			text.Blocks = append(text.Blocks, fields("Attributes", "The span has no attributes.", res.Attributes))
			for _, e := range sp.GetEvents() {
				event := spanEvent{wording.Clock(e.GetTimestamp().AsTime()), wording.Clip(e.GetName(), most), cut(e.GetAttributes())}
				res.Events = append(res.Events, event)
				text.Blocks = append(
					text.Blocks,
					fields("Event "+wording.OneLine(event.Name)+" at "+event.Timestamp, "The event has no attributes.", event.Attributes),
				)
			}
			text.Blocks = append(text.Blocks, fields("Resource", "The resource has no attributes.", res.ResourceAttributes))
			text.Next = []tool.Suggestion{
				tool.Next("inspect_trace", map[string]any{"trace_id": res.TraceID}, "the trace around it"),
				tool.Next(
					"search_logs",
					map[string]any{
						"trace_id":   res.TraceID,
						"span_id":    res.SpanID,
						"start_time": wording.Clock(sp.GetStartTime().AsTime().Add(-3600e9)),
						"end_time":   wording.Clock(sp.GetStartTime().AsTime().Add(3600e9)),
					},
					"its log records",
				),
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

// fields is a list of names and values. A value of several lines becomes a code block.
func fields(heading, empty string, m map[string]string) tool.Block {
	b := tool.Block{Heading: heading, Empty: empty}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if v := m[k]; strings.Contains(strings.TrimSpace(v), "\n") {
			b.Rows = append(b.Rows, fmt.Sprintf("- %s:\n```\n%s\n```", k, strings.ReplaceAll(v, "```", "'''")))
		} else {
			b.Rows = append(b.Rows, "- "+k+": "+wording.OneLine(v))
		}
	}
	return b
}
