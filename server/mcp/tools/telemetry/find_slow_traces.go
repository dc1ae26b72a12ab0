package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

const (
	// slowOperations is the number of operations whose slowest traces are searched.
	slowOperations = limits.ToolSlowOperations
	// slowCandidates is the number of traces from which a list that these do not fill is completed.
	slowCandidates = 1000
)

type slowResult struct {
	TimeRange tool.TimeRange `json:"timeRange"`
	Stats     *slowStats     `json:"stats,omitempty"`
	// Operations are those that Stats counts, the slowest first.
	Operations []slowOperation `json:"operations"`
	Traces     []TraceRow      `json:"traces"`
	// ExplainedTraceID is the trace that CriticalPath and Repeated describe.
	ExplainedTraceID string       `json:"explainedTraceId,omitempty"`
	CriticalPath     []pathStep   `json:"criticalPath,omitempty"`
	Repeated         []repeatedOp `json:"repeated,omitempty"`
	// Slower lists the root operations, or those of the service, that take much longer than in the period of equal length before.
	Slower      []slowerOp `json:"slower"`
	Service     *string    `json:"service,omitempty"`
	Environment *string    `json:"environment,omitempty"`
}

type slowStats struct {
	// Spans are the spans that the figures count: root spans, or the entry spans of a service. A service without entry spans has all of
	// its spans here.
	Spans string  `json:"spans"`
	P50Ms float64 `json:"p50Ms"`
	P95Ms float64 `json:"p95Ms"`
	MinMs float64 `json:"minMs"`
	MaxMs float64 `json:"maxMs"`
}

type slowOperation struct {
	ServiceName string  `json:"serviceName"`
	SpanName    string  `json:"spanName"`
	Count       float64 `json:"count"`
	P50Ms       float64 `json:"p50Ms"`
	P95Ms       float64 `json:"p95Ms"`
	MaxMs       float64 `json:"maxMs"`
}

type pathStep struct {
	SpanID      string  `json:"spanId"`
	ServiceName string  `json:"serviceName"`
	SpanName    string  `json:"spanName"`
	SelfMs      float64 `json:"selfMs"`
}

type repeatedOp struct {
	ServiceName string  `json:"serviceName"`
	SpanName    string  `json:"spanName"`
	Count       int     `json:"count"`
	TotalMs     float64 `json:"totalMs"`
}

type findSlowTracesArgs struct {
	tool.Window
	Service     *string
	Environment *string
	Limit       int `default:"{DefaultToolTraces}" clamp:"1..{ToolTraces}"`
}

func newFindSlowTraces(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[slowResult](&tool.Tool{
		Name: "find_slow_traces", View: "/traces?q:service.name = {service}",
		Title: "Slow traces",
		Description: "Find the slowest traces in at most " + limits.Lasts(limits.SearchWindow) +
			" by operation, the operations that got slower, and the spans on which a typical slow trace spent its time (critical path, " +
			"repeated calls).",
		Run: tool.With(func(ctx context.Context, a *findSlowTracesArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			var stats *slowStats
			var operations []slowOperation
			var slower []slowerOp
			thin := false
			var notes []string
			err = atonce.Run(
				func() (err error) { notes, err = tool.ReadMixed(ctx, s, w, a.Service, a.Environment); return err },
				func() (err error) { stats, operations, err = readStats(ctx, s, a, w); return err },
				func() error {
					list, err := s.Diagnosis.SearchSlowerOperations(
						ctx,
						&svcv2.SearchSlowerOperationsRequest{
							StartTime:             w.StartProto(),
							EndTime:               w.EndProto(),
							ServiceName:           a.Service,
							DeploymentEnvironment: a.Environment,
						},
					)
					slower, thin = toSlower(list), list.GetPreviousIsThin()
					return err
				},
			)
			if err != nil {
				return nil, err
			}
			res := slowResult{
				TimeRange: w, Stats: stats, Operations: tool.NonNil(operations), Traces: []TraceRow{}, Slower: slower,
				Service: a.Service, Environment: a.Environment,
			}
			text := tool.Page{Scope: a.Labels(w, &a.Service, &a.Environment), Notes: notes}
			if stats == nil {
				text.Blocks = []tool.Block{{Empty: "No trace began in this time range."}}
				text.Next = []tool.Suggestion{tool.Next("list_services", a.Again(w, nil, &a.Environment), "the services that sent spans")}
				return &tool.Answer{Data: res, Text: text}, nil
			}
			text.Scope = append(text.Scope, tool.Estimated(stats.Spans))
			rows, err := slowest(ctx, s, a, w, stats, operations)
			if err != nil {
				return nil, err
			}
			if res.Traces, err = TraceRows(ctx, s, rows); err != nil {
				return nil, err
			}
			text.Blocks = []tool.Block{
				{
					Heading: "Durations of " + stats.Spans,
					Rows: []string{
						fmt.Sprintf(
							"- p50 %s ms, p95 %s ms, shortest %s ms, longest %s ms",
							wording.Number(stats.P50Ms),
							wording.Number(stats.P95Ms),
							wording.Number(stats.MinMs),
							wording.Number(stats.MaxMs),
						),
					},
				},
				operationBlock(operations),
				slowerBlock(slower, thin),
				TraceTable("Slow traces of the operations with the longest durations", "No trace was found.", res.Traces),
			}
			if len(slower) > 0 {
				text.Next = append(
					text.Next,
					tool.Next(
						"compare_periods",
						tool.Compared(w, a.Service, a.Environment),
						"causes of slower operations: release, dependency, error or log pattern",
					),
				)
			}
			if len(rows) > 0 {
				if err := explainSlow(ctx, s, a, w, rows[0], &res, &text); err != nil {
					return nil, err
				}
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

// explainSlow says where one trace spent its time. It takes a typical slow trace of the operation that got slower the most, because
// people seldom ask about an operation that is always slow, such as a nightly job. Otherwise it takes the slowest trace of all.
func explainSlow(
	ctx context.Context,
	s *tool.Clients,
	a *findSlowTracesArgs,
	w tool.TimeRange,
	slowest *svcv2.TraceSummary,
	res *slowResult,
	text *tool.Page,
) error {
	pick, of := slowest, "slowest trace"
	if len(res.Slower) > 0 {
		op := res.Slower[0]
		found, err := typicalOf(ctx, s, a, w, op)
		if err != nil {
			return err
		}
		if found != nil {
			pick, of = found, "typical slow trace of "+wording.Clip(wording.OneLine(op.SpanName), 120)
		}
	}
	path, err := s.Diagnosis.GetTraceCriticalPath(
		ctx,
		&svcv2.GetTraceCriticalPathRequest{TraceId: pick.GetId(), Timestamp: pick.GetStartTime()},
	)
	if err != nil {
		return err
	}
	res.ExplainedTraceID = pick.GetId()
	for _, step := range path.GetSteps() {
		res.CriticalPath = append(res.CriticalPath, pathStep{step.GetSpanId(), step.GetServiceName(), step.GetSpanName(), step.GetSelfMs()})
	}
	for _, o := range path.GetRepeatedOperations() {
		res.Repeated = append(res.Repeated, repeatedOp{o.GetServiceName(), o.GetSpanName(), int(o.GetCount()), o.GetTotalMs()})
	}
	text.Blocks = append(
		text.Blocks,
		pathBlock(
			"Critical path of the "+of+" ("+pick.GetId()+", "+wording.Number(path.GetDurationMs())+" ms), by own time",
			res.CriticalPath,
			path.GetDurationMs(),
		),
	)
	if len(res.Repeated) > 0 {
		text.Blocks = append(text.Blocks, repeatedBlock(res.Repeated))
	}
	text.Next = append(text.Next, tool.Next("inspect_trace", map[string]any{"trace_id": pick.GetId()}, "the "+of+" in full"))
	if len(res.CriticalPath) > 0 {
		service := res.CriticalPath[0].ServiceName
		text.Next = append(
			text.Next,
			tool.Next(
				"get_service_top_operations",
				a.Again(w, map[string]any{"service": service, "metric": "p95_duration"}, &a.Environment),
				"slow operations of the service in which that trace spent most of its time",
			),
			tool.Next("diagnose_service", a.Again(w, map[string]any{"service": service}, &a.Environment), "changes in that service"),
		)
	}
	return nil
}

// typicalOf is the median by duration of the latest traces in which the operation took clearly longer than before. It is nil if no such
// trace is kept.
func typicalOf(ctx context.Context, s *tool.Clients, a *findSlowTracesArgs, w tool.TimeRange, op slowerOp) (*svcv2.TraceSummary, error) {
	most, least := int32(100), (op.PreviousP95Ms+op.P95Ms)/2
	out, err := s.Traces.SearchTraces(
		ctx,
		&svcv2.SearchTracesRequest{StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &most, Filters: &svcv2.TraceFilters{
			ServiceName: &op.ServiceName, SpanName: &op.SpanName, DeploymentEnvironment: a.Environment, MinDurationMs: &least,
		}},
	)
	list := out.GetData()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	slices.SortFunc(list, byDuration)
	return list[len(list)/2], nil
}

// byDuration sorts the slowest trace first.
func byDuration(x, y *svcv2.TraceSummary) int {
	return cmp.Compare(y.GetDurationMs(), x.GetDurationMs())
}

func pathBlock(heading string, path []pathStep, whole float64) tool.Block {
	var cells [][]string
	for _, p := range path {
		cells = append(
			cells,
			[]string{
				p.ServiceName,
				wording.Clip(p.SpanName, 120),
				wording.Number(p.SelfMs),
				wording.Percent(p.SelfMs / max(whole, 0.001)),
				p.SpanID,
			},
		)
	}
	return tool.Table(heading, "The slowest trace has no spans.", []string{"Service", "Span", "Own ms", "Share", "Span id"}, cells)
}

func repeatedBlock(list []repeatedOp) tool.Block {
	b := tool.Block{Heading: "Repeated under one span"}
	for _, r := range list {
		b.Rows = append(
			b.Rows,
			fmt.Sprintf(
				"- %s: %s, %d times, %s ms together",
				r.ServiceName,
				wording.Clip(wording.OneLine(r.SpanName), 200),
				r.Count,
				wording.Number(r.TotalMs),
			),
		)
	}
	return b
}
