package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
)

// envFlood holds the load of a copy of the test binary, which sends it instead of running tests.
const envFlood = "SVC_TEST_FLOOD"

// sendFlood runs in that copy. It prints the outcome of its load. Without a URL, it only uses the processor.
func sendFlood(config string) error {
	var cfg loadtest.Config
	if err := json.Unmarshal([]byte(config), &cfg); err != nil {
		return err
	}
	if cfg.URL == "" {
		for range cfg.Workers {
			go func() {
				for n := 0; ; n++ {
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

// startFlood starts the copy with a priority (19 is the lowest) and returns a function that waits for its end.
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

// fairnessRounds is the number of rounds of BenchmarkFairness. The speed of the machine changes over time. So the cases that are
// compared are measured in turns, and the medians count.
const fairnessRounds = 4

// BenchmarkFairness measures how long one organization waits for its acknowledgements: alone, beside programs that keep the
// processors busy at the server's own priority, and beside the floods of another organization. Generators and server share the
// processors of the machine, so the generators of the floods are processes of the lowest priority. It reports medians over the
// rounds; the log has the single values.
func BenchmarkFairness(b *testing.B) {
	for b.Loop() {
		p := testkit.StartProcess(b, filepath.Join(b.TempDir(), "data"), "--queue-max-bytes", "1GiB")
		flooding := p.NewOrganization(b, "flood")
		quiet := loadtest.Config{
			URL: p.IngestURL, Key: p.PrivateKey, Protocol: loadtest.HTTPProtobuf, Signal: otlp.Traces, Gzip: true, Run: "quiet",
			Workers: 4, Items: 50, Rate: 100, Duration: 5 * time.Second,
		}
		flood := loadtest.Config{
			URL: p.IngestURL, Addr: p.OTLPGRPCAddr, Key: flooding.PrivateKey, Protocol: loadtest.HTTPProtobuf, Signal: otlp.Traces, Gzip: true,
			Run:     "flood",
			Workers: 16, Items: 512, Duration: quiet.Duration + 2*time.Second,
		}
		large := flood
		large.Workers, large.Items, large.Protocol = 8, 20_000, loadtest.GRPC
		phases := []struct {
			name string
			cfg  loadtest.Config
			nice int
		}{
			{"alone", loadtest.Config{}, 0},
			{"busy", loadtest.Config{Workers: 2, Duration: flood.Duration}, 0},
			{"flood", flood, 19},
			{"large", large, 19},
		}
		figures := map[string][]float64{}
		note := func(name string, v float64) { figures[name] = append(figures[name], v) }
		send(b, quiet) // this fills pools
		last := map[string]string{}
		for range fairnessRounds {
			for _, c := range phases {
				wait := func() string { return "" }
				if c.cfg.Duration > 0 {
					wait = startFlood(b, c.cfg, c.nice)
					time.Sleep(time.Second)
				}
				report := send(b, quiet)
				behind := metricValue(b, p, "svc_ingest_oldest_unflushed_seconds")
				last[c.name] = wait()
				note(c.name+"-p50-ms", float64(report.P50.Microseconds())/1e3)
				note(c.name+"-p99-ms", float64(report.P99.Microseconds())/1e3)
				note(c.name+"-behind-s", behind)
				waitStored(b, p, 10*time.Minute)
			}
		}
		for _, c := range phases {
			for _, unit := range []string{"-p50-ms", "-p99-ms", "-behind-s"} {
				v := figures[c.name+unit]
				slices.Sort(v)
				b.ReportMetric((v[(len(v)-1)/2]+v[len(v)/2])/2, c.name+unit)
			}
			b.Logf("%s: p50 %v, p99 %v in ms, from the least; %s", c.name, figures[c.name+"-p50-ms"], figures[c.name+"-p99-ms"], last[c.name])
		}
		b.ReportMetric(0, "ns/op")
		stop(b, p)
	}
}
