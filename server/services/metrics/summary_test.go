package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestSummariesAgree: the results agree with the sent summaries. Counts and sums are their growth. A quantile is the mean of the
// sent quantiles that are not NaN. The least and the largest come from the quantiles 0 and 1.
func TestSummariesAgree(t *testing.T) {
	w := warehousetest.Shared(t)
	start := warehousetest.Noon()
	window := query.Window{Start: start, End: start.Add(30*time.Minute - 1)}
	r := rand.New(rand.NewPCG(7, 1))
	org := fmt.Sprintf("org_summaries_%d", time.Now().UnixNano())
	type figures struct{ count, sum, least, most, sent, senders float64 }
	for _, bucket := range []time.Duration{0, 5 * time.Minute} {
		want := map[cell]*figures{}
		var rows [][]any
		for n, s := range []struct{ service, kind string }{{"web", "GET"}, {"web", "POST"}, {"db", "GET"}} {
			count, sum := uint64(0), 0.0
			for at := start.Add(time.Duration(n+1) * 7 * time.Second); at.Before(window.End); at = at.Add(time.Duration(20+
				r.IntN(40)) * time.Second) {
				grown, total := uint64(r.IntN(50)), math.Round(r.Float64()*1000)/8
				count, sum = count+grown, sum+total
				quantiles, values := []float64{0, 0.5, 0.99, 1}, []float64{float64(r.IntN(10)), 20, 30 + float64(r.IntN(50)), 90 + float64(r.IntN(20))}
				switch r.IntN(5) {
				case 0: // some senders omit 0.99
					quantiles, values = []float64{0, 1}, []float64{values[0], values[3]}
				case 1: // no observations recently
					values[2] = math.NaN()
				}
				rows = append(rows, []any{
					org + bucket.String(), "rpc", s.service, uint64(n), start, at, map[string]string{"kind": s.kind}, count, sum, quantiles, values,
				})
				c := cell{0, s.kind}
				if bucket > 0 {
					c.bucket = uint32(at.Truncate(bucket).Unix())
				}
				f := want[c]
				if f == nil {
					f = &figures{least: math.Inf(1), most: math.Inf(-1)}
					want[c] = f
				}
				f.count, f.sum = f.count+float64(grown), f.sum+total
				f.least, f.most = min(f.least, values[0]), max(f.most, values[len(values)-1])
				if len(values) == 4 && !math.IsNaN(values[2]) {
					f.sent, f.senders = f.sent+values[2], f.senders+1
				}
			}
		}
		if err := w.InsertRows(t.Context(), "metrics_summary", []string{
			"OrgId", "MetricName", "ServiceName", "SeriesHash", "StartTimestamp", "Timestamp", "Attributes", "Count", "Sum", "QuantilesQuantile",
			"QuantilesValue",
		}, rows, ""); err != nil {
			t.Fatal(err)
		}
		q := query.Spec{
			Source: query.Metrics, Metric: query.Metric{Name: "rpc", Type: "summary"}, Limit: 100, SeriesLimit: 100,
			GroupBy: []query.Field{{Scope: query.OwnAttribute, Key: "kind"}},
		}
		for a, of := range map[query.Aggregation]func(*figures) float64{
			{Func: query.Count}:                 func(f *figures) float64 { return f.count },
			{Func: query.Sum}:                   func(f *figures) float64 { return f.sum },
			{Func: query.Avg}:                   func(f *figures) float64 { return f.sum / f.count },
			{Func: query.Min}:                   func(f *figures) float64 { return f.least },
			{Func: query.Max}:                   func(f *figures) float64 { return f.most },
			{Func: query.Quantile, Level: 0.99}: func(f *figures) float64 { return f.sent / f.senders },
		} {
			q.Aggregation = a
			exact := map[cell]float64{}
			for c, f := range want {
				if v := of(f); !math.IsNaN(v) && !math.IsInf(v, 0) {
					exact[c] = v
				}
			}
			same(t, a.String(), exact, asked(t, w, org+bucket.String(), q, window, bucket), math.NaN())
		}
	}
}
