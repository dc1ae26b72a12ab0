package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
)

// envFlood holds the load that a copy of the test binary sends instead of running tests.
const envFlood = "SVC_TEST_FLOOD"

// sendFlood is that copy: it prints what became of its load. Without a URL it only uses the processor.
func sendFlood(config string) error {
	var cfg loadtest.Config
	if err := json.Unmarshal([]byte(config), &cfg); err != nil {
		return err
	}
	if cfg.URL == "" {
		for range cfg.Workers {
			go func() {
				for n := 0; ; n++ { //nolint:staticcheck // it is there to be busy
				}
			}()
		}
		time.Sleep(cfg.Duration)
		return nil
	}
	report, err := loadtest.Run(context.Background(), cfg)
	if err != nil {
		return err
	}
	fmt.Println(report)
	if report.Failed > 0 {
		return fmt.Errorf("%d requests had no answer: %w", report.Failed, report.Failure)
	}
	return nil
}

// startFlood starts it with a priority (19 gives way to everything else) and returns what waits for its end.
func startFlood(tb testing.TB, cfg loadtest.Config, nice int) (wait func() string) {
	tb.Helper()
	text, err := json.Marshal(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envFlood+"="+string(text))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, nice); err != nil {
		tb.Error(err)
	}
	return func() string {
		if err := cmd.Wait(); err != nil {
			tb.Errorf("the flood: %v\n%s", err, &out)
		}
		return strings.TrimSpace(out.String())
	}
}

// BenchmarkFairness measures how long one organization waits for its acknowledgements, alone and while another one sends as much as it
// can. Generator and server share the machine's processors, so the flood's generator is a process of the lowest priority, and the
// comparison that tells what the server's own order is worth is the third: the same quiet load beside as many programs that only
// use the processors, at the server's own priority.
func BenchmarkFairness(b *testing.B) {
	for b.Loop() {
		p := testkit.StartProcess(b, filepath.Join(b.TempDir(), "data"), "--queue-max-bytes", "1GiB")
		flooding := p.NewOrganization(b, "flood")
		quiet := loadtest.Config{
			URL: p.IngestURL, Key: p.PrivateKey, Protocol: loadtest.HTTPProtobuf, Signal: otlp.Traces, Gzip: true, Run: "quiet",
			Workers: 4, Items: 50, Rate: 50, Duration: 10 * time.Second,
		}
		flood := loadtest.Config{
			URL: p.IngestURL, Addr: p.OTLPGRPCAddr, Key: flooding.PrivateKey, Protocol: loadtest.HTTPProtobuf, Signal: otlp.Traces, Gzip: true, Run: "flood",
			Workers: 16, Items: 512, Duration: quiet.Duration + 2*time.Second,
		}
		measure := func(name string) time.Duration {
			report := send(b, quiet)
			b.Logf("%s: p50 %s, p99 %s of %d", name, report.P50, report.P99, report.Acknowledged)
			b.ReportMetric(float64(report.P99.Microseconds())/1e3, name+"-p99-ms")
			b.ReportMetric(float64(report.P50.Microseconds())/1e3, name+"-p50-ms")
			return report.P99
		}
		measure("warm")
		alone := measure("alone")
		large := flood
		large.Workers, large.Items, large.Protocol = 8, 20_000, loadtest.GRPC
		for _, c := range []struct {
			name string
			cfg  loadtest.Config
			nice int
		}{
			{"busy", loadtest.Config{Workers: 2, Duration: flood.Duration}, 0},
			{"flood", flood, 19},
			{"large", large, 19},
		} {
			wait := startFlood(b, c.cfg, c.nice)
			time.Sleep(time.Second)
			p99 := measure(c.name)
			oldest := metricValue(b, p, "svc_ingest_oldest_unflushed_seconds")
			b.Logf("%s: %s; oldest acknowledged and not stored: %.1f s; queue %.0f MiB", c.name, wait(), oldest, metricValue(b, p, "svc_ingest_queue_held_bytes")/(1<<20))
			b.ReportMetric(oldest, c.name+"-behind-s")
			b.ReportMetric(float64(p99)/float64(alone), c.name+"-p99-ratio")
			began := time.Now()
			waitStored(b, p, 10*time.Minute)
			b.ReportMetric(time.Since(began).Seconds(), c.name+"-drain-s")
		}
		b.ReportMetric(0, "ns/op")
		stop(b, p)
	}
}
