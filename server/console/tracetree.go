package console

import (
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

const (
	// barColumns is the width of the picture of a span in time.
	barColumns = 24
	// deepest is the depth from which a tree is no longer indented further.
	deepest = limits.TreeDepth
)

func utcWindowMs(t *svcv2.Trace) string {
	return atExactly(t.GetStartTime()) + " UTC, " + figure(t.GetDurationMs()) + " ms"
}

func spansAndServices(t *svcv2.Trace) string {
	if t.GetServiceCount() == 1 {
		return fmt.Sprintf("%d in 1 service", t.GetSpanCount())
	}
	return fmt.Sprintf("%d in %d services", t.GetSpanCount(), t.GetServiceCount())
}

// tree lists the spans of a trace below their parents. A span whose parent is missing begins a tree of its own. So does a span whose
// ancestors are a circle, which a sender can make.
func tree(t *svcv2.Trace) section {
	s := section{columns: []column{
		{title: "OPERATION", grow: true},
		{title: "SERVICE", grow: true, drop: 1},
		{title: "MS", right: true},
		{title: "STATUS"},
		{title: "TIME", drop: 2},
		{title: "SPAN", drop: 3},
	}}
	children, known := map[string][]*svcv2.Span{}, map[string]bool{}
	for _, span := range t.GetSpans() {
		known[span.GetId()] = true
	}
	var roots []*svcv2.Span
	for _, span := range t.GetSpans() {
		if parent := span.GetParentSpanId(); parent != "" && known[parent] {
			children[parent] = append(children[parent], span)
		} else {
			roots = append(roots, span)
		}
	}
	shown := map[*svcv2.Span]bool{}
	var show func(span *svcv2.Span, depth int)
	show = func(span *svcv2.Span, depth int) {
		if shown[span] {
			return
		}
		shown[span] = true
		text := strings.Repeat("  ", min(depth, deepest)) + span.GetName()
		s.rows = append(s.rows, []cell{
			{text: text},
			{text: span.GetServiceName()},
			{text: figure(span.GetDurationMs())},
			status(span.GetStatusCode(), span.GetStatusCode() == "Error"),
			{bar(t, span), faint},
			{span.GetId(), faint},
		})
		for _, child := range children[span.GetId()] {
			show(child, depth+1)
		}
	}
	for _, span := range roots {
		show(span, 0)
	}
	for _, span := range t.GetSpans() {
		show(span, 0)
	}
	return s
}

// bar shows when a span ran within its trace.
func bar(t *svcv2.Trace, span *svcv2.Span) string {
	whole := t.GetDurationMs()
	if whole <= 0 {
		return strings.Repeat("█", barColumns)
	}
	from := float64(span.GetStartTime().AsTime().Sub(t.GetStartTime().AsTime())) / float64(time.Millisecond)
	first := min(max(0, int(from/whole*barColumns)), barColumns-1)
	last := min(max(first, int((from+span.GetDurationMs())/whole*barColumns+0.5)-1), barColumns-1)
	return strings.Repeat("·", first) + strings.Repeat("█", last-first+1) + strings.Repeat("·", barColumns-1-last)
}
