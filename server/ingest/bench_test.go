package ingest_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// BenchmarkExport sends one request of 512 items through the HTTP door into the real durable queue, one at a time. It covers
// everything up to the acknowledgement except the socket. cpu-ns/item is the process's CPU time, which does not depend on other
// load on the machine: 2500 means 2.5 CPU-seconds per million items.
func BenchmarkExport(b *testing.B) {
	for _, c := range []struct {
		name     string
		protocol loadtest.Protocol
		signal   otlp.Signal
		gzip     bool
	}{
		{"traces/protobuf/gzip", loadtest.HTTPProtobuf, otlp.Traces, true},
		{"traces/protobuf", loadtest.HTTPProtobuf, otlp.Traces, false},
		{"traces/json/gzip", loadtest.HTTPJSON, otlp.Traces, true},
		{"logs/protobuf/gzip", loadtest.HTTPProtobuf, otlp.Logs, true},
		{"metrics/protobuf/gzip", loadtest.HTTPProtobuf, otlp.Metrics, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			body, header := capture(b, c.protocol, c.signal, c.gzip)
			log, err := queue.Open(queue.Config{Dir: b.TempDir(), MinFreeBytes: -1})
			if err != nil {
				b.Fatal(err)
			}
			var sets blocks.Pool
			log.Subscribe(func(all []queue.Committed) {
				for _, rec := range all {
					rec.Attachment.Release()
				}
				if err := log.Release(all[len(all)-1].Next); err != nil {
					b.Error(err)
				}
			})
			cfg := ingest.Config{Keys: keys{}, Queue: log, Sets: &sets}
			b.Cleanup(newLedger().keep(b, &cfg)) // usage and outcomes are part of the path
			g, err := ingest.New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			handler := g.HTTPHandler()
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				r := httptest.NewRequest("POST", "/v1/"+c.signal.String(), bytes.NewReader(body))
				r.Header = header
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
			b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N)/512, "cpu-ns/item")
			b.ReportMetric(float64(len(body))/512, "sentB/item")
			if err := log.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// cpuTime returns the CPU time of the process in nanoseconds.
func cpuTime(b testing.TB) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// capture returns one request of the load generator.
func capture(b *testing.B, protocol loadtest.Protocol, signal otlp.Signal, gzip bool) (body []byte, header http.Header) {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
	}))
	defer s.Close()
	r, err := loadtest.Run(b.Context(), loadtest.Config{
		URL: s.URL, Key: goodKey, Protocol: protocol, Signal: signal, Gzip: gzip, Run: "bench",
		Workers: 1, Requests: 1,
	})
	if err != nil || r.Acknowledged != 1 {
		b.Fatal(r, err)
	}
	return body, header
}
