package metrics

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// asked is the answer to a query by bucket and group. Without buckets it is by group.
func asked(t tester, w read.Warehouse, org string, q query.Spec, window query.Window, bucket time.Duration) map[cell]float64 {
	t.Helper()
	all := map[cell]float64{}
	if bucket == 0 {
		p, err := query.PlanBreakdown(&q, window)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := read.All[query.GroupRow](t.Context(), w, principal.OrgID(org), p.Statement)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			all[cell{0, strings.Join(r.Group, " · ")}] = r.Value
		}
		return all
	}
	p, err := query.PlanTimeseries(&q, window, bucket)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := read.All[query.SeriesRow](t.Context(), w, principal.OrgID(org), p.Statement)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		group := strings.Join(r.Group, " · ")
		if r.Other {
			group = others
		}
		all[cell{uint32(r.Bucket.Unix()), group}] = r.Value
	}
	return all
}

// others is the group for all groups beyond the limit.
const others = "all others"

// groupings are the groupings that the tests use.
func groupings() [][]query.Field {
	return [][]query.Field{
		nil,
		{{Key: "service.name"}},
		{{Scope: query.OwnAttribute, Key: "kind"}},
		{{Scope: query.ResourceAttribute, Key: "host.name"}, {Key: "deployment.environment"}, {Scope: query.OwnAttribute, Key: "kind"}},
	}
}

// same compares two answers. empty is the value of an absent cell.
func same(t tester, what string, want, got map[cell]float64, empty float64) {
	t.Helper()
	value := func(m map[cell]float64, c cell) float64 {
		if v, ok := m[c]; ok {
			return v
		}
		return empty
	}
	for _, m := range []map[cell]float64{want, got} {
		for c := range m {
			w, g := value(want, c), value(got, c)
			if math.IsNaN(w) != math.IsNaN(g) || math.Abs(w-g) > 1e-9*math.Max(1, math.Abs(w)) {
				t.Fatalf("%s: %v: got %v, want %v", what, c, g, w)
			}
		}
	}
}

func TestCountersAgree(t *testing.T) {
	w := warehousetest.Shared(t)
	start := warehousetest.Noon()
	end := start.Add(30 * time.Minute)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		groups := rapid.SampledFrom(groupings()).Draw(rt, "groups")
		bucket := rapid.SampledFrom([]time.Duration{0, time.Minute, 5 * time.Minute}).Draw(rt, "bucket")
		n++
		org := fmt.Sprintf("org_counters_%d_%d", n, time.Now().UnixNano())
		p := newPlay(seed, start, end)
		p.sums(rt, w, org)
		window := query.Window{Start: start, End: end}
		q := query.Spec{Source: query.Metrics, Metric: query.Metric{Name: "counter", Type: "sum"}, GroupBy: groups, Limit: 100, SeriesLimit: 100}

		increase, rate := map[cell]float64{}, map[cell]float64{}
		seconds := bucket.Seconds()
		if bucket == 0 {
			seconds = end.Sub(start).Seconds()
		}
		p.each(groups, bucket, func(c cell, h happened) {
			grown, _ := h.visible(start.Add(-query.MetricLookback))
			increase[c] += grown
			rate[c] += grown / seconds
		})
		q.Aggregation.Func = query.Increase
		same(rt, "increase", increase, asked(rt, w, org, q, window, bucket), 0)
		q.Aggregation.Func = query.Rate
		same(rt, "rate", rate, asked(rt, w, org, q, window, bucket), 0)

		sum, count, least, most := map[cell]float64{}, map[cell]float64{}, map[cell]float64{}, map[cell]float64{}
		avg := map[cell]float64{}
		p.each(groups, bucket, func(c cell, h happened) {
			if _, ok := sum[c]; !ok {
				least[c], most[c] = math.Inf(1), math.Inf(-1)
			}
			sum[c] += h.level
			count[c]++
			least[c], most[c] = min(least[c], h.level), max(most[c], h.level)
		})
		for c := range sum {
			avg[c] = sum[c] / count[c]
		}
		q.Metric = query.Metric{Name: "level", Type: "gauge"}
		for a, want := range map[query.Func]map[cell]float64{
			query.Sum: sum, query.Count: count, query.Min: least, query.Max: most, query.Avg: avg,
		} {
			q.Aggregation.Func = a
			same(rt, string(a), want, asked(rt, w, org, q, window, bucket), math.NaN())
		}
	})
}
