package e2e

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
)

// BenchmarkEndToEnd sends requests of 512 items to a server in a separate process. It reports the cost of an item until it is
// acknowledged and stored: CPU-seconds per million items (= µs per item) of the server and of the engine, allocations of the
// server, and bytes on disk. It waits for the engine's merges. In a varied load, each request has its own body. The other loads
// rotate 16 bodies, which compress better than real data.
func BenchmarkEndToEnd(b *testing.B) {
	for _, bench := range []struct {
		name   string
		signal otlp.Signal
		proto  loadtest.Protocol
		varied bool
	}{
		{"spans", otlp.Traces, loadtest.HTTPProtobuf, false},
		{"spans-grpc", otlp.Traces, loadtest.GRPC, false},
		{"logs", otlp.Logs, loadtest.HTTPProtobuf, false},
		{"points", otlp.Metrics, loadtest.HTTPProtobuf, false},
		{"spans-varied", otlp.Traces, loadtest.HTTPProtobuf, true},
		{"logs-varied", otlp.Logs, loadtest.HTTPProtobuf, true},
		{"points-varied", otlp.Metrics, loadtest.HTTPProtobuf, true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "data")
			p := testkit.StartProcess(b, dir)
			engine := child(b, p.Pid())
			cfg := load(p, bench.signal, bench.proto)
			cfg.Requests, cfg.Varied = 4000, bench.varied
			before := usageOf(b, p, engine)
			var items float64
			var report *loadtest.Report
			for b.Loop() {
				report = send(b, cfg)
				items += float64(report.AcknowledgedItems())
			}
			waitStored(b, p, 2*time.Minute)
			waitIdle(b, engine)
			used := usageOf(b, p, engine).since(before)
			used.report(b, items)
			b.ReportMetric(float64(report.P50.Microseconds())/1e3, "ack-p50-ms")
			b.ReportMetric(float64(report.P99.Microseconds())/1e3, "ack-p99-ms")
			b.ReportMetric(items/float64(b.N)/report.Elapsed.Seconds(), "acked-items/s")
			b.ReportMetric(float64(rss(b, p.Pid()))/(1<<20), "server-rss-MiB")
			b.ReportMetric(float64(rss(b, engine))/(1<<20), "engine-rss-MiB")
			b.ReportMetric(diskBytes(b, dir)/items, "disk-B/item")
			b.ReportMetric(0, "ns/op")
			stop(b, p)
		})
	}
}

// BenchmarkAcknowledge measures only the cost of a durable acknowledgement over a real socket, while the engine is halted. The
// load is small enough for its columns to wait in memory.
func BenchmarkAcknowledge(b *testing.B) {
	for _, bench := range []struct {
		name   string
		signal otlp.Signal
		proto  loadtest.Protocol
	}{
		{"spans", otlp.Traces, loadtest.HTTPProtobuf},
		{"spans-grpc", otlp.Traces, loadtest.GRPC},
		{"logs", otlp.Logs, loadtest.HTTPProtobuf},
		{"points", otlp.Metrics, loadtest.HTTPProtobuf},
	} {
		b.Run(bench.name, func(b *testing.B) {
			p := testkit.StartProcess(b, filepath.Join(b.TempDir(), "data"))
			engine := child(b, p.Pid())
			cfg := load(p, bench.signal, bench.proto)
			cfg.Requests = 500
			send(b, cfg) // this fills pools
			waitStored(b, p, time.Minute)
			cfg.Requests = 3000
			if err := syscall.Kill(engine, syscall.SIGSTOP); err != nil {
				b.Fatal(err)
			}
			before := usageOf(b, p, engine)
			var items float64
			var report *loadtest.Report
			for b.Loop() {
				report = send(b, cfg)
				items += float64(report.AcknowledgedItems())
			}
			used := usageOf(b, p, engine).since(before)
			if err := syscall.Kill(engine, syscall.SIGCONT); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(used.server/items*1e6, "server-cpu-µs/item")
			b.ReportMetric(used.allocations/items, "allocs/item")
			b.ReportMetric(float64(report.P50.Microseconds())/1e3, "ack-p50-ms")
			b.ReportMetric(float64(report.P99.Microseconds())/1e3, "ack-p99-ms")
			b.ReportMetric(items/float64(b.N)/report.Elapsed.Seconds(), "acked-items/s")
			b.ReportMetric(0, "ns/op")
			waitStored(b, p, 2*time.Minute)
			stop(b, p)
		})
	}
}

// load is the output of 16 senders at full speed, with 512 items a request and gzip.
func load(p *testkit.Process, signal otlp.Signal, protocol loadtest.Protocol) loadtest.Config {
	return loadtest.Config{
		URL: p.IngestURL, Addr: p.OTLPGRPCAddr, Key: p.PrivateKey, Protocol: protocol, Signal: signal, Gzip: true,
		Run: "bench", Workers: 16, Items: 512,
	}
}

// send runs a load. Everything in it must be acknowledged.
func send(b *testing.B, cfg loadtest.Config) *loadtest.Report {
	b.Helper()
	report, err := loadtest.Run(context.Background(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	if report.Acknowledged == 0 || report.Failed > 0 || report.Refused > 0 {
		b.Fatal(report, report.Failure)
	}
	return report
}

// waitStored waits until everything that was acknowledged is in the warehouse.
func waitStored(b testing.TB, p *testkit.Process, limit time.Duration) {
	b.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if metricValue(b, p, "svc_ingest_oldest_unflushed_seconds") == 0 {
			return
		}
	}
	b.Fatalf("not everything was stored within %s", limit)
}

// waitIdle waits until a process uses almost no CPU: the engine's merges are part of the cost of an item.
func waitIdle(b *testing.B, pid int) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		before := cpuSeconds(b, pid)
		time.Sleep(time.Second)
		if cpuSeconds(b, pid)-before < 0.03 {
			return
		}
	}
	b.Log("the engine was still busy after a minute")
}

func diskBytes(b *testing.B, dir string) float64 {
	b.Helper()
	out, err := testkit.Command(b, "admin", "sql",
		"SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'svc'", "--data-dir", dir).Output()
	if err != nil {
		b.Fatal(err)
	}
	bytes, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		b.Fatal(err)
	}
	return bytes
}

func stop(b testing.TB, p *testkit.Process) {
	b.Helper()
	if code := p.Stop(b); code != 0 {
		b.Fatalf("exit code %d\n%s", code, p.Log())
	}
}
