package catalog

import (
	"math"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query/reads"
)

// sampled is the difference between a weight and 1 above which it means sampling. A smaller difference is rounding.
const sampled = 1e-9

func toProto(row reads.ServiceRow, seconds float64) *svcv2.Service {
	spans := float64(row.SpanCount)
	weight := row.EstimatedSpanCount / spans // a row has at least one span
	p := &svcv2.Service{
		Object: "service", Name: row.ServiceName, ServiceNamespaces: row.Namespaces, DeploymentEnvironments: row.Environments,
		Throughput: row.EstimatedSpanCount / seconds, TracedThroughput: spans / seconds,
		SpanCount: spans, ErrorCount: float64(row.ErrorCount), ErrorRate: ratio(row.EstimatedErrors, row.EstimatedSpanCount),
		P50LatencyMs: milliseconds(row.Latencies, 0), P95LatencyMs: milliseconds(row.Latencies, 1), P99LatencyMs: milliseconds(row.Latencies, 2),
		HasSampling: math.Abs(weight-1) > sampled, SamplingWeight: weight,
	}
	if row.BaselineSpanCount > 0 {
		p95, count := milliseconds(row.BaselineLatencies, 1), float64(row.BaselineSpanCount)
		p.BaselineP95LatencyMs, p.BaselineSpanCount = &p95, &count
	}
	return p
}

// ratio is a part of a whole, or 0 if the whole is 0. Sums of weights differ in their last bits if the weights were added in
// another order.
func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(part/whole, 1)
}

// milliseconds picks one quantile of nanoseconds. A digest without values gives NaN, which JSON cannot hold.
func milliseconds(quantiles []float32, i int) float64 {
	if i >= len(quantiles) || math.IsNaN(float64(quantiles[i])) {
		return 0
	}
	return float64(quantiles[i]) / 1e6
}
