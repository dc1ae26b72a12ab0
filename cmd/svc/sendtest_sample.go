package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	logsv1 "go.opentelemetry.io/proto/otlp/logs/v1"
	metricsv1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// sampleService is the service.name of the test telemetry.
const sampleService = "svc-send-test"

// sample is telemetry that was never sent before: its ids and the name of its metric are new.
type sample struct {
	at      time.Time
	traceID []byte
	spanID  []byte
	metric  string
}

func newSample(at time.Time) sample {
	// crypto/rand.Read never fails.
	ids := make([]byte, 24)
	_, _ = rand.Read(ids)
	return sample{at: at, traceID: ids[:16], spanID: ids[16:], metric: "svc.send_test." + hex.EncodeToString(ids[:4])}
}

func (s sample) traceHex() string { return hex.EncodeToString(s.traceID) }

func attribute(key, value string) *commonv1.KeyValue {
	return &commonv1.KeyValue{Key: key, Value: &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: value}}}
}

func sampleResource() *resourcev1.Resource {
	return &resourcev1.Resource{Attributes: []*commonv1.KeyValue{attribute("service.name", sampleService)}}
}

func sampleScope() *commonv1.InstrumentationScope {
	return &commonv1.InstrumentationScope{Name: "svc send-test"}
}

func (s sample) traces() proto.Message {
	return &collectortrace.ExportTraceServiceRequest{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource: sampleResource(),
		ScopeSpans: []*tracev1.ScopeSpans{{Scope: sampleScope(), Spans: []*tracev1.Span{{
			TraceId: s.traceID, SpanId: s.spanID, Name: "send-test", Kind: tracev1.Span_SPAN_KIND_INTERNAL,
			StartTimeUnixNano: uint64(s.at.Add(-time.Millisecond).UnixNano()), EndTimeUnixNano: uint64(s.at.UnixNano()),
			Attributes: []*commonv1.KeyValue{attribute("svc.send_test", s.metric)},
			Status:     &tracev1.Status{Code: tracev1.Status_STATUS_CODE_OK},
		}}}},
	}}}
}

func (s sample) logs() proto.Message {
	return &collectorlogs.ExportLogsServiceRequest{ResourceLogs: []*logsv1.ResourceLogs{{
		Resource: sampleResource(),
		ScopeLogs: []*logsv1.ScopeLogs{{Scope: sampleScope(), LogRecords: []*logsv1.LogRecord{{
			TimeUnixNano: uint64(s.at.UnixNano()), ObservedTimeUnixNano: uint64(s.at.UnixNano()),
			SeverityNumber: logsv1.SeverityNumber_SEVERITY_NUMBER_INFO, SeverityText: "INFO",
			Body:    &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: "svc send-test"}},
			TraceId: s.traceID, SpanId: s.spanID,
		}}}},
	}}}
}

func (s sample) metrics() proto.Message {
	return &collectormetrics.ExportMetricsServiceRequest{ResourceMetrics: []*metricsv1.ResourceMetrics{{
		Resource: sampleResource(),
		ScopeMetrics: []*metricsv1.ScopeMetrics{{Scope: sampleScope(), Metrics: []*metricsv1.Metric{{
			Name: s.metric, Unit: "1", Description: "Sent by svc send-test.",
			Data: &metricsv1.Metric_Gauge{Gauge: &metricsv1.Gauge{DataPoints: []*metricsv1.NumberDataPoint{{
				TimeUnixNano: uint64(s.at.UnixNano()), Value: &metricsv1.NumberDataPoint_AsDouble{AsDouble: 1},
			}}}},
		}}}},
	}}}
}

// window returns the time range in which to look, as RFC 3339.
func (s sample) window() (from, to string) {
	return s.at.Add(-time.Minute).UTC().Format(time.RFC3339), s.at.Add(time.Minute).UTC().Format(time.RFC3339)
}

func (s sample) findTrace(get getter) error {
	var trace struct {
		ID        string            `json:"id"`
		SpanCount int               `json:"span_count"`
		Spans     []json.RawMessage `json:"spans"`
	}
	if err := get(http.MethodGet, "/v2/traces/"+s.traceHex(), nil, &trace); err != nil {
		return err
	}
	if trace.ID != s.traceHex() || len(trace.Spans) != 1 {
		return fmt.Errorf("trace %s came back with id %q and %d spans instead of 1", s.traceHex(), trace.ID, len(trace.Spans))
	}
	return nil
}

func (s sample) findLog(get getter) error {
	from, to := s.window()
	var page struct {
		Data []struct {
			TraceID string `json:"trace_id"`
			Body    string `json:"body"`
		} `json:"data"`
	}
	body := map[string]any{"start_time": from, "end_time": to, "filters": map[string]any{"trace_id": s.traceHex()}}
	if err := get(http.MethodPost, "/v2/logs/search", body, &page); err != nil {
		return err
	}
	for _, record := range page.Data {
		if record.TraceID == s.traceHex() && record.Body == "svc send-test" {
			return nil
		}
	}
	return errNotYet
}

func (s sample) findMetric(get getter) error {
	from, to := s.window()
	var page struct {
		Data []struct {
			Name string `json:"name"`
			Type string `json:"type"`
		} `json:"data"`
	}
	query := url.Values{"start_time": {from}, "end_time": {to}, "search": {s.metric}}
	if err := get(http.MethodGet, "/v2/metrics?"+query.Encode(), nil, &page); err != nil {
		return err
	}
	for _, m := range page.Data {
		if m.Name == s.metric && m.Type == "gauge" {
			return nil
		}
	}
	return errNotYet
}
