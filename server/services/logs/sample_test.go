package logs

import (
	"fmt"
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestPatternEstimates: a pattern does not look more frequent because it occurs in a flood or a busy hour.
func TestPatternEstimates(t *testing.T) {
	t.Parallel()
	w := warehousetest.Shared(t)
	const org = "org_pattern_estimates"
	start := warehousetest.Noon()
	at := func(from, step time.Duration) string {
		return fmt.Sprintf("fromUnixTimestamp64Nano(toInt64(%d) + toInt64(number) * %d, 'UTC')", start.Add(from).UnixNano(), step)
	}
	truth := map[string]float64{
		"page <num> served": 60_000, "replica read refused by <ip>": 15_000, "all at one instant": 20_000, "lost the lease": 5_000,
	}
	// evenly over 23 h
	fill(t, w, org, 60_000, at(0, 1380*time.Millisecond), "'web'", "concat('page ', toString(number), ' served')")
	// 25 minutes
	fill(t, w, org, 15_000, at(8*time.Hour, 100*time.Millisecond), "'db'", "concat('replica read refused by 10.0.0.', toString(number % 200))")
	fill(t, w, org, 20_000, at(3*time.Hour, 0), "'web'", "'all at one instant'")
	fill(t, w, org, 5_000, at(0, 16*time.Second), "'worker'", "'lost the lease'")
	first := start.Add(8 * time.Hour)
	for _, tc := range []struct {
		size  int32
		whole uint64
		error float64 // on top of chance: the parts of time can hold more or less of a flood than their share
	}{{1000, wholeSample, 0}, {10_000, wholeSample, 0}, {50_000, 80_000, 6000}} {
		s := New(w, engine.New(engine.Config{Warehouse: w}))
		s.wholeSample, s.exactRecords = tc.whole, 0
		res, err := s.SearchLogPatterns(warehousetest.As(t.Context(), org), &svcv2.SearchLogPatternsRequest{
			StartTime: timestamppb.New(start), EndTime: timestamppb.New(start.Add(23 * time.Hour)), Baseline: new("none"), SampleSize: &tc.size,
		})
		if err != nil {
			t.Fatal(err)
		}
		if res.GetTotalCount() != 100_000 || res.GetSampledCount() != tc.size || len(res.GetData()) != len(truth) {
			t.Errorf("%d of %v, %d patterns", res.GetSampledCount(), res.GetTotalCount(), len(res.GetData()))
		}
		for _, p := range res.GetData() {
			want := truth[p.GetTemplate()]
			n := float64(tc.size)
			chance := math.Sqrt(n*want/1e5*(1-want/1e5)) * 1e5 / n // the standard deviation of the estimate
			if tc.whole < 1e5 && p.GetTemplate() == "all at one instant" {
				continue // that instant may or may not be read
			}
			if math.Abs(p.GetEstimatedCount()-want) > 6*chance+tc.error {
				t.Errorf("sample of %d: %q %v times, is %v ± %.0f", tc.size, p.GetTemplate(), p.GetEstimatedCount(), want, chance)
			}
			if p.GetTemplate() == "replica read refused by <ip>" && tc.size == 10_000 && p.GetFirstSeen().AsTime().Sub(first) > 30*time.Second {
				t.Errorf("first seen at %v, which was at %v", p.GetFirstSeen().AsTime(), first)
			}
		}
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	for _, length := range []time.Duration{time.Minute, 23*time.Hour + 7*time.Second, 24 * time.Hour} {
		w := query.Window{Start: warehousetest.Noon(), End: warehousetest.Noon().Add(length)}
		for _, share := range []float64{0.01, 0.3, 0.9, 0.999} {
			var sum time.Duration
			places := [10]time.Duration{} // places within a part: none is favoured
			part := length / sampleParts
			for _, x := range spread(w, share) {
				if x.Start.Before(w.Start) || x.End.After(w.End) {
					t.Errorf("%v of %v: %v", share, length, x)
				}
				sum += x.End.Sub(x.Start) + 1
				for i := range places {
					within := x.Start.Sub(w.Start) % part * 10 / part
					if within == time.Duration(i) {
						places[i]++
					}
				}
			}
			if got := float64(sum) / float64(length); math.Abs(got-share) > 1e-6 {
				t.Errorf("%v of %v, want %v", got, length, share)
			}
			for i, n := range places {
				if share < 0.05 && (n < 3 || n > 10) {
					t.Errorf("%d of %d spans of time begin in tenth %d of their part", n, sampleParts, i)
				}
			}
		}
	}
}
