package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/klauspost/compress/gzip"
	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Keys of Totals.Signals.
const (
	signalSpans    = "spans"
	signalLogs     = "logs"
	signalPoints   = "data_points"
	signalSessions = "session_rows"
	signalTimeline = "session_events"
	signalChunks   = "replay_chunks"
	signalProducts = "product_events"
)

// Signals lists the keys of Totals.Signals.
func Signals() []string {
	return []string{signalSpans, signalLogs, signalPoints, signalSessions, signalTimeline, signalChunks, signalProducts}
}

// request is one request to an ingest endpoint, not yet encoded.
type request struct {
	signal, path, media string
	items               int
	headers             map[string]string
	encode              func() ([]byte, error)
	// packed bodies are gzip files already.
	packed bool
}

// batch gathers units and makes requests from them.
type batch struct {
	all  Unit
	most int
	send func(request) error
}

func (b *batch) add(u *Unit) error {
	a := &b.all
	a.spans, a.logs, a.metrics = append(a.spans, u.spans...), append(a.logs, u.logs...), append(a.metrics, u.metrics...)
	a.sessions, a.timeline, a.products = append(a.sessions, u.sessions...), append(a.timeline, u.timeline...), append(a.products,
		u.products...)
	for _, c := range u.chunks {
		if err := b.send(c.request()); err != nil {
			return err
		}
	}
	return b.flush(b.most)
}

// flush sends the batches that have at least the given number of items.
func (b *batch) flush(least int) error {
	a := &b.all
	if n := len(a.spans); n > 0 && n >= least {
		list := a.spans
		a.spans = nil
		if err := b.send(otlp(signalSpans, "/v1/traces", n, func() proto.Message { return groupSpans(list) })); err != nil {
			return err
		}
	}
	if n := len(a.logs); n > 0 && n >= least {
		list := a.logs
		a.logs = nil
		if err := b.send(otlp(signalLogs, "/v1/logs", n, func() proto.Message { return groupLogs(list) })); err != nil {
			return err
		}
	}
	if n := len(a.metrics); n > 0 && n >= least {
		list := a.metrics
		a.metrics = nil
		points := 0
		for _, m := range list {
			points += pointCount(m.metric)
		}
		if err := b.send(otlp(signalPoints, "/v1/metrics", points, func() proto.Message { return groupMetrics(list) })); err != nil {
			return err
		}
	}
	for _, lines := range []struct {
		signal, path string
		list         *[][]byte
	}{
		{signalSessions, "/v1/sessionReplays/meta", &a.sessions},
		{signalTimeline, "/v1/sessionEvents", &a.timeline},
		{signalProducts, "/v1/events", &a.products},
	} {
		if n := len(*lines.list); n > 0 && n >= least {
			body := append(bytes.Join(*lines.list, []byte("\n")), '\n')
			*lines.list = nil
			if err := b.send(request{
				signal: lines.signal, path: lines.path, media: "application/x-ndjson", items: n,
				encode: func() ([]byte, error) { return body, nil },
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

func otlp(signal, path string, items int, message func() proto.Message) request {
	return request{
		signal: signal, path: path, media: "application/x-protobuf", items: items,
		encode: func() ([]byte, error) { return proto.Marshal(message()) },
	}
}

func (c chunk) request() request {
	return request{
		signal: signalChunks, path: "/v1/sessionReplays/blob", media: "application/octet-stream", items: 1, packed: true,
		headers: map[string]string{
			"x-svc-session-id": c.session, "x-svc-chunk-seq": strconv.Itoa(c.seq), "x-svc-is-checkpoint": strconv.Itoa(bit(c.checkpoint)),
			"x-svc-event-count": strconv.Itoa(len(c.events)), "x-svc-duration-ms": strconv.FormatInt(c.duration.Milliseconds(), 10),
		},
		encode: func() ([]byte, error) { return json.Marshal(c.events) },
	}
}

// group groups the units by sender, in the order in which the senders first appear.
func group[T, G any](list []T, sender func(T) *resource, open func(*resource) G, add func(G, T)) (groups []G) {
	at := map[*resource]int{}
	for _, item := range list {
		from := sender(item)
		i, ok := at[from]
		if !ok {
			i = len(groups)
			at[from] = i
			groups = append(groups, open(from))
		}
		add(groups[i], item)
	}
	return groups
}

const schemaURL = "https://opentelemetry.io/schemas/1.37.0"

func groupSpans(list []spanOf) *coltrace.ExportTraceServiceRequest {
	return &coltrace.ExportTraceServiceRequest{ResourceSpans: group(
		list, func(s spanOf) *resource { return s.from },
		func(r *resource) *tracepb.ResourceSpans {
			return &tracepb.ResourceSpans{Resource: r.pb, SchemaUrl: schemaURL, ScopeSpans: []*tracepb.ScopeSpans{{Scope: r.scope}}}
		},
		func(g *tracepb.ResourceSpans, s spanOf) {
			g.ScopeSpans[0].Spans = append(g.ScopeSpans[0].Spans, s.span)
		},
	)}
}

func groupLogs(list []recordOf) *collogs.ExportLogsServiceRequest {
	return &collogs.ExportLogsServiceRequest{ResourceLogs: group(
		list, func(l recordOf) *resource { return l.from },
		func(r *resource) *logspb.ResourceLogs {
			return &logspb.ResourceLogs{Resource: r.pb, SchemaUrl: schemaURL, ScopeLogs: []*logspb.ScopeLogs{{Scope: r.scope}}}
		},
		func(g *logspb.ResourceLogs, l recordOf) {
			g.ScopeLogs[0].LogRecords = append(g.ScopeLogs[0].LogRecords, l.record)
		},
	)}
}

func groupMetrics(list []metricOf) *colmetrics.ExportMetricsServiceRequest {
	return &colmetrics.ExportMetricsServiceRequest{ResourceMetrics: group(
		list, func(m metricOf) *resource { return m.from },
		func(r *resource) *metricspb.ResourceMetrics {
			return &metricspb.ResourceMetrics{Resource: r.pb, SchemaUrl: schemaURL, ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: r.scope}}}
		},
		func(g *metricspb.ResourceMetrics, m metricOf) {
			g.ScopeMetrics[0].Metrics = append(g.ScopeMetrics[0].Metrics, m.metric)
		},
	)}
}

func pointCount(m *metricspb.Metric) int {
	return len(m.GetGauge().GetDataPoints()) + len(m.GetSum().GetDataPoints()) + len(m.GetHistogram().GetDataPoints()) +
		len(m.GetExponentialHistogram().GetDataPoints()) + len(m.GetSummary().GetDataPoints())
}

// packer compresses bodies. Each sender has its own.
type packer struct {
	out bytes.Buffer
	zip *gzip.Writer
}

func (p *packer) pack(body []byte) ([]byte, error) {
	p.out.Reset()
	if p.zip == nil {
		var err error
		if p.zip, err = gzip.NewWriterLevel(&p.out, gzip.BestSpeed); err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
	} else {
		p.zip.Reset(&p.out)
	}
	if _, err := p.zip.Write(body); err != nil {
		return nil, err
	}
	if err := p.zip.Close(); err != nil {
		return nil, err
	}
	return p.out.Bytes(), nil
}
