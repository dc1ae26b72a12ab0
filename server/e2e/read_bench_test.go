package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
)

// BenchmarkRead sends GET requests over a real socket through the whole chain, one at a time: to the relational store, and to the
// warehouse with 2M spans. The API's rate limit bounds their number, whatever benchtime says.
func BenchmarkRead(b *testing.B) {
	p := testkit.StartProcess(b, filepath.Join(b.TempDir(), "data"))
	engine := child(b, p.Pid())
	cfg := load(p, otlp.Traces, loadtest.HTTPProtobuf)
	cfg.Requests = 4000
	send(b, cfg)
	waitStored(b, p, 2*time.Minute)
	probe(b, p, 1) // the benchmark reads this trace below
	waitIdle(b, engine)
	for _, bench := range []struct{ name, path string }{
		{"api-keys", "/v2/api_keys?limit=20"},
		{"services", servicesPath()},
		{"trace", fmt.Sprintf("/v2/traces/%032x", probeTrace)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			const requests = 120
			for b.Loop() {
				took := make([]time.Duration, 0, requests)
				before := usageOf(b, p, engine)
				for range requests {
					started := time.Now()
					if status, text := get(b, p, bench.path); status != http.StatusOK {
						b.Fatal(status, text)
					}
					took = append(took, time.Since(started))
				}
				used := usageOf(b, p, engine).since(before)
				slices.Sort(took)
				used.report(b, requests)
				b.ReportMetric(float64(took[requests/2].Microseconds())/1e3, "p50-ms")
				b.ReportMetric(float64(took[requests*99/100].Microseconds())/1e3, "p99-ms")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	stop(b, p)
}
