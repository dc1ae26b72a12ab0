package telemetry

import (
	"slices"
	"sort"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// spanTree links the spans of a trace by position. A span whose parent is missing, or that is its own ancestor, is a root.
type spanTree struct {
	spans       []*svcv2.Span
	parent      []int // -1 for roots
	children    [][]int
	descendants []int
	failed      []bool // the span or one below it failed
}

func newSpanTree(spans []*svcv2.Span) *spanTree {
	n := len(spans)
	t := &spanTree{spans: spans, parent: make([]int, n), children: make([][]int, n), descendants: make([]int, n), failed: make([]bool, n)}
	byID := make(map[string]int, n)
	for i := n - 1; i >= 0; i-- { // of spans with the same id the earliest counts
		byID[spans[i].GetId()] = i
	}
	for i, s := range spans {
		t.parent[i] = -1
		if p, ok := byID[s.GetParentSpanId()]; ok && s.ParentSpanId != nil && p != i {
			t.parent[i] = p
		}
	}
	t.cutCycles()
	for i, p := range t.parent {
		if p >= 0 {
			t.children[p] = append(t.children[p], i)
		}
	}
	for i, s := range spans {
		failed := s.GetStatusCode() == "Error"
		t.failed[i] = t.failed[i] || failed
		for p := t.parent[i]; p >= 0; p = t.parent[p] {
			t.descendants[p]++
			t.failed[p] = t.failed[p] || failed
		}
	}
	return t
}

// cutCycles frees one span of every circle that broken senders make.
func (t *spanTree) cutCycles() {
	const onPath, done = 1, 2
	state := make([]int, len(t.spans))
	for i := range t.spans {
		var path []int
		for at := i; at >= 0 && state[at] != done; at = t.parent[at] {
			if state[at] == onPath {
				t.parent[at] = -1
				break
			}
			state[at] = onPath
			path = append(path, at)
		}
		for _, at := range path {
			state[at] = done
		}
	}
}

// score says how much a span tells about the trace.
func (t *spanTree) score(i int) float64 {
	s := t.spans[i].GetDurationMs() + 4*float64(t.descendants[i])
	if kind := t.spans[i].GetKind(); kind == "Server" || kind == "Consumer" {
		s += 250
	}
	return s
}

// choose keeps at most most spans, each with all spans above it: error paths first, then by score.
func (t *spanTree) choose(most int, errorsOnly bool) []bool {
	order := make([]int, 0, len(t.spans))
	for i := range t.spans {
		if !errorsOnly || t.failed[i] {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool {
		if fa, fb := t.failed[order[a]], t.failed[order[b]]; fa != fb {
			return fa
		}
		return t.score(order[a]) > t.score(order[b])
	})
	kept, n := make([]bool, len(t.spans)), 0
	for _, i := range order {
		var path []int
		for at := i; at >= 0 && !kept[at]; at = t.parent[at] {
			path = append(path, at)
		}
		if n+len(path) > most {
			continue
		}
		for _, at := range path {
			kept[at] = true
		}
		n += len(path)
	}
	return kept
}

// inspect selects and arranges the spans of a trace.
func inspect(trace *svcv2.Trace, most int, errorsOnly bool) traceResult {
	t := newSpanTree(trace.GetSpans())
	kept := t.choose(most, errorsOnly)
	res := traceResult{
		TraceID: trace.GetId(), StartTime: tool.Clock(trace.GetStartTime().AsTime()), DurationMs: trace.GetDurationMs(), ServiceCount: int(trace.GetServiceCount()),
		SpanCount: int(trace.GetSpanCount()), TotalSpanCount: len(t.spans), Omitted: []omitted{}, ErrorsOnly: errorsOnly, Spans: spanNodes{},
	}
	root := slices.IndexFunc(t.spans, func(s *svcv2.Span) bool { return s.ParentSpanId == nil })
	if root = max(root, 0); root < len(t.spans) {
		res.RootDurationMs = t.spans[root].GetDurationMs()
	}
	nodes := make([]*spanNode, len(t.spans))
	sums := map[string]*omitted{}
	var parents []string
	for i, s := range t.spans {
		if kept[i] {
			nodes[i] = toNode(s)
			res.RenderedSpanCount++
			continue
		}
		// What is missing is counted under the nearest span that is shown.
		under := ""
		for p := t.parent[i]; p >= 0; p = t.parent[p] {
			if kept[p] {
				under = t.spans[p].GetId()
				break
			}
		}
		if sums[under] == nil {
			sums[under] = &omitted{ParentSpanID: under}
			parents = append(parents, under)
		}
		sums[under].Count++
		sums[under].TotalDurationMs += s.GetDurationMs()
	}
	for i := range t.spans {
		switch p := t.parent[i]; {
		case nodes[i] == nil:
		case p < 0:
			res.Spans = append(res.Spans, nodes[i])
		default: // a kept span's parent is kept
			nodes[p].Children = append(nodes[p].Children, nodes[i])
		}
	}
	for _, p := range parents {
		res.Omitted = append(res.Omitted, *sums[p])
	}
	res.Truncated = res.RenderedSpanCount < res.SpanCount
	return res
}

func toNode(s *svcv2.Span) *spanNode {
	n := &spanNode{
		SpanID: s.GetId(), ParentSpanID: s.GetParentSpanId(), SpanName: tool.Clip(s.GetName(), tool.MaxValueText), ServiceName: s.GetServiceName(), SpanKind: s.GetKind(),
		StartTime: tool.Clock(s.GetStartTime().AsTime()), DurationMs: s.GetDurationMs(), StatusCode: s.GetStatusCode(), StatusMessage: tool.Clip(s.GetStatusMessage(), tool.MaxValueText),
		Attributes: values(s.GetAttributes()), ResourceAttributes: values(s.GetResourceAttributes()),
		Events: []spanEvent{}, Links: []spanLink{}, Children: spanNodes{},
	}
	for _, e := range s.GetEvents() {
		n.Events = append(n.Events, spanEvent{tool.Clock(e.GetTimestamp().AsTime()), tool.Clip(e.GetName(), tool.MaxValueText), values(e.GetAttributes())})
	}
	for _, l := range s.GetLinks() {
		n.Links = append(n.Links, spanLink{l.GetTraceId(), l.GetSpanId(), values(l.GetAttributes())})
	}
	return n
}

// values copies attributes, never nil, with long ones cut; what is cut says so.
func values(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = tool.Clip(v, tool.MaxValueText)
	}
	return out
}
