package demo

import (
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// trace is a trace that is being made. Its clock, now, advances as work is done.
type trace struct {
	g           *slot
	r           random
	environment string
	visitor     *visitor
	unit        *Unit
	id          []byte
	now, latest int64
	at          *tracepb.Span // the open span
	from        *resource     // its sender
	running     *service
	instances   map[string]*resource
	// region handles the request in a shop with a plan, by these replicas.
	region   string
	replicas map[string]int

	// state and sampleRate describe the sampling before the trace was sent. weight is the number of spans that each span stands for.
	state      string
	sampleRate int
	session    string
	link       *tracepb.Span_Link
}

// begin opens a trace. Call end when it is complete.
func (g *slot) begin(r random, at int64, environment string, v *visitor) *trace {
	return &trace{
		g: g, r: r, environment: environment, visitor: v, unit: &Unit{}, id: r.bytes(16), now: at, latest: at, instances: map[string]*resource{},
	}
}

// sampleHead marks the trace as one of four that a head sampler kept (OpenTelemetry tracestate, with a threshold of 3/4).
func (t *trace) sampleHead() { t.state = "ot=th:c" }

func (t *trace) weight() float64 {
	switch {
	case t.sampleRate > 0:
		return float64(t.sampleRate)
	case t.state != "":
		return 4
	default:
		return 1
	}
}

func (t *trace) end() {
	t.unit.due = t.latest
	t.g.units = append(t.g.units, t.unit)
}

func (t *trace) instance(s *service) *resource {
	r := t.instances[s.name]
	if r == nil {
		r = t.g.instance(s, t.environment, t.replica(s), t.now)
		t.instances[s.name] = r
	}
	return r
}

// replica chooses a replica of a service. In a shop with a plan, it is in the region of the trace.
func (t *trace) replica(s *service) int {
	all := t.g.replicas(s, t.environment)
	if t.g.plan == nil || t.environment != production {
		return t.r.IntN(all)
	}
	if t.region == "" {
		t.region, t.replicas = regions()[0], map[string]int{}
		if t.r.chance(usShare) {
			t.region = regions()[1]
		}
	}
	n := t.r.IntN(all)
	if s.replicas > 1 {
		for regionOf(n) != t.region {
			n = (n + 1) % all
		}
	}
	t.replicas[s.name] = n
	return n
}

// work advances the clock by a random time around the median.
func (t *trace) work(median time.Duration) { t.now += int64(t.r.near(median, 0.45)) }

// wait advances the clock by an exact time.
func (t *trace) wait(d time.Duration) { t.now += int64(d) }

// fault reports whether a planted fault is active for this trace now.
func (t *trace) fault(name string) bool {
	return t.environment == production && t.g.faults.on(name, t.now)
}

// failure is the cause of a failed operation.
type failure struct {
	// kind, message and stack describe the exception.
	kind, message, stack string
	// http and grpc are the status codes of the failure.
	http, grpc int
	// expected failures are answers, not faults, such as a declined card.
	expected bool
	recorded bool
	// unanswered says that the other side gave no answer.
	unanswered bool
}

// scope is an open span and the span that was open before.
type scope struct {
	span, outer *tracepb.Span
	from, prior *resource
	ran         *service
}

// open begins a span of a service below the open one.
func (t *trace) open(s *service, kind tracepb.Span_SpanKind, name string, attributes ...attribute) scope {
	from := t.instance(s)
	span := &tracepb.Span{
		TraceId: t.id, SpanId: t.r.bytes(8), TraceState: t.state, Name: name, Kind: kind, StartTimeUnixNano: uint64(t.now),
		Attributes: attributes,
		Flags:      1,
	}
	if t.at != nil {
		span.ParentSpanId = t.at.SpanId
		span.Flags |= uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK)
		if t.from != from {
			span.Flags |= uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK)
		}
	}
	if t.sampleRate > 0 {
		span.Attributes = append(span.Attributes, whole("SampleRate", t.sampleRate))
	}
	if t.session != "" && s.name == web {
		span.Attributes = append(span.Attributes, text("session.id", t.session))
	}
	t.unit.spans = append(t.unit.spans, spanOf{from, span})
	sc := scope{span: span, outer: t.at, from: from, prior: t.from, ran: t.running}
	t.at, t.from, t.running = span, from, s
	return sc
}

func (t *trace) add(attributes ...attribute) {
	t.at.Attributes = append(t.at.Attributes, attributes...)
}

// shut ends the span. A failure marks the span. The first span with the failure records the exception.
func (t *trace) shut(sc scope, f *failure) {
	if f != nil {
		sc.span.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: f.message}
		if !f.recorded {
			f.recorded = true
			sc.span.Events = append(sc.span.Events, &tracepb.Span_Event{
				TimeUnixNano: uint64(t.now), Name: "exception",
				Attributes: []attribute{text("exception.type", f.kind), text("exception.message", f.message), text("exception.stacktrace", f.stack)},
			})
		}
	}
	sc.span.EndTimeUnixNano = uint64(t.now)
	t.latest = max(t.latest, t.now)
	t.at, t.from, t.running = sc.outer, sc.prior, sc.ran
}

// step is a span within a service.
func (t *trace) step(name string, body func() *failure, attributes ...attribute) *failure {
	sc := t.open(t.running, internal, name, attributes...)
	f := body()
	if f != nil && !f.expected {
		t.add(text("error.type", f.kind))
		t.shut(sc, f)
	} else {
		t.shut(sc, nil)
	}
	return f
}

// together runs operations at the same time and returns the first failure.
func (t *trace) together(all ...func() *failure) (first *failure) {
	from, end := t.now, t.now
	for _, do := range all {
		t.now = from
		if f := do(); first == nil {
			first = f
		}
		end = max(end, t.now)
	}
	t.now = end
	return first
}

// later runs do after a delay. Nothing waits for it.
func (t *trace) later(delay time.Duration, do func()) {
	now := t.now
	t.now += int64(delay)
	do()
	t.now = now
}

// observe counts the work of the open span in the current minute.
func (t *trace) observe(what string, value float64, attributes ...attribute) {
	t.g.observe(t.from, what, t.now, value, t.weight(), t.at, t.id, attributes)
}
