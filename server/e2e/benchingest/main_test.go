package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
)

// TestMain also runs the process that measures an anchor.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-anchor" {
		main()
		return
	}
	os.Exit(testkit.Main(m))
}

func TestAnchor(t *testing.T) {
	ns, err := childAnchor(t.Context(), time.Millisecond)
	if err != nil || ns < 100 {
		t.Errorf("%g ns a span: %v", ns, err)
	}
	a := anchor{before: 2 * referenceAnchor, after: 3 * referenceAnchor}
	if got := a.scaled(5); got != 2 {
		t.Errorf("5 µs on a machine that is 2.5 times as slow as the reference are %g", got)
	}
	if got := a.drift(); got != 0.5 {
		t.Errorf("drift %g", got)
	}
	if got := (anchor{before: 3, after: 2}).drift(); got != 0.5 {
		t.Errorf("drift %g, faster afterwards", got)
	}
	if _, err := childAnchor(t.Context(), -time.Second); err == nil {
		t.Error("an anchor that cannot be measured is no error")
	}
	// The measurement around a phase that fails is useless.
	o := options{anchorFor: time.Millisecond}
	if _, err := o.measure(t.Context(), func() error { return os.ErrClosed }); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// This runs the whole measurement with a small load: every combination is acknowledged and stored, and every figure is there.
func TestRun(t *testing.T) {
	t.Setenv("SVC_CHDB_LIB", testkit.Library(t))
	var log bytes.Buffer
	o := options{
		program: testkit.Binary(t), dir: t.TempDir(), items: 2048, ackItems: 20_480, warmItems: 1024, anchorFor: time.Millisecond,
		half: time.Second, signals: []otlp.Signal{otlp.Metrics}, log: &log,
	}
	rows, err := measureAll(t.Context(), o)
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	if len(rows) != 7 {
		t.Fatalf("%d rows, want 3 protocols with and without gzip, and new series", len(rows))
	}
	for _, r := range rows {
		if r.ack <= 0 || r.stored != (r.usual() || r.newSeries) || r.ackAnchor.before <= 0 || r.ackAnchor.after <= 0 ||
			r.stored != (r.storedAnchor.mean() > 0) {
			t.Errorf("%s: %+v", r.combination, r)
		}
	}
	r := rows[0]
	for name, v := range map[string]float64{
		"server": r.server, "engine": r.engine, "disk": r.disk, "p50": r.p50.Seconds(), "p99": r.p99.Seconds(), "half p99": r.halfP99.Seconds(),
		"acked": r.acked, "stored": r.storedRate, "server peak": float64(r.serverPeak), "engine peak": float64(r.enginePeak),
	} {
		if v <= 0 {
			t.Errorf("%s is %g", name, v)
		}
	}
}

func TestTable(t *testing.T) {
	full := result{
		combination: combination{signal: otlp.Traces, protocol: loadtest.HTTPProtobuf, gzip: true}, ack: 5.666, stored: true, server: 3.2,
		engine: 4.1, merges: 0.75, disk: 54.62,
		acked: 500_000, storedRate: 170_000, p50: 9800 * time.Microsecond, p99: 32 * time.Millisecond, serverPeak: 400 << 20,
		enginePeak: 1200 << 20,
		ackAnchor:  anchor{2 * referenceAnchor, 2 * referenceAnchor}, storedAnchor: anchor{0.4 * referenceAnchor, 0.6 * referenceAnchor},
		halved: true, halfP50: 1300 * time.Microsecond, halfP99: 12 * time.Millisecond,
	}
	short := result{
		combination: combination{signal: otlp.Traces, protocol: loadtest.HTTPJSON, gzip: false}, ack: 3.8,
		ackAnchor: anchor{referenceAnchor, referenceAnchor},
	}
	var out bytes.Buffer
	printTable(&out, []result{full, short}, options{})
	printLimits(&out, []result{full, short})
	for _, want := range []string{
		"traces http/protobuf yes 5.67 16.71 2.83 3.20 4.10 7.30 4.18 14.60 0.8 54.6 9.8/32 ms 1.3/12 ms 500000 170000 400 1200",
		"traces http/json no 3.80 8.36 3.80 · · · · · · · · · · · · ·",
		"spans, to the ack 5.7 µs scaled 2.8 µs at most 2.5 MISSED",
		"spans, all in 7.3 µs scaled 14.6 µs at most 12 MISSED",
		"disk, spans 54.6 B at most 80 holds",
		"WARNING: traces http/protobuf gzip, all in: the anchor was 3.34 µs before and 5.01 µs after, 50 % apart",
		"memory of both processes, spans 1600.0 MiB at most 1536 MISSED",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("lacks %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "log records, all in") {
		t.Error("a limit is judged that nothing was measured for")
	}
	if strings.Count(out.String(), "WARNING") != 1 {
		t.Errorf("one phase is doubtful:\n%s", &out)
	}
}

func TestParse(t *testing.T) {
	program := os.Args[0]
	o, err := parse([]string{"-svc", program, "-size", "long", "-signals", "logs,traces", "-items", "1000"}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]otlp.Signal{otlp.Logs, otlp.Traces}, o.signals); diff != "" || o.items != 1000 || o.ackItems != 1000 || !o.every {
		t.Errorf("%+v %s", o, diff)
	}
	for _, tt := range []struct{ args, want string }{
		{"-size huge", "-size is short or long"},
		{"-signals spans", "-signals lists traces, logs and metrics"},
		{"-anchor -1s", "-anchor is a time greater than 0"},
		{"-svc /nowhere/svc", "-svc names no program"},
	} {
		if _, err := parse(append([]string{"-svc", program}, strings.Fields(tt.args)...), os.Stderr); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", tt.args, err)
		}
	}
}

// The processor time of this process is read from /proc, and grows.
func TestCPUSeconds(t *testing.T) {
	before, err := cpuSeconds(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		after, err := cpuSeconds(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if after > before {
			return
		}
	}
	t.Error("ten seconds of work cost no processor time")
}

func TestStartFails(t *testing.T) {
	if _, err := startProcess(context.Background(), "/bin/false", t.TempDir()); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("got %v", err)
	}
}
