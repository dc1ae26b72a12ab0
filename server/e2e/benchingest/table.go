package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// printTable prints a row for each combination, and explains the columns.
func printTable(out io.Writer, rows []result, o options) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range [][]string{
		{"", "", "", "ack", "", "", "all in", "", "", "", "", "merged", "disk", "ack p50/p99", "ack p50/p99", "acked", "stored", "peak MiB", ""},
		{
			"signal", "protocol", "gzip", "µs", "anchor", "scaled", "server µs", "engine µs", "sum µs", "anchor", "scaled", "times", "B/item",
			"saturated", "at half", "items/s", "items/s", "server", "engine",
		},
	} {
		fmt.Fprintln(t, strings.Join(line, "\t")+"\t")
	}
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r.cells(), "\t")+"\t")
	}
	_ = t.Flush() // the terminal or a pipe: an error could not be reported
	fmt.Fprintf(out, `
µs are processor time for one item (a span, a log record, a data point), which is also CPU-seconds for a million items.
  anchor       µs a span for gunzip and proto.Unmarshal of such spans by the standard library and the generated types, one thread, with
               garbage collection: the mean of before and after the phase. It tells how fast the machine was just then
  scaled       the µs before it × %s / anchor: on a machine as fast as the one that the limits were set on
  ack          server alone, until the item is on disk in the queue and acknowledged (fsync); the engine is halted, %d items
  all in       %d items sent as fast as they are taken, until all are stored with indexes and rollups and the engine has no
               merge left to do; merged times is how often a row was rewritten by then (a larger table: about once more for tenfold)
  disk         all tables, indexes and rollups, after the merges
  saturated    the answer to a request while more is sent than can be stored; at half: %s at half of the stored rate
  peak         the most resident memory of each process, over all of this row's loads
Every request holds %d items, 8 attributes on the resource and 10 on each item, and values that do not repeat more than in life:
random ids, own paths, users and addresses. Data points belong to %d series, which 40 processes report again and again; in the row
“metrics, new” each point is the first of its series, the worst case. In the rows “fleet” a request holds what one of 96 instances
collected in 5 seconds, so that requests overlap in time; of 1,000 spans 6 have a stack, 44 an event and 10 a link. %d senders.
`, number(referenceAnchor/1e3, 3), o.ackItems, o.items, o.half, itemsPerRequest, repeatedSeries, senders)
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
	if r.fleet {
		name += ", fleet"
	}
	cells := append([]string{name, string(r.protocol), gzip, number(r.ack, 2)}, r.ackAnchor.cells(r.ack)...)
	if !r.stored {
		return append(cells, slices.Repeat([]string{"·"}, 13)...)
	}
	half := "·"
	if r.halved {
		half = latencies(r.halfP50, r.halfP99)
	}
	cells = append(append(cells, number(r.server, 2), number(r.engine, 2), number(r.total(), 2)), r.storedAnchor.cells(r.total())...)
	return append(cells, number(r.merges, 1), number(r.disk, 1),
		latencies(r.p50, r.p99), half, number(r.acked, 0), number(r.storedRate, 0),
		number(float64(r.serverPeak)/(1<<20), 0), number(float64(r.enginePeak)/(1<<20), 0))
}

// cells are the anchor, and a processor time in units of it.
func (a anchor) cells(raw float64) []string {
	return []string{number(a.mean()/1e3, 2), number(a.scaled(raw), 2)}
}

func number(v float64, digits int) string { return fmt.Sprintf("%.*f", digits, v) }

func latencies(p50, p99 time.Duration) string {
	return fmt.Sprintf("%.1f/%.0f ms", p50.Seconds()*1e3, p99.Seconds()*1e3)
}

// limit bounds one figure of a signal's usual combination.
type limit struct {
	signal otlp.Signal
	name   string
	most   float64
	unit   string
	value  func(result) figure
}

// figure is the value that is compared with a limit: the value itself, or for a processor time, which has an anchor, the scaled
// value.
type figure struct {
	value    float64
	anchor   *anchor
	measured bool
}

func (f figure) judged() float64 {
	if f.anchor == nil {
		return f.value
	}
	return f.anchor.scaled(f.value)
}

// limits are the accepted upper bounds; docs/performance.md has the goals beside them.
func limits() []limit {
	ack := func(r result) figure { return figure{r.ack, &r.ackAnchor, r.ack > 0} }
	total := func(r result) figure { return figure{r.total(), &r.storedAnchor, r.stored} }
	half := func(r result) figure { return figure{r.halfP99.Seconds() * 1e3, nil, r.halved} }
	disk := func(r result) figure { return figure{r.disk, nil, r.stored} }
	memory := func(r result) figure {
		return figure{float64(r.serverPeak+r.enginePeak) / (1 << 20), nil, r.stored}
	}
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

// printLimits compares the usual combinations with the limits, and names the figures that are doubtful because the machine
// changed speed.
func printLimits(out io.Writer, rows []result) {
	fmt.Fprintln(out, "\nLimits, for http/protobuf with gzip; processor times are held to them as scaled:")
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, l := range limits() {
		for _, r := range rows {
			f := l.value(r)
			if r.signal != l.signal || !r.usual() || !f.measured {
				continue
			}
			verdict, scaled := "holds", ""
			if f.judged() > l.most {
				verdict = "MISSED"
			}
			if f.anchor != nil {
				scaled = fmt.Sprintf("scaled %.1f %s", f.judged(), l.unit)
			}
			fmt.Fprintf(t, "  %s\t%.1f %s\t%s\tat most %g\t%s\n", l.name, f.value, l.unit, scaled, l.most, verdict)
		}
	}
	_ = t.Flush() // as above
	printDrift(out, rows)
}

// printDrift warns of phases during which the machine became faster or slower.
func printDrift(out io.Writer, rows []result) {
	for _, r := range rows {
		for _, phase := range []struct {
			name     string
			anchor   anchor
			measured bool
		}{{"acknowledgement", r.ackAnchor, r.ack > 0}, {"all in", r.storedAnchor, r.stored}} {
			if a := phase.anchor; phase.measured && a.drift() > anchorDrift {
				fmt.Fprintf(out, "WARNING: %s, %s: the anchor was %.2f µs before and %.2f µs after, %.0f %% apart: the machine changed its speed "+
					"meanwhile; measure again.\n",
					r.combination, phase.name, a.before/1e3, a.after/1e3, 100*a.drift())
			}
		}
	}
}
