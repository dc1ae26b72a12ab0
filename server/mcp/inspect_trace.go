package mcp

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/principal"
)

const (
	logsFetched = 50
	logsShown   = 20
)

type traceResult struct {
	TraceID           string    `json:"traceId"`
	Timestamp         *string   `json:"timestamp,omitempty"`
	StartTime         string    `json:"startTime" jsonschema:"start of the earliest span, RFC 3339"`
	DurationMs        float64   `json:"durationMs" jsonschema:"from the first start to the last end"`
	RootDurationMs    float64   `json:"rootDurationMs" jsonschema:"duration of the root span, or of the earliest span when there is no root"`
	ServiceCount      int       `json:"serviceCount"`
	SpanCount         int       `json:"spanCount" jsonschema:"spans of the trace"`
	Spans             spanNodes `json:"spans" jsonschema:"the selected spans as a tree"`
	RenderedSpanCount int       `json:"renderedSpanCount" jsonschema:"spans in the tree"`
	TotalSpanCount    int       `json:"totalSpanCount" jsonschema:"spans that were read, at most the 5000 earliest"`
	Omitted           []omitted `json:"omitted" jsonschema:"spans that were left out, by parent"`
	Truncated         bool      `json:"truncated" jsonschema:"whether spans were left out"`
	ErrorsOnly        bool      `json:"errorsOnly"`
	Logs              []logRow  `json:"logs,omitzero" jsonschema:"latest log records of the trace; left out without the scope logs:read"`
}

type spanNode struct {
	SpanID             string            `json:"spanId"`
	ParentSpanID       string            `json:"parentSpanId" jsonschema:"empty for a root span"`
	SpanName           string            `json:"spanName"`
	ServiceName        string            `json:"serviceName"`
	SpanKind           string            `json:"spanKind"`
	StartTime          string            `json:"startTime"`
	DurationMs         float64           `json:"durationMs"`
	StatusCode         string            `json:"statusCode"`
	StatusMessage      string            `json:"statusMessage"`
	Attributes         map[string]string `json:"attributes"`
	ResourceAttributes map[string]string `json:"resourceAttributes"`
	Events             []spanEvent       `json:"events"`
	Links              []spanLink        `json:"links"`
	Children           spanNodes         `json:"children"`
}

type spanNodes []*spanNode

type spanEvent struct {
	Timestamp  string            `json:"timestamp"`
	Name       string            `json:"name"`
	Attributes map[string]string `json:"attributes"`
}

type spanLink struct {
	TraceID    string            `json:"traceId"`
	SpanID     string            `json:"spanId"`
	Attributes map[string]string `json:"attributes"`
}

type omitted struct {
	ParentSpanID    string  `json:"parentSpanId" jsonschema:"empty for the root level"`
	Count           int     `json:"count"`
	TotalDurationMs float64 `json:"totalDurationMs"`
}

func traceOutput() (*jsonschema.Schema, error) {
	defs := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[spanNodes](): {Type: "array", Items: &jsonschema.Schema{Ref: "#/$defs/span"}},
		// Telemetry without attributes has an empty object, never null.
		reflect.TypeFor[map[string]string](): {Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "string"}},
	}
	span, err := outputOf[spanNode](defs)
	if err != nil {
		return nil, err
	}
	output, err := outputOf[traceResult](defs)
	if err != nil {
		return nil, err
	}
	output.Defs = map[string]*jsonschema.Schema{"span": span}
	return output, nil
}

func newInspectTrace(s *Server) (*tool, error) {
	output, err := traceOutput()
	if err != nil {
		return nil, err
	}
	return &tool{
		name: "inspect_trace", title: "Trace",
		description: "Read one trace: its spans as a tree with attributes, events and links, and its log records. In a large trace the slowest, busiest and failed spans are kept and the rest is summed up; raise max_spans or set errors_only to see other parts.",
		params: []param{
			traceIDParam("", true), timestampParam(),
			{name: "errors_only", kind: kindFlag, description: "Only spans that failed, and the spans above them.", fallback: false},
			{name: "max_spans", kind: kindInteger, description: "How many spans to return.", minimum: num(1), maximum: num(300), clamped: true, fallback: 60},
		},
		output: output,
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			req := &svcv2.GetTraceRequest{TraceId: *a.text("trace_id"), Timestamp: a.moment("timestamp")}
			trace, err := s.clients.traces.GetTrace(ctx, req)
			if err != nil && req.Timestamp != nil && isNotFound(err) {
				a.note("Nothing of this trace begins within an hour of timestamp; it was looked for at all times.")
				req.Timestamp = nil
				trace, err = s.clients.traces.GetTrace(ctx, req)
			}
			if err != nil {
				return nil, err
			}
			res := inspect(trace, a.integer("max_spans"), a.values["errors_only"] == true)
			if req.Timestamp != nil {
				at := clock(req.Timestamp.AsTime())
				res.Timestamp = &at
			}
			text := page{}
			total, err := s.addLogs(ctx, trace, &res, &text)
			if err != nil {
				return nil, err
			}
			traceText(&res, &text, total)
			text.next = append(text.next, traceNext(trace, &res)...)
			return &answer{data: res, text: text}, nil
		},
	}, nil
}

// addLogs reads the records of the trace, from an hour before its first span to an hour after its last.
func (s *Server) addLogs(ctx context.Context, trace *svcv2.Trace, res *traceResult, text *page) (shown string, err error) {
	if p, ok := principal.From(ctx); !ok || !p.Allows("logs", false) {
		text.notes = append(text.notes, "The logs of the trace are left out: the credential does not have the scope logs:read.")
		return "", nil
	}
	w := timeRange{start: trace.GetStartTime().AsTime().Add(-time.Hour), end: trace.GetEndTime().AsTime().Add(time.Hour)}
	if w.end.Sub(w.start) > maxSearch {
		w.end = w.start.Add(maxSearch)
		text.notes = append(text.notes, "The trace is longer than 7 days: only logs of its first days were searched.")
	}
	id := trace.GetId()
	rows, more, err := collect(ctx, nil, 0, logsFetched, s.fetchLogs(w, &svcv2.LogFilters{TraceId: &id}))
	if err != nil {
		return "", err
	}
	found := fmt.Sprint(len(rows))
	if more {
		found = fmt.Sprintf("more than %d", len(rows))
	}
	res.Logs = []logRow{}
	for _, l := range rows[:min(len(rows), logsShown)] {
		res.Logs = append(res.Logs, toLogRow(l))
	}
	return fmt.Sprintf("Logs (%d of %s)", len(res.Logs), found), nil
}

// traceNext are calls that look closer: at the deepest failed span, else at the one that took the most time of its own.
func traceNext(trace *svcv2.Trace, res *traceResult) []suggestion {
	var next []suggestion
	var failed *svcv2.Span
	for _, sp := range trace.GetSpans() {
		if sp.GetStatusCode() == "Error" {
			failed = sp // they are in the order of their start: the last began in the others
		}
	}
	at := trace.GetStartTime().AsTime()
	service := ""
	if failed != nil {
		service = failed.GetServiceName()
		next = append(next, suggestion{"inspect_span", map[string]any{"trace_id": res.TraceID, "span_id": failed.GetId(), "timestamp": clock(failed.GetStartTime().AsTime())}, "the failed span that began last, whole: exception, stack trace, attributes"})
	} else if path := newSpanTree(trace.GetSpans()).criticalPath(1); len(path) > 0 {
		service = path[0].ServiceName
		next = append(next, suggestion{"inspect_span", map[string]any{"trace_id": res.TraceID, "span_id": path[0].SpanID}, fmt.Sprintf("the span with the most own time on the critical path (%s ms)", number(path[0].SelfMs))})
	}
	if service != "" {
		// The trace may be any of many, long after what changed: a period around it, not the time before it against that after.
		w := period(at.Add(-30*time.Minute), at.Add(30*time.Minute))
		next = append(next, suggestion{"diagnose_service", map[string]any{"service": service, "start_time": w.Start, "end_time": w.End}, "what was wrong in " + service + " around this trace"})
	}
	return next
}

func traceText(res *traceResult, text *page, logs string) {
	text.scope = []pair{
		{"Trace", res.TraceID},
		{"Start", res.StartTime},
		{"Duration", number(res.DurationMs) + " ms"},
		{"Spans", fmt.Sprint(res.SpanCount)},
		{"Services", fmt.Sprint(res.ServiceCount)},
	}
	if res.SpanCount > res.TotalSpanCount {
		text.notes = append(text.notes, fmt.Sprintf("The trace has %d spans; the %d earliest were read.", res.SpanCount, res.TotalSpanCount))
	}
	spans := block{heading: "Spans", empty: "No span of this trace failed."}
	below := map[string]omitted{}
	for _, o := range res.Omitted {
		below[o.ParentSpanID] = o
	}
	leftOut := func(parent string, depth int) {
		if o, ok := below[parent]; ok {
			spans.rows = append(spans.rows, fmt.Sprintf("%s- … %d spans left out, %s ms together", strings.Repeat("  ", depth), o.Count, number(o.TotalDurationMs)))
		}
	}
	var walk func(nodes spanNodes, depth int)
	walk = func(nodes spanNodes, depth int) {
		for _, n := range nodes {
			row := fmt.Sprintf("%s- %s: %s (%s, %s ms) `%s`", strings.Repeat("  ", min(depth, 40)), n.ServiceName, clip(oneLine(n.SpanName), 120), n.SpanKind, number(n.DurationMs), n.SpanID)
			if n.StatusCode == "Error" {
				row += " ERROR " + clip(oneLine(n.StatusMessage), 200)
			}
			spans.rows = append(spans.rows, row)
			walk(n.Children, depth+1)
			leftOut(n.SpanID, min(depth+1, 40))
		}
	}
	walk(res.Spans, 0)
	leftOut("", 0)
	text.blocks = []block{spans}
	if logs != "" {
		text.blocks = append(text.blocks, logTable(logs, "The trace has no log records.", res.Logs))
	}
	text.shown = fmt.Sprintf("Shown: %d of %d spans.", res.RenderedSpanCount, res.TotalSpanCount)
	if res.Truncated && res.RenderedSpanCount < 300 && !res.ErrorsOnly {
		text.next = append(text.next, suggestion{"inspect_trace", map[string]any{"trace_id": res.TraceID, "max_spans": 300}, "more spans of this trace"})
	}
}
