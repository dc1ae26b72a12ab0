package logs

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestPatternsExact: among many records, every pattern has its exact count and times, even a pattern of 29 records. A list that
// is cut keeps the new patterns, and first those with errors.
func TestPatternsExact(t *testing.T) {
	t.Parallel()
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org = "org_patterns_exact"
	start := warehousetest.Noon()
	at := func(from, step time.Duration) string {
		return fmt.Sprintf("fromUnixTimestamp64Nano(toInt64(%d) + toInt64(number) * %d, 'UTC')", start.Add(from).UnixNano(), step)
	}
	for _, day := range []time.Duration{-24 * time.Hour, 0} {
		fill(t, w, org, 120_000, at(day, 600*time.Millisecond), "'web'",
			"concat('page ', toString(number), ' of ', lower(hex(sipHash64(number))), ' served')")
		fill(t, w, org, 40_000, at(day, 2*time.Second), "'cart'",
			"concat('cart ', toString(generateUUIDv4()), ' saved for u', toString(number), '@example.com')")
	}
	fill(t, w, org, 15_000, at(8*time.Hour, 100*time.Millisecond), "'db'", "concat('replica read refused by 10.0.0.', toString(number % 200))")
	fill(t, w, org, 29, at(9*time.Hour, time.Minute), "'models'", "concat('out of memory at ', toString(number), ' MB')")
	ask := func(from, to time.Duration, most int32) *svcv2.LogPatternList {
		t.Helper()
		began := time.Now()
		res, err := s.SearchLogPatterns(warehousetest.As(t.Context(), org), &svcv2.SearchLogPatternsRequest{
			StartTime: timestamppb.New(start.Add(from)), EndTime: timestamppb.New(start.Add(to)), MaxPatterns: &most,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v records in %v", res.GetTotalCount(), time.Since(began))
		return res
	}
	day := ask(0, 24*time.Hour-1, 50)
	want := []struct {
		template string
		count    float64
		isNew    bool
		first    time.Duration
		rate     float64
	}{
		{"replica read refused by <ip>", 15_000, true, 8 * time.Hour, 600},
		{"out of memory at <num> MB", 29, true, 9 * time.Hour, 1},
		{"page <num> of <hex> served", 120_000, false, 0, 100},
		{"cart <uuid> saved for <email>", 40_000, false, 0, 30},
	}
	if day.GetTotalCount() != 175_029 || day.GetSampledCount() != 175_029 || len(day.GetData()) != len(want) || day.GetBaselineIsThin() {
		t.Fatalf("%d of %v, thin %v: %v", day.GetSampledCount(), day.GetTotalCount(), day.GetBaselineIsThin(), day.GetData())
	}
	for i, p := range day.GetData() {
		x := want[i]
		if p.GetTemplate() != x.template || p.GetEstimatedCount() != x.count || p.GetCountError() != 0 || p.GetIsNew() != x.isNew ||
			!p.GetFirstSeen().AsTime().Equal(start.Add(x.first)) || p.GetRecordsPerMinute() < x.rate || p.GetRecordsPerMinute() > 1.04*x.rate {
			t.Errorf("%d is %v, want %+v", i, p, x)
		}
	}
	cut := ask(0, 24*time.Hour-1, 2)
	if !cut.GetTruncated() || len(cut.GetData()) != 2 || !cut.GetData()[0].GetIsNew() || !cut.GetData()[1].GetIsNew() {
		t.Errorf("the list of 2 is %v", cut.GetData())
	}
	// Before the first day there is hardly anything, so nothing is new.
	if first := ask(-23*time.Hour, 0, 50); !first.GetBaselineIsThin() || first.GetData()[0].GetIsNew() {
		t.Errorf("after a thin time: thin %v, %v", first.GetBaselineIsThin(), first.GetData())
	}
}

// TestPatternError: an estimate has a margin of error, and the truth lies within it.
func TestPatternError(t *testing.T) {
	t.Parallel()
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	s.exactRecords = 0
	const org = "org_pattern_error"
	start := warehousetest.Noon()
	at := fmt.Sprintf("fromUnixTimestamp64Nano(toInt64(%d) + toInt64(number) * 1000000, 'UTC')", start.UnixNano())
	fill(t, w, org, 20_000, at, "'web'", "if(number % 4 = 0, concat('rare ', toString(number)), 'this is frequent')")
	within, rounds := 0, 20
	for range rounds {
		res, err := s.SearchLogPatterns(warehousetest.As(t.Context(), org), &svcv2.SearchLogPatternsRequest{
			StartTime: timestamppb.New(start), EndTime: timestamppb.New(start.Add(time.Hour)), SampleSize: new(int32(1000)), Baseline: new("none"),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range res.GetData() {
			if off := p.GetEstimatedCount() - 5000; p.GetTemplate() == "rare <num>" && off < p.GetCountError() && off > -p.GetCountError() {
				within++
			}
			if p.GetCountError() < 400 || p.GetCountError() > 700 { // 1.96 standard deviations of a quarter of 1000, twenty times
				t.Errorf("%q: error %v", p.GetTemplate(), p.GetCountError())
			}
		}
	}
	if within < rounds*3/4 {
		t.Errorf("%d of %d estimates are within their bound", within, rounds)
	}
}
