package e2e

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/testkit"
)

// TestCollectorReportsPartialSuccess sends a span without ids among good ones. The log of the Collector, with any exporter, must
// tell its operator how many spans were refused and why. The good span must be stored.
func TestCollectorReportsPartialSuccess(t *testing.T) {
	t.Parallel()
	binary := collectorBinary(t)
	server := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	exporters := []*collectorExporter{
		{name: "grpc", kind: "otlp_grpc", compression: "gzip"},
		{name: "http-protobuf", kind: "otlp_http", encoding: "proto", compression: "gzip"},
		{name: "http-json", kind: "otlp_http", encoding: "json", compression: "gzip"},
	}
	for _, e := range exporters {
		e.through(t, server, pass)
	}
	stop := startCollector(t, binary, collectorConfig(exporters, server.PrivateKey), exporters)
	now := uint64(time.Now().UnixNano())
	for i, e := range exporters {
		good := &trace.Span{
			TraceId: id(seedTrace), SpanId: []byte{1, 1, 1, 1, 1, 1, 1, byte(i)}, Name: "good", StartTimeUnixNano: now,
			EndTimeUnixNano: now,
		}
		bad := &trace.Span{Name: "without ids", StartTimeUnixNano: now, EndTimeUnixNano: now}
		body, err := proto.Marshal(&coltrace.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{{
			Resource: checkoutResource(), ScopeSpans: []*trace.ScopeSpans{{Spans: []*trace.Span{bad, good}}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+e.receiver+"/v1/traces", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-protobuf")
		if status, answer := roundTrip(t, req); status != http.StatusOK {
			t.Fatalf("the Collector answered %d %s", status, answer)
		}
	}
	eventually(t, "the good spans", func() bool {
		return len(query(t, server, "SELECT SpanId FROM spans WHERE TraceId = '"+seedTrace+"'")) == len(exporters)
	})
	reports := map[string]string{}
	for line := range strings.Lines(stop()) {
		if strings.Contains(line, "Partial success response") {
			for _, e := range exporters {
				if strings.Contains(line, `"`+e.kind+"/"+e.name+`"`) {
					reports[e.name] = line
				}
			}
		}
	}
	for _, e := range exporters {
		if line := reports[e.name]; !strings.Contains(line, `"dropped_spans": 1`) || !strings.Contains(line, "trace") {
			t.Errorf("%s: the Collector's log says %q", e.name, line)
		}
	}
	t.Log(reports["http-json"])
}
