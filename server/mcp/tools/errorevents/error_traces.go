package errorevents

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tools/telemetry"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/wording"
)

// errorTrace is a trace in which an error occurred. If its spans could not be read, the fields that only they have are left out.
type errorTrace struct {
	TraceID      string     `json:"traceId"`
	RootSpanName string     `json:"rootSpanName,omitempty"`
	DurationMs   *float64   `json:"durationMs,omitempty"`
	SpanCount    *int32     `json:"spanCount,omitempty"`
	Services     []string   `json:"services"`
	StartTime    string     `json:"startTime"`
	ErrorMessage string     `json:"errorMessage,omitempty"`
	ErrorSpan    *errorSpan `json:"errorSpan,omitempty"`
	Logs         []errorLog `json:"logs"`
}

type errorSpan struct {
	SpanID        string            `json:"spanId"`
	Name          string            `json:"name"`
	ServiceName   string            `json:"serviceName"`
	StatusMessage string            `json:"statusMessage"`
	Attributes    map[string]string `json:"attributes"`
}

type errorLog struct {
	Timestamp    string `json:"timestamp"`
	SeverityText string `json:"severityText"`
	Body         string `json:"body"`
}

// relatedError is another error, with the number of the traces in which it occurred.
type relatedError struct {
	FingerprintHash string `json:"fingerprintHash"`
	Label           string `json:"label"`
	ServiceName     string `json:"serviceName"`
	Traces          int    `json:"traces"`
}

const (
	tracesWithLogs = limits.ToolErrorTraces
	logsOfTrace    = limits.ToolErrorLogs
)

// completeError adds data about the traces from other methods: their root, their failed span and their logs. Each needs its own
// scope. A note names the parts that a missing scope leaves out.
func completeError(ctx context.Context, s *tool.Clients, out *svcv2.ErrorEventDetail, res *errorDetailResult, text *tool.Page) error {
	samples := out.GetSampleTraces()
	res.Traces = make([]errorTrace, len(samples))
	for i, t := range samples {
		res.Traces[i] = errorTrace{
			TraceID:      t.GetTraceId(),
			Services:     []string{t.GetServiceName()},
			StartTime:    wording.Clock(t.GetTimestamp().AsTime()),
			ErrorMessage: wording.Clip(t.GetExceptionMessage(), 1000),
			Logs:         []errorLog{},
			ErrorSpan: &errorSpan{
				SpanID:      t.GetSpanId(),
				Name:        wording.Clip(t.GetSpanName(), 300),
				ServiceName: t.GetServiceName(),
				Attributes:  map[string]string{},
			},
		}
	}
	p, ok := principal.From(ctx)
	may := func(family string) bool { return ok && p.Allows(family, false) }
	// Each part has its own note, so the parts can write their notes concurrently.
	var notes [2]string
	part := func(i int, family, what string, read func() error) func() error {
		return func() error {
			if len(samples) == 0 {
				return nil
			}
			if !may(family) {
				notes[i] = what + " left out: the credential does not have the scope " + family + ":read."
			} else if err := read(); err != nil {
				notes[i] = what + " left out: " + tool.FailureOf(&tool.Tool{}, err).Message
			}
			return nil
		}
	}
	err := atonce.Run(
		part(0, "traces", "Roots and attributes of the traces are", func() error { return addErrorSpans(ctx, s, samples, res.Traces) }),
		part(1, "logs", "The logs of the traces are", func() error { return addErrorLogs(ctx, s, samples, res.Traces) }),
	)
	for _, n := range notes {
		if n != "" {
			text.Notes = append(text.Notes, n)
		}
	}
	return err
}

// began is the approximate start of the span of an occurrence. Its exception lies between start and end.
func began(t *svcv2.ErrorEventSample) time.Time {
	return t.GetTimestamp().AsTime().Add(-time.Duration(t.GetDurationMs() * float64(time.Millisecond)))
}

// addErrorSpans reads the root and the failed span of each trace.
func addErrorSpans(ctx context.Context, s *tool.Clients, samples []*svcv2.ErrorEventSample, traces []errorTrace) error {
	found := make([]*svcv2.TraceSummary, len(samples))
	for from := 0; from < len(samples); from += 2 { // a few at a time, because an organization has a limited share of the warehouse
		var reads []func() error
		for i := from; i < min(from+2, len(samples)); i++ {
			reads = append(
				reads,
				func() (err error) {
					found[i], err = rootOf(ctx, s, samples[i])
					return err
				},
				func() error { return addErrorSpan(ctx, s, samples[i], traces[i].ErrorSpan) },
			)
		}
		if err := atonce.Run(reads...); err != nil {
			return err
		}
	}
	known := slices.DeleteFunc(slices.Clone(found), func(t *svcv2.TraceSummary) bool { return t == nil })
	var rows []telemetry.TraceRow
	for len(known) > 0 {
		n := together(known)
		some, err := telemetry.TraceRows(ctx, s, known[:n])
		if err != nil {
			return err
		}
		rows, known = append(rows, some...), known[n:]
	}
	for _, r := range rows {
		for i := range traces {
			t := &traces[i]
			if t.TraceID != r.TraceID {
				continue
			}
			t.RootSpanName, t.DurationMs, t.SpanCount, t.StartTime = r.RootSpanName, &r.DurationMs, &r.SpanCount, r.StartTime
			if len(r.Services) > 0 {
				t.Services = r.Services
			}
			if t.ErrorMessage == "" {
				t.ErrorMessage = r.ErrorMessage
			}
		}
	}
	return nil
}

// together is the number of first traces that lie close enough for one read to count their spans.
func together(traces []*svcv2.TraceSummary) int {
	const apart = limits.SearchWindow - 24*time.Hour
	n := 1
	for n < len(traces) && traces[0].GetStartTime().AsTime().Sub(traces[n].GetStartTime().AsTime()).Abs() < apart/2 {
		n++
	}
	return n
}

// rootOf is nil for a trace whose spans are no longer kept.
func rootOf(ctx context.Context, s *tool.Clients, t *svcv2.ErrorEventSample) (*svcv2.TraceSummary, error) {
	one, id := int32(1), t.GetTraceId()
	out, err := s.Traces.SearchTraces(ctx, &svcv2.SearchTracesRequest{
		StartTime: timestamppb.New(
			began(t).Add(-telemetry.TraceReach),
		),
		EndTime: timestamppb.New(t.GetTimestamp().AsTime().Add(telemetry.TraceReach)),
		Limit:   &one,
		Filters: &svcv2.TraceFilters{TraceId: &id},
	})
	if err != nil || len(out.GetData()) == 0 {
		return nil, err
	}
	return out.GetData()[0], nil
}

func addErrorSpan(ctx context.Context, s *tool.Clients, t *svcv2.ErrorEventSample, to *errorSpan) error {
	sp, err := s.Traces.GetSpan(
		ctx,
		&svcv2.GetSpanRequest{TraceId: t.GetTraceId(), SpanId: t.GetSpanId(), Timestamp: timestamppb.New(began(t))},
	)
	if err != nil {
		if tool.IsNotFound(err) {
			return nil // the error outlives its span
		}
		return err
	}
	to.StatusMessage = wording.Clip(sp.GetStatusMessage(), 1000)
	for k, v := range sp.GetAttributes() {
		to.Attributes[k] = wording.Clip(v, 1000)
	}
	return nil
}

// addErrorLogs reads the latest records of the first traces, from an hour before the failure to an hour after it.
func addErrorLogs(ctx context.Context, s *tool.Clients, samples []*svcv2.ErrorEventSample, traces []errorTrace) error {
	var reads []func() error
	for i, t := range samples[:min(tracesWithLogs, len(samples))] {
		reads = append(reads, func() error {
			at, id := t.GetTimestamp().AsTime(), t.GetTraceId()
			rows, _, err := tool.Collect(
				ctx,
				nil,
				0,
				logsOfTrace,
				telemetry.FetchLogs(s, tool.Period(at.Add(-time.Hour), at.Add(time.Hour)), &svcv2.LogFilters{TraceId: &id}),
			)
			for _, r := range rows {
				traces[i].Logs = append(
					traces[i].Logs,
					errorLog{wording.Clock(r.GetTimestamp().AsTime()), r.GetSeverityText(), wording.Clip(r.GetBody(), telemetry.MaxBodyText)},
				)
			}
			return err
		})
	}
	return atonce.Run(reads...)
}

// toRelated returns the other errors in the traces.
func toRelated(list []*svcv2.RelatedError) []relatedError {
	var rows []relatedError
	for _, r := range list {
		rows = append(
			rows,
			relatedError{r.GetFingerprintHash(), wording.Clip(r.GetErrorLabel(), 300), r.GetServiceName(), int(r.GetTracesCount())},
		)
	}
	return rows
}

func errorTraceTable(traces []errorTrace) tool.Block {
	var cells [][]string
	for _, t := range traces {
		lasted, spans := "", ""
		if t.DurationMs != nil {
			lasted, spans = wording.Number(*t.DurationMs), fmt.Sprint(*t.SpanCount)
		}
		e := t.ErrorSpan
		cells = append(
			cells,
			[]string{
				t.TraceID,
				t.StartTime,
				wording.Clip(t.RootSpanName, 120),
				lasted,
				spans,
				e.ServiceName + ": " + wording.Clip(e.Name, 120),
				e.SpanID,
				wording.Clip(t.ErrorMessage, 200),
			},
		)
	}
	return tool.Table(
		"Traces",
		"No trace of this error is stored.",
		[]string{"Trace", "Start", "Root span", "ms", "Spans", "Failed span", "Span", "Message"},
		cells,
	)
}

func errorLogTable(t errorTrace) tool.Block {
	var cells [][]string
	for _, l := range t.Logs {
		cells = append(cells, []string{l.Timestamp, l.SeverityText, wording.Clip(l.Body, 300)})
	}
	return tool.Table("Logs of trace "+t.TraceID, "", []string{"Time", "Severity", "Body"}, cells)
}
