package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
)

// BenchmarkEndToEnd sends requests of 512 items to a server in a process of its own and reports what an item costs until it is
// acknowledged and stored: CPU-seconds per million items (= µs per item) of the server and of the engine, and the bytes on disk. The
// engine's merges are waited for.
func BenchmarkEndToEnd(b *testing.B) {
	for _, bench := range []struct {
		name   string
		signal otlp.Signal
		proto  loadtest.Protocol
		rate   float64
	}{
		{"spans", otlp.Traces, loadtest.HTTPProtobuf, 0},
		{"spans-grpc", otlp.Traces, loadtest.GRPC, 0},
		{"logs", otlp.Logs, loadtest.HTTPProtobuf, 0},
		{"points", otlp.Metrics, loadtest.HTTPProtobuf, 0},
		// Below saturation, for the latency of an acknowledgement.
		{"spans-50-per-second", otlp.Traces, loadtest.HTTPProtobuf, 50},
	} {
		b.Run(bench.name, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "data")
			p := testkit.StartProcess(b, dir)
			engine := child(b, p.Pid())
			server0, engine0 := cpuSeconds(b, p.Pid()), cpuSeconds(b, engine)
			cfg := loadtest.Config{
				URL: p.IngestURL, Addr: p.OTLPGRPCAddr, Key: p.PrivateKey, Protocol: bench.proto, Signal: bench.signal, Gzip: true,
				Run: "bench", Workers: 16, Items: 512, Requests: 4000, Rate: bench.rate,
			}
			if bench.rate > 0 {
				cfg.Requests, cfg.Duration = 0, 10*time.Second
			}
			var items float64
			var report *loadtest.Report
			for b.Loop() {
				var err error
				if report, err = loadtest.Run(context.Background(), cfg); err != nil {
					b.Fatal(err)
				}
				if report.Acknowledged == 0 || report.Failed > 0 || report.Refused > 0 {
					b.Fatal(report)
				}
				items += float64(report.AcknowledgedItems())
			}
			waitFlushed(b, p)
			waitIdle(b, engine)
			server, engineShare := cpuSeconds(b, p.Pid())-server0, cpuSeconds(b, engine)-engine0
			b.ReportMetric(server/items*1e6, "server-cpu-µs/item")
			b.ReportMetric(engineShare/items*1e6, "engine-cpu-µs/item")
			b.ReportMetric((server+engineShare)/items*1e6, "cpu-µs/item")
			b.ReportMetric(float64(report.P50.Microseconds())/1e3, "ack-p50-ms")
			b.ReportMetric(float64(report.P99.Microseconds())/1e3, "ack-p99-ms")
			b.ReportMetric(items/float64(b.N)/report.Elapsed.Seconds(), "items/s")
			b.ReportMetric(float64(rss(b, p.Pid())+rss(b, engine))/(1<<20), "rss-MiB")
			out, err := testkit.Command(b, "admin", "sql",
				"SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'svc'", "--data-dir", dir).Output()
			if err != nil {
				b.Fatal(err)
			}
			if bytes, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64); err != nil {
				b.Fatal(err)
			} else {
				b.ReportMetric(bytes/items, "disk-B/item")
			}
			b.ReportMetric(0, "ns/op")
			if code := p.Stop(b); code != 0 {
				b.Fatalf("exit code %d\n%s", code, p.Log())
			}
		})
	}
}

// waitIdle waits until a process uses next to no CPU: the engine's merges are part of what an item costs.
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

// clockTick is USER_HZ, which Linux fixes at 100 for user space.
const clockTick = 100

func cpuSeconds(tb testing.TB, pid int) float64 {
	tb.Helper()
	fields := procStat(tb, pid)
	user, err1 := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	if err1 != nil || err2 != nil {
		tb.Fatal(err1, err2)
	}
	return (user + system) / clockTick
}

// rss is the resident memory of a process in bytes.
func rss(tb testing.TB, pid int) int64 {
	tb.Helper()
	pages, err := strconv.ParseInt(procStat(tb, pid)[21], 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// procStat returns the fields of /proc/<pid>/stat from the third on: the second, the name, may hold spaces.
func procStat(tb testing.TB, pid int) []string {
	tb.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
}
