package ingest

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/ingest/metricname"
)

// loadSeries report the gateway's current load against its bounds.
func (g *Gateway) loadSeries() []prometheus.Collector {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: metricname.Prefix + name, Help: help}, value)
	}
	return []prometheus.Collector{
		gauge("buffered_bytes", "Bytes of bodies in memory, as they came and decompressed.", func() float64 { return float64(g.budget.inUse()) }),
		gauge(
			"buffered_max_bytes",
			"Bytes of bodies in memory above which requests are refused.",
			func() float64 { return float64(g.limits.Buffered) },
		),
		gauge(
			"decoding_requests",
			"Requests that are being decompressed and read.",
			func() float64 { n, _ := g.decoders.state(); return float64(n) },
		),
		gauge(
			"decoder_waiting_requests",
			"Requests that wait to be decompressed and read.",
			func() float64 { _, n := g.decoders.state(); return float64(n) },
		),
	}
}
