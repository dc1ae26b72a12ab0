package ingest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// metric reads a counter, a gauge, or the number of a histogram's observations. The values are label values in the order of the
// label names. The result is -1 if there is no such series.
func (f *fixture) metric(t *testing.T, name string, values ...string) float64 {
	t.Helper()
	families, err := f.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			var got []string
			for _, l := range m.GetLabel() {
				got = append(got, l.GetValue())
			}
			if strings.Join(got, " ") == strings.Join(values, " ") {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return -1
}

func TestMetrics(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	bad := spans(3)
	bad.ResourceSpans[0].ScopeSpans[0].Spans[0].SpanId = nil
	body := wire(t, bad)
	zipped := gzipped(t, body)
	f.do("POST", "/v1/traces", zipped, append(bearer(goodKey), "Content-Encoding", "gzip")...)
	f.do("POST", "/v1/traces", body, bearer(ingest.TestKey)...)
	f.do("POST", "/v1/traces", []byte("nonsense"), bearer(goodKey)...)
	f.do("POST", "/v1/traces", body)
	for _, c := range []struct {
		name   string
		labels string
		want   float64
	}{
		{"svc_ingest_requests_total", "http traces ok", 2},
		{"svc_ingest_requests_total", "http traces @svc/ingest/BadRequest", 1},
		{"svc_ingest_requests_total", "http traces @svc/ingest/Unauthorized", 1},
		{"svc_ingest_items_total", "accepted traces", 2},
		{"svc_ingest_items_total", "discarded traces", 3},
		{"svc_ingest_items_total", "rejected traces", 1},
		{"svc_ingest_bytes_total", "received traces", float64(len(zipped) + len(body) + len("nonsense"))},
		{"svc_ingest_bytes_total", "decompressed traces", float64(2*len(body) + len("nonsense"))},
		{"svc_ingest_in_flight_requests", "", 0},
		{"svc_ingest_queue_append_seconds", "", 1},
		{"svc_ingest_request_seconds", "http traces", 4},
	} {
		if got := f.metric(t, c.name, strings.Fields(c.labels)...); got != c.want {
			t.Errorf("%s{%s} = %g, want %g", c.name, c.labels, got, c.want)
		}
	}
}

func TestMetricsRegisterOnce(t *testing.T) {
	reg := prometheus.NewRegistry()
	cfg := ingest.Config{Keys: keys{}, Queue: &memoryQueue{}, Sets: &blocks.Pool{}, Metrics: reg}
	if _, err := ingest.New(cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.New(cfg); err == nil {
		t.Error("a second gateway on the same registry was accepted, whose metrics would be lost")
	}
	if _, err := ingest.New(ingest.Config{}); err == nil {
		t.Error("an empty Config was accepted")
	}
}

type panickingQueue struct{}

func (panickingQueue) Admits(string, bool, int) error { return nil }

func (panickingQueue) Append(context.Context, queue.Record) (queue.Position, error) {
	panic("wrong turn")
}

func TestPanicIsAnInternalError(t *testing.T) {
	f := newFixture(t, ingest.Limits{InFlight: 1}, nil)
	g, err := ingest.New(ingest.Config{Keys: keys{}, Queue: panickingQueue{}, Sets: &blocks.Pool{}, Limits: ingest.Limits{InFlight: 1}})
	if err != nil {
		t.Fatal(err)
	}
	f.Gateway = g
	for range 2 { // the second request finds the place among the requests in flight free
		if e := refused(t, f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...), apierr.IngestInternal); strings.Contains(e.Message,
			"wrong turn") {
			t.Errorf("message %q shows the panic", e.Message)
		}
	}
}
