package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/ingest/outcome"
	"github.com/svc-observability/svc/server/ingest/usage"
)

// usageCollector measures how far the database lags behind the records of requests.
type usageCollector struct {
	meter    *usage.Meter
	recorder *outcome.Recorder
}

var (
	usageUnflushed    = desc("usage_unflushed_seconds", "Age of the oldest usage count that the database does not have.")
	usageSums         = desc("usage_pending_sums", "Sums of usage that wait to be added to the database.")
	usageFlushes      = desc("usage_flushes_total", "Times that usage was added to the database. An uncertain one failed or has an unknown outcome, and is repeated.", "result")
	usageMerged       = desc("usage_merged_requests_total", "Requests whose usage was counted without their key, because too many sums waited for the database.")
	planReads         = desc("plan_reads_total", "Times that plans and the month's usage were read.", "result")
	planOrganizations = desc("plan_organizations", "Organizations whose plan and usage are in memory.")
	outcomesUnsaved   = desc("outcomes_unsaved_seconds", "Age of the oldest answer that is remembered in memory alone.")
	outcomesKeys      = desc("outcomes_keys", "Keys whose last answers are in memory.")
	outcomesSaved     = desc("outcomes_saved_total", "Histories of keys saved to the database.")
	outcomesFailed    = desc("outcomes_save_failures_total", "Times that histories could not be saved.")
	outcomesEvicted   = desc("outcomes_evicted_keys_total", "Keys whose answers made room in memory for those of others; of unsaved ones the latest answers are lost.", "state")
)

// Describe sends nothing, like the Describe of queueCollector.
func (c usageCollector) Describe(chan<- *prometheus.Desc) {}

// Collect takes a snapshot.
func (c usageCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64) { ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	count := func(d *prometheus.Desc, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	u, o := c.meter.Stats(), c.recorder.Stats()
	gauge(usageUnflushed, u.Oldest.Seconds())
	gauge(usageSums, float64(u.Cells))
	count(usageFlushes, u.Flushes, "ok")
	count(usageFlushes, u.FlushFailures, "uncertain")
	count(usageMerged, u.Merged)
	count(planReads, u.Reads-u.ReadFailures, "ok")
	count(planReads, u.ReadFailures, "failed")
	gauge(planOrganizations, float64(u.Accounts))
	gauge(outcomesUnsaved, o.Oldest.Seconds())
	gauge(outcomesKeys, float64(o.Keys))
	count(outcomesSaved, o.Saved)
	count(outcomesFailed, o.SaveFailures)
	count(outcomesEvicted, o.Evicted-o.Unsaved, "saved")
	count(outcomesEvicted, o.Unsaved, "unsaved")
}
