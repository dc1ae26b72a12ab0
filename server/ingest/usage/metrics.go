package usage

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/ingest/metricname"
)

var (
	usageUnflushed = metricname.Desc("usage_unflushed_seconds", "Age of the oldest usage count that the database does not have.")
	usageSums      = metricname.Desc("usage_pending_sums", "Sums of usage that wait to be added to the database.")
	usageFlushes   = metricname.Desc(
		"usage_flushes_total",
		"Times that usage was added to the database. An uncertain one failed or has an unknown outcome, and is repeated.",
		"result",
	)
	usageMerged = metricname.Desc(
		"usage_merged_requests_total",
		"Requests whose usage was counted without their key, because too many sums waited for the database.",
	)
	planReads         = metricname.Desc("plan_reads_total", "Times that plans and the month's usage were read.", "result")
	planOrganizations = metricname.Desc("plan_organizations", "Organizations whose plan and usage are in memory.")
)

// Describe sends nothing. The checks of metrics that it would bring are those of a registry with fixed sets.
func (m *Meter) Describe(chan<- *prometheus.Desc) {}

// Collect shows how far the database is behind the counts in memory.
func (m *Meter) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64) { ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	count := func(d *prometheus.Desc, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	u := m.Stats()
	gauge(usageUnflushed, u.Oldest.Seconds())
	gauge(usageSums, float64(u.Cells))
	count(usageFlushes, u.Flushes, "ok")
	count(usageFlushes, u.FlushFailures, "uncertain")
	count(usageMerged, u.Merged)
	count(planReads, u.Reads-u.ReadFailures, "ok")
	count(planReads, u.ReadFailures, "failed")
	gauge(planOrganizations, float64(u.Accounts))
}
