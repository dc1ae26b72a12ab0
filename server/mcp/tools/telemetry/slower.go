package telemetry

import (
	"context"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// slowerOp is an operation that takes longer than before. What is always slow, a nightly job say, is none.
type slowerOp struct {
	ServiceName   string  `json:"serviceName"`
	SpanName      string  `json:"spanName"`
	P95Ms         float64 `json:"p95Ms"`
	PreviousP95Ms float64 `json:"previousP95Ms"`
	Count         float64 `json:"count"`
}

// slowerOperations compares the operations that find_slow_traces is about with the equally long time before: at least twice and 10 ms as much, of 5 spans or more.
func slowerOperations(ctx context.Context, s *tool.Clients, a *findSlowTracesArgs, w tool.TimeRange) ([]slowerOp, error) {
	var now, before map[[2]string]slowerOp
	err := tool.Parallel(
		func() (err error) { now, err = operationFigures(ctx, s, a, w); return err },
		func() (err error) {
			before, err = operationFigures(ctx, s, a, w.Before())
			return err
		},
	)
	if err != nil {
		return nil, err
	}
	const least, shown = 5, 5
	list := []slowerOp{}
	for key, op := range now {
		was, ok := before[key]
		if !ok || op.Count < least || was.Count < least || op.P95Ms < 2*was.P95Ms || op.P95Ms-was.P95Ms < 10 {
			continue
		}
		op.PreviousP95Ms = was.P95Ms
		list = append(list, op)
	}
	// Those that cost the most time more come first.
	more := func(o slowerOp) float64 { return (o.P95Ms - o.PreviousP95Ms) * o.Count }
	slices.SortFunc(list, func(x, y slowerOp) int {
		switch {
		case more(x) > more(y):
			return -1
		case more(x) < more(y):
			return 1
		}
		return 0
	})
	return list[:min(len(list), shown)], nil
}

// operationFigures are p95 and count of the busiest operations.
func operationFigures(ctx context.Context, s *tool.Clients, a *findSlowTracesArgs, w tool.TimeRange) (map[[2]string]slowerOp, error) {
	most := int32(100)
	req := &svcv2.QueryBreakdownRequest{StartTime: w.StartProto(), EndTime: w.EndProto()}
	for _, q := range [][2]string{{"n", "count"}, {"p95", "p95_duration"}} {
		req.Queries = append(req.Queries, &svcv2.QuerySpec{Name: q[0], Source: "traces", Aggregation: q[1], Filter: rootFilter(a), GroupBy: []string{"service.name", "span.name"}, Limit: &most})
	}
	out, err := s.Query.QueryBreakdown(ctx, req)
	if err != nil {
		return nil, err
	}
	rows := map[[2]string]slowerOp{}
	for _, r := range out.GetData() {
		if g, v := r.GetGroup(), r.GetValues(); !r.GetOther() && len(g) == 2 && len(v) == 2 {
			rows[[2]string{g[0], g[1]}] = slowerOp{ServiceName: g[0], SpanName: tool.Clip(g[1], 300), P95Ms: v[1].GetValue(), Count: v[0].GetValue()}
		}
	}
	return rows, nil
}

func slowerBlock(list []slowerOp) tool.Block {
	var cells [][]string
	for _, o := range list {
		cells = append(cells, []string{o.ServiceName, tool.Clip(o.SpanName, 120), tool.Number(o.P95Ms), tool.Number(o.PreviousP95Ms), tool.Number(o.Count)})
	}
	return tool.Table("Slower than in the time before", "No operation takes much longer than in the equally long time before: what is slow below always was.", []string{"Service", "Operation", "p95 ms", "before", "Spans"}, cells)
}
