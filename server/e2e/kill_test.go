package e2e

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
)

var killRounds = flag.Int("kill-rounds", 3, "rounds of TestKillLosesNothing; the full run has 20")

// TestKillLosesNothing kills the whole process group (server and engine) at a random moment under load, starts it again, and
// repeats that. Everything that was acknowledged must be stored, and nothing may be stored twice.
func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, %d rounds", seed, *killRounds)
	random := rand.New(rand.NewPCG(seed, 0))
	var reports []*loadtest.Report
	parallel := func() string { return "--insert-parallelism=" + strconv.Itoa(1+random.IntN(3)) } // another one after each kill
	p := testkit.StartProcess(t, dir, parallel(), "--batch-max-age=200ms")
	for round := range *killRounds {
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		got := make([]*loadtest.Report, 3)
		for i, cfg := range []loadtest.Config{
			{Protocol: loadtest.HTTPProtobuf, Signal: otlp.Traces, Gzip: true, Workers: 4, Items: 200},
			{Protocol: loadtest.GRPC, Signal: otlp.Logs, Gzip: true, Workers: 2, Items: 100},
			{Protocol: loadtest.HTTPJSON, Signal: otlp.Traces, Workers: 2, Items: 20},
		} {
			cfg.URL, cfg.Addr, cfg.Key, cfg.Marked, cfg.Duration = p.IngestURL, p.OTLPGRPCAddr, p.PrivateKey, true, 30*time.Second
			cfg.Run = fmt.Sprintf("kill-%d-%d", round, i)
			wg.Go(func() {
				report, err := loadtest.Run(ctx, cfg)
				if err != nil {
					t.Error(err)
				}
				got[i] = report
			})
		}
		time.Sleep(time.Duration(300+random.IntN(2200)) * time.Millisecond)
		p.Kill()
		stop()
		wg.Wait()
		if t.Failed() {
			return
		}
		reports = append(reports, got...)
		begun := time.Now()
		p = testkit.StartProcess(t, dir, parallel(), "--batch-max-age=200ms")
		if took := time.Since(begun); took > patience(10*time.Second) {
			t.Errorf("the start after a kill takes %s", took)
		}
	}
	waitFlushed(t, p)
	acknowledged := 0
	for _, r := range reports {
		acknowledged += r.AcknowledgedItems()
		res, err := loadtest.Verify(t.Context(), r, func(ctx context.Context) (map[string]loadtest.Stored, error) {
			out, err := testkit.Command(t, "admin", "sql", loadtest.SQL(r.Signal, r.Run), "--data-dir", dir).Output()
			if err != nil {
				return nil, err
			}
			return loadtest.ParseTSV(string(out))
		})
		if err != nil {
			t.Fatal(err)
		}
		if !res.OK() {
			t.Errorf("%s: %s", r.Run, res)
		}
	}
	if acknowledged == 0 {
		t.Fatal("nothing was acknowledged: the test shows nothing")
	}
	t.Logf("%d rounds: %d items acknowledged, each stored once", *killRounds, acknowledged)
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}

var oldestUnflushed = regexp.MustCompile(`(?m)^svc_ingest_oldest_unflushed_seconds (\S+)$`)

// waitFlushed waits until everything that was acknowledged is in the warehouse.
func waitFlushed(t testing.TB, p *testkit.Process) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("the log of the server:\n%s\nits metrics of ingest:\n%s", p.Log(), metricsOfIngest(t, p))
		}
	}()
	eventually(t, "the queue to be stored", func() bool { return flushed(t, p) })
}

// metricsOfIngest are the metrics that tell about the queue and its way into the warehouse.
func metricsOfIngest(t testing.TB, p *testkit.Process) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(metricsOf(t, &p.Server)) {
		if strings.HasPrefix(line, "svc_ingest_") || strings.HasPrefix(line, "svc_warehouse_") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func metricsOf(t testing.TB, s *testkit.Server) string {
	t.Helper()
	res, err := http.Get(s.BaseURL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// flushed reports whether everything that was acknowledged is in the warehouse.
func flushed(t testing.TB, p *testkit.Process) bool {
	t.Helper()
	m := oldestUnflushed.FindStringSubmatch(metricsOf(t, &p.Server))
	if m == nil {
		t.Fatal("/metrics lacks svc_ingest_oldest_unflushed_seconds")
	}
	age, err := strconv.ParseFloat(m[1], 64)
	return err == nil && age == 0
}
