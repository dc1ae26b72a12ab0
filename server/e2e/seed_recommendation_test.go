package e2e

import (
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/testkit"
)

// seedRecommendation sends a span with a deprecated attribute, and waits until the server recommends to rename it.
func seedRecommendation(t *testing.T, s *testkit.Server) {
	t.Helper()
	at := time.Now().Add(-time.Minute)
	post(t, s, "/v1/traces", &coltrace.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{{
		Resource: &resource.Resource{Attributes: []*common.KeyValue{str("service.name", "legacy")}},
		ScopeSpans: []*trace.ScopeSpans{{Spans: []*trace.Span{{
			TraceId: id("7b8efff798038103d269b633813fc601"), SpanId: id("7ee19b7ec3c1b101"), Name: "poll", Kind: trace.Span_SPAN_KIND_INTERNAL,
			Attributes:        []*common.KeyValue{str("http.flavor", "1.1")},
			StartTimeUnixNano: uint64(at.UnixNano()), EndTimeUnixNano: uint64(at.Add(time.Millisecond).UnixNano()),
		}}}},
	}}})
	client := restClient{t, s, s.APIKey}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if data, _ := client.call("GET", "/v2/instrumentation/recommendations", "", 200)["data"].([]any); len(data) > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a deprecated attribute is not recommended to be renamed")
		}
	}
}
