package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// slowCandidates is the number of traces that are searched for the slowest.
const slowCandidates = 1000

type slowResult struct {
	TimeRange tool.TimeRange `json:"timeRange"`
	Stats     *slowStats     `json:"stats,omitempty"`
	Traces    []TraceRow     `json:"traces"`
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
	P50Ms float64 `json:"p50Ms"`
	P95Ms float64 `json:"p95Ms"`
	MinMs float64 `json:"minMs"`
	MaxMs float64 `json:"maxMs"`
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
	Service     *string `doc:"Exact name."`
	Environment *string
	Limit       int `default:"10" clamp:"1..100"`
}

func newFindSlowTraces(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[slowResult](&tool.Tool{
		Name:  "find_slow_traces",
		Title: "Slow traces",
		Description: "Find the slowest traces in at most " + limits.Lasts(
			limits.SearchWindow,
		) + ", the operations that got slower, and the spans on which the slowest trace spent its time (critical path, repeated calls).",
		Run: tool.With(func(ctx context.Context, a *findSlowTracesArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			var stats *slowStats
			var slower []slowerOp
			err = tool.Parallel(
				func() (err error) { stats, err = readStats(ctx, s, a, w); return err },
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
					slower = toSlower(list)
					return err
				},
			)
			if err != nil {
				return nil, err
			}
			res := slowResult{TimeRange: w, Stats: stats, Traces: []TraceRow{}, Slower: slower, Service: a.Service, Environment: a.Environment}
			text := tool.Page{Scope: a.Labels(w, &a.Service, &a.Environment)}
			if stats == nil {
				text.Blocks = []tool.Block{{Empty: "No trace began in this time range."}}
				text.Next = []tool.Suggestion{tool.Next("list_services", a.Again(w, nil, &a.Environment), "the services that sent spans")}
				return &tool.Answer{Data: res, Text: text}, nil
			}
			rows, err := slowest(ctx, s, a, w, stats)
			if err != nil {
				return nil, err
			}
			if res.Traces, err = TraceRows(ctx, s, rows); err != nil {
				return nil, err
			}
			text.Blocks = []tool.Block{
				{
					Heading: "Durations of root spans",
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
				slowerBlock(slower),
				TraceTable("Slowest", "No trace was found.", res.Traces),
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

// explainSlow says where one trace spent its time. It takes the slowest trace of the operation that got slower the most, because
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
	pick, of := slowest, "slowest"
	if len(res.Slower) > 0 {
		op := res.Slower[0]
		found, err := slowestOf(ctx, s, a, w, op)
		if err != nil {
			return err
		}
		if found != nil {
			pick, of = found, "slowest "+wording.Clip(wording.OneLine(op.SpanName), 120)
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

// slowestOf is the slowest of the latest traces in which the operation took at least its 95th percentile. It is nil if no such
// trace is kept.
func slowestOf(ctx context.Context, s *tool.Clients, a *findSlowTracesArgs, w tool.TimeRange, op slowerOp) (*svcv2.TraceSummary, error) {
	most := int32(100)
	out, err := s.Traces.SearchTraces(
		ctx,
		&svcv2.SearchTracesRequest{StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &most, Filters: &svcv2.TraceFilters{
			ServiceName: &op.ServiceName, SpanName: &op.SpanName, DeploymentEnvironment: a.Environment, MinDurationMs: &op.P95Ms,
		}},
	)
	if err != nil || len(out.GetData()) == 0 {
		return nil, err
	}
	return slices.MaxFunc(out.GetData(), func(x, y *svcv2.TraceSummary) int { return cmp.Compare(x.GetDurationMs(), y.GetDurationMs()) }), nil
}

func readStats(ctx context.Context, s *tool.Clients, a *findSlowTracesArgs, w tool.TimeRange) (*slowStats, error) {
	req := &svcv2.QueryBreakdownRequest{StartTime: w.StartProto(), EndTime: w.EndProto()}
	for _, q := range [][2]string{
		{"p50", "p50_duration"},
		{"p95", "p95_duration"},
		{"low", "min_duration"},
		{"high", "max_duration"},
		{"n", "count"},
	} {
		req.Queries = append(
			req.Queries,
			&svcv2.QuerySpec{
				Name:        q[0],
				Source:      "traces",
				Aggregation: q[1],
				Filter:      diagnose.Scope{Service: a.Service, Environment: a.Environment}.Filter(),
			},
		)
	}
	out, err := s.Query.QueryBreakdown(ctx, req)
	if err != nil {
		return nil, err
	}
	if len(out.GetData()) == 0 {
		return nil, nil
	}
	v := out.GetData()[0].GetValues()
	if len(v) < 5 || v[4].GetValue() == 0 {
		return nil, nil
	}
	return &slowStats{v[0].GetValue(), v[1].GetValue(), v[2].GetValue(), v[3].GetValue()}, nil
}

// slowest searches traces that are very slow. While it finds too few, it lowers the least duration.
func slowest(
	ctx context.Context,
	s *tool.Clients,
	a *findSlowTracesArgs,
	w tool.TimeRange,
	stats *slowStats,
) ([]*svcv2.TraceSummary, error) {
	limit := a.Limit
	var rows []*svcv2.TraceSummary
	for _, least := range []float64{stats.P95Ms + (stats.MaxMs-stats.P95Ms)/2, stats.P95Ms, stats.P50Ms, 0} {
		filters := &svcv2.TraceFilters{ServiceName: a.Service, DeploymentEnvironment: a.Environment, MinDurationMs: &least}
		if a.Service == nil {
			root := "root"
			filters.SpanScope = &root
		}
		var err error
		rows, _, err = tool.Collect(
			ctx,
			nil,
			0,
			slowCandidates,
			func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.TraceSummary, *string, error) {
				res, err := s.Traces.SearchTraces(
					ctx,
					&svcv2.SearchTracesRequest{StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &limit, Cursor: cursor, Filters: filters},
				)
				return res.GetData(), tool.NextCursor(res), err
			},
		)
		if err != nil {
			return nil, err
		}
		if len(rows) >= limit {
			break
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].GetDurationMs() > rows[j].GetDurationMs() })
	return rows[:min(len(rows), limit)], nil
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
