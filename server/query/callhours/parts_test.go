package callhours

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestParts(t *testing.T) {
	hour := func(n int) time.Time { return warehousetest.Noon().Add(time.Duration(n) * time.Hour) }
	w := query.Window{Start: hour(0).Add(10 * time.Minute), End: hour(6).Add(time.Minute)}
	rows := []reads.SpanHourRow{
		{Hour: hour(0), Spans: 1},
		{Hour: hour(1), Spans: 1},
		{Hour: hour(3), Spans: SliceSpans},
		{Hour: hour(4), Spans: 1},
		{Hour: hour(5), Spans: 1},
		{Hour: hour(6), Spans: 1},
	}
	of := func(whole bool, start, end time.Time) Part {
		return Part{Window: query.Window{Start: start, End: end}, Whole: whole}
	}
	want := []Part{
		of(false, w.Start, hour(2).Add(-1)), of(true, hour(3), hour(4).Add(-1)), of(true, hour(4), hour(6).Add(-1)), of(false, hour(6), w.End),
	}
	if diff := cmp.Diff(want, Parts(w, rows)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	// Hours that hold too much are divided. A window that begins within an hour leaves out the part before it.
	busy := []reads.SpanHourRow{{Hour: hour(0), Spans: 4*SliceSpans - 3}, {Hour: hour(1), Spans: 10}}
	want = []Part{
		of(false, hour(0).Add(20*time.Minute), hour(0).Add(30*time.Minute-1)),
		of(true, hour(0).Add(30*time.Minute), hour(0).Add(45*time.Minute-1)),
		of(true, hour(0).Add(45*time.Minute), hour(1).Add(-1)), of(true, hour(1), hour(2).Add(-1)),
	}
	if diff := cmp.Diff(want, Parts(query.Window{Start: hour(0).Add(20 * time.Minute), End: hour(2).Add(-1)}, busy)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
