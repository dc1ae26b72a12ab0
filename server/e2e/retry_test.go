package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otellog "go.opentelemetry.io/otel/log"
	otelmetric "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/testkit"
)

// An SDK sends its items in batches of batchItems: one for each fate of the plan, and as many again.
const batchItems = 20

// TestExportersRetry sends with the SDKs' own exporters and their own retry through the proxy. The numbers of sent, accepted and
// stored items must agree. Each exporter meets only failures that it retries. Over HTTP, the exporters of both languages give up
// when a connection breaks. Over gRPC, the JavaScript exporter gives up at any error. They report the items that they give up.
func TestExportersRetry(t *testing.T) {
	server := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	js := installJS(t)
	refusals := []fate{throttle, pass, unavailable}
	var mu sync.Mutex
	total := map[string]int{}
	t.Run("exporters", func(t *testing.T) {
		for _, tc := range []struct {
			language, protocol string
			plan               []fate
		}{
			{"go", "http/protobuf", refusals},
			{"go", "grpc", []fate{throttle, pass, cutAnswer, unavailable, cutUnsent, cutHalfway}},
			{"js", "http/protobuf", refusals},
			{"js", "http/json", refusals},
			{"js", "grpc", []fate{pass}},
		} {
			t.Run(tc.language+" "+tc.protocol, func(t *testing.T) {
				t.Parallel() // most of the time is spent waiting as long as refusals ask
				run := tc.language + "-" + strings.ReplaceAll(tc.protocol, "/", "-")
				upstream := strings.TrimPrefix(server.IngestURL, "http://")
				if tc.protocol == "grpc" {
					upstream = server.OTLPGRPCAddr
				}
				proxy := startFaultProxy(t, upstream, tc.plan...)
				batches := 2 * len(tc.plan)
				started := time.Now()
				if tc.language == "js" {
					sendBatchesJS(t, js, proxy, tc.protocol, server.PrivateKey, run, batches)
				} else {
					sendBatchesGo(t, proxy, tc.protocol, server.PrivateKey, run, batches)
				}
				t.Logf("sent in %s", time.Since(started).Round(10*time.Millisecond))
				waitFlushed(t, server)
				items := batches * batchItems
				for path, n := range proxy.account(t, server, run, map[string]int{"/v1/traces": items, "/v1/logs": items, "/v1/metrics": items}) {
					mu.Lock()
					total[path] += n
					mu.Unlock()
				}
			})
		}
	})
	if diff := cmp.Diff(total, accepted(t, server)); diff != "" {
		t.Errorf("svc_ingest_items_total differs (-acknowledged +accepted):\n%s", diff)
	}
}

func sendBatchesJS(t *testing.T, dir string, proxy *faultProxy, protocol, key, run string, batches int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "send-batches.mjs", protocol, "http://"+proxy.Addr, run, fmt.Sprint(batches),
		fmt.Sprint(batchItems))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SVC_INGEST_KEY="+key)
	var failures bytes.Buffer
	cmd.Stderr = &failures
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, failures.String())
	}
	var report struct {
		Failures []string `json:"failures"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(report.Failures) > 0 {
		t.Errorf("exporters gave up: %q", report.Failures)
	}
}

// goExporters makes exporters of one protocol, each with a separate connection.
type goExporters struct {
	spans  func(context.Context) (trace.SpanExporter, error)
	logs   func(context.Context) (log.Exporter, error)
	points func(context.Context) (metric.Exporter, error)
}

func goExportersOf(protocol, addr, key string) goExporters {
	auth := map[string]string{"Authorization": "Bearer " + key}
	const initial, limit = 100 * time.Millisecond, time.Minute
	if protocol == "grpc" {
		return goExporters{
			func(ctx context.Context) (trace.SpanExporter, error) {
				return otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(addr), otlptracegrpc.WithInsecure(), otlptracegrpc.WithHeaders(auth),
					otlptracegrpc.WithTimeout(limit),
					otlptracegrpc.WithCompressor("gzip"), otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{
						Enabled: true, InitialInterval: initial,
						MaxInterval: time.Second, MaxElapsedTime: limit,
					}))
			},
			func(ctx context.Context) (log.Exporter, error) {
				return otlploggrpc.New(ctx, otlploggrpc.WithEndpoint(addr), otlploggrpc.WithInsecure(), otlploggrpc.WithHeaders(auth),
					otlploggrpc.WithTimeout(limit),
					otlploggrpc.WithRetry(otlploggrpc.RetryConfig{
						Enabled: true, InitialInterval: initial, MaxInterval: time.Second,
						MaxElapsedTime: limit,
					}))
			},
			func(ctx context.Context) (metric.Exporter, error) {
				return otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpoint(addr), otlpmetricgrpc.WithInsecure(), otlpmetricgrpc.WithHeaders(auth),
					otlpmetricgrpc.WithTimeout(limit),
					otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{
						Enabled: true, InitialInterval: initial, MaxInterval: time.Second,
						MaxElapsedTime: limit,
					}))
			},
		}
	}
	return goExporters{
		func(ctx context.Context) (trace.SpanExporter, error) {
			return otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(addr), otlptracehttp.WithInsecure(), otlptracehttp.WithHeaders(auth),
				otlptracehttp.WithTimeout(limit),
				otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
				otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
					Enabled: true, InitialInterval: initial, MaxInterval: time.Second,
					MaxElapsedTime: limit,
				}))
		},
		func(ctx context.Context) (log.Exporter, error) {
			return otlploghttp.New(ctx, otlploghttp.WithEndpoint(addr), otlploghttp.WithInsecure(), otlploghttp.WithHeaders(auth),
				otlploghttp.WithTimeout(limit),
				otlploghttp.WithRetry(otlploghttp.RetryConfig{
					Enabled: true, InitialInterval: initial, MaxInterval: time.Second,
					MaxElapsedTime: limit,
				}))
		},
		func(ctx context.Context) (metric.Exporter, error) {
			return otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpoint(addr), otlpmetrichttp.WithInsecure(), otlpmetrichttp.WithHeaders(auth),
				otlpmetrichttp.WithTimeout(limit),
				otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{
					Enabled: true, InitialInterval: initial, MaxInterval: time.Second,
					MaxElapsedTime: limit,
				}))
		},
	}
}

// sendBatchesGo makes batches of spans, of log records and of metric points, with the three signals in parallel.
func sendBatchesGo(t *testing.T, proxy *faultProxy, protocol, key, run string, batches int) {
	t.Helper()
	ctx := t.Context()
	open := goExportersOf(protocol, proxy.Addr, key)
	res := resource.NewSchemaless(attribute.String("service.name", run), attribute.String(loadtest.RunAttribute, run))
	item := func(batch, i int) attribute.KeyValue {
		return attribute.String(loadtest.ItemAttribute, fmt.Sprintf("%010d-%06d", batch, i))
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		spans, err := open.spans(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		provider := trace.NewTracerProvider(trace.WithResource(res),
			trace.WithBatcher(spans, trace.WithMaxExportBatchSize(batchItems), trace.WithExportTimeout(time.Minute)))
		for batch := range batches {
			for i := range batchItems {
				_, span := provider.Tracer("e2e").Start(ctx, "step", oteltrace.WithAttributes(item(batch, i)))
				span.End()
			}
		}
		if err := errors.Join(provider.ForceFlush(ctx), provider.Shutdown(ctx)); err != nil {
			t.Errorf("spans: %v", err)
		}
	})
	wg.Go(func() {
		records, err := open.logs(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		provider := log.NewLoggerProvider(log.WithResource(res), log.WithProcessor(log.NewBatchProcessor(records,
			log.WithExportMaxBatchSize(batchItems), log.WithExportTimeout(time.Minute))))
		for batch := range batches {
			for i := range batchItems {
				var rec otellog.Record
				rec.SetTimestamp(time.Now())
				rec.SetSeverity(otellog.SeverityInfo)
				rec.SetBody(attribute.StringValue("step done"))
				rec.AddAttributes(item(batch, i))
				provider.Logger("e2e").Emit(ctx, rec)
			}
		}
		if err := errors.Join(provider.ForceFlush(ctx), provider.Shutdown(ctx)); err != nil {
			t.Errorf("log records: %v", err)
		}
	})
	for batch := range batches { // a provider exports all its points in one request
		wg.Go(func() {
			points, err := open.points(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			provider := metric.NewMeterProvider(metric.WithResource(res),
				metric.WithReader(metric.NewPeriodicReader(points, metric.WithInterval(time.Hour), metric.WithTimeout(time.Minute))))
			if err := recordPoints(ctx, provider.Meter("e2e"), func(i int) attribute.KeyValue { return item(batch, i) }); err != nil {
				t.Error(err)
			}
			if err := provider.Shutdown(ctx); err != nil {
				t.Errorf("metric points: %v", err)
			}
		})
	}
	wg.Wait()
}

// recordPoints makes batchItems points of several kinds.
func recordPoints(ctx context.Context, meter otelmetric.Meter, item func(int) attribute.KeyValue) error {
	counter, err1 := meter.Int64Counter("e2e.steps")
	histogram, err2 := meter.Float64Histogram("e2e.step.duration")
	gauge, err3 := meter.Int64Gauge("e2e.steps.open")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	for i := range batchItems {
		with := otelmetric.WithAttributes(item(i))
		switch i % 3 {
		case 0:
			counter.Add(ctx, 1, with)
		case 1:
			histogram.Record(ctx, float64(i), with)
		default:
			gauge.Record(ctx, int64(i), with)
		}
	}
	return nil
}
