package telemetry

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// TraceReach is how far around their root spans the spans of traces are counted.
const TraceReach = limits.TraceReach

// TraceRows completes the traces of a list with data that only their spans have.
func TraceRows(ctx context.Context, s *tool.Clients, traces []*svcv2.TraceSummary) ([]TraceRow, error) {
	rows := make([]TraceRow, len(traces))
	if len(traces) == 0 {
		return rows, nil
	}
	req := &svcv2.SummarizeTracesRequest{}
	var first, last time.Time
	at := map[string]int{}
	for i, t := range traces {
		start := t.GetStartTime().AsTime()
		rows[i] = TraceRow{
			TraceID:         t.GetId(),
			RootSpanName:    wording.Clip(strings.TrimSpace(t.GetRootSpanName()), 300),
			RootServiceName: t.GetRootServiceName(),
			DurationMs:      t.GetDurationMs(),
			HasError:        t.GetRootHasError(),
			StatusCode:      t.GetRootStatusCode(),
			StartTime:       wording.Clock(start),
			Services:        []string{},
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
	if longest := limits.SearchWindow; last.Sub(first) > longest {
		last = first.Add(longest)
	}
	req.StartTime, req.EndTime = timestamppb.New(first.Add(-TraceReach)), timestamppb.New(last.Add(TraceReach))
	out, err := s.Traces.SummarizeTraces(ctx, req)
	if err != nil {
		return nil, err
	}
	for _, f := range out.GetData() {
		if i, ok := at[f.GetId()]; ok {
			rows[i].SpanCount, rows[i].ErrorCount, rows[i].Services, rows[i].ErrorMessage = f.GetSpanCount(), f.GetErrorCount(), tool.NonNil(
				f.GetServices(),
			), f.GetErrorMessage()
		}
	}
	return rows, nil
}

// TraceTable shows traces with their failures.
func TraceTable(heading, empty string, rows []TraceRow) tool.Block {
	var cells [][]string
	for _, r := range rows {
		failed := ""
		switch {
		case r.ErrorCount > 0:
			failed = fmt.Sprintf("%d failed", r.ErrorCount)
			if r.ErrorMessage != "" {
				failed += ": " + wording.Clip(wording.OneLine(r.ErrorMessage), 100)
			}
			if !r.HasError {
				failed += " (the root did not fail)"
			}
		case r.HasError:
			failed = "failed"
		}
		cells = append(
			cells,
			[]string{
				r.TraceID,
				r.StartTime,
				r.RootServiceName,
				wording.Clip(r.RootSpanName, 120),
				wording.Number(r.DurationMs),
				fmt.Sprint(r.SpanCount),
				fmt.Sprint(len(r.Services)),
				failed,
			},
		)
	}
	return tool.Table(heading, empty, []string{"Trace", "Start", "Service", "Root span", "ms", "Spans", "Services", "Errors"}, cells)
}
