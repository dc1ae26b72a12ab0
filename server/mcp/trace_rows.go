package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// traceReach is how far around their root spans the spans of traces are counted.
const traceReach = time.Hour

// traceRows completes traces of a list with what only their spans know.
func (s *Server) traceRows(ctx context.Context, traces []*svcv2.TraceSummary) ([]traceRow, error) {
	rows := make([]traceRow, len(traces))
	if len(traces) == 0 {
		return rows, nil
	}
	req := &svcv2.SummarizeTracesRequest{}
	var first, last time.Time
	at := map[string]int{}
	for i, t := range traces {
		start := t.GetStartTime().AsTime()
		rows[i] = traceRow{
			TraceID: t.GetId(), RootSpanName: clip(strings.TrimSpace(t.GetRootSpanName()), 300), RootServiceName: t.GetRootServiceName(), DurationMs: t.GetDurationMs(), HasError: t.GetRootHasError(), StatusCode: t.GetRootStatusCode(),
			StartTime: clock(start), Services: []string{},
		}
		at[t.GetId()] = i
		req.TraceIds = append(req.TraceIds, t.GetId())
		end := start.Add(time.Duration(t.GetDurationMs() * float64(time.Millisecond)))
		if first.IsZero() || start.Before(first) {
			first = start
		}
		if end.After(last) {
			last = end
		}
	}
	if longest := maxSearch; last.Sub(first) > longest {
		last = first.Add(longest)
	}
	req.StartTime, req.EndTime = timestamppb.New(first.Add(-traceReach)), timestamppb.New(last.Add(traceReach))
	out, err := s.clients.traces.SummarizeTraces(ctx, req)
	if err != nil {
		return nil, err
	}
	for _, f := range out.GetData() {
		if i, ok := at[f.GetId()]; ok {
			rows[i].SpanCount, rows[i].ErrorCount, rows[i].Services, rows[i].ErrorMessage = f.GetSpanCount(), f.GetErrorCount(), listOf(f.GetServices()), f.GetErrorMessage()
		}
	}
	return rows, nil
}

// traceTable shows traces, with what failed in them.
func traceTable(heading, empty string, rows []traceRow) block {
	var cells [][]string
	for _, r := range rows {
		failed := ""
		switch {
		case r.ErrorCount > 0:
			failed = fmt.Sprintf("%d failed", r.ErrorCount)
			if r.ErrorMessage != "" {
				failed += ": " + clip(oneLine(r.ErrorMessage), 100)
			}
			if !r.HasError {
				failed += " (the root did not fail)"
			}
		case r.HasError:
			failed = "failed"
		}
		cells = append(cells, []string{r.TraceID, r.StartTime, r.RootServiceName, clip(r.RootSpanName, 120), number(r.DurationMs), fmt.Sprint(r.SpanCount), fmt.Sprint(len(r.Services)), failed})
	}
	return table(heading, empty, []string{"Trace", "Start", "Service", "Root span", "ms", "Spans", "Services", "Errors"}, cells)
}
