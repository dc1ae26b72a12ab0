package telemetry

import (
	"encoding/json"
	"math"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// inspect selects and arranges the spans of a trace.
func inspect(trace *svcv2.Trace, most int, errorsOnly bool) traceResult {
	t := diagnose.NewSpanTree(trace.GetSpans())
	kept := t.Choose(most, errorsOnly)
	res := traceResult{
		TraceID:        trace.GetId(),
		StartTime:      wording.Clock(trace.GetStartTime().AsTime()),
		DurationMs:     trace.GetDurationMs(),
		ServiceCount:   int(trace.GetServiceCount()),
		SpanCount:      int(trace.GetSpanCount()),
		TotalSpanCount: len(t.Spans),
		Omitted:        []omitted{},
		ErrorsOnly:     errorsOnly,
		Spans:          spanNodes{},
	}
	root := slices.IndexFunc(t.Spans, func(s *svcv2.Span) bool { return s.ParentSpanId == nil })
	if root = max(root, 0); root < len(t.Spans) {
		res.RootDurationMs = t.Spans[root].GetDurationMs()
	}
	own, critical := t.OwnMs(), map[string]bool{}
	for _, step := range t.CriticalPath(len(t.Spans)) {
		critical[step.GetSpanId()] = true
	}
	for _, o := range t.Repeated(3) {
		res.Repeated = append(res.Repeated, repeatedOp{o.GetServiceName(), o.GetSpanName(), int(o.GetCount()), o.GetTotalMs()})
	}
	nodes := make([]*spanNode, len(t.Spans))
	sums := map[string]*omitted{}
	var parents []string
	for i, s := range t.Spans {
		if kept[i] {
			nodes[i] = toNode(s)
			nodes[i].SelfMs, nodes[i].OnCriticalPath = math.Round(own[i]*1e6)/1e6, critical[s.GetId()]
			nodes[i].StartOffsetMs = float64(s.GetStartTime().AsTime().Sub(trace.GetStartTime().AsTime())) / 1e6
			res.RenderedSpanCount++
			continue
		}
		// Spans that are left out are counted under the nearest shown span above them.
		under := ""
		for p := t.Parent[i]; p >= 0; p = t.Parent[p] {
			if kept[p] {
				under = t.Spans[p].GetId()
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
	for i := range t.Spans {
		switch p := t.Parent[i]; {
		case nodes[i] == nil:
		case p < 0:
			res.Spans = append(res.Spans, nodes[i])
		default: // the parent of a kept span is kept too
			nodes[p].Children = append(nodes[p].Children, nodes[i])
		}
	}
	res.Spans.shareResources(map[string]bool{})
	for _, p := range parents {
		res.Omitted = append(res.Omitted, *sums[p])
	}
	res.Truncated = res.RenderedSpanCount < res.SpanCount
	return res
}

func toNode(s *svcv2.Span) *spanNode {
	n := &spanNode{
		SpanID:             s.GetId(),
		ParentSpanID:       s.GetParentSpanId(),
		SpanName:           wording.Clip(s.GetName(), tool.MaxValueText),
		ServiceName:        s.GetServiceName(),
		SpanKind:           s.GetKind(),
		StartTime:          wording.Clock(s.GetStartTime().AsTime()),
		DurationMs:         s.GetDurationMs(),
		StatusCode:         s.GetStatusCode(),
		StatusMessage:      wording.Clip(s.GetStatusMessage(), tool.MaxValueText),
		Attributes:         values(s.GetAttributes()),
		ResourceAttributes: values(s.GetResourceAttributes()),
		Children:           spanNodes{},
	}
	for _, e := range s.GetEvents() {
		n.Events = append(
			n.Events,
			spanEvent{wording.Clock(e.GetTimestamp().AsTime()), wording.Clip(e.GetName(), tool.MaxValueText), values(e.GetAttributes())},
		)
	}
	for _, l := range s.GetLinks() {
		n.Links = append(n.Links, spanLink{l.GetTraceId(), l.GetSpanId(), values(l.GetAttributes())})
	}
	return n
}

// values copies attributes and never returns nil. It cuts long values and says so in the value.
func values(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = wording.Clip(v, tool.MaxValueText)
	}
	return out
}

// shareResources keeps the attributes of a resource at the first span, from the root down, that has them.
func (list spanNodes) shareResources(seen map[string]bool) {
	for _, n := range list {
		key, err := json.Marshal([]any{n.ServiceName, n.ResourceAttributes}) // sorts the keys
		if err == nil && seen[string(key)] {
			n.ResourceAttributes = map[string]string{}
		}
		seen[string(key)] = true
		n.Children.shareResources(seen)
	}
}
