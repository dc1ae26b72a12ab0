package scrape

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// samplesPage is a page of n samples in the text format, a fifth of them of histograms.
func samplesPage(n int) []byte {
	var b strings.Builder
	for i := 0; i < n/5; i += 10 {
		fmt.Fprintf(&b, "# TYPE latency_%d_seconds histogram\n", i)
		for j := range 8 {
			fmt.Fprintf(&b, "latency_%d_seconds_bucket{method=\"GET\",path=\"/api/v1/orders\",le=\"%d\"} %d\n", i, j, j*i)
		}
		fmt.Fprintf(&b, "latency_%d_seconds_sum{method=\"GET\",path=\"/api/v1/orders\"} "+
			"12.5\nlatency_%d_seconds_count{method=\"GET\",path=\"/api/v1/orders\"} %d\n", i, i, 7*i)
	}
	for i := range n - n/5 {
		if i%20 == 0 {
			fmt.Fprintf(&b, "# HELP requests_%d_total Requests by code.\n# TYPE requests_%d_total counter\n", i, i)
		}
		fmt.Fprintf(&b, "requests_%d_total{code=\"%d\",handler=\"/api/v1/orders\",method=\"GET\"} %d\n", i-i%20, i%20, i)
	}
	return []byte(b.String())
}

// BenchmarkConvert reads a page of 200 samples and makes export requests.
func BenchmarkConvert(b *testing.B) {
	p := page{samplesPage(200), "text/plain; version=0.0.4"}
	id := newIdentity(aTarget())
	c, _ := converters.Get().(*converter)
	b.ReportAllocs()
	for b.Loop() {
		c.begin(id, begun, nil)
		if err := c.reader.read(p); err != nil {
			b.Fatal(err)
		}
		c.cut()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.reader.samples), "ns/sample")
}

// counting counts the bytes of export requests.
type counting struct{ requests, bytes atomic.Int64 }

func (c *counting) SubmitMetrics(_ context.Context, _ principal.OrgID, _ string, body []byte) error {
	c.requests.Add(1)
	c.bytes.Add(int64(len(body)))
	return nil
}

// BenchmarkTargets scrapes 5,000 targets with 200 samples each, every 15 seconds, for half a minute. The targets are served by this
// process, so half of the work of HTTP belongs to them. Every hundredth target does not answer in time.
func BenchmarkTargets(b *testing.B) {
	body := samplesPage(200)
	stop := make(chan struct{})
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/slow") {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
			return
		}
		_, _ = w.Write(body)
	}))
	defer target.Close()
	defer close(stop)
	const targets = 5000
	list := &rows{}
	_, port, _ := strings.Cut(strings.TrimPrefix(target.URL, "http://"), ":")
	for i := range targets {
		path := "/metrics"
		if i%100 == 0 {
			path = "/slow"
		}
		r := row(fmt.Sprintf("http://127.0.0.1:%s%s/%d", port, path, i), 15)
		r.Name, r.Org = fmt.Sprint("target ", i), principal.OrgID(fmt.Sprint("org_", i%50))
		list.all = append(list.all, r)
	}
	for range b.N {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		reg, sink := prometheus.NewRegistry(), &counting{}
		s, err := New(Config{
			Targets: list, Guard: loopback(), Sink: sink, Checks: &checks{}, Logger: slog.New(slog.DiscardHandler), Metrics: reg,
		})
		if err != nil {
			b.Fatal(err)
		}
		s.slots.host = newKeyed(256) // all targets have the same address here
		ctx, cancel := context.WithCancel(b.Context())
		var running sync.WaitGroup
		running.Go(func() { s.Run(ctx, store.Fence{}, nil) })
		time.Sleep(17 * time.Second) // every target was scraped once
		cpu, at := used(), time.Now()
		time.Sleep(30 * time.Second)
		took := time.Since(at)
		b.ReportMetric(100*(used()-cpu).Seconds()/took.Seconds()/float64(runtime.NumCPU()), "%cpu")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc+after.StackInuse-before.HeapAlloc-before.StackInuse)/(1<<20), "MiB-live")
		b.ReportMetric(float64(sink.requests.Load())/47, "requests/s")
		report(b, reg)
		cancel()
		running.Wait()
		if err := s.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func report(b *testing.B, reg *prometheus.Registry) {
	families, err := reg.Gather()
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range families {
		switch f.GetName() {
		case "svc_scrapes_total":
			for _, m := range f.GetMetric() {
				b.ReportMetric(m.GetCounter().GetValue(), m.GetLabel()[0].GetValue())
			}
		case "svc_scrape_start_delay_seconds":
			b.ReportMetric(1000*quantile(f.GetMetric()[0].GetHistogram(), 0.99), "ms-p99-delay")
		}
	}
}

// quantile is the upper bound of the bucket that holds the quantile.
func quantile(h *dto.Histogram, q float64) float64 {
	for _, bucket := range h.GetBucket() {
		if float64(bucket.GetCumulativeCount()) >= q*float64(h.GetSampleCount()) {
			return bucket.GetUpperBound()
		}
	}
	return 1e9
}

func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail with these arguments
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
