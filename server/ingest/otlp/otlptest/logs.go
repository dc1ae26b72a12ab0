package otlptest

import (
	"fmt"
	"time"

	collogspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
)

// Logs returns a request with n log records at about the given time.
func Logs(seed uint64, n int, at time.Time) *collogspb.ExportLogsServiceRequest {
	g := newGenerator(seed, at)
	request := &collogspb.ExportLogsServiceRequest{}
	for made := 0; made < n; {
		resource, _ := g.resource()
		logs := &logspb.ScopeLogs{Scope: g.scope()}
		for range min(itemsPerResource(n), n-made) {
			logs.LogRecords = append(logs.LogRecords, g.logRecord())
			made++
		}
		request.ResourceLogs = append(request.ResourceLogs, &logspb.ResourceLogs{Resource: resource, ScopeLogs: []*logspb.ScopeLogs{logs}})
	}
	return request
}

func (g *generator) logRecord() *logspb.LogRecord {
	at := g.at.Add(-time.Duration(g.IntN(2_000_000_000)))
	severity := pick(g, logspb.SeverityNumber_SEVERITY_NUMBER_INFO, logspb.SeverityNumber_SEVERITY_NUMBER_INFO,
		logspb.SeverityNumber_SEVERITY_NUMBER_DEBUG, logspb.SeverityNumber_SEVERITY_NUMBER_WARN, logspb.SeverityNumber_SEVERITY_NUMBER_ERROR)
	order, route := g.IntN(100_000), pick(g, routes()...)
	r := &logspb.LogRecord{
		TimeUnixNano: nanos(at), ObservedTimeUnixNano: nanos(at.Add(time.Millisecond)), SeverityNumber: severity,
		Body: textValue(fmt.Sprintf("order %d for %s took %d ms", order, route, g.IntN(900))),
		Attributes: []*commonpb.KeyValue{
			Text("http.route", route),
			Text("http.request.method", pick(g, "GET", "POST")),
			Text("code.function.name", pick(g, "shop.Orders.place", "shop.Cart.add")),
			Text("code.file.path", "/src/shop/orders.go"),
			Int("code.line.number", int64(g.IntN(400))),
			Text("thread.name", fmt.Sprintf("worker-%d", g.IntN(16))),
			Text("user.id", fmt.Sprintf("u-%06d", g.IntN(100_000))),
			Int("order.id", int64(order)),
		},
	}
	switch g.IntN(8) {
	case 0:
		r.TraceId, r.SpanId, r.Flags = g.bytes(16), g.bytes(8), 1
	case 1:
		r.SeverityText = "Warning"
	case 2:
		r.Body = List("", Text("message", "placed"), Int("order", int64(order))).GetValue()
	case 3:
		r.EventName = "shop.order.placed"
	}
	return r
}
