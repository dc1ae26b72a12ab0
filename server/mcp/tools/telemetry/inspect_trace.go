package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/wording"
)

const (
	logsFetched = limits.ToolTraceLogsRead
	logsShown   = limits.ToolTraceLogs
)

type traceResult struct {
	TraceID           string    `json:"traceId"`
	Timestamp         *string   `json:"timestamp,omitempty"`
	StartTime         string    `json:"startTime"`
	DurationMs        float64   `json:"durationMs"`
	RootDurationMs    float64   `json:"rootDurationMs"`
	ServiceCount      int       `json:"serviceCount"`
	SpanCount         int       `json:"spanCount"`
	Spans             spanNodes `json:"spans"`
	RenderedSpanCount int       `json:"renderedSpanCount"`
	TotalSpanCount    int       `json:"totalSpanCount"`
	Omitted           []omitted `json:"omitted"`
	Truncated         bool      `json:"truncated"`
	ErrorsOnly        bool      `json:"errorsOnly"`
	Logs              []LogRow  `json:"logs,omitzero"`
	// Repeated are operations that ran many times under one span.
	Repeated []repeatedOp `json:"repeated,omitempty"`
}

type spanNode struct {
	SpanID       string `json:"spanId"`
	ParentSpanID string `json:"parentSpanId"`
	SpanName     string `json:"spanName"`
	ServiceName  string `json:"serviceName"`
	SpanKind     string `json:"spanKind"`
	StartTime    string `json:"startTime" detail:"full"`
	// StartOffsetMs is the time from the start of the trace. SelfMs is the time in which no child of the span ran. OnCriticalPath tells
	// whether the trace waited for it.
	StartOffsetMs  float64           `json:"startOffsetMs"`
	DurationMs     float64           `json:"durationMs"`
	SelfMs         float64           `json:"selfMs"`
	OnCriticalPath bool              `json:"onCriticalPath"`
	StatusCode     string            `json:"statusCode"`
	StatusMessage  string            `json:"statusMessage"`
	Attributes     map[string]string `json:"attributes" detail:"full"`
	// ResourceAttributes are empty if an earlier span of the answer has the same ones and the same service.
	ResourceAttributes map[string]string `json:"resourceAttributes" detail:"full"`
	Events             []spanEvent       `json:"events,omitempty" detail:"full"`
	Links              []spanLink        `json:"links,omitempty" detail:"full"`
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
	ParentSpanID    string  `json:"parentSpanId"`
	Count           int     `json:"count"`
	TotalDurationMs float64 `json:"totalDurationMs"`
}

func traceOutput() (*jsonschema.Schema, error) {
	defs := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[spanNodes](): {Type: "array", Items: &jsonschema.Schema{Type: "object"}}, // spans within spans
		// Telemetry without attributes has an empty object, never null.
		reflect.TypeFor[map[string]string](): {Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "string"}},
	}
	span, err := tool.OutputOf[spanNode](defs)
	if err != nil {
		return nil, err
	}
	output, err := tool.OutputOf[traceResult](defs)
	if err != nil {
		return nil, err
	}
	output.Properties["spans"].Items = tool.OnlyNames(span)
	return tool.OnlyNames(output), nil
}

type inspectTraceArgs struct {
	tool.Call
	TraceID string `required:"true" shape:"trace"`
	tool.Timestamp
	ErrorsOnly bool `doc:"Only failed spans and their ancestors." default:"false"`
	MaxSpans   int  `doc:"Most spans to return." default:"{DefaultToolSpans}" clamp:"1..{ToolTraceSpans}"`
}

func newInspectTrace(s *tool.Clients) (*tool.Tool, error) {
	output, err := traceOutput()
	if err != nil {
		return nil, err
	}
	return tool.Define[traceResult](&tool.Tool{
		Name: "inspect_trace", View: "/traces/{trace_id}",
		Title: "Trace",
		Description: "Read one trace: its spans as a tree, and its log records; detail=full adds attributes, events and links. Of a large " +
			"trace it returns the slowest, busiest and failed spans, and sums up the others. Raise max_spans or set errors_only to see other spans.",
		Output: output,
		Run: tool.With(func(ctx context.Context, a *inspectTraceArgs) (*tool.Answer, error) {
			req := &svcv2.GetTraceRequest{TraceId: a.TraceID, Timestamp: a.Timestamp.Proto()}
			trace, err := s.Traces.GetTrace(ctx, req)
			if err != nil && req.Timestamp != nil && tool.IsNotFound(err) {
				a.Note("No span of this trace begins within an hour of timestamp, so all times were searched.")
				req.Timestamp = nil
				trace, err = s.Traces.GetTrace(ctx, req)
			}
			if err != nil {
				return nil, err
			}
			res := inspect(trace, a.MaxSpans, a.ErrorsOnly)
			if req.Timestamp != nil {
				at := wording.Clock(req.Timestamp.AsTime())
				res.Timestamp = &at
			}
			text := tool.Page{}
			total, err := addLogs(ctx, s, trace, &res, &text)
			if err != nil {
				return nil, err
			}
			traceText(&res, &text, total)
			if res.Truncated && res.RenderedSpanCount < limits.ToolTraceSpans && !res.ErrorsOnly {
				again := a.Chosen(&a.TraceID)
				again[a.NameOf(&a.MaxSpans)] = limits.ToolTraceSpans
				text.Next = append(text.Next, tool.Next("inspect_trace", again, "more spans of this trace"))
			}
			text.Next = append(text.Next, traceNext(trace, &res)...)
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

// addLogs reads the records of the trace, from an hour before its first span to an hour after its last.
func addLogs(ctx context.Context, s *tool.Clients, trace *svcv2.Trace, res *traceResult, text *tool.Page) (shown string, err error) {
	if p, ok := principal.From(ctx); !ok || !p.Allows("logs", false) {
		text.Notes = append(text.Notes, "The logs of the trace are left out: the credential does not have the scope logs:read.")
		return "", nil
	}
	w := tool.TimeRange{From: trace.GetStartTime().AsTime().Add(-time.Hour), To: trace.GetEndTime().AsTime().Add(time.Hour)}
	if w.Length() > limits.SearchWindow {
		w.To = w.From.Add(limits.SearchWindow)
		text.Notes = append(
			text.Notes,
			"The trace is longer than "+limits.Lasts(limits.SearchWindow)+", so only its first days were searched for logs.",
		)
	}
	id := trace.GetId()
	rows, more, err := tool.Collect(ctx, nil, 0, logsFetched, FetchLogs(s, w, &svcv2.LogFilters{TraceId: &id}))
	if err != nil {
		return "", err
	}
	found := fmt.Sprint(len(rows))
	if more {
		found = fmt.Sprintf("more than %d", len(rows))
	}
	res.Logs = []LogRow{}
	// Records for debugging come last, since they seldom tell why a request failed or was slow.
	slices.SortStableFunc(rows, func(x, y *svcv2.Log) int { return cmp.Compare(debugging(x), debugging(y)) })
	rows = rows[:min(len(rows), logsShown)]
	slices.SortFunc(rows, func(x, y *svcv2.Log) int { return y.GetTimestamp().AsTime().Compare(x.GetTimestamp().AsTime()) })
	for _, l := range rows {
		res.Logs = append(res.Logs, ToLogRow(l))
	}
	return fmt.Sprintf("Logs (%d of %s)", len(res.Logs), found), nil
}

// debugging is 1 for records below INFO.
func debugging(l *svcv2.Log) int {
	if n := l.GetSeverityNumber(); n > 0 && n < 9 {
		return 1
	}
	return 0
}

// traceNext suggests calls that look closer: at the deepest failed span, or else at the span that took the most time of its own.
func traceNext(trace *svcv2.Trace, res *traceResult) []tool.Suggestion {
	var next []tool.Suggestion
	var failed *svcv2.Span
	for _, sp := range trace.GetSpans() {
		if sp.GetStatusCode() == "Error" {
			failed = sp // spans are in the order of their start, so the last failed one began inside the others
		}
	}
	at := trace.GetStartTime().AsTime()
	service := ""
	if failed != nil {
		service = failed.GetServiceName()
		next = append(
			next,
			tool.Next(
				"inspect_span",
				map[string]any{"trace_id": res.TraceID, "span_id": failed.GetId(), "timestamp": wording.Clock(failed.GetStartTime().AsTime())},
				"the last failed span: exception, stack trace, attributes",
			),
		)
	} else if path := diagnose.NewSpanTree(trace.GetSpans()).CriticalPath(1); len(path) > 0 {
		service = path[0].GetServiceName()
		next = append(
			next,
			tool.Next(
				"inspect_span",
				map[string]any{"trace_id": res.TraceID, "span_id": path[0].GetSpanId()},
				fmt.Sprintf("the span with the most own time on the critical path (%s ms)", wording.Number(path[0].GetSelfMs())),
			),
		)
	}
	if service != "" {
		// The trace may be one of many, long after the change. So look at a period around it and do not compare the times before
		// and after it.
		w := tool.Period(at.Add(-30*time.Minute), at.Add(30*time.Minute))
		next = append(
			next,
			tool.Next(
				"diagnose_service",
				map[string]any{"service": service, "start_time": w.Start, "end_time": w.End},
				"problems of "+service+" around the time of this trace",
			),
		)
	}
	return next
}

// callee is the address that a client span called, after a space, or nothing if the span does not have it.
func callee(n *spanNode) string {
	if n.SpanKind != "Client" && n.SpanKind != "Producer" {
		return ""
	}
	for _, key := range []string{"url.full", "http.url", "server.address", "net.peer.name", "messaging.destination.name", "peer.service"} {
		if v := n.Attributes[key]; v != "" {
			return " → " + wording.Clip(wording.OneLine(v), 200)
		}
	}
	return ""
}

func traceText(res *traceResult, text *tool.Page, logs string) {
	text.Scope = []tool.Pair{
		tool.Labeled("Trace", res.TraceID),
		tool.Labeled("Start", res.StartTime),
		tool.Labeled("Duration", wording.Number(res.DurationMs)+" ms"),
		tool.Labeled("Spans", fmt.Sprint(res.SpanCount)),
		tool.Labeled("Services", fmt.Sprint(res.ServiceCount)),
	}
	if res.SpanCount > res.TotalSpanCount {
		text.Notes = append(text.Notes, fmt.Sprintf("The trace has %d spans. Only the earliest %d were read.", res.SpanCount, res.TotalSpanCount))
	}
	spans := tool.Block{Heading: "Spans", Empty: "No span of this trace failed."}
	below := map[string]omitted{}
	for _, o := range res.Omitted {
		below[o.ParentSpanID] = o
	}
	leftOut := func(parent string, depth int) {
		if o, ok := below[parent]; ok {
			spans.Rows = append(
				spans.Rows,
				fmt.Sprintf("%s- … %d spans left out, %s ms together", strings.Repeat("  ", depth), o.Count, wording.Number(o.TotalDurationMs)),
			)
		}
	}
	var walk func(nodes spanNodes, depth int)
	walk = func(nodes spanNodes, depth int) {
		for _, n := range nodes {
			facts := []string{n.SpanKind, wording.Number(n.DurationMs) + " ms"}
			if len(n.Children) > 0 {
				facts = append(facts, "own "+wording.Number(n.SelfMs)+" ms")
			}
			facts = append(facts, "at "+wording.Number(n.StartOffsetMs)+" ms")
			if n.OnCriticalPath {
				facts = append(facts, "critical path")
			}
			row := fmt.Sprintf(
				"%s- %s: %s%s (%s) `%s`",
				strings.Repeat("  ", min(depth, 40)),
				n.ServiceName,
				wording.Clip(wording.OneLine(n.SpanName), 120),
				callee(n),
				strings.Join(facts, ", "),
				n.SpanID,
			)
			if n.StatusCode == "Error" {
				row += " ERROR " + wording.Clip(wording.OneLine(n.StatusMessage), 200)
			}
			spans.Rows = append(spans.Rows, row)
			walk(n.Children, depth+1)
			leftOut(n.SpanID, min(depth+1, 40))
		}
	}
	walk(res.Spans, 0)
	leftOut("", 0)
	if len(res.Repeated) > 0 {
		text.Blocks = append(text.Blocks, repeatedBlock(res.Repeated))
	}
	text.Blocks = append([]tool.Block{spans}, text.Blocks...)
	if logs != "" {
		text.Blocks = append(text.Blocks, LogTable(logs, "The trace has no log records.", res.Logs))
	}
	text.Shown = fmt.Sprintf("Shown: %d of %d spans.", res.RenderedSpanCount, res.TotalSpanCount)
}
