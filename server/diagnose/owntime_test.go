package diagnose

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// TestOwnMs: children that overlap count once, and only the part of a child within its parent counts.
func TestOwnMs(t *testing.T) {
	span := func(id, parent string, at, length float64) *svcv2.Span {
		s := &svcv2.Span{Id: id, StartTime: timestamppb.New(time.Unix(100, int64(at*1e6))), DurationMs: length}
		if parent != "" {
			s.ParentSpanId = &parent
		}
		return s
	}
	tree := NewSpanTree([]*svcv2.Span{
		span("a", "", 0, 100), span("b", "a", 10, 30), span("c", "a", 20, 30), span("d", "a", 90, 50), span("e", "b", -5, 100),
		span("f", "a", 60, 0),
	})
	for i, want := range []float64{50, 0, 30, 50, 100, 0} {
		if got := tree.OwnMs()[i]; got != want {
			t.Errorf("%s: %v, want %v", tree.Spans[i].GetId(), got, want)
		}
	}
}

// TestCriticalPathOfClocks: a child that began before its parent, by its clock, has only its time within the parent on the path. The times
// of the path add up to the time of the root.
func TestCriticalPathOfClocks(t *testing.T) {
	span := func(id, parent string, at, length float64) *svcv2.Span {
		s := &svcv2.Span{Id: id, StartTime: timestamppb.New(time.Unix(100, int64(at*1e6))), DurationMs: length}
		if parent != "" {
			s.ParentSpanId = &parent
		}
		return s
	}
	steps := NewSpanTree([]*svcv2.Span{span("a", "", 0, 100), span("b", "a", -900, 930), span("c", "b", -800, 820)}).CriticalPath(8)
	want := map[string]float64{"a": 70, "b": 10, "c": 20}
	if len(steps) != len(want) {
		t.Fatalf("%d steps: %v", len(steps), steps)
	}
	for _, s := range steps {
		if s.GetSelfMs() != want[s.GetSpanId()] {
			t.Errorf("%s: %v, want %v", s.GetSpanId(), s.GetSelfMs(), want[s.GetSpanId()])
		}
	}
}
