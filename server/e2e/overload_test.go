package e2e

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
)

// overload is a load on both doors beyond what the server can store.
type overload struct {
	duration time.Duration
	// rate is in requests per second on each door; 0 means as many as the senders manage.
	rate   float64
	marked bool
	// workers send on each door. Default 32.
	workers int
}

// run sends spans over HTTP and log records over gRPC, and returns both reports and the peak memory.
func (o overload) run(tb testing.TB, p *testkit.Process, engine int) (reports [2]*loadtest.Report, memory int64) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	var watch, load sync.WaitGroup
	var most string
	watch.Go(func() {
		for ctx.Err() == nil {
			server, child := rss(tb, p.Pid()), rss(tb, engine)
			if server+child > memory {
				memory = server + child
				most = fmt.Sprintf("server %d MiB, engine %d MiB", server>>20, child>>20)
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	for i, cfg := range []loadtest.Config{
		{Protocol: loadtest.HTTPProtobuf, Signal: otlp.Traces, Gzip: true, Run: "over-http"},
		{Protocol: loadtest.GRPC, Signal: otlp.Logs, Gzip: true, Run: "over-grpc"},
	} {
		cfg.URL, cfg.Addr, cfg.Key, cfg.Marked, cfg.Duration, cfg.Rate = p.IngestURL, p.OTLPGRPCAddr, p.PrivateKey, o.marked, o.duration, o.rate
		cfg.Workers, cfg.Items = cmp.Or(o.workers, 32), 512
		load.Go(func() {
			report, err := loadtest.Run(ctx, cfg)
			if err != nil {
				tb.Error(err)
			}
			reports[i] = report
		})
	}
	load.Wait()
	// The time after the load counts too, until the backlog is stored.
	waitStored(tb, p, 4*time.Minute)
	cancel()
	watch.Wait()
	tb.Log("most memory: ", most)
	return reports, memory
}

// checkAnswers fails unless every request had an answer: success, or a refusal that says when to come back.
func checkAnswers(tb testing.TB, r *loadtest.Report) {
	tb.Helper()
	tb.Log(r)
	if r.Failed > 0 {
		tb.Errorf("%s: %d requests without an answer: %v", r.Run, r.Failed, r.Failure)
	}
	for answer, n := range r.Answers {
		known := strings.HasPrefix(answer, "429 ") || strings.HasPrefix(answer, "503 ") || answer == "Unavailable" ||
			answer == "ResourceExhausted"
		if !known || strings.HasSuffix(answer, loadtest.WithoutRetry) {
			tb.Errorf("%s: %d times %q", r.Run, n, answer)
		}
	}
}

// checkStored compares the stored items with the acknowledged ones, item by item.
func checkStored(tb testing.TB, p *testkit.Process, r *loadtest.Report) {
	tb.Helper()
	res, err := loadtest.Verify(tb.Context(), r, func(context.Context) (map[string]loadtest.Stored, error) {
		out, err := testkit.Command(tb, "admin", "sql", loadtest.SQL(r.Signal, r.Run), "--data-dir", p.DataDir).Output()
		if err != nil {
			return nil, err
		}
		return loadtest.ParseTSV(string(out))
	})
	if err != nil {
		tb.Fatal(err)
	}
	if !res.OK() || res.Unacknowledged > 0 {
		tb.Errorf("%s: %s", r.Run, res)
	}
}

// TestOverload sends as much as 64 senders manage to a server with a small queue: first against the organization's share of it,
// then against the queue as a whole. Every request must get an answer, and memory must stay bounded. When the load ends,
// acknowledged items are stored once, refused items are not stored, and the next request is accepted.
func TestOverload(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		tag  string
	}{
		{"share of the organization", []string{"--queue-max-bytes", "4MiB", "--queue-segment-bytes", "256KiB"}, "@svc/ingest/OrgQueueThrottled"},
		{
			"queue as a whole",
			[]string{"--queue-max-bytes", "1MiB", "--queue-max-bytes-per-org", "1MiB", "--queue-segment-bytes", "64KiB"},
			"@svc/ingest/ExportLaneBackpressure",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"), c.args...)
			engine := child(t, p.Pid())
			// The engine is halted while the load is sent, so it is slower than any sender, on a slow machine too.
			// BenchmarkOverload lets it run.
			if err := syscall.Kill(engine, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(2*time.Second, func() { _ = syscall.Kill(engine, syscall.SIGCONT) })
			reports, memory := overload{duration: 2 * time.Second, marked: true}.run(t, p, engine)
			if t.Failed() {
				return
			}
			for i, r := range reports {
				checkAnswers(t, r)
				// One door may fill the queue before the other one sends.
				if r.Refused == 0 || reports[0].Acknowledged+reports[1].Acknowledged == 0 {
					t.Errorf("%s: the test shows nothing", r.Run)
				}
				door, signal := []string{"http", "grpc"}[i], r.Signal.String()
				if metricValue(t, p, `svc_ingest_requests_total{door="`+door+`",signal="`+signal+`",tag="`+c.tag+`"}`) == 0 {
					t.Errorf("%s: nobody was refused with %s", r.Run, c.tag)
				}
				checkStored(t, p, r)
			}
			if memory > soakMemory {
				t.Errorf("both processes reached %d MiB", memory>>20)
			}
			if status, _, tag := ingest(t, &p.Server, oneSpan(1, 0)); status != http.StatusOK {
				t.Errorf("after the load: %d %s", status, tag)
			}
			if held := metricValue(t, p, "svc_ingest_buffered_bytes"); held != 0 {
				t.Errorf("%g bytes of bodies are still counted", held)
			}
			if code := p.Stop(t); code != 0 {
				t.Errorf("exit code %d\n%s", code, p.Log())
			}
		})
	}
}

// BenchmarkOverload measures how many spans over HTTP and logs over gRPC a busy server stores. Then it offers a little more than
// four times that, with a queue small enough to be full soon. It fails for the same reasons as TestOverload, and if the
// generator, which shares the processors, offered less.
func BenchmarkOverload(b *testing.B) {
	for b.Loop() {
		p := testkit.StartProcess(b, filepath.Join(b.TempDir(), "data"), "--queue-max-bytes", "128MiB", "--queue-segment-bytes", "8MiB")
		engine := child(b, p.Pid())
		began := time.Now()
		warm, _ := overload{duration: 10 * time.Second}.run(b, p, engine)
		before := acknowledgedItems(warm)
		sustained := float64(before) / time.Since(began).Seconds()
		b.Logf("sustained: %.0f items/s", sustained)

		reports, memory := overload{duration: 30 * time.Second, rate: 4.2 * sustained / 2 / 512, workers: 128}.run(b, p, engine)
		sent, stored := 0, acknowledgedItems(reports)
		for _, r := range reports {
			checkAnswers(b, r)
			sent += (r.Acknowledged + r.Refused) * r.Items
		}
		if memory > soakMemory {
			b.Errorf("both processes reached %d MiB", memory>>20)
		}
		rows := metricValue(b, p, `svc_ingest_stored_rows_total{table="spans"}`) + metricValue(b, p, `svc_ingest_stored_rows_total{table="logs"}`)
		if want := float64(stored + before); rows != want {
			b.Errorf("%.0f rows stored of %.0f acknowledged", rows, want)
		}
		seconds := reports[0].Elapsed.Seconds()
		times := float64(sent) / seconds / sustained
		if times < 4 {
			b.Errorf("%.2f times the sustained rate was offered, not 4", times)
		}
		b.ReportMetric(times, "times-sustained")
		b.ReportMetric(sustained, "sustained-items/s")
		b.ReportMetric(float64(sent)/seconds, "offered-items/s")
		b.ReportMetric(float64(stored)/seconds, "acked-items/s")
		b.ReportMetric(float64(memory)/(1<<20), "rss-MiB")
		b.ReportMetric(float64(max(reports[0].P99, reports[1].P99).Microseconds())/1e3, "ack-p99-ms")
		b.ReportMetric(metricValue(b, p, "svc_ingest_early_refusals_total"), "early-refusals")
		b.ReportMetric(0, "ns/op")
		stop(b, p)
	}
}

func acknowledgedItems(reports [2]*loadtest.Report) (n int) {
	for _, r := range reports {
		n += r.AcknowledgedItems()
	}
	return n
}
