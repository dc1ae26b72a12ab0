package alerting

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// played is a span of these tests.
type played struct {
	at               time.Time
	service, env     string
	failed, entry    bool
	weight, duration float64 // milliseconds
}

func playSpans(rnd *rand.Rand, n int, end time.Time, length time.Duration) []played {
	out := make([]played, n)
	for i := range out {
		out[i] = played{
			at: end.Add(-time.Duration(rnd.Int64N(int64(length)))), service: []string{"web", "shop", "cart", "pay", ""}[rnd.IntN(5)],
			env: []string{"production", "staging", ""}[rnd.IntN(3)], failed: rnd.IntN(4) == 0, entry: rnd.IntN(5) > 0,
			weight: []float64{1, 1, 4, 10}[rnd.IntN(4)], duration: float64(1 + rnd.IntN(2000)),
		}
	}
	return out
}

func insertSpans(t testing.TB, w *warehouse.Warehouse, org principal.OrgID, spans []played) {
	t.Helper()
	columns := []string{
		"OrgId", "Timestamp", "ServiceName", "Environment", "TraceId", "SpanId", "SpanName", "SampleRate", "HasError",
		"IsEntry", "DurationNano",
	}
	rows := make([][]any, len(spans))
	for i, s := range spans {
		rows[i] = []any{
			string(org), s.at, s.service, s.env, fmt.Sprintf("%032x", i+1), fmt.Sprintf("%016x", i+1), "op", s.weight, s.failed, s.entry,
			uint64(s.duration * 1e6),
		}
	}
	if err := w.InsertRows(t.Context(), "spans", columns, rows, uuid.NewString()); err != nil {
		t.Fatal(err)
	}
}

// playRule makes a rule of a signal of services.
func playRule(rnd *rand.Rand, n int) *store.AlertRule {
	r := &store.AlertRule{
		ID: uuid.New(), Name: fmt.Sprint("rule ", n), Enabled: true, Severity: "warning", Comparator: []string{"gt", "lt"}[rnd.IntN(2)],
		SignalType:                  []string{"error_rate", "p95_latency", "p99_latency", "throughput"}[rnd.IntN(4)],
		WindowMinutes:               []int{1, 5, 5, 15, 60, 90}[rnd.IntN(6)],
		ConsecutiveBreachesRequired: 1 + rnd.IntN(3), ConsecutiveHealthyRequired: 1 + rnd.IntN(3), RenotifyIntervalMinutes: 30,
		MinimumSampleCount: int64(rnd.IntN(2) * 20),
	}
	switch rnd.IntN(4) {
	case 0:
		r.ServiceNames = []string{"web", "pay", "absent"}[:1+rnd.IntN(3)]
	case 1:
		r.GroupBy = []string{"service.name"}
		if rnd.IntN(2) == 0 {
			r.ExcludeServiceNames = []string{"shop"}
		}
	case 2:
		r.GroupBy = []string{"deployment.environment"} // is never read together with others
	}
	if rnd.IntN(2) == 0 {
		r.Environments = []string{"staging", "production"}[:1+rnd.IntN(2)]
	}
	r.Threshold = map[string]float64{"error_rate": 0.25, "p95_latency": 1900, "p99_latency": 1980, "throughput": 8}[r.SignalType]
	return r
}

// expected computes the figures of a rule from the spans.
func expected(r *store.AlertRule, spans []played, at time.Time) map[string]Input {
	type sum struct{ received, spans, failed float64 }
	sums := map[string]*sum{}
	start := at.Add(-time.Duration(r.WindowMinutes) * time.Minute)
	for _, s := range spans {
		if !s.entry || s.at.Before(start) || !s.at.Before(at) || len(r.Environments) > 0 && !slices.Contains(r.Environments, s.env) ||
			len(r.ServiceNames) > 0 && !slices.Contains(r.ServiceNames, s.service) || slices.Contains(r.ExcludeServiceNames, s.service) {
			continue
		}
		key := TotalGroup
		switch {
		case slices.Equal(r.GroupBy, []string{"deployment.environment"}):
			key = map[string]string{"": "(none)"}[s.env] + s.env
		case len(r.ServiceNames)+len(r.GroupBy) > 0:
			key = map[string]string{"": "(none)"}[s.service] + s.service
		}
		if sums[key] == nil {
			sums[key] = &sum{}
		}
		sums[key].received++
		sums[key].spans += s.weight
		if s.failed {
			sums[key].failed += s.weight
		}
	}
	out := map[string]Input{}
	for key, s := range sums {
		in := Input{Present: true, Samples: s.spans, Weight: s.spans / s.received}
		switch r.SignalType {
		case "error_rate":
			in.Value = finite(s.failed / s.spans)
		case "throughput":
			in.Value = finite(s.spans / float64(r.WindowMinutes))
		}
		out[key] = in
	}
	return out
}

// TestTogether compares the figures of rules that are read together with those of the query engine for each rule alone, and with those of
// a loop over the spans.
func TestTogether(t *testing.T) {
	w, org := warehousetest.Shared(t), warehousetest.OrgID(t)
	reader := read.NewReader(read.Config{Warehouse: w})
	e := engine.New(engine.Config{Warehouse: reader, Rollups: query.AllRollups()})
	source := NewSource(e, reader, query.AllRollups())
	rnd := rand.New(rand.NewPCG(5, 11))
	end := time.Now().UTC().Truncate(time.Minute)
	spans := playSpans(rnd, 6000, end, 100*time.Minute)
	insertSpans(t, w, org, spans)
	insertSpans(t, w, principal.OrgID("org_together_other"), playSpans(rnd, 500, end, 100*time.Minute))
	var asks []Ask
	for n := range 40 {
		a := Ask{Rule: playRule(rnd, n)}
		for i := range 1 + rnd.IntN(3) {
			a.Minutes = append(a.Minutes, end.Add(-time.Duration(2-i)*time.Minute))
		}
		asks = append(asks, a)
	}
	got, err := source.Figures(t.Context(), org, asks)
	if err != nil {
		t.Fatal(err)
	}
	simple := 0
	for i, ask := range asks {
		r := ask.Rule
		if got[i].Err != nil || len(got[i].Groups) != len(ask.Minutes) {
			t.Fatalf("%+v: %+v", r, got[i])
		}
		p, err := compile(r)
		if err != nil {
			t.Fatal(err)
		}
		if source.inMinutes(r, ask.Minutes) {
			simple++
		}
		for n, at := range ask.Minutes {
			alone, _, err := source.evaluate(t.Context(), org, r, p, at)
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprintf("%s alone", text(r, at)), got[i].Groups[n], alone, false)
			same(t, fmt.Sprintf("%s from the spans", text(r, at)), got[i].Groups[n], expected(r, spans, at), source.inMinutes(r, ask.Minutes))
		}
	}
	if simple < 10 || simple > 35 {
		t.Errorf("%d rules of %d are read together", simple, len(asks))
	}
}

func text(r *store.AlertRule, at time.Time) string {
	return fmt.Sprintf("%s over %d min of %v/%v/%v in %v at %s", r.SignalType, r.WindowMinutes, r.ServiceNames, r.GroupBy,
		r.ExcludeServiceNames, r.Environments, at.Format("15:04"))
}

func same(t *testing.T, name string, got, want map[string]Input, weights bool) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(a+b) }
	// Digests that are merged in another order give a neighbouring value.
	alike := func(a, b float64) bool { return math.Abs(a-b) <= 0.005*math.Abs(a+b) }
	if !maps.EqualFunc(got, want, func(a, b Input) bool {
		if a.Value != nil && b.Value != nil && !alike(*a.Value, *b.Value) {
			return false
		}
		return a.Present == b.Present && near(a.Samples, b.Samples) && (!weights || near(a.Weight, b.Weight))
	}) {
		t.Errorf("%s: got %s, want %s", name, inputs(got), inputs(want))
	}
}

func inputs(m map[string]Input) (out string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		in := m[key]
		value := math.NaN()
		if in.Value != nil {
			value = *in.Value
		}
		out += fmt.Sprintf("%s=%g (%g samples, weight %g) ", key, value, in.Samples, in.Weight)
	}
	return out
}
