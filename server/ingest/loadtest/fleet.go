package loadtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// The shape of a fleet: services with instances, each of which sends what it collected in fleetWidth. Its requests follow each other as if
// the fleet produced fleetRate items a second, so requests of different instances overlap in time. That makes merges dear.
const (
	fleetServices  = 12
	fleetInstances = 96
	fleetWidth     = 5 * time.Second
	fleetRate      = 200_000
)

// fleet makes the items of one request of one instance.
type fleet struct {
	values

	// begins are the times of the items, ascending.
	begins []uint64
	// left is the number of spans that the trace still gets.
	left int
}

// fleetRequest builds the request of a seed, which counts the requests. The same instance sends every fleetInstances-th request.
func (c Config) fleetRequest(n uint64) proto.Message {
	r := rand.New(rand.NewPCG(n, uint64(c.Items)))
	instance := n % fleetInstances
	f := &fleet{values: values{r: r, varied: true}}
	end := c.began.Add(time.Duration(n-c.Seed) * time.Duration(c.Items) * time.Second / fleetRate)
	for range c.Items {
		f.begins = append(f.begins, uint64(end.UnixNano()-r.Int64N(int64(fleetWidth))))
	}
	slices.Sort(f.begins)
	res := &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
		text("service.name", fmt.Sprintf("fleet-%d", instance%fleetServices)), text("service.namespace", "shop"),
		text("service.version", "1.4.2"),
		text("service.instance.id", fmt.Sprintf("%032x", instance*0x9E3779B97F4A7C15)), text("deployment.environment.name", "production"),
		text("host.name", fmt.Sprintf("node-%02d", instance%40)), text("k8s.pod.name",
			fmt.Sprintf("fleet-%d-%05x", instance%fleetServices, instance*40503)),
		text("telemetry.sdk.language", "java"), text(RunAttribute, c.Run),
	}}
	scope := &commonpb.InstrumentationScope{Name: "io.opentelemetry.servlet", Version: "2.9.0"}
	if c.Signal == otlp.Logs {
		all := &logspb.ScopeLogs{Scope: scope}
		for i := range c.Items {
			all.LogRecords = append(all.LogRecords, f.record(i))
		}
		return &collogs.ExportLogsServiceRequest{ResourceLogs: []*logspb.ResourceLogs{{Resource: res, ScopeLogs: []*logspb.ScopeLogs{all}}}}
	}
	all := &tracepb.ScopeSpans{Scope: scope}
	for i := range c.Items {
		all.Spans = append(all.Spans, f.call(i))
	}
	return &coltrace.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource:   res,
		ScopeSpans: []*tracepb.ScopeSpans{all},
	}}}
}

// call is a span of a trace of 5 to 30 spans. Of 1,000 spans, 6 fail with a stack, 50 have an event and 10 a link.
func (f *fleet) call(i int) *tracepb.Span {
	s := &tracepb.Span{
		SpanId: f.random(8), Name: fmt.Sprintf("GET /items/{id}/%d", f.r.IntN(60)), Kind: tracepb.Span_SpanKind(1 + f.r.IntN(5)),
		StartTimeUnixNano: f.begins[i], Attributes: f.attributes(i), Status: &tracepb.Status{},
	}
	s.EndTimeUnixNano = s.StartTimeUnixNano + uint64(f.r.ExpFloat64()*8e6)
	if f.left == 0 {
		f.trace, f.root, f.left = f.random(16), s.GetSpanId(), 5+f.r.IntN(26)
	} else {
		s.ParentSpanId = f.root
	}
	s.TraceId = f.trace
	f.left--
	switch draw := f.r.IntN(1000); {
	case draw < 6:
		s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: "upstream closed the connection"}
		s.Events = []*tracepb.Span_Event{{Name: "exception", TimeUnixNano: s.GetEndTimeUnixNano(), Attributes: f.exception()}}
	case draw < 50:
		s.Events = []*tracepb.Span_Event{{Name: "cache.miss", TimeUnixNano: s.GetStartTimeUnixNano() + 1000, Attributes: []*commonpb.KeyValue{
			text("cache.key", fmt.Sprintf("item:%d", f.r.IntN(1_000_000))), number("cache.size", int64(f.r.IntN(4096))),
		}}}
	}
	if f.r.IntN(100) == 0 {
		s.Links = []*tracepb.Span_Link{{TraceId: f.random(16), SpanId: f.random(8)}}
	}
	return s
}

// exception is an exception with a stack of 30 calls.
func (f *fleet) exception() []*commonpb.KeyValue {
	kind, stack := f.r.IntN(20), []byte(nil)
	stack = fmt.Appendf(stack, "com.acme.shop.Failure%d: order %d could not be charged\n", kind, f.r.IntN(1_000_000))
	for i := range 30 {
		stack = fmt.Appendf(stack, "\tat com.acme.shop.part%d.Step%d.run(Step%d.java:%d)\n", kind, i, i, 10+(kind*31+i*7)%400)
	}
	return []*commonpb.KeyValue{
		text("exception.type", fmt.Sprintf("com.acme.shop.Failure%d", kind)), text("exception.message", "the order could not be charged"),
		text("exception.stacktrace", string(stack)),
	}
}

// record is a log record of a request.
func (f *fleet) record(i int) *logspb.LogRecord {
	if f.left == 0 {
		f.trace, f.left = f.random(16), 5+f.r.IntN(26)
	}
	f.left--
	l := f.log(i)
	l.TimeUnixNano, l.ObservedTimeUnixNano, l.TraceId, l.SpanId = f.begins[i], f.begins[i], f.trace, f.random(8)
	return l
}
