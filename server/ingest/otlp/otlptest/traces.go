package otlptest

import (
	"fmt"
	"time"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

const spansPerTrace = 8

// Traces returns a request with n spans that end at about the given time. Each trace has eight spans: a server span and its
// children. Some have events and links, some have failed.
func Traces(seed uint64, n int, at time.Time) *coltracepb.ExportTraceServiceRequest {
	g := newGenerator(seed, at)
	request := &coltracepb.ExportTraceServiceRequest{}
	var traceID, rootID []byte
	for made := 0; made < n; {
		resource, service := g.resource()
		spans := &tracepb.ScopeSpans{Scope: g.scope(), SchemaUrl: "https://opentelemetry.io/schemas/1.38.0"}
		for range min(itemsPerResource(n), n-made) {
			spanID := g.bytes(8)
			if made%spansPerTrace == 0 {
				traceID, rootID = g.bytes(16), spanID
				spans.Spans = append(spans.Spans, g.serverSpan(traceID, spanID))
			} else {
				spans.Spans = append(spans.Spans, g.clientSpan(traceID, spanID, rootID, service))
			}
			made++
		}
		request.ResourceSpans = append(request.ResourceSpans, &tracepb.ResourceSpans{
			Resource: resource, ScopeSpans: []*tracepb.ScopeSpans{spans},
		})
	}
	return request
}

func (g *generator) serverSpan(traceID, spanID []byte) *tracepb.Span {
	route, method, status := pick(g, routes()...), pick(g, "GET", "POST"), int64(200)
	if g.IntN(20) == 0 {
		status = pick(g, int64(404), 500, 503)
	}
	s := g.span(traceID, spanID, method+" "+route, tracepb.Span_SPAN_KIND_SERVER)
	s.Attributes = []*commonpb.KeyValue{
		Text("http.request.method", method),
		Text("http.route", route),
		Text("url.path", fmt.Sprintf("/products/%d", g.IntN(5000))),
		Text("url.scheme", "https"),
		Text("server.address", "shop.example.com"),
		Int("server.port", 443),
		Int("http.response.status_code", status),
		Text("network.protocol.version", "1.1"),
		Text("client.address", fmt.Sprintf("10.%d.%d.%d", g.IntN(256), g.IntN(256), g.IntN(256))),
		Text("user_agent.original", pick(g, "Mozilla/5.0 (X11; Linux x86_64) Firefox/142.0", "curl/8.15.0", "k6/1.3.0")),
	}
	if status >= 500 {
		s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: "upstream failed"}
		s.Events = []*tracepb.Span_Event{{
			TimeUnixNano: s.EndTimeUnixNano - 1000,
			Name:         "exception",
			Attributes: []*commonpb.KeyValue{
				Text("exception.type", "UpstreamError"),
				Text("exception.message", "upstream answered 503"),
				Text("exception.stacktrace", "main.handle\n\t/src/handle.go:42\nmain.main\n\t/src/main.go:17"),
			},
		}}
	}
	return s
}

func (g *generator) clientSpan(traceID, spanID, parentID []byte, service string) *tracepb.Span {
	operation := pick(g, "SELECT", "INSERT", "UPDATE")
	s := g.span(traceID, spanID, operation+" shop.orders", tracepb.Span_SPAN_KIND_CLIENT)
	s.ParentSpanId = parentID
	s.Attributes = []*commonpb.KeyValue{
		Text("db.system.name", "postgresql"),
		Text("db.namespace", "shop"),
		Text("db.operation.name", operation),
		Text("db.collection.name", "orders"),
		Text("db.query.text", operation+" … FROM orders WHERE id = $1"),
		Text("server.address", service+"-db.shop.svc"),
		Int("server.port", 5432),
		Double("db.client.wait_ms", float64(g.IntN(1000))/16),
		Bool("db.cached", g.IntN(4) == 0),
	}
	switch g.IntN(12) {
	case 0:
		s.Links = []*tracepb.Span_Link{{
			TraceId: g.bytes(16), SpanId: g.bytes(8), TraceState: "vendor=1", Attributes: []*commonpb.KeyValue{Text("link.reason", "retry")},
		}}
	case 1:
		s.Events = []*tracepb.Span_Event{
			{TimeUnixNano: s.StartTimeUnixNano + 1, Name: "acquired", Attributes: []*commonpb.KeyValue{Int("pool.size", int64(g.IntN(20)))}},
			{TimeUnixNano: s.StartTimeUnixNano + 2, Name: "sent"},
		}
	case 2:
		s.TraceState = "ot=th:8"
	case 3:
		s.Attributes = append(s.Attributes, Texts("db.tables", "orders", "items"), List("db.plan", Text("kind", "index"), Int("cost", 12)))
	}
	return s
}

func (g *generator) span(traceID, spanID []byte, name string, kind tracepb.Span_SpanKind) *tracepb.Span {
	start := g.at.Add(-time.Duration(g.IntN(2_000_000_000)))
	return &tracepb.Span{
		TraceId: traceID, SpanId: spanID, Name: name, Kind: kind, Flags: 0x101,
		StartTimeUnixNano: nanos(start),
		EndTimeUnixNano:   nanos(start.Add(time.Duration(1000 + g.IntN(300_000_000)))),
		Status:            &tracepb.Status{},
	}
}
