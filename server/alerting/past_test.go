package alerting

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func testSource(t *testing.T) *Reader {
	t.Helper()
	reader := read.NewReader(read.Config{Warehouse: warehousetest.Shared(t), Work: true})
	return NewSource(engine.New(engine.Config{Warehouse: reader, Rollups: query.AllRollups()}), reader, query.AllRollups())
}

func figuresOf(t *testing.T, s *Reader, r *store.AlertRule, at time.Time) map[string]Input {
	t.Helper()
	got, err := s.Figures(t.Context(), warehousetest.OrgID(t), []Ask{{Rule: r, Minutes: []time.Time{at}}})
	if err != nil || got[0].Err != nil {
		t.Fatal(err, got)
	}
	return got[0].Groups[0]
}

// TestBurn compares the burn of an error budget with that of a loop over the spans: for both severities, with a burn that goes on, one
// that has ended, and one with few failures.
func TestBurn(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 7))
	at := time.Now().UTC().Truncate(time.Minute)
	spans := append(playSpans(rnd, 20_000, at, 73*time.Hour), playSpans(rnd, 3000, at, time.Hour)...)
	for i := range spans {
		spans[i].entry = true
		age := at.Sub(spans[i].at)
		switch spans[i].service {
		case "web":
			spans[i].failed = rnd.IntN(4) == 0
		case "shop": // failed until two hours ago
			spans[i].failed = age > 2*time.Hour && rnd.IntN(3) == 0
		case "cart":
			spans[i].failed = false
		default:
			spans[i].failed = rnd.IntN(400) == 0
		}
	}
	insertSpans(t, warehousetest.Shared(t), warehousetest.OrgID(t), spans)
	source := testSource(t)
	burning := 0
	for _, severity := range []string{"critical", "warning"} {
		for _, bad := range []int{0, 300} {
			r := &store.AlertRule{
				SignalType: "error_rate", Comparator: "gte", Threshold: 1, WindowMinutes: 60, Severity: severity, GroupBy: []string{"service.name"},
				Burn: fmt.Appendf(nil, `{"target":0.99,"period_days":30,"minimum_bad":%d}`, bad),
			}
			got := figuresOf(t, source, r, at)
			pairs := [][3]float64{{60, 5, 14.4}, {360, 30, 6}}
			if severity == "warning" {
				pairs = [][3]float64{{1440, 120, 3}, {4320, 360, 1}}
			}
			for key, in := range got {
				want := 0.0
				for _, pair := range pairs {
					long, failed := rate(spans, key, at, pair[0])
					short, _ := rate(spans, key, at, pair[1])
					if failed >= float64(bad) && !math.IsNaN(short) {
						want = max(want, min(long, short)/0.01/pair[2])
					}
				}
				if in.Value == nil || math.Abs(*in.Value-want) > 1e-6 {
					t.Errorf("%s, at least %d: %s burns %v, want %v", severity, bad, key, in.Value, want)
				}
				if want >= 1 {
					burning++
				}
			}
			if len(got) != 5 {
				t.Errorf("%d groups", len(got))
			}
		}
	}
	if burning == 0 || burning > 15 {
		t.Errorf("%d of 20 groups burn", burning)
	}
}

// rate is the share of failed spans of a service over the last minutes, and their number.
func rate(spans []played, key string, at time.Time, minutes float64) (float64, float64) {
	all, failed := 0.0, 0.0
	for _, s := range spans {
		if s.entry && (s.service == key || s.service == "" && key == noValue) && !s.at.Before(at.Add(-time.Duration(minutes)*time.Minute)) &&
			s.at.Before(at) {
			all += s.weight
			if s.failed {
				failed += s.weight
			}
		}
	}
	return failed / all, failed
}

// TestBaseline compares the thresholds of groups with those of a loop over the spans. One service has no past.
func TestBaseline(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 7))
	at := time.Now().UTC().Truncate(time.Minute)
	spans := playSpans(rnd, 60_000, at, 8*24*time.Hour)
	spans = append(spans, playSpans(rnd, 500, at, 10*time.Minute)...)
	kept := spans[:0]
	for _, s := range spans {
		if s.entry = true; s.service != "pay" || at.Sub(s.at) < 20*time.Hour {
			kept = append(kept, s)
		}
	}
	insertSpans(t, warehousetest.Shared(t), warehousetest.OrgID(t), kept)
	source := testSource(t)
	for _, c := range []struct {
		signal, comparator, sensitivity string
		threshold, deviations, ratio    float64
	}{
		{"throughput", "gt", "low", 0, 6, 3},
		{"throughput", "lt", "normal", 1000, 4, 2},
		{"error_rate", "gte", "high", 0.01, 3, 1.5},
		{"throughput", "gt", "high", 77, 3, 1.5},
	} {
		r := &store.AlertRule{
			SignalType: c.signal, Comparator: c.comparator, Threshold: c.threshold, WindowMinutes: 10, GroupBy: []string{"service.name"},
			Baseline: fmt.Appendf(nil, `{"sensitivity":%q}`, c.sensitivity),
		}
		got := figuresOf(t, source, r, at)
		if pay := got["pay"]; pay.Value != nil || pay.Threshold != nil {
			t.Errorf("a service without a past: %+v", pay)
		}
		for _, service := range []string{"web", "shop", "cart", noValue} {
			want := expectedThreshold(kept, service, at, c.signal, c.comparator, c.threshold, c.deviations, c.ratio)
			if in := got[service]; in.Threshold == nil || in.Value == nil || math.Abs(*in.Threshold-want) > 1e-6*math.Abs(want) {
				t.Errorf("%+v of %s: %+v, want the threshold %v", c, service, in, want)
			}
		}
		_, d := Step(new(ConditionOf(r)), State{}, Input{Present: true, Value: new(5.0), Threshold: new(6.0), Samples: 1}, at)
		if below := c.comparator == "lt"; (d.Status == Breached) != below {
			t.Errorf("%s 5 against the threshold 6: %s", c.comparator, d.Status)
		}
	}
}

func expectedThreshold(spans []played, key string, at time.Time, signal, comparator string, threshold, deviations, ratio float64) float64 {
	hour := at.Truncate(time.Hour)
	var values []float64
	for day := 1; day <= 7; day++ {
		for beside := -1; beside <= 1; beside++ {
			start := hour.Add(-time.Duration(day)*24*time.Hour + time.Duration(beside)*time.Hour)
			all, failed := 0.0, 0.0
			for _, s := range spans {
				if (s.service == key || s.service == "" && key == noValue) && !s.at.Before(start) && s.at.Before(start.Add(time.Hour)) {
					all += s.weight
					if s.failed {
						failed += s.weight
					}
				}
			}
			switch {
			case all == 0:
			case signal == "throughput":
				values = append(values, all/60)
			default:
				values = append(values, failed/all)
			}
		}
	}
	p := pastOf(values)
	if comparator == "lt" {
		return min(threshold, p.median-deviations*p.deviation, p.median/ratio)
	}
	return max(threshold, p.median+deviations*p.deviation, p.median*ratio)
}

// TestMedian keeps the sums of the test above honest.
func TestMedian(t *testing.T) {
	if p := pastOf([]float64{1, 9, 2, 8}); p.median != 5 || p.deviation != 3.5 {
		t.Errorf("%+v", p)
	}
	if p := pastOf([]float64{7, 1, 4}); p.median != 4 || p.deviation != 3 {
		t.Errorf("%+v", p)
	}
}
