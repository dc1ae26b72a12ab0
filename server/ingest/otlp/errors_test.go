package otlp_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	collogspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/otlp/otlptest"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"google.golang.org/protobuf/proto"
)

const javaStack = "com.acme.Lost: order 12\n\tat com.acme.Cart.total(Cart.java:%d)\n\tat java.base/java.lang.Thread.run(Thread.java:1583)\n"

func exceptionEvent(line int) *tracepb.Span_Event {
	return &tracepb.Span_Event{Name: "exception", Attributes: kvs{
		otlptest.Text("exception.type", "com.acme.Lost"), otlptest.Text("exception.message", "order 12"),
		otlptest.Text("exception.stacktrace", fmt.Sprintf(javaStack, line)),
	}}
}

func errorSpan(n byte, code tracepb.Status_StatusCode, message string, attributes kvs, events ...*tracepb.Span_Event) *tracepb.Span {
	return &tracepb.Span{
		TraceId: []byte(strings.Repeat("t", 16)), SpanId: append([]byte("spanspa"), n), Name: "GET /cart",
		StartTimeUnixNano: uint64(benchTime().UnixNano()),
		Attributes:        attributes, Events: events, Status: &tracepb.Status{Code: code, Message: message},
	}
}

// The fingerprint comes from the first exception, or else from the status, or else from the operation. Spans without an error have none.
func TestSpanErrors(t *testing.T) {
	const failed, fine = tracepb.Status_STATUS_CODE_ERROR, tracepb.Status_STATUS_CODE_UNSET
	spans := []*tracepb.Span{
		errorSpan(0, fine, "", nil),
		errorSpan(1, failed, "", nil, &tracepb.Span_Event{Name: "retry"}, exceptionEvent(5), &tracepb.Span_Event{
			Name: "exception", Attributes: kvs{otlptest.Text("exception.type", "Second")},
		}),
		errorSpan(2, fine, "", nil, exceptionEvent(7)),
		errorSpan(3, failed, "no answer in 12 ms", nil),
		errorSpan(4, failed, "", kvs{otlptest.Text("http.response.status_code", "503")}),
		errorSpan(5, failed, "", kvs{otlptest.Text("rpc.grpc.status_code", "14")}),
		errorSpan(6, fine, "", nil),
	}
	_, rows := walkTraces(t, stamp(), export(kvs{otlptest.Text("service.name", "shop")}, spans...))
	want := []string{
		"  ", "app com.acme.Lost com.acme.Cart.total", "app com.acme.Lost com.acme.Cart.total", "message no answer in 12 ms ",
		"operation GET /cart: HTTP 503 ", "operation GET /cart: gRPC 14 ", "  ",
	}
	for i, r := range rows["spans"] {
		got := fmt.Sprint(r["ErrorVariant"], " ", r["ErrorLabel"], " ", r["ErrorFrame"])
		if got != want[i] || (r["ErrorFingerprint"].(uint64) == 0) != (want[i] == "  ") {
			t.Errorf("span %d: %q, %v, want %q", i, got, r["ErrorFingerprint"], want[i])
		}
	}
	if a, b := rows["spans"][1]["ErrorFingerprint"], rows["spans"][2]["ErrorFingerprint"]; a != b {
		t.Errorf("one exception at two lines: %v and %v", a, b)
	}

	// A body that comes back from the queue, walked by a Set that has held other rows, gives the same groups.
	body, set := marshal(t, export(kvs{otlptest.Text("service.name", "shop")}, spans...)), &blocks.Set{}
	compare(t, otlp.Logs, marshal(t, errorLogs()), set)
	compare(t, otlp.Traces, body, set)
	replayed := stamp()
	replayed.Acknowledged = true
	_, again := walkTraces(t, replayed, export(kvs{otlptest.Text("service.name", "shop")}, spans...))
	if d := differ(rows["spans"], again["spans"]); d != "" {
		t.Errorf("replayed: %s", d)
	}
	// Fields and attributes in another order, and values in pieces, are the same error.
	r := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		compare(t, otlp.Traces, otlp.Scramble(otlp.Traces, body, r), set)
	}
}

func errorLogs() *collogspb.ExportLogsServiceRequest {
	record := func(attributes ...*commonpb.KeyValue) *logspb.LogRecord {
		return &logspb.LogRecord{TimeUnixNano: uint64(benchTime().UnixNano()), EventName: "app.crash", Attributes: attributes}
	}
	return &collogspb.ExportLogsServiceRequest{ResourceLogs: []*logspb.ResourceLogs{{ScopeLogs: []*logspb.ScopeLogs{{LogRecords: []*logspb.LogRecord{
		record(otlptest.Text("a", "b")),
		record(otlptest.Text("a", "b"), otlptest.Text("exception.type", "com.acme.Lost"), otlptest.Text("exception.message", "order 12"),
			otlptest.Text("exception.stacktrace", fmt.Sprintf(javaStack, 5))),
		record(otlptest.Text("exception.message", "without a type")),
		record(otlptest.Text("exception.type", "Crash"), otlptest.Text("exception.message", "bad 3")),
		record(),
	}}}}}}
}

// A log record with an exception has the fingerprint that a span with the exception has.
func TestLogErrors(t *testing.T) {
	request := errorLogs()
	set, r := &blocks.Set{}, rand.New(rand.NewPCG(4, 4))
	body := marshal(t, request)
	compare(t, otlp.Logs, body, set)
	for range 20 {
		compare(t, otlp.Logs, otlp.Scramble(otlp.Logs, body, r), set)
	}
	if _, err := otlp.Walk(otlp.Logs, body, stamp(), set); err != nil {
		t.Fatal(err)
	}
	_, spans := walkTraces(t, stamp(), export(nil, errorSpan(1, tracepb.Status_STATUS_CODE_ERROR, "", nil, exceptionEvent(9))))
	fresh := &blocks.Set{}
	if _, err := otlp.Walk(otlp.Logs, body, stamp(), fresh); err != nil {
		t.Fatal(err)
	}
	prints := fresh.Logs().ErrorFingerprint.Rows()
	want := spans["spans"][0]["ErrorFingerprint"].(uint64)
	if len(prints) != 5 || prints[0] != 0 || prints[1] != want || prints[2] != 0 || prints[3] == 0 || prints[3] == want || prints[4] != 0 {
		t.Errorf("fingerprints %v, of the span %d", prints, want)
	}
}

// BenchmarkWalkErrors walks spans that all have an exception with a stack of 40 frames.
func BenchmarkWalkErrors(b *testing.B) {
	var stack strings.Builder
	stack.WriteString("com.acme.Lost: order 12\n")
	for range 8 {
		stack.WriteString("\tat com.acme.Cart.total(Cart.java:5)\n")
		for range 4 {
			stack.WriteString("\tat org.springframework.web.servlet.FrameworkServlet.processRequest(FrameworkServlet.java:1014)\n")
		}
	}
	var spans []*tracepb.Span
	for i := range benchItems {
		event := exceptionEvent(1)
		event.Attributes[2] = otlptest.Text("exception.stacktrace", stack.String())
		spans = append(spans, errorSpan(byte(i), tracepb.Status_STATUS_CODE_ERROR, "", nil, event))
	}
	in, err := proto.Marshal(export(nil, spans...))
	if err != nil {
		b.Fatal(err)
	}
	set := &blocks.Set{}
	b.ReportAllocs()
	done := perItem(b)
	for b.Loop() {
		set.Reset()
		if _, err := otlp.Walk(otlp.Traces, in, stamp(), set); err != nil {
			b.Fatal(err)
		}
	}
	done()
}
