// Benchingest measures the cost of ingest and prints it as one table; `make bench-ingest` runs it. It starts `svc serve` on an
// empty data folder, sends generated telemetry over real sockets, waits until everything is stored and merged, and reads the
// resources that both processes have used. docs/performance.md describes the method and the measured figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
)

// options set the amount of telemetry.
type options struct {
	program string
	dir     string
	// items of the load that is stored and merged, and of the one that is only acknowledged.
	items, ackItems int
	// warmItems are sent to each new server first, to warm up its pools and caches.
	warmItems int
	// half is the duration of the load at half of saturation.
	half time.Duration
	// every measures everything for every combination. Otherwise only http/protobuf with gzip is measured fully, and the others
	// only up to the acknowledgement.
	every   bool
	signals []otlp.Signal
	// anchorFor is the duration of each anchor measurement. With anchorOnly, nothing else is measured.
	anchorFor  time.Duration
	anchorOnly bool
	log        io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench-ingest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, log io.Writer) (err error) {
	opts, err := parse(args, log)
	if err != nil {
		return err
	}
	if opts.anchorOnly {
		ns, err := measureAnchor(opts.anchorFor)
		if err == nil {
			_, err = fmt.Fprintf(out, "%.1f\n", ns)
		}
		return err
	}
	if opts.dir == "" {
		if opts.dir, err = os.MkdirTemp("", "svc-bench-ingest-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(opts.dir)) }()
	}
	machine, err := describeMachine()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n\n", machine)
	started, busy := time.Now(), startBusy()
	rows, err := measureAll(ctx, opts)
	if err != nil {
		return err
	}
	printTable(out, rows, opts)
	printLimits(out, rows)
	fmt.Fprintf(out, "\nTook %s. Processor time that other programs used meanwhile: %s\n", time.Since(started).Round(time.Second),
		busy.others())
	return nil
}

func parse(args []string, log io.Writer) (options, error) {
	o := options{log: log, warmItems: 50_000, anchorFor: anchorFor}
	flags := flag.NewFlagSet("bench-ingest", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.StringVar(&o.program, "svc", "bin/svc", "the `program` to measure, with the engine's library beside it")
	flags.StringVar(&o.dir, "dir", "", "an existing `folder` for data; a temporary one by default")
	size := flags.String("size", "short", "short: two minutes; long: every combination stored and merged, a quarter of an hour")
	signals := flags.String("signals", "traces,logs,metrics", "which `signals` to send")
	items := flags.Int("items", 0, "items to store and merge, instead of what the size says")
	only := flags.Duration("anchor", 0, "measure nothing but the anchor, for this `time`, and print its ns a span")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if *only != 0 {
		if o.anchorFor, o.anchorOnly = *only, true; *only < 0 {
			return o, fmt.Errorf("-anchor is a time greater than 0, not %s", *only)
		}
		return o, nil
	}
	switch *size {
	case "short":
		o.items, o.ackItems, o.half = 2_000_000, 150_000, 8*time.Second
	case "long":
		o.items, o.ackItems, o.half, o.every = 2_000_000, 200_000, 20*time.Second, true
	default:
		return o, fmt.Errorf("-size is short or long, not %q", *size)
	}
	if *items > 0 {
		o.items, o.ackItems = *items, min(*items, o.ackItems)
	}
	for name := range strings.SplitSeq(*signals, ",") {
		i := slices.IndexFunc([]otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics}, func(s otlp.Signal) bool { return s.String() == name })
		if i < 0 {
			return o, fmt.Errorf("-signals lists traces, logs and metrics, not %q", name)
		}
		o.signals = append(o.signals, []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics}[i])
	}
	if _, err := os.Stat(o.program); err != nil {
		return o, fmt.Errorf("-svc names no program: %w", err)
	}
	var err error
	o.program, err = filepath.Abs(o.program)
	return o, err
}

// combination is one row of the table.
type combination struct {
	signal   otlp.Signal
	protocol loadtest.Protocol
	gzip     bool
	// newSeries makes every data point the first of its series. That is the worst case, for example a metric with an id among its
	// attributes.
	newSeries bool
	// fleet sends as a fleet of SDKs does, with overlapping requests of many instances.
	fleet bool
}

// usual is the combination that represents its signal, because exporters and collectors send this way.
func (c combination) usual() bool {
	return c.protocol == loadtest.HTTPProtobuf && c.gzip && !c.newSeries && !c.fleet
}

func (c combination) String() string {
	if c.newSeries {
		return fmt.Sprintf("%s %s gzip, each point a new series", c.signal, c.protocol)
	}
	if c.fleet {
		return fmt.Sprintf("%s %s gzip, a fleet", c.signal, c.protocol)
	}
	if c.gzip {
		return fmt.Sprintf("%s %s gzip", c.signal, c.protocol)
	}
	return fmt.Sprintf("%s %s", c.signal, c.protocol)
}

// combinations lists the rows of a signal, the usual one first.
func combinations(s otlp.Signal) []combination {
	var all []combination
	for _, p := range []loadtest.Protocol{loadtest.HTTPProtobuf, loadtest.GRPC, loadtest.HTTPJSON} {
		all = append(all, combination{signal: s, protocol: p, gzip: true}, combination{signal: s, protocol: p})
	}
	if s == otlp.Metrics {
		return append(all, combination{signal: s, protocol: loadtest.HTTPProtobuf, gzip: true, newSeries: true})
	}
	all = append(all, combination{signal: s, protocol: loadtest.HTTPProtobuf, gzip: true, fleet: true})
	return all
}
