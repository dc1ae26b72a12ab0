package loadtest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/klauspost/compress/gzip"
	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// Attributes that mark generated items.
const (
	RunAttribute     = "loadtest.run"     // on the resource
	RequestAttribute = "loadtest.request" // on each marked item: the number of its request, ten digits
	ItemAttribute    = "loadtest.item"    // on each marked item: the request and the place in it, unique in the run
)

const (
	// placeholder stands for the ten digits of a request's number. It also stands at the head of trace ids.
	placeholder = "REQUEST___"
	maxRequests = 1_000_000_000
	maxItems    = 100_000

	// unmarkedBodies is the number of bodies that an unmarked load sends in turn.
	unmarkedBodies = 16
)

// generator holds the input of the workers: a template with the places of the request's number, or finished bodies.
type generator struct {
	template []byte
	digits   []int // positions of the number as text
	hexes    []int // positions of that text in hexadecimal, in JSON ids
	gzip     bool
	ready    [][]byte
}

func newGenerator(cfg Config) (*generator, error) {
	if cfg.Marked {
		t, err := cfg.encode(cfg.request(cfg.Seed))
		if err != nil {
			return nil, err
		}
		return &generator{
			template: t, gzip: cfg.Gzip,
			digits: places(t, placeholder), hexes: places(t, hex.EncodeToString([]byte(placeholder))),
		}, nil
	}
	bodies := unmarkedBodies
	if cfg.Varied {
		bodies = cfg.Requests
	}
	g := &generator{ready: make([][]byte, bodies)}
	// Building many bodies takes long, so every processor builds some.
	var work errgroup.Group
	builders := min(bodies, runtime.GOMAXPROCS(0))
	for first := range builders {
		work.Go(func() error {
			for i := first; i < bodies; i += builders {
				message := cfg.request
				if cfg.Fleet {
					message = cfg.fleetRequest
				}
				b, err := cfg.encode(message(cfg.Seed + uint64(i)))
				if err != nil {
					return err
				}
				one := generator{template: b, digits: places(b, placeholder), hexes: places(b, hex.EncodeToString([]byte(placeholder))), gzip: cfg.Gzip}
				g.ready[i] = bytes.Clone(one.worker().body(i))
			}
			return nil
		})
	}
	return g, work.Wait()
}

func places(b []byte, what string) (at []int) {
	for from := 0; ; {
		i := bytes.Index(b[from:], []byte(what))
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + len(what)
	}
}

// worker writes bodies into its own memory. A body is valid until the next one.
type worker struct {
	g   *generator
	raw []byte
	out bytes.Buffer
	zip *gzip.Writer
}

func (g *generator) worker() *worker { return &worker{g: g, raw: bytes.Clone(g.template)} }

// abandon gives up the memory of the last body. If the request failed or was answered early, the connection may still be sending
// that body.
func (w *worker) abandon() {
	if w.g.ready == nil {
		*w = worker{g: w.g, raw: bytes.Clone(w.g.template)}
	}
}

func (w *worker) body(n int) []byte {
	if w.g.ready != nil {
		return w.g.ready[n%len(w.g.ready)]
	}
	number := requestNumber(n)
	for _, at := range w.g.digits {
		copy(w.raw[at:], number)
	}
	inHex := hex.EncodeToString([]byte(number))
	for _, at := range w.g.hexes {
		copy(w.raw[at:], inHex)
	}
	if !w.g.gzip {
		return w.raw
	}
	w.out.Reset()
	if w.zip == nil {
		w.zip, _ = gzip.NewWriterLevel(&w.out, gzip.BestSpeed) // the level is valid
	} else {
		w.zip.Reset(&w.out)
	}
	_, _ = w.zip.Write(w.raw) // a bytes.Buffer accepts everything
	_ = w.zip.Close()
	return w.out.Bytes()
}

func requestNumber(n int) string { return fmt.Sprintf("%010d", n) }

// encode returns the template in the protocol's encoding.
func (c Config) encode(m proto.Message) ([]byte, error) {
	if c.Protocol != HTTPJSON {
		return proto.Marshal(m)
	}
	b, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		return nil, err
	}
	hexIDs(tree)
	return json.Marshal(tree)
}

// hexIDs turns ids from the base64 of protojson into the hexadecimal of OTLP JSON.
func hexIDs(tree any) {
	switch v := tree.(type) {
	case map[string]any:
		for k, child := range v {
			text, ok := child.(string)
			if ok && (k == "traceId" || k == "spanId" || k == "parentSpanId") {
				var id []byte
				if json.Unmarshal([]byte(`"`+text+`"`), &id) == nil { // []byte reads base64
					v[k] = hex.EncodeToString(id)
				}
				continue
			}
			hexIDs(child)
		}
	case []any:
		for _, child := range v {
			hexIDs(child)
		}
	}
}

// request builds one export request with varied values: 8 attributes on the resource and 10 on each item, besides the marks.
func (c Config) request(seed uint64) proto.Message {
	r := rand.New(rand.NewPCG(seed, uint64(c.Items)))
	measured := r
	if c.Signal == otlp.Metrics && c.Series > 0 {
		// The number of the process determines the series. Only the measured values differ.
		r = rand.New(rand.NewPCG(seed%uint64(c.Series/c.Items), uint64(c.Items)))
	}
	v := values{r: r, now: uint64(time.Now().UnixNano()), marked: c.Marked, varied: c.Varied}
	res := &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
		text("service.name", fmt.Sprintf("shop-%d", r.IntN(8))), text("service.namespace", "shop"), text("service.version", "1.4.2"),
		text("deployment.environment.name", "production"), text("host.name", fmt.Sprintf("node-%02d", r.IntN(40))),
		text("k8s.pod.name", fmt.Sprintf("shop-%08x", r.Uint32())), text("telemetry.sdk.language", "go"), text(RunAttribute, c.Run),
	}}
	scope := &commonpb.InstrumentationScope{Name: "loadtest", Version: "1"}
	switch c.Signal {
	case otlp.Logs:
		all := &logspb.ScopeLogs{Scope: scope}
		for i := range c.Items {
			all.LogRecords = append(all.LogRecords, v.log(i))
		}
		return &collogs.ExportLogsServiceRequest{ResourceLogs: []*logspb.ResourceLogs{{Resource: res, ScopeLogs: []*logspb.ScopeLogs{all}}}}
	case otlp.Metrics:
		gauge := &metricspb.Gauge{}
		for i := range c.Items {
			gauge.DataPoints = append(gauge.DataPoints, &metricspb.NumberDataPoint{
				TimeUnixNano: v.now + uint64(i), Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: measured.Float64() * 100},
				Attributes: v.attributes(i),
			})
		}
		metric := &metricspb.Metric{Name: "loadtest.queue.depth", Unit: "{item}", Data: &metricspb.Metric_Gauge{Gauge: gauge}}
		return &colmetrics.ExportMetricsServiceRequest{ResourceMetrics: []*metricspb.ResourceMetrics{{
			Resource: res, ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: scope, Metrics: []*metricspb.Metric{metric}}},
		}}}
	default:
		all := &tracepb.ScopeSpans{Scope: scope}
		for i := range c.Items {
			all.Spans = append(all.Spans, v.span(i))
		}
		return &coltrace.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
			Resource:   res,
			ScopeSpans: []*tracepb.ScopeSpans{all},
		}}}
	}
}

type values struct {
	r      *rand.Rand
	now    uint64
	marked bool
	// varied makes the ids random. The items of a trace still share the trace id.
	varied      bool
	trace, root []byte
}

func (v *values) traceID(i int) []byte {
	if !v.varied {
		return fmt.Appendf(nil, "%s%06d", placeholder, i/8)
	}
	if i%8 == 0 {
		v.trace = v.random(16)
	}
	return v.trace
}

func (v *values) spanID(i int) []byte {
	if !v.varied {
		return fmt.Appendf(nil, "s%07d", i)
	}
	id := v.random(8)
	if i%8 == 0 {
		v.root = id
	}
	return id
}

// parentID returns the id of the trace's first item.
func (v *values) parentID(i int) []byte {
	if !v.varied {
		return v.spanID(i - i%8)
	}
	return v.root
}

func (v *values) random(n int) []byte {
	id := make([]byte, 0, n)
	for len(id) < n {
		id = binary.LittleEndian.AppendUint64(id, v.r.Uint64())
	}
	return id[:n]
}

// span returns one of the eight spans of a trace. The first of them is the root.
func (v *values) span(i int) *tracepb.Span {
	s := &tracepb.Span{
		TraceId: v.traceID(i), SpanId: v.spanID(i), Name: fmt.Sprintf("GET /items/%d", v.r.IntN(40)),
		Kind:              tracepb.Span_SpanKind(1 + v.r.IntN(5)),
		StartTimeUnixNano: v.now + uint64(i)*1000, Attributes: v.attributes(i), Status: &tracepb.Status{},
	}
	s.EndTimeUnixNano = s.StartTimeUnixNano + uint64(v.r.IntN(50_000_000))
	if i%8 != 0 {
		s.ParentSpanId = v.parentID(i)
	}
	if v.r.IntN(50) == 0 {
		s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: "upstream closed the connection"}
	}
	return s
}

func (v *values) log(i int) *logspb.LogRecord {
	body := fmt.Sprintf("order %d of customer %d: payment of %d.%02d EUR took %d ms", v.r.Uint32(), v.r.IntN(100_000), v.r.IntN(500),
		v.r.IntN(100), v.r.IntN(900))
	return &logspb.LogRecord{
		TimeUnixNano: v.now + uint64(i)*1000, ObservedTimeUnixNano: v.now + uint64(i)*1000,
		SeverityNumber: logspb.SeverityNumber(9 + 4*v.r.IntN(3)),
		Body:           &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: body}}, Attributes: v.attributes(i),
		TraceId: v.traceID(i),
		SpanId:  v.spanID(i),
	}
}

func (v *values) attributes(i int) []*commonpb.KeyValue {
	all := []*commonpb.KeyValue{
		text("http.request.method", []string{"GET", "POST", "PUT", "DELETE"}[v.r.IntN(4)]),
		text("http.route", fmt.Sprintf("/items/%d", v.r.IntN(40))),
		number("http.response.status_code", []int64{200, 200, 200, 201, 404, 500}[v.r.IntN(6)]), text("server.address", "shop.example"),
		text("url.path", fmt.Sprintf("/items/%d/%d", v.r.IntN(40), v.r.IntN(100_000))),
		text("client.address", fmt.Sprintf("10.%d.%d.%d", v.r.IntN(8), v.r.IntN(256), v.r.IntN(256))),
		text("user_agent.original", fmt.Sprintf("Mozilla/5.0 (%d)", v.r.IntN(30))), text("user.id", fmt.Sprintf("u%06d", v.r.IntN(200_000))),
		number("thread.id", int64(v.r.IntN(64))), text("network.protocol.version", "1.1"),
	}
	if v.marked {
		all = append(all, text(RequestAttribute, placeholder), text(ItemAttribute, fmt.Sprintf("%s-%06d", placeholder, i)))
	}
	return all
}

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

func number(key string, value int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}}}
}
