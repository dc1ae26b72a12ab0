package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
)

// Limits that the soak checks.
const (
	soakMemory    = 1536 << 20
	soakFreshness = 2 * time.Second
)

// BenchmarkSoak first loads a server for half a minute with more spans than it can store. Memory must stay bounded, the backlog
// must lie on disk, reads must keep answering, and everything must be stored afterwards. Then it loads the server for twenty
// seconds with half of the measured rate. Data must be queryable within two seconds of its acknowledgement. The benchmark fails
// otherwise.
func BenchmarkSoak(b *testing.B) {
	for b.Loop() {
		p := testkit.StartProcess(b, filepath.Join(b.TempDir(), "data"), "--queue-max-bytes-per-org", "4GiB") // no request is refused
		engine := child(b, p.Pid())
		cfg := load(p, otlp.Traces, loadtest.HTTPProtobuf)
		cfg.Duration = 30 * time.Second

		watch := startWatch(b, p, engine)
		started := time.Now()
		report := send(b, cfg)
		loaded := time.Since(started)
		waitStored(b, p, 4*time.Minute)
		stored := time.Since(started)
		peak := watch()
		sustained := float64(report.AcknowledgedItems()) / stored.Seconds()
		b.ReportMetric(float64(report.AcknowledgedItems())/loaded.Seconds(), "acked-items/s")
		b.ReportMetric(sustained, "stored-items/s")
		b.ReportMetric(float64(report.P99.Microseconds())/1e3, "ack-p99-ms")
		b.ReportMetric(float64(peak.server)/(1<<20), "server-rss-MiB")
		b.ReportMetric(float64(peak.engine)/(1<<20), "engine-rss-MiB")
		b.ReportMetric(peak.queue/(1<<20), "queue-MiB")
		b.ReportMetric(float64(peak.read.Milliseconds()), "slowest-read-ms")
		b.Logf("beyond saturation: %s; stored after %s (%.0f items/s); most: server %d MiB, engine %d MiB, queue %.0f MiB, slowest read %s",
			report, stored.Round(time.Millisecond), sustained, peak.server>>20, peak.engine>>20, peak.queue/(1<<20),
			peak.read.Round(time.Millisecond))
		if sum := peak.server + peak.engine; sum > soakMemory {
			b.Errorf("resident memory reached %d MiB", sum>>20)
		}

		cfg.Duration, cfg.Rate, cfg.Run = 20*time.Second, sustained/2/float64(cfg.Items), "half"
		var load sync.WaitGroup
		load.Go(func() { report = send(b, cfg) })
		fresh := probe(b, p, 12)
		load.Wait()
		b.ReportMetric(cfg.Rate*float64(cfg.Items), "half-items/s")
		b.ReportMetric(float64(report.P50.Microseconds())/1e3, "half-ack-p50-ms")
		b.ReportMetric(float64(report.P99.Microseconds())/1e3, "half-ack-p99-ms")
		b.ReportMetric(fresh[len(fresh)/2].Seconds(), "half-fresh-p50-s")
		b.ReportMetric(fresh[len(fresh)-1].Seconds(), "half-fresh-max-s")
		b.Logf("at half of that: %s; queryable after p50 %s, at most %s", report, fresh[len(fresh)/2].Round(time.Millisecond),
			fresh[len(fresh)-1].Round(time.Millisecond))
		if worst := fresh[len(fresh)-1]; worst > soakFreshness {
			b.Errorf("at half of what it can store, data was queryable after %s", worst)
		}
		b.ReportMetric(0, "ns/op")
		stop(b, p)
	}
}

// peak is the highest value that was seen.
type peak struct {
	server, engine int64
	queue          float64
	read           time.Duration
}

// startWatch checks both processes every second, and reads as a user would. The returned function ends the watch.
func startWatch(b *testing.B, p *testkit.Process, engine int) (end func() peak) {
	ctx, cancel := context.WithCancel(context.Background())
	var seen peak
	var work sync.WaitGroup
	work.Go(func() {
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
			server, child := rss(b, p.Pid()), rss(b, engine)
			if server+child > seen.server+seen.engine {
				seen.server, seen.engine = server, child
			}
			seen.queue = max(seen.queue, metricValue(b, p, "svc_ingest_queue_bytes"))
			started := time.Now()
			if status, body := get(b, p, servicesPath()); status != http.StatusOK {
				b.Errorf("a read under load: %d %s", status, body)
			}
			seen.read = max(seen.read, time.Since(started))
		}
	})
	return func() peak {
		cancel()
		work.Wait()
		return seen
	}
}

// servicesPath asks for the services of the last hour.
func servicesPath() string {
	now := time.Now().UTC()
	return "/v2/services?start_time=" + now.Add(-time.Hour).Format(time.RFC3339) + "&end_time=" + now.Format(time.RFC3339)
}

func get(b *testing.B, p *testkit.Process, path string) (status int, body string) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, p.BaseURL+path, nil)
	if err != nil {
		b.Error(err)
		return 0, ""
	}
	req.Header.Set("Authorization", "Bearer "+p.APIKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(text)
}

// probeTrace is the number of the first trace that probe sends.
const probeTrace = 1_000_000

// probe sends single spans and measures the time from each acknowledgement until the span can be read; the times are sorted. It
// polls within the rate limit of the API, so the times are up to 150 ms too long.
func probe(b *testing.B, p *testkit.Process, n int) []time.Duration {
	b.Helper()
	var all []time.Duration
	for i := range n {
		body, err := proto.Marshal(oneSpan(probeTrace+i, 0))
		if err != nil {
			b.Fatal(err)
		}
		req, err := http.NewRequest(http.MethodPost, p.IngestURL+"/v1/traces", strings.NewReader(string(body)))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+p.PrivateKey)
		req.Header.Set("Content-Type", "application/x-protobuf")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			b.Fatal(res.Status)
		}
		acknowledged := time.Now()
		for {
			time.Sleep(150 * time.Millisecond)
			status, text := get(b, p, fmt.Sprintf("/v2/traces/%032x", probeTrace+i))
			if status == http.StatusOK {
				break
			}
			if status != http.StatusNotFound || time.Since(acknowledged) > time.Minute {
				b.Fatalf("reading span %d back: %d %s", i, status, text)
			}
		}
		all = append(all, time.Since(acknowledged))
	}
	slices.Sort(all)
	return all
}
