package otlp_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	collogspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/otlp/otlptest"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// longTexts returns a request with a text of n bytes in every text field, and with the given number of events, links and
// exemplars.
func longTexts(signal otlp.Signal, n, elements int) proto.Message {
	long := strings.Repeat("x", n%3) + strings.Repeat("€", n/3)
	attrs := kvs{otlptest.Text("a", "1")}
	m := everywhere(signal, attrs)
	scope := func(s *commonpb.InstrumentationScope) { s.Name, s.Version = long, long }
	switch m := m.(type) {
	case *coltracepb.ExportTraceServiceRequest:
		scope(m.ResourceSpans[0].ScopeSpans[0].Scope)
		s := m.ResourceSpans[0].ScopeSpans[0].Spans[0]
		s.Name, s.TraceState, s.Status = long, long+",ot=th:8", &tracepb.Status{Message: long}
		for range elements {
			s.Events = append(s.Events, &tracepb.Span_Event{Name: long, Attributes: attrs})
			s.Links = append(s.Links, &tracepb.Span_Link{TraceState: long, Attributes: attrs})
		}
	case *collogspb.ExportLogsServiceRequest:
		scope(m.ResourceLogs[0].ScopeLogs[0].Scope)
		l := m.ResourceLogs[0].ScopeLogs[0].LogRecords[0]
		l.SeverityText, l.EventName = long, long
	case *colmetricspb.ExportMetricsServiceRequest:
		scope(m.ResourceMetrics[0].ScopeMetrics[0].Scope)
		metric := m.ResourceMetrics[0].ScopeMetrics[0].Metrics[0]
		metric.Name, metric.Description, metric.Unit = long, long, long
		p := metric.GetGauge().DataPoints[0]
		for range elements {
			p.Exemplars = append(p.Exemplars, &metricspb.Exemplar{FilteredAttributes: attrs})
		}
	}
	return m
}

func TestLongTextsEqualReference(t *testing.T) {
	set := &blocks.Set{}
	for _, signal := range signals() {
		for _, n := range []int{1023, 1024, 1025, 1026, 1027, 16 << 10, 16<<10 + 1, 40_000} {
			compareWith(t, signal, marshal(t, longTexts(signal, n, 1)), fullStamp(), set)
		}
		for _, elements := range []int{1022, 1023, 1024, 1500} {
			compareWith(t, signal, marshal(t, longTexts(signal, 5, elements)), fullStamp(), set)
		}
	}
}

// TestExtraElementsAreChecked: elements that are left out must be as well-formed as stored ones.
func TestExtraElementsAreChecked(t *testing.T) {
	set := &blocks.Set{}
	for _, field := range []byte{0x5a, 0x6a} {
		for _, last := range []string{"\x02\x0a\x05", "\x03\x12\x01\xff", "\x02\x12\x00"} {
			in := nested([]byte(strings.Repeat(string(field)+"\x00", 1024)+string(field)+last), 1, 2, 2)
			compareWith(t, otlp.Traces, in, fullStamp(), set)
		}
	}
}
