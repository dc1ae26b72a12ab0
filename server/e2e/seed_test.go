package e2e

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/testkit"
)

// seedData is the data that the YAML cases read back: three checkout traces, a payment span that failed, three log records, two
// metrics.
type seedData struct {
	start, end time.Time
	session    seededSession
}

const (
	seedTrace = "5b8efff798038103d269b633813fc60c"
	seedRoot  = "eee19b7ec3c1b174"
	seedChild = "eee19b7ec3c1b175"
)

func (d seedData) expand(yaml string) string {
	return strings.NewReplacer(
		"${start}", d.start.Format(time.RFC3339), "${end}", d.end.Format(time.RFC3339),
		"${trace}", seedTrace, "${root}", seedRoot, "${child}", seedChild,
		"${session}", d.session.id, "${session_start}", d.session.start.Format(time.RFC3339), "${session_end}",
		d.session.end.Format(time.RFC3339),
	).Replace(yaml)
}

var seedOnce = struct {
	sync.Mutex
	done map[string]seedData
}{done: map[string]seedData{}}

func str(k, v string) *common.KeyValue {
	return &common.KeyValue{Key: k, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: v}}}
}

func num(k string, v int64) *common.KeyValue {
	return &common.KeyValue{Key: k, Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v}}}
}

func id(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func checkoutResource() *resource.Resource {
	return &resource.Resource{Attributes: []*common.KeyValue{
		str("service.name", "checkout"), str("service.namespace", "shop"), str("service.version", "1.4.0"),
		str("deployment.environment.name", "production"), str("host.name", "web-1"),
	}}
}

// seedTelemetry sends the data once for each server and waits until it can be read.
func seedTelemetry(t *testing.T, s *testkit.Server) seedData {
	t.Helper()
	seedOnce.Lock()
	defer seedOnce.Unlock()
	if d, ok := seedOnce.done[s.OrgID]; ok {
		return d
	}
	now := time.Now().UTC().Truncate(time.Second)
	d := seedData{start: now.Add(-time.Hour), end: now.Add(time.Minute)}
	at := now.Add(-10 * time.Minute)
	span := func(traceID, spanID, parent, name string, kind trace.Span_SpanKind, start time.Time, dur time.Duration,
		attrs ...*common.KeyValue,
	) *trace.Span {
		sp := &trace.Span{
			TraceId: id(traceID), SpanId: id(spanID), Name: name, Kind: kind, Attributes: attrs,
			StartTimeUnixNano: uint64(start.UnixNano()), EndTimeUnixNano: uint64(start.Add(dur).UnixNano()),
		}
		if parent != "" {
			sp.ParentSpanId = id(parent)
		}
		return sp
	}
	root := span(seedTrace, seedRoot, "", "POST /checkout", trace.Span_SPAN_KIND_SERVER, at, 250*time.Millisecond,
		str("http.request.method", "POST"), str("http.route", "/checkout"), num("http.response.status_code", 502))
	child := span(seedTrace, seedChild, seedRoot, "charge card", trace.Span_SPAN_KIND_CLIENT, at.Add(20*time.Millisecond),
		200*time.Millisecond, str("peer.service", "payments"), num("retry.count", 2))
	child.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: "card declined"}
	child.Events = []*trace.Span_Event{{
		Name: "exception", TimeUnixNano: uint64(at.Add(200 * time.Millisecond).UnixNano()),
		Attributes: []*common.KeyValue{str("exception.type", "CardDeclined"), str("exception.message", "insufficient funds")},
	}}
	child.Links = []*trace.Span_Link{{
		TraceId: id("0af7651916cd43dd8448eb211c80319c"), SpanId: id("b7ad6b7169203331"), TraceState: "vendor=1",
		Attributes: []*common.KeyValue{str("link.reason", "batch")},
	}}
	second := span("5b8efff798038103d269b633813fc60d", "eee19b7ec3c1b176", "", "GET /cart", trace.Span_SPAN_KIND_SERVER, at.Add(time.Minute),
		40*time.Millisecond, str("http.request.method", "GET"), str("http.route", "/cart"), num("http.response.status_code", 200))
	third := span("5b8efff798038103d269b633813fc60e", "eee19b7ec3c1b177", "", "GET /cart", trace.Span_SPAN_KIND_SERVER, at.Add(2*time.Minute),
		60*time.Millisecond, str("http.request.method", "GET"), str("http.route", "/cart"), num("http.response.status_code", 200))
	post(t, s, "/v1/traces", &coltrace.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{{
		Resource: checkoutResource(),
		ScopeSpans: []*trace.ScopeSpans{{
			Scope: &common.InstrumentationScope{Name: "e2e", Version: "0.1"},
			Spans: []*trace.Span{root, child, second, third},
		}},
	}}})
	record := func(n int, sev logs.SeverityNumber, text, body, traceID, spanID string) *logs.LogRecord {
		r := &logs.LogRecord{
			TimeUnixNano: uint64(at.Add(time.Duration(n) * time.Second).UnixNano()), SeverityNumber: sev, SeverityText: text,
			Body:       &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: body}},
			Attributes: []*common.KeyValue{num("attempt", int64(n))},
		}
		if traceID != "" {
			r.TraceId, r.SpanId = id(traceID), id(spanID)
		}
		return r
	}
	post(t, s, "/v1/logs", &collogs.ExportLogsServiceRequest{ResourceLogs: []*logs.ResourceLogs{{
		Resource: checkoutResource(),
		ScopeLogs: []*logs.ScopeLogs{{LogRecords: []*logs.LogRecord{
			record(1, logs.SeverityNumber_SEVERITY_NUMBER_INFO, "", "checkout started", seedTrace, seedRoot),
			record(2, logs.SeverityNumber_SEVERITY_NUMBER_ERROR, "Error", "card declined for order 1042", seedTrace, seedChild),
			record(3, logs.SeverityNumber_SEVERITY_NUMBER_INFO, "info", "cart opened", "", ""),
		}}},
	}}})
	point := func(v float64) *metrics.NumberDataPoint {
		return &metrics.NumberDataPoint{
			TimeUnixNano: uint64(at.UnixNano()), StartTimeUnixNano: uint64(at.Add(-time.Minute).UnixNano()),
			Value: &metrics.NumberDataPoint_AsDouble{AsDouble: v},
		}
	}
	post(t, s, "/v1/metrics", &colmetrics.ExportMetricsServiceRequest{ResourceMetrics: []*metrics.ResourceMetrics{{
		Resource: checkoutResource(),
		ScopeMetrics: []*metrics.ScopeMetrics{{Metrics: []*metrics.Metric{
			{Name: "checkout.orders", Unit: "{order}", Description: "Orders", Data: &metrics.Metric_Sum{Sum: &metrics.Sum{
				IsMonotonic: true, AggregationTemporality: metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
				DataPoints: []*metrics.NumberDataPoint{point(12)},
			}}},
			{Name: "checkout.queue", Unit: "{item}", Data: &metrics.Metric_Gauge{Gauge: &metrics.Gauge{DataPoints: []*metrics.NumberDataPoint{point(3)}}}},
		}}},
	}}})
	for name, request := range map[string]map[string]any{
		"getTrace": {"trace_id": "5b8efff798038103d269b633813fc60e"}, "searchLogs": {"start_time": d.start, "end_time": d.end},
		"listMetrics": {"start_time": d.start, "end_time": d.end},
	} {
		body, _ := json.Marshal(request)
		eventually(t, name, func() bool {
			a := callREST(t, s, s.APIKey, operation(t, name), body)
			return a.err == nil && !bytes.Contains(a.body, []byte(`"data":[]`))
		})
	}
	d.session = seedSession(t, s)
	seedOnce.done[s.OrgID] = d
	return d
}

// post sends an OTLP request as http/protobuf and expects the plain success.
func post(t *testing.T, s *testkit.Server, path string, m proto.Message) {
	t.Helper()
	body, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.IngestURL+path, bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("Authorization", "Bearer "+s.PrivateKey)
	status, answer := roundTrip(t, req)
	if status != http.StatusOK || len(answer) != 0 {
		t.Fatalf("%s: %d %q", path, status, answer)
	}
}
