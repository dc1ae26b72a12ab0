package diagnose

import (
	"cmp"
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
)

// busiestOperations is the number of operations of a period that are compared.
const busiestOperations = limits.ComparedOperations

// SlowerByMs is the least difference of the 95th percentiles that counts, in milliseconds.
const SlowerByMs = 10

type operation struct{ service, name string }

// Slower compares operations with the period of equal length before. An operation got slower if its 95th percentile is at least
// twice the earlier one and at least 10 ms more. An operation that is always slow, for example a nightly job, is not in the list.
func (e *Engine) Slower(ctx context.Context, p Period, s Scope) (*svcv2.SlowerOperationList, error) {
	var now, before map[operation]*svcv2.SlowerOperation
	var covered, coveredBefore coverage
	err := atonce.Run(
		func() (err error) { covered, err = e.coverage(ctx, p, s.Environment); return err },
		func() (err error) { coveredBefore, err = e.coverage(ctx, p.Before(), s.Environment); return err },
		func() (err error) { now, err = e.operationFigures(ctx, p, s); return err },
		func() (err error) { before, err = e.operationFigures(ctx, p.Before(), s); return err },
	)
	if err != nil {
		return nil, err
	}
	if coveredBefore.thin(covered) {
		return &svcv2.SlowerOperationList{Object: "list", PreviousIsThin: true}, nil
	}
	var list []*svcv2.SlowerOperation
	for key, op := range now {
		was, ok := before[key]
		if !ok || op.GetCount() < limits.SlowerSpans || was.GetCount() < limits.SlowerSpans || op.GetP95LatencyMs() < 2*was.GetP95LatencyMs() ||
			op.GetP95LatencyMs()-was.GetP95LatencyMs() < SlowerByMs {
			continue
		}
		op.PreviousP95LatencyMs = was.GetP95LatencyMs()
		list = append(list, op)
	}
	more := func(o *svcv2.SlowerOperation) float64 {
		return (o.GetP95LatencyMs() - o.GetPreviousP95LatencyMs()) * o.GetCount()
	}
	slices.SortFunc(list, func(x, y *svcv2.SlowerOperation) int {
		return cmp.Or(
			cmp.Compare(more(y), more(x)),
			cmp.Compare(x.GetServiceName(), y.GetServiceName()),
			cmp.Compare(x.GetSpanName(), y.GetSpanName()),
		)
	})
	return &svcv2.SlowerOperationList{Object: "list", Data: list[:min(len(list), limits.SlowerOperations)]}, nil
}

// operationFigures returns the 95th percentile and the count of the busiest operations.
func (e *Engine) operationFigures(ctx context.Context, p Period, s Scope) (map[operation]*svcv2.SlowerOperation, error) {
	req := &svcv2.QueryBreakdownRequest{StartTime: p.start(), EndTime: p.end()}
	for _, q := range [][2]string{{"n", "count"}, {"p95", "p95_duration"}} {
		req.Queries = append(req.Queries, &svcv2.QuerySpec{
			Name:        q[0],
			Source:      "traces",
			Aggregation: q[1],
			Filter:      s.Filter(),
			GroupBy:     []string{"service.name", "span.name"},
			Limit:       new(int32(busiestOperations)),
		})
	}
	out, err := e.read.Query.QueryBreakdown(ctx, req)
	if err != nil {
		return nil, err
	}
	rows := map[operation]*svcv2.SlowerOperation{}
	for _, r := range out.GetData() {
		if g, v := r.GetGroup(), r.GetValues(); !r.GetOther() && len(g) == 2 && len(v) == 2 {
			rows[operation{g[0], g[1]}] = &svcv2.SlowerOperation{
				ServiceName:  g[0],
				SpanName:     wording.Clip(g[1], 300),
				P95LatencyMs: v[1].GetValue(),
				Count:        v[0].GetValue(),
			}
		}
	}
	return rows, nil
}

// Filter selects the spans of the scope: all spans of its service, or the roots if it names no service. Most services never have a
// root.
func (s Scope) Filter() *svcv2.QueryFilter {
	f := &svcv2.QueryFilter{}
	add := func(field string, value *structpb.Value) {
		f.All = append(f.All, &svcv2.QueryFilter{Field: &field, Operator: new("="), Value: value})
	}
	if s.Service != nil {
		add("service.name", structpb.NewStringValue(*s.Service))
	} else {
		add("root_only", structpb.NewBoolValue(true))
	}
	if s.Environment != nil {
		add("deployment.environment", structpb.NewStringValue(*s.Environment))
	}
	return f
}
