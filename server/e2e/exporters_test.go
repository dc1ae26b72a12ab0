package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otellog "go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/svc-observability/svc/server/testkit"
)

// sent is a sender's report of the trace that it made.
type sent struct {
	TraceID string `json:"trace_id"`
	Root    string `json:"root_span_id"`
	Child   string `json:"child_span_id"`
}

// TestRealExporters sends the same shop request with the OpenTelemetry SDKs of Go and JavaScript over each protocol, and reads the trace
// back through every door with all attributes, events, links and status.
func TestRealExporters(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t)
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run("go "+protocol, func(t *testing.T) {
			service := "go-" + strings.ReplaceAll(protocol, "/", "-")
			checkShop(t, s, service, sendGo(t, s, protocol, service))
		})
	}
	js := installJS(t)
	for _, protocol := range []string{"http/protobuf", "http/json", "grpc"} {
		t.Run("js "+protocol, func(t *testing.T) {
			service := "js-" + strings.ReplaceAll(protocol, "/", "-")
			endpoint := s.IngestURL
			if protocol == "grpc" {
				endpoint = "http://" + s.OTLPGRPCAddr
			}
			cmd := exec.CommandContext(t.Context(), "node", "send.mjs", protocol, endpoint, s.PublicKey, service)
			cmd.Dir = js
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("node: %v", err)
			}
			var ids sent
			if err := json.Unmarshal(out, &ids); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			checkShop(t, s, service, ids)
		})
	}
}

// installJS installs the exporters' packages, pinned by the lock file, beside the script.
func installJS(t *testing.T) string {
	t.Helper()
	return npmInstall(t, "otel-js", "@opentelemetry/api")
}

// npmLocks holds a lock for each folder: tests that run at the same time do not install it twice.
var npmLocks sync.Map

// npmInstall installs the packages of a folder's lock file into it, unless probe, one of them, is there.
func npmInstall(t *testing.T, folder, probe string) string {
	t.Helper()
	held, _ := npmLocks.LoadOrStore(folder, new(sync.Mutex))
	lock := held.(*sync.Mutex)
	lock.Lock()
	defer lock.Unlock()
	dir, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", filepath.FromSlash(probe))); err == nil {
		return dir
	}
	install, err := filepath.Abs("../../tools/npm.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), install)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm.sh: %v\n%s", err, out)
	}
	return dir
}

func sendGo(t *testing.T, s *testkit.Server, protocol, service string) sent {
	t.Helper()
	ctx := t.Context()
	auth := map[string]string{"Authorization": "Bearer " + s.PrivateKey}
	host := strings.TrimPrefix(s.IngestURL, "http://")
	var spans trace.SpanExporter
	var records log.Exporter
	var points metric.Exporter
	var errs [3]error
	if protocol == "grpc" {
		spans, errs[0] = otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(s.OTLPGRPCAddr), otlptracegrpc.WithInsecure(),
			otlptracegrpc.WithHeaders(auth), otlptracegrpc.WithCompressor("gzip"))
		records, errs[1] = otlploggrpc.New(ctx, otlploggrpc.WithEndpoint(s.OTLPGRPCAddr), otlploggrpc.WithInsecure(),
			otlploggrpc.WithHeaders(auth))
		points, errs[2] = otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpoint(s.OTLPGRPCAddr), otlpmetricgrpc.WithInsecure(),
			otlpmetricgrpc.WithHeaders(auth))
	} else {
		spans, errs[0] = otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(host), otlptracehttp.WithInsecure(), otlptracehttp.WithHeaders(auth),
			otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
		records, errs[1] = otlploghttp.New(ctx, otlploghttp.WithEndpoint(host), otlploghttp.WithInsecure(), otlploghttp.WithHeaders(auth))
		points, errs[2] = otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpoint(host), otlpmetrichttp.WithInsecure(),
			otlpmetrichttp.WithHeaders(auth))
	}
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	res := resource.NewSchemaless(
		attribute.String("service.name", service), attribute.String("service.version", "1.2.3"),
		attribute.String("service.namespace", "shop"), attribute.String("deployment.environment.name", "e2e"),
	)
	tracing := trace.NewTracerProvider(trace.WithResource(res), trace.WithBatcher(spans))
	logging := log.NewLoggerProvider(log.WithResource(res), log.WithProcessor(log.NewBatchProcessor(records)))
	metering := metric.NewMeterProvider(metric.WithResource(res), metric.WithReader(metric.NewPeriodicReader(points)))

	tracer := tracing.Tracer("e2e-go", oteltrace.WithInstrumentationVersion("0.1.0"))
	rootCtx, root := tracer.Start(ctx, "GET /cart/{id}", oteltrace.WithSpanKind(oteltrace.SpanKindServer), oteltrace.WithAttributes(
		attribute.String("http.request.method", "GET"), attribute.String("http.route", "/cart/{id}"),
		attribute.Int("http.response.status_code", 500),
		attribute.Int("cart.items", 3), attribute.Float64("cart.total", 12.5), attribute.Bool("cart.gift", true),
		attribute.StringSlice("cart.tags", []string{"new", "sale"}), attribute.String("unicode.text", "žluťoučký 🐎"),
	))
	traceID, _ := oteltrace.TraceIDFromHex("0af7651916cd43dd8448eb211c80319c")
	spanID, _ := oteltrace.SpanIDFromHex("b7ad6b7169203331")
	childCtx, child := tracer.Start(rootCtx, "SELECT cart", oteltrace.WithSpanKind(oteltrace.SpanKindClient),
		oteltrace.WithAttributes(attribute.String("db.system.name", "postgresql")),
		oteltrace.WithLinks(oteltrace.Link{
			SpanContext: oteltrace.NewSpanContext(oteltrace.SpanContextConfig{TraceID: traceID, SpanID: spanID, TraceFlags: 1}),
			Attributes:  []attribute.KeyValue{attribute.String("link.reason", "retry")},
		}))
	child.AddEvent("exception", oteltrace.WithAttributes(
		attribute.String("exception.type", "TimeoutError"), attribute.String("exception.message", "no answer in 5 s")))
	child.SetStatus(codes.Error, "no answer in 5 s")
	var rec otellog.Record
	rec.SetTimestamp(time.Now())
	rec.SetSeverity(otellog.SeverityError)
	rec.SetSeverityText("error")
	rec.SetBody(attribute.StringValue("cart lookup timed out"))
	rec.AddAttributes(attribute.String("cart.id", "c-17"), attribute.Int("attempt", 2))
	logging.Logger("e2e-go").Emit(childCtx, rec)
	child.End()
	root.End()
	counter, err := metering.Meter("e2e-go").Int64Counter("e2e.carts")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(ctx, 7)
	histogram, err := metering.Meter("e2e-go").Float64Histogram("e2e.cart.duration")
	if err != nil {
		t.Fatal(err)
	}
	histogram.Record(ctx, 42)
	gauge, err := metering.Meter("e2e-go").Int64Gauge("e2e.cart.open")
	if err != nil {
		t.Fatal(err)
	}
	gauge.Record(ctx, 5)
	stop, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := errors.Join(tracing.Shutdown(stop), logging.Shutdown(stop), metering.Shutdown(stop)); err != nil {
		t.Fatal(err)
	}
	return sent{
		TraceID: root.SpanContext().TraceID().String(), Root: root.SpanContext().SpanID().String(),
		Child: child.SpanContext().SpanID().String(),
	}
}

// shopSpan is the expected content of a span, for every sender.
type shopSpan struct {
	ID            string            `json:"id"`
	Parent        *string           `json:"parent_span_id"`
	Name          string            `json:"name"`
	Service       string            `json:"service_name"`
	Kind          string            `json:"kind"`
	Status        string            `json:"status_code"`
	StatusMessage *string           `json:"status_message"`
	Attributes    map[string]string `json:"attributes"`
	Events        []struct {
		Name       string            `json:"name"`
		Attributes map[string]string `json:"attributes"`
	} `json:"events"`
	Links []struct {
		TraceID    string            `json:"trace_id"`
		SpanID     string            `json:"span_id"`
		Attributes map[string]string `json:"attributes"`
	} `json:"links"`
	Resource map[string]string `json:"resource_attributes"`
}

func checkShop(t *testing.T, s *testkit.Server, service string, ids sent) {
	t.Helper()
	get := operation(t, "getTrace")
	request, _ := json.Marshal(map[string]string{"trace_id": ids.TraceID})
	var byREST answer
	var trace struct {
		Spans []shopSpan `json:"spans"`
	}
	eventually(t, "the trace", func() bool {
		byREST = callREST(t, s, s.APIKey, get, request)
		if byREST.err != nil {
			return false
		}
		trace.Spans = nil
		if err := json.Unmarshal(byREST.body, &trace); err != nil {
			t.Fatal(err)
		}
		return len(trace.Spans) == 2
	})
	root, child := trace.Spans[0], trace.Spans[1]
	if root.ID != ids.Root {
		// JavaScript's clock is coarse: both spans may start at the same time, or seem to start in the other order.
		root, child = child, root
	}
	message := "no answer in 5 s"
	if root.ID != ids.Root || root.Parent != nil || root.Name != "GET /cart/{id}" || root.Kind != "Server" || root.Status != "Unset" ||
		root.Service != service {
		t.Errorf("root span came back as %+v", root)
	}
	if child.ID != ids.Child || child.Parent == nil || *child.Parent != ids.Root || child.Kind != "Client" || child.Status != "Error" ||
		child.StatusMessage == nil || *child.StatusMessage != message {
		t.Errorf("child span came back as %+v", child)
	}
	wantRoot := map[string]string{
		"http.request.method": "GET", "http.route": "/cart/{id}", "http.response.status_code": "500", "cart.items": "3", "cart.total": "12.5",
		"cart.gift": "true", "cart.tags": `["new","sale"]`, "unicode.text": "žluťoučký 🐎",
	}
	if diff := cmp.Diff(wantRoot, root.Attributes); diff != "" {
		t.Errorf("root attributes (-sent +read):\n%s", diff)
	}
	for k, v := range map[string]string{
		"service.name": service, "service.version": "1.2.3", "service.namespace": "shop",
		"deployment.environment.name": "e2e", "svc_org_id": s.OrgID,
	} {
		if root.Resource[k] != v {
			t.Errorf("resource attribute %s: got %q, want %q", k, root.Resource[k], v)
		}
	}
	if len(child.Events) != 1 || child.Events[0].Name != "exception" || child.Events[0].Attributes["exception.type"] != "TimeoutError" ||
		child.Events[0].Attributes["exception.message"] != message {
		t.Errorf("events came back as %+v", child.Events)
	}
	if len(child.Links) != 1 || child.Links[0].TraceID != "0af7651916cd43dd8448eb211c80319c" || child.Links[0].SpanID != "b7ad6b7169203331" ||
		child.Links[0].Attributes["link.reason"] != "retry" {
		t.Errorf("links came back as %+v", child.Links)
	}
	for _, door := range []string{"connect", "grpc"} {
		if diff := cmp.Diff(generic(t, byREST.body), generic(t, doors[door](t, s, s.APIKey, get, request).body)); diff != "" {
			t.Errorf("%s differs from rest:\n%s", door, diff)
		}
	}
	checkShopByMCP(t, s, service, ids)
}

func checkShopByMCP(t *testing.T, s *testkit.Server, service string, ids sent) {
	t.Helper()
	tool := callTool(t.Context(), t, s, s.APIKey, "inspect_trace", map[string]any{"trace_id": ids.TraceID})
	if tool.err != nil {
		t.Fatalf("inspect_trace: %+v", tool.err)
	}
	for _, want := range []string{ids.Root, ids.Child, `"cart.tags"`, "žluťoučký 🐎", "no answer in 5 s"} {
		if !strings.Contains(string(tool.body), want) {
			t.Errorf("inspect_trace lacks %s: %s", want, tool.body)
		}
	}
	eventually(t, "the log record", func() bool {
		logs := callTool(t.Context(), t, s, s.APIKey, "search_logs", map[string]any{"service": service, "trace_id": ids.TraceID})
		return logs.err == nil && strings.Contains(string(logs.body), "cart lookup timed out")
	})
	eventually(t, "the metrics", func() bool {
		metrics := callTool(t.Context(), t, s, s.APIKey, "list_metrics", map[string]any{"service": service})
		for _, name := range []string{"e2e.carts", "e2e.cart.duration", "e2e.cart.open"} {
			if metrics.err != nil || !strings.Contains(string(metrics.body), name) {
				return false
			}
		}
		return true
	})
}
