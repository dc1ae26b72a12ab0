package outcome

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/ingest/metricname"
)

var (
	outcomesUnsaved = metricname.Desc("outcomes_unsaved_seconds", "Age of the oldest answer that is remembered in memory alone.")
	outcomesKeys    = metricname.Desc("outcomes_keys", "Keys whose last answers are in memory.")
	outcomesSaved   = metricname.Desc("outcomes_saved_total", "Histories of keys saved to the database.")
	outcomesFailed  = metricname.Desc("outcomes_save_failures_total", "Times that histories could not be saved.")
	outcomesEvicted = metricname.Desc(
		"outcomes_evicted_keys_total",
		"Keys whose answers left memory because others needed the room. Answers that were not saved are lost.",
		"state",
	)
)

// Describe sends nothing. The checks of metrics that it would bring are those of a registry with fixed sets.
func (r *Recorder) Describe(chan<- *prometheus.Desc) {}

// Collect shows how far the database is behind the answers in memory.
func (r *Recorder) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64) { ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	count := func(d *prometheus.Desc, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	o := r.Stats()
	gauge(outcomesUnsaved, o.Oldest.Seconds())
	gauge(outcomesKeys, float64(o.Keys))
	count(outcomesSaved, o.Saved)
	count(outcomesFailed, o.SaveFailures)
	count(outcomesEvicted, o.Evicted-o.Unsaved, "saved")
	count(outcomesEvicted, o.Unsaved, "unsaved")
}
