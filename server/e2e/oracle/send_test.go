package oracle_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	logscollector "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricscollector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/testkit"
)

// send sends the telemetry. It returns when all of it can be read.
func (t *telemetry) send(tb testing.TB, s *testkit.Server) {
	tb.Helper()
	t.export(tb, s, t.spans, t.records, t.points)
	t.activity.send(tb, s)
	waitStored(tb, s)
}

// export sends rows in random order and in several requests.
func (t *telemetry) export(tb testing.TB, s *testkit.Server, spans, records []*row, points []*point) {
	tb.Helper()
	traces, logs, metrics := &tracecollector.ExportTraceServiceRequest{}, &logscollector.ExportLogsServiceRequest{},
		&metricscollector.ExportMetricsServiceRequest{}
	flush := func() {
		post(tb, s, "/v1/traces", traces)
		post(tb, s, "/v1/logs", logs)
		post(tb, s, "/v1/metrics", metrics)
		traces.Reset()
		logs.Reset()
		metrics.Reset()
	}
	for n, i := range t.r.Perm(len(spans)) {
		r := spans[i]
		traces.ResourceSpans = append(traces.ResourceSpans, &tracepb.ResourceSpans{
			Resource: r.otlp(), ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{r.span()}}},
		})
		if n%150 == 149 {
			flush()
		}
	}
	for _, i := range t.r.Perm(len(records)) {
		r := records[i]
		logs.ResourceLogs = append(logs.ResourceLogs, &logspb.ResourceLogs{
			Resource: r.otlp(), ScopeLogs: []*logspb.ScopeLogs{{LogRecords: []*logspb.LogRecord{r.record()}}},
		})
	}
	for _, i := range t.r.Perm(len(points)) {
		p := points[i]
		metrics.ResourceMetrics = append(metrics.ResourceMetrics, &metricspb.ResourceMetrics{
			Resource: p.otlp(), ScopeMetrics: []*metricspb.ScopeMetrics{{Metrics: []*metricspb.Metric{p.metric()}}},
		})
	}
	flush()
}

func post(tb testing.TB, s *testkit.Server, path string, m proto.Message) {
	tb.Helper()
	body, err := proto.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, s.IngestURL+path, bytes.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.PrivateKey)
	req.Header.Set("Content-Type", "application/x-protobuf")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK || len(answer) > 0 {
		tb.Fatalf("%s: %d %q", path, res.StatusCode, answer)
	}
}

func postLines(tb testing.TB, s *testkit.Server, path string, body []byte) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, s.IngestURL+path, bytes.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.PrivateKey)
	req.Header.Set("Content-Type", "application/x-ndjson")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK {
		tb.Fatalf("%s: %d %q", path, res.StatusCode, answer)
	}
}

var oldestUnflushed = regexp.MustCompile(`(?m)^svc_ingest_oldest_unflushed_seconds (\S+)$`)

func waitStored(tb testing.TB, s *testkit.Server) {
	tb.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, s.BaseURL+"/metrics", nil)
		if err != nil {
			tb.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			tb.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			tb.Fatal(err)
		}
		if m := oldestUnflushed.FindSubmatch(text); m != nil && string(m[1]) == "0" {
			return
		}
	}
	tb.Fatal("the telemetry was not stored")
}

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

func keyValues(m map[string]string) (list []*commonpb.KeyValue) {
	for k, v := range m {
		kv := text(k, v)
		// Half of the whole numbers are sent as numbers, the others as text. The server prints both alike.
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && len(k)%2 == 0 {
			kv.Value = &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
		}
		list = append(list, kv)
	}
	return list
}

func (o *origin) otlp() *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: keyValues(o.resource())}
}

func bytesOf(id string) []byte {
	b, err := hex.DecodeString(id)
	if err != nil {
		panic(fmt.Sprintf("the generator made the id %q", id))
	}
	return b
}

func (r *row) span() *tracepb.Span {
	s := &tracepb.Span{
		TraceId: bytesOf(r.trace), SpanId: bytesOf(r.id), ParentSpanId: bytesOf(r.parent), TraceState: r.traceState, Name: r.name,
		StartTimeUnixNano: uint64(r.at.UnixNano()), EndTimeUnixNano: uint64(r.at.Add(r.duration).UnixNano()), Attributes: keyValues(r.attributes),
		Kind: map[string]tracepb.Span_SpanKind{
			"Internal": tracepb.Span_SPAN_KIND_INTERNAL, "Server": tracepb.Span_SPAN_KIND_SERVER, "Client": tracepb.Span_SPAN_KIND_CLIENT,
			"Producer": tracepb.Span_SPAN_KIND_PRODUCER, "Consumer": tracepb.Span_SPAN_KIND_CONSUMER,
		}[r.kind],
		Status: &tracepb.Status{Code: map[string]tracepb.Status_StatusCode{
			"Ok": tracepb.Status_STATUS_CODE_OK, "Error": tracepb.Status_STATUS_CODE_ERROR,
		}[r.status]},
	}
	if r.exception != "" {
		s.Events = append(s.Events, &tracepb.Span_Event{Name: "exception", TimeUnixNano: s.StartTimeUnixNano, Attributes: []*commonpb.KeyValue{
			text("exception.type", r.exception), text("exception.message", r.exceptionDetail),
		}})
	}
	return s
}

func (r *row) record() *logspb.LogRecord {
	return &logspb.LogRecord{
		TimeUnixNano: uint64(r.at.UnixNano()), SeverityText: r.severity, SeverityNumber: logspb.SeverityNumber(r.severityNumber),
		Body: text("", r.name).Value, TraceId: bytesOf(r.trace), SpanId: bytesOf(r.id), Attributes: keyValues(r.attributes),
	}
}
