package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// printTable prints a row for each combination, and what the columns mean.
func printTable(out io.Writer, rows []result, o options) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range [][]string{
		{"", "", "", "ack", "all in", "", "", "merged", "disk", "ack p50/p99", "ack p50/p99", "acked", "stored", "peak MiB", ""},
		{"signal", "protocol", "gzip", "µs", "server µs", "engine µs", "sum µs", "times", "B/item", "saturated", "at half", "items/s", "items/s", "server", "engine"},
	} {
		fmt.Fprintln(t, strings.Join(line, "\t")+"\t")
	}
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r.cells(), "\t")+"\t")
	}
	_ = t.Flush() // the terminal or a pipe: there is nobody to tell
	fmt.Fprintf(out, `
µs are processor time for one item (a span, a log record, a data point), which is also CPU-seconds for a million items.
  ack          server alone, until the item is on disk in the queue and acknowledged (fsync); the engine is halted, %d items
  all in       %d items sent as fast as they are taken, until all are stored with indexes and rollups and the engine has no
               merge left to do; merged times is how often a row was rewritten by then (a larger table: about once more for tenfold)
  disk         all tables, indexes and rollups, after the merges
  saturated    the answer to a request while more is sent than can be stored; at half: %s at half of the stored rate
  peak         the most resident memory of each process, over all of this row's loads
Every request holds %d items, 8 attributes on the resource and 10 on each item, and values that do not repeat more than in life:
random ids, own paths, users and addresses. Data points belong to %d series, which 40 processes report again and again; in the row
“metrics, new” each point is the first of its series, the worst case. %d senders.
`, o.ackItems, o.items, o.half, itemsPerRequest, repeatedSeries, senders)
	if !o.every {
		fmt.Fprintln(out, "“·” is not measured in the short form (SIZE=long does): the engine's work does not depend on how an item came.")
	}
}

func (r result) cells() []string {
	gzip := "no"
	if r.gzip {
		gzip = "yes"
	}
	name := r.signal.String()
	if r.newSeries {
		name += ", new"
	}
	cells := []string{name, string(r.protocol), gzip, number(r.ack, 2)}
	if !r.stored {
		return append(cells, "·", "·", "·", "·", "·", "·", "·", "·", "·", "·", "·")
	}
	half := "·"
	if r.halved {
		half = latencies(r.halfP50, r.halfP99)
	}
	return append(cells, number(r.server, 2), number(r.engine, 2), number(r.total(), 2), number(r.merges, 1), number(r.disk, 1),
		latencies(r.p50, r.p99), half, number(r.acked, 0), number(r.storedRate, 0),
		number(float64(r.serverPeak)/(1<<20), 0), number(float64(r.enginePeak)/(1<<20), 0))
}

func number(v float64, digits int) string { return fmt.Sprintf("%.*f", digits, v) }

func latencies(p50, p99 time.Duration) string {
	return fmt.Sprintf("%.1f/%.0f ms", p50.Seconds()*1e3, p99.Seconds()*1e3)
}

// limit is a bound on one figure of a signal's usual combination.
type limit struct {
	signal otlp.Signal
	name   string
	most   float64
	unit   string
	value  func(result) (float64, bool)
}

// limits are those of the issue that ordered this; docs/performance.md has the goals beside them.
func limits() []limit {
	ack := func(r result) (float64, bool) { return r.ack, r.ack > 0 }
	total := func(r result) (float64, bool) { return r.total(), r.stored }
	half := func(r result) (float64, bool) { return r.halfP99.Seconds() * 1e3, r.halved }
	disk := func(r result) (float64, bool) { return r.disk, r.stored }
	memory := func(r result) (float64, bool) { return float64(r.serverPeak+r.enginePeak) / (1 << 20), r.stored }
	return []limit{
		{otlp.Traces, "spans, to the ack", 2.5, "µs", ack},
		{otlp.Traces, "spans, all in", 12, "µs", total},
		{otlp.Logs, "log records, all in", 10, "µs", total},
		{otlp.Metrics, "data points, all in", 6, "µs", total},
		{otlp.Traces, "ack p99 at half of saturation, spans", 50, "ms", half},
		{otlp.Logs, "ack p99 at half of saturation, logs", 50, "ms", half},
		{otlp.Metrics, "ack p99 at half of saturation, points", 50, "ms", half},
		{otlp.Traces, "disk, spans", 80, "B", disk},
		{otlp.Traces, "memory of both processes, spans", 1536, "MiB", memory},
		{otlp.Logs, "memory of both processes, logs", 1536, "MiB", memory},
		{otlp.Metrics, "memory of both processes, points", 1536, "MiB", memory},
	}
}

// printLimits compares the usual combinations with the limits.
func printLimits(out io.Writer, rows []result) {
	fmt.Fprintln(out, "\nLimits, for http/protobuf with gzip:")
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, l := range limits() {
		for _, r := range rows {
			v, measured := l.value(r)
			if r.signal != l.signal || !r.usual() || !measured {
				continue
			}
			verdict := "holds"
			if v > l.most {
				verdict = "MISSED"
			}
			fmt.Fprintf(t, "  %s\t%.1f %s\tat most %g\t%s\n", l.name, v, l.unit, l.most, verdict)
		}
	}
	_ = t.Flush() // as above
}
