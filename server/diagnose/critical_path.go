package diagnose

import (
	"context"
	"slices"
	"sort"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
)

// CriticalPath returns the spans on which a trace waited. begun is the approximate start of the trace; with the zero time all
// times are searched.
func (e *Engine) CriticalPath(ctx context.Context, trace string, begun time.Time) (*svcv2.TraceCriticalPath, error) {
	req := &svcv2.GetTraceRequest{TraceId: trace}
	if !begun.IsZero() {
		req.Timestamp = timestamppb.New(begun)
	}
	t, err := e.read.Traces.GetTrace(ctx, req)
	if err != nil {
		return nil, err
	}
	tree := NewSpanTree(t.GetSpans())
	return &svcv2.TraceCriticalPath{
		Object:             "trace_critical_path",
		TraceId:            t.GetId(),
		DurationMs:         t.GetDurationMs(),
		Steps:              tree.CriticalPath(limits.PathSpans),
		RepeatedOperations: tree.Repeated(limits.RepeatedOperations),
		Truncated:          t.GetTruncated(),
	}, nil
}

// CriticalPath starts at the longest root. At each span it follows the children that kept the span waiting: going back from the
// span's end, it takes the child that ended last before that point. It returns the spans with the most time of their own on that
// path.
func (t *SpanTree) CriticalPath(most int) []*svcv2.CriticalStep {
	root := -1
	for i, p := range t.Parent {
		if p < 0 && (root < 0 || t.Spans[i].GetDurationMs() > t.Spans[root].GetDurationMs()) {
			root = i
		}
	}
	if root < 0 {
		return nil
	}
	start := func(i int) float64 {
		return float64(t.Spans[i].GetStartTime().AsTime().Sub(t.Spans[root].GetStartTime().AsTime()).Nanoseconds()) / 1e6
	}
	self := map[int]float64{}
	// A child whose clock is ahead may begin before its parent. Only its time within the parent is on the path.
	var walk func(i int, begin, until float64)
	walk = func(i int, begin, until float64) {
		kids := slices.Clone(t.children[i])
		sort.Slice(kids, func(a, b int) bool {
			return start(kids[a])+t.Spans[kids[a]].GetDurationMs() > start(kids[b])+t.Spans[kids[b]].GetDurationMs()
		})
		at := until
		for _, k := range kids {
			ks := max(start(k), begin)
			ke := min(start(k)+t.Spans[k].GetDurationMs(), at)
			if ke <= ks {
				continue // it ran beside another child, or after the one that waited for it
			}
			self[i] += at - ke
			walk(k, ks, ke)
			at = ks
		}
		self[i] += max(at-begin, 0)
	}
	walk(root, 0, t.Spans[root].GetDurationMs())
	order := make([]int, 0, len(self))
	for i, ms := range self {
		if ms > 0 {
			order = append(order, i)
		}
	}
	sort.Slice(order, func(a, b int) bool {
		if self[order[a]] != self[order[b]] {
			return self[order[a]] > self[order[b]]
		}
		return order[a] < order[b]
	})
	var steps []*svcv2.CriticalStep
	for _, i := range order[:min(len(order), most)] {
		sp := t.Spans[i]
		steps = append(
			steps,
			&svcv2.CriticalStep{SpanId: sp.GetId(), ServiceName: sp.GetServiceName(), SpanName: wording.Clip(sp.GetName(), 300), SelfMs: self[i]},
		)
	}
	return steps
}

// Repeated returns operations that run many times under one parent, for example a query in a loop.
func (t *SpanTree) Repeated(most int) []*svcv2.RepeatedOperation {
	type key struct {
		parent        int
		service, name string
	}
	sums := map[key]*svcv2.RepeatedOperation{}
	for i, s := range t.Spans {
		k := key{t.Parent[i], s.GetServiceName(), s.GetName()}
		if sums[k] == nil {
			sums[k] = &svcv2.RepeatedOperation{ServiceName: k.service, SpanName: wording.Clip(k.name, 300)}
		}
		sums[k].Count++
		sums[k].TotalMs += s.GetDurationMs()
	}
	var list []*svcv2.RepeatedOperation
	for k, r := range sums {
		if r.Count >= limits.RepeatedRuns && k.parent >= 0 {
			list = append(list, r)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].TotalMs != list[j].TotalMs {
			return list[i].TotalMs > list[j].TotalMs
		}
		return list[i].SpanName < list[j].SpanName
	})
	return list[:min(len(list), most)]
}
