package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	otelattribute "go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otellog "go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdkresource "go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/svc-observability/svc/server/ingest"
)

// exporters are the three exporters of the OpenTelemetry SDK with one configuration.
type exporters struct {
	traces  sdktrace.SpanExporter
	metrics sdkmetric.Exporter
	logs    sdklog.Exporter
}

func httpExporters(t *testing.T, addr, key string, gzip bool) exporters {
	t.Helper()
	headers := map[string]string{"Authorization": "Bearer " + key}
	traceGzip, metricGzip, logGzip := otlptracehttp.NoCompression, otlpmetrichttp.NoCompression, otlploghttp.NoCompression
	if gzip {
		traceGzip, metricGzip, logGzip = otlptracehttp.GzipCompression, otlpmetrichttp.GzipCompression, otlploghttp.GzipCompression
	}
	traces, err1 := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpoint(addr), otlptracehttp.WithInsecure(),
		otlptracehttp.WithHeaders(headers), otlptracehttp.WithCompression(traceGzip), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	metrics, err2 := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpoint(addr), otlpmetrichttp.WithInsecure(),
		otlpmetrichttp.WithHeaders(headers), otlpmetrichttp.WithCompression(metricGzip), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}))
	logs, err3 := otlploghttp.New(t.Context(), otlploghttp.WithEndpoint(addr), otlploghttp.WithInsecure(), otlploghttp.WithHeaders(headers),
		otlploghttp.WithCompression(logGzip), otlploghttp.WithRetry(otlploghttp.RetryConfig{}))
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return exporters{traces, metrics, logs}
}

func grpcExporters(t *testing.T, addr, key string, gzip bool) exporters {
	t.Helper()
	headers := map[string]string{"Authorization": "Bearer " + key}
	traceOpts := []otlptracegrpc.Option{
		otlptracegrpc.WithEndpoint(addr), otlptracegrpc.WithInsecure(), otlptracegrpc.WithHeaders(headers),
		otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{}),
	}
	metricOpts := []otlpmetricgrpc.Option{
		otlpmetricgrpc.WithEndpoint(addr), otlpmetricgrpc.WithInsecure(), otlpmetricgrpc.WithHeaders(headers),
		otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{}),
	}
	logOpts := []otlploggrpc.Option{
		otlploggrpc.WithEndpoint(addr), otlploggrpc.WithInsecure(), otlploggrpc.WithHeaders(headers),
		otlploggrpc.WithRetry(otlploggrpc.RetryConfig{}),
	}
	if gzip {
		traceOpts = append(traceOpts, otlptracegrpc.WithCompressor("gzip"))
		metricOpts = append(metricOpts, otlpmetricgrpc.WithCompressor("gzip"))
		logOpts = append(logOpts, otlploggrpc.WithCompressor("gzip"))
	}
	traces, err1 := otlptracegrpc.New(t.Context(), traceOpts...)
	metrics, err2 := otlpmetricgrpc.New(t.Context(), metricOpts...)
	logs, err3 := otlploggrpc.New(t.Context(), logOpts...)
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return exporters{traces, metrics, logs}
}

// emit sends n spans, n log records and one data point, and returns the first error of each exporter.
func (e exporters) emit(t *testing.T, n int) []error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	res := sdkresource.NewSchemaless(otelattribute.String("service.name", "checkout"))

	tracer := sdktrace.NewTracerProvider(sdktrace.WithBatcher(e.traces), sdktrace.WithResource(res))
	for i := range n {
		_, span := tracer.Tracer("test").Start(ctx, "GET /cart")
		span.SetAttributes(otelattribute.Int("item", i), otelattribute.StringSlice("tags", []string{"a", "b"}))
		span.AddEvent("loaded")
		span.End()
	}
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(e.metrics)), sdkmetric.WithResource(res))
	counter, err := meter.Meter("test").Int64Counter("carts")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(ctx, 5)
	logger := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(e.logs)), sdklog.WithResource(res))
	for range n {
		var r otellog.Record
		r.SetTimestamp(time.Now())
		r.SetSeverity(otellog.SeverityInfo)
		r.SetBody(otelattribute.StringValue("cart emptied"))
		logger.Logger("test").Emit(ctx, r)
	}
	errs := []error{tracer.ForceFlush(ctx), meter.ForceFlush(ctx), logger.ForceFlush(ctx)}
	for _, stop := range []func(context.Context) error{tracer.Shutdown, meter.Shutdown, logger.Shutdown} {
		_ = stop(ctx) // exports the remaining data once more; errs holds the relevant errors
	}
	return errs
}

// TestRealExporters: every item that the OpenTelemetry SDK sends over each door is queued once.
func TestRealExporters(t *testing.T) {
	for _, gzip := range []bool{false, true} {
		for _, door := range []string{"http", "grpc"} {
			t.Run(fmt.Sprintf("%s gzip %t", door, gzip), func(t *testing.T) {
				f := newFixture(t, ingest.Limits{}, nil)
				var e exporters
				if door == "http" {
					e = httpExporters(t, f.listen(t), goodKey, gzip)
				} else {
					e = grpcExporters(t, f.listenGRPC(t), goodKey, gzip)
				}
				for _, err := range e.emit(t, 20) {
					if err != nil {
						t.Error(err)
					}
				}
				// Shutdown collects the metrics once more, so the counter's point arrives twice.
				if _, rows := f.queue.count(); rows != 20+20+2 {
					t.Errorf("%d rows were queued, want 42", rows)
				}
				if got := f.decoded(t); got != 42 {
					t.Errorf("the queued records give %d rows, want 42", got)
				}
			})
		}
	}
}

// TestRealExportersSeeRefusals: exporters report a refused key instead of taking it for a success.
func TestRealExportersSeeRefusals(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	for door, e := range map[string]exporters{
		"http": httpExporters(t, f.listen(t), "svc_pk_wrong", true),
		"grpc": grpcExporters(t, f.listenGRPC(t), "svc_pk_wrong", true),
	} {
		for i, err := range e.emit(t, 1) {
			if err == nil {
				t.Errorf("%s exporter %d took a refusal for a success", door, i)
			}
		}
	}
}
