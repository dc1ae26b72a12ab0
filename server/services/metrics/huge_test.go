package metrics

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestHugeCounts: counts go up to 2^64−1. A difference of two counts, the sum of several, and their distribution must not come
// out negative or too small.
func TestHugeCounts(t *testing.T) {
	w := warehousetest.Shared(t)
	start := warehousetest.Noon()
	window := query.Window{Start: start, End: start.Add(10*time.Minute - 1)}
	org := fmt.Sprintf("org_huge_%d", time.Now().UnixNano())
	const most = uint64(math.MaxUint64)
	shared := "OrgId MetricName ServiceName SeriesHash StartTimestamp Timestamp AggregationTemporality Count Sum "
	var explicit, exponential [][]any
	for n, s := range []struct {
		temporality string
		counts      []uint64
	}{{"Delta", []uint64{most, most}}, {"Cumulative", []uint64{most - 10, most}}, {"Cumulative", []uint64{most, 5}}} {
		for i, count := range s.counts {
			row := func(more ...any) []any {
				return append([]any{
					org, "huge", "web", uint64(n), start, start.Add(time.Duration(i+1) * time.Minute), s.temporality, count, 1.0,
				}, more...)
			}
			explicit = append(explicit, row([]uint64{0, count, 0}, []float64{10, 20}))
			exponential = append(exponential, row(int32(0), uint64(0), int32(3), []uint64{count}))
		}
	}
	insert := func(table, columns string, rows [][]any) {
		t.Helper()
		if err := w.InsertRows(t.Context(), table, strings.Fields(shared+columns), rows, ""); err != nil {
			t.Fatal(err)
		}
	}
	insert("metrics_histogram", "BucketCounts ExplicitBounds", explicit)
	insert("metrics_exponential_histogram", "Scale ZeroCount PositiveOffset PositiveBucketCounts", exponential)
	const sent = 4*float64(most) + 5 // two deltas, a count that grew to the maximum, and one that began again after it
	for _, kind := range []string{"histogram", "exponential_histogram"} {
		q := query.Spec{Source: query.Metrics, Metric: query.Metric{Name: "huge", Type: kind}, Limit: 100, SeriesLimit: 100}
		q.Aggregation = query.Aggregation{Func: query.Count}
		for _, bucket := range []time.Duration{0, 10 * time.Minute} {
			got := asked(t, w, org, q, window, bucket)
			for c, v := range got {
				if math.Abs(v/sent-1) > 1e-12 {
					t.Errorf("%s, %s: count %v, want %v", kind, c, v, sent)
				}
			}
			if len(got) != 1 {
				t.Errorf("%s: %v", kind, got)
			}
		}
		q.Aggregation = query.Aggregation{Func: query.Quantile, Level: 0.5}
		low, high := 10., 20.
		if kind != "histogram" {
			low, high = 8, 16
		}
		got := asked(t, w, org, q, window, 0)
		if v := got[cell{0, ""}]; len(got) != 1 || v <= low || v >= high {
			t.Errorf("%s: median %v, want between %v and %v", kind, got, low, high)
		}
	}
}
