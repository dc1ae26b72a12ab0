package metrics

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// benchPoints inserts ten metrics of a hundred series each, with a point every 8.64 s of a day. That is ten million points.
const benchPoints = `INSERT INTO metrics_sum (OrgId, MetricName, ServiceName, Environment, SeriesHash, StartTimestamp, Timestamp, Attributes, ResourceAttributes, Value, AggregationTemporality, IsMonotonic)
SELECT 'org_bench', concat('metric.', toString(number % 10)), concat('shop-', toString(intDiv(number, 10) % 8)), 'production', cityHash64(number % 1000),
    toDateTime64('DAY 00:00:00', 9, 'UTC') - toIntervalDay(2), toDateTime64('DAY 00:00:00', 9, 'UTC') + toIntervalMillisecond(intDiv(number, 1000) * 8640),
    map('http.request.method', ['GET', 'POST'][1 + number % 2], 'http.route', concat('/items/', toString(number % 100)), 'http.response.status_code', '200'),
    map('host.name', concat('node-', toString(number % 40)), 'k8s.pod.name', concat('pod-', toString(number % 1000)), 'telemetry.sdk.language', 'go'),
    toFloat64(intDiv(number, 1000) * 3 + number % 7), 'Cumulative', true
FROM numbers(10000000) SETTINGS max_threads = 1, max_insert_threads = 1`

// BenchmarkMetricSeries reads a day of one metric by minutes: a million of ten million points, with warm caches.
func BenchmarkMetricSeries(b *testing.B) {
	e := warehousetest.NewEngine(b)
	day := time.Now().UTC().AddDate(0, 0, -3).Truncate(24 * time.Hour)
	for _, sql := range []string{strings.ReplaceAll(benchPoints, "DAY", day.Format(time.DateOnly)), "OPTIMIZE TABLE metrics_sum FINAL"} {
		if err := e.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	route := []query.Field{{Scope: query.OwnAttribute, Key: "http.route"}}
	for _, bench := range []struct {
		name string
		spec query.Spec
	}{
		{"avg", query.Spec{Aggregation: query.Aggregation{Func: query.Avg}}},
		{"rate", query.Spec{Aggregation: query.Aggregation{Func: query.Rate}}},
		{"rate-by-service", query.Spec{Aggregation: query.Aggregation{Func: query.Rate}, GroupBy: []query.Field{{Key: "service.name"}}}},
		{"rate-by-attribute", query.Spec{Aggregation: query.Aggregation{Func: query.Rate}, GroupBy: route}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			bench.spec.Source, bench.spec.Metric = query.Metrics, query.Metric{Name: "metric.3", Type: "sum"}
			p, err := query.PlanTimeseries(&bench.spec, query.Window{Start: day, End: day.Add(24*time.Hour - 1)}, time.Minute)
			if err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				rows, err := read.All[query.SeriesRow](b.Context(), e.Warehouse, "org_bench", p.Statement)
				if err != nil || len(rows) < 1440 {
					b.Fatal(len(rows), err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "p50-ms")
		})
	}
}
