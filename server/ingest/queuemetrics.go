package ingest

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/ingest/metricname"
	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/ingest/queue"
)

// QueueCollector shows the way of telemetry from the acknowledgement to the warehouse. It is a prometheus.Collector.
type QueueCollector struct {
	Log      *queue.Log
	Pipeline *pipeline.Pipeline
}

var (
	queueBytes    = metricname.Desc("queue_bytes", "Bytes of the durable queue that are not yet released.")
	queueMaxBytes = metricname.Desc("queue_max_bytes", "Bytes above which the durable queue refuses.")
	queueHeld     = metricname.Desc("queue_held_bytes", "Bytes of requests in the durable queue that are not yet in the warehouse.")
	queueLargest  = metricname.Desc(
		"queue_largest_organization_bytes",
		"Bytes in the durable queue, not yet in the warehouse, of the organization that has most of them.",
	)
	queueMaxPerOrg  = metricname.Desc("queue_max_bytes_per_organization", "Bytes above which the durable queue refuses one organization.")
	queueWaiting    = metricname.Desc("queue_waiting_requests", "Requests that wait for the disk.")
	waitingBytes    = metricname.Desc("queue_waiting_bytes", "Bytes of requests that wait for the disk, with their decoded columns.")
	queueRecords    = metricname.Desc("queue_records", "Requests in unreleased segments of the durable queue.")
	queueAppended   = metricname.Desc("queue_appended_total", "Requests appended to the durable queue.")
	queueRefused    = metricname.Desc("queue_refused_total", "Requests that the durable queue refused.")
	queueSyncs      = metricname.Desc("queue_syncs_total", "Calls of fdatasync.")
	queueDamaged    = metricname.Desc("queue_damaged_ranges", "Damaged ranges found in the durable queue.")
	oldestUnflushed = metricname.Desc("oldest_unflushed_seconds", "Age of the oldest acknowledged request that is not yet in the warehouse.")
	oldestOutside   = metricname.Desc(
		"oldest_unflushed_outside_lanes_seconds",
		"Age of the oldest acknowledged request that is not yet in the warehouse, without the organizations whose backlog has a lane.",
	)
	lanes       = metricname.Desc("lanes", "Organizations whose backlog has a lane: it is stored beside the data of the others.")
	storedRows  = metricname.Desc("stored_rows_total", "Rows inserted into the warehouse.", "table")
	storedItems = metricname.Desc(
		"stored_items_total",
		"Items in the warehouse that this run accepted. When nothing is unflushed, these and the refused items are the accepted ones of "+
			"svc_ingest_items_total.",
		"signal",
	)
	resumedItems = metricname.Desc("resumed_items_total", "Items in the warehouse that an earlier run accepted.", "signal")
	refusedItems = metricname.Desc(
		"refused_items_total",
		"Items that this run accepted and the warehouse refused, kept in the quarantine folder.",
		"signal",
	)
	batches             = metricname.Desc("batches_total", "Batches inserted into the warehouse.")
	insertRetries       = metricname.Desc("insert_retries_total", "Inserts that were tried again.")
	insertsWithoutViews = metricname.Desc(
		"inserts_salvaged_total",
		"Inserts that were stored without a view that refuses their rows: its rollup lacks them.",
	)
	replayed     = metricname.Desc("replayed_records_total", "Requests read back from the durable queue.")
	spilled      = metricname.Desc("spilled_records_total", "Requests whose decoded columns were dropped to save memory.")
	quarantined  = metricname.Desc("quarantined_records_total", "Requests that the warehouse refuses, kept in the quarantine folder.")
	pendingBytes = metricname.Desc("pending_bytes", "Memory of decoded columns that wait for their batch.")
)

// Describe sends nothing: the set of tables is not known before they are used.
func (c QueueCollector) Describe(chan<- *prometheus.Desc) {}

// Collect takes a snapshot.
func (c QueueCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64) { ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	count := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	q, p := c.Log.Stats(), c.Pipeline.Stats()
	gauge(queueBytes, float64(q.Bytes))
	gauge(queueMaxBytes, float64(q.MaxBytes))
	gauge(queueHeld, float64(q.HeldBytes))
	gauge(queueLargest, float64(q.LargestOwnerBytes))
	gauge(queueMaxPerOrg, float64(q.MaxBytesPerOwner))
	gauge(queueWaiting, float64(q.Waiting))
	gauge(waitingBytes, float64(q.WaitingBytes))
	gauge(queueRecords, float64(q.Records))
	count(queueAppended, float64(q.Appended))
	count(queueRefused, float64(q.Refused))
	count(queueSyncs, float64(q.Syncs))
	gauge(queueDamaged, float64(q.Damaged))
	gauge(oldestUnflushed, p.OldestUnflushed.Seconds())
	gauge(oldestOutside, p.OldestOutsideLanes.Seconds())
	gauge(lanes, float64(p.Lanes))
	for table, rows := range p.Rows {
		count(storedRows, float64(rows), table)
	}
	stored, resumed, refused := bySignal(p.Rows), bySignal(p.Resumed), bySignal(p.Refused)
	for _, signal := range Signals() {
		count(storedItems, float64(stored[signal]-resumed[signal]), signal)
		count(resumedItems, float64(resumed[signal]), signal)
		count(refusedItems, float64(refused[signal]), signal)
	}
	count(batches, float64(p.Batches))
	count(insertRetries, float64(p.Retries))
	count(insertsWithoutViews, float64(p.StoredWithoutViews))
	count(replayed, float64(p.Replayed))
	count(spilled, float64(p.Spilled))
	count(quarantined, float64(p.Quarantined))
	gauge(pendingBytes, float64(p.MemoryBytes))
}

// bySignal sums the rows of the tables that hold items.
func bySignal(rows map[string]int64) map[string]int64 {
	sums := map[string]int64{}
	for table, n := range rows {
		sums[ItemTable(table)] += n
	}
	return sums
}
