package diagnose

import (
	"slices"
	"sort"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// SpanTree links the spans of a trace by position. A span whose parent is missing, or that is its own ancestor, is a root.
type SpanTree struct {
	Spans []*svcv2.Span
	// Parent has the position of each span's parent, or -1 for roots.
	Parent      []int
	children    [][]int
	descendants []int
	failed      []bool // whether the span or one below it failed
}

func NewSpanTree(spans []*svcv2.Span) *SpanTree {
	n := len(spans)
	t := &SpanTree{Spans: spans, Parent: make([]int, n), children: make([][]int, n), descendants: make([]int, n), failed: make([]bool, n)}
	byID := make(map[string]int, n)
	for i := n - 1; i >= 0; i-- { // of spans with the same id, the earliest counts
		byID[spans[i].GetId()] = i
	}
	for i, s := range spans {
		t.Parent[i] = -1
		if p, ok := byID[s.GetParentSpanId()]; ok && s.ParentSpanId != nil && p != i {
			t.Parent[i] = p
		}
	}
	t.cutCycles()
	for i, p := range t.Parent {
		if p >= 0 {
			t.children[p] = append(t.children[p], i)
		}
	}
	for i, s := range spans {
		failed := s.GetStatusCode() == "Error"
		t.failed[i] = t.failed[i] || failed
		for p := t.Parent[i]; p >= 0; p = t.Parent[p] {
			t.descendants[p]++
			t.failed[p] = t.failed[p] || failed
		}
	}
	return t
}

// cutCycles makes one span of every cycle a root. Broken senders make cycles.
func (t *SpanTree) cutCycles() {
	const onPath, done = 1, 2
	state := make([]int, len(t.Spans))
	for i := range t.Spans {
		var path []int
		for at := i; at >= 0 && state[at] != done; at = t.Parent[at] {
			if state[at] == onPath {
				t.Parent[at] = -1
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

// score says how informative a span is about the trace.
func (t *SpanTree) score(i int) float64 {
	s := t.Spans[i].GetDurationMs() + 4*float64(t.descendants[i])
	if kind := t.Spans[i].GetKind(); kind == "Server" || kind == "Consumer" {
		s += 250
	}
	return s
}

// Choose keeps at most most spans, each together with all spans above it: first the error paths, then by score.
func (t *SpanTree) Choose(most int, errorsOnly bool) []bool {
	order := make([]int, 0, len(t.Spans))
	for i := range t.Spans {
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
	kept, n := make([]bool, len(t.Spans)), 0
	for _, i := range order {
		var path []int
		for at := i; at >= 0 && !kept[at]; at = t.Parent[at] {
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

// OwnMs returns the time of each span, in milliseconds, in which none of its children ran. Children that ran at the same time count once.
func (t *SpanTree) OwnMs() []float64 {
	own := make([]float64, len(t.Spans))
	for i, s := range t.Spans {
		start := s.GetStartTime().AsTime()
		end := start.Add(time.Duration(s.GetDurationMs() * 1e6))
		kids := slices.Clone(t.children[i])
		slices.SortFunc(kids, func(a, b int) int {
			return t.Spans[a].GetStartTime().AsTime().Compare(t.Spans[b].GetStartTime().AsTime())
		})
		busy, until := time.Duration(0), start
		for _, k := range kids {
			from := t.Spans[k].GetStartTime().AsTime()
			to := from.Add(time.Duration(t.Spans[k].GetDurationMs() * 1e6))
			if from.Before(until) {
				from = until
			}
			if to.After(end) {
				to = end
			}
			if to.After(from) {
				busy, until = busy+to.Sub(from), to
			}
		}
		own[i] = max(s.GetDurationMs()-float64(busy)/1e6, 0)
	}
	return own
}
