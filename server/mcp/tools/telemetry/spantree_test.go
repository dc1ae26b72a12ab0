package telemetry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
)

// traceOf makes spans from "id<parent duration status" texts; no parent means a root.
func traceOf(t *testing.T, spans ...string) *svcv2.Trace {
	t.Helper()
	tr := &svcv2.Trace{
		Id: strings.Repeat("ab", 16), StartTime: timestamppb.New(tooltest.Now()), EndTime: timestamppb.New(tooltest.Now()),
		SpanCount: int32(len(spans)),
	}
	for _, text := range spans {
		var name, status string
		var ms float64
		if _, err := fmt.Sscanf(text, "%s %f %s", &name, &ms, &status); err != nil {
			t.Fatal(err)
		}
		id, parent, child := strings.Cut(name, "<")
		s := &svcv2.Span{Id: id, Name: id, Kind: "Internal", DurationMs: ms, StatusCode: status, StartTime: timestamppb.New(tooltest.Now())}
		if child {
			s.ParentSpanId = &parent
		}
		tr.Spans = append(tr.Spans, s)
	}
	return tr
}

func shape(nodes spanNodes) string {
	var parts []string
	for _, n := range nodes {
		part := n.SpanID
		if len(n.Children) > 0 {
			part += "(" + shape(n.Children) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func TestInspect(t *testing.T) {
	for name, tc := range map[string]struct {
		spans      []string
		most       int
		errorsOnly bool
		want       string
		omitted    []omitted
	}{
		"tree":           {[]string{"a 10 Ok", "b<a 5 Ok", "c<b 1 Ok", "d<a 2 Ok"}, 60, false, "a(b(c) d)", []omitted{}},
		"lost parent":    {[]string{"a 10 Ok", "b<x 5 Ok", "c<b 1 Ok"}, 60, false, "a b(c)", []omitted{}},
		"circle":         {[]string{"a<b 1 Ok", "b<c 1 Ok", "c<a 1 Ok"}, 60, false, "a(c(b))", []omitted{}},
		"own parent":     {[]string{"a<a 1 Ok"}, 60, false, "a", []omitted{}},
		"same id":        {[]string{"a 1 Ok", "a 2 Ok", "b<a 1 Ok"}, 60, false, "a(b) a", []omitted{}},
		"nothing":        {nil, 60, false, "", []omitted{}},
		"slowest first":  {[]string{"a 10 Ok", "b<a 1 Ok", "c<a 8 Ok", "d<a 2 Ok"}, 2, false, "a(c)", []omitted{{"a", 2, 3}}},
		"errors first":   {[]string{"a 100 Ok", "b<a 90 Ok", "c<a 1 Ok", "d<c 1 Error"}, 3, false, "a(c(d))", []omitted{{"a", 1, 90}}},
		"errors only":    {[]string{"a 100 Ok", "b<a 90 Ok", "c<a 1 Error", "e 5 Ok"}, 60, true, "a(c)", []omitted{{"a", 1, 90}, {"", 1, 5}}},
		"no errors":      {[]string{"a 100 Ok"}, 60, true, "", []omitted{{"", 1, 100}}},
		"path too long":  {[]string{"a 1 Ok", "b<a 1 Ok", "c<b 1 Ok", "d<c 999 Ok"}, 2, false, "a(b)", []omitted{{"b", 2, 1000}}},
		"many below one": {[]string{"a 1 Ok", "b<a 1 Ok", "c<a 1 Ok", "d<c 1 Ok"}, 2, false, "a(c)", []omitted{{"a", 1, 1}, {"c", 1, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			res := inspect(traceOf(t, tc.spans...), tc.most, tc.errorsOnly)
			if got := shape(res.Spans); got != tc.want {
				t.Errorf("tree %s, want %s", got, tc.want)
			}
			if diff := cmp.Diff(tc.omitted, res.Omitted); diff != "" {
				t.Errorf("omitted (-want +got):\n%s", diff)
			}
			left := 0
			for _, o := range res.Omitted {
				left += o.Count
			}
			if res.RenderedSpanCount+left != len(tc.spans) || res.Truncated != (left > 0) {
				t.Errorf("%d shown and %d left out of %d; truncated %v", res.RenderedSpanCount, left, len(tc.spans), res.Truncated)
			}
		})
	}
}

// TestLongValuesAreCut: one huge attribute must not fill a model's context.
func TestLongValuesAreCut(t *testing.T) {
	long, short := strings.Repeat("ä", tool.MaxValueText+7), strings.Repeat("ä", tool.MaxValueText)
	n := toNode(&svcv2.Span{
		StatusMessage: &long, Attributes: map[string]string{"long": long, "short": short},
		Events: []*svcv2.SpanEvent{{Attributes: map[string]string{"stack": long}}},
		Links:  []*svcv2.SpanLink{{Attributes: map[string]string{"a": long}}},
	})
	want := short + "… (7 more characters)"
	if n.StatusMessage != want || n.Attributes["long"] != want || n.Events[0].Attributes["stack"] != want ||
		n.Links[0].Attributes["a"] != want {
		t.Error("a long value was not cut, or does not say so")
	}
	if n.Attributes["short"] != short || n.ResourceAttributes == nil {
		t.Error("a short value was changed, or no attributes are null")
	}
}
