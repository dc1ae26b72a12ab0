package otlp_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	collogspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/otlp/otlptest"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

type (
	kv  = *commonpb.KeyValue
	kvs = []kv
)

func oddAttributes() []kvs {
	text, list := otlptest.Text, otlptest.List
	many := kvs{}
	for i := range 60 {
		many = append(many, text(fmt.Sprintf("k%d", i%40), fmt.Sprint(i)))
	}
	deep := text("leaf", "x")
	for range 70 {
		deep = list("level", deep)
	}
	return []kvs{
		{text("a", "1"), text("b", "2"), text("a", "3")},
		many,
		{deep},
		{{Key: "empty"}, {}, {Key: "unset", Value: &commonpb.AnyValue{}}, text("", ""), text("long", strings.Repeat("é", 300))},
		{list("l", text("q\"\\\n\r\t\b\f\x01é\u2028", "v"), &commonpb.KeyValue{Key: "none"}, otlptest.Double("inf", math.Inf(-1)),
			otlptest.Bytes("b", []byte{0, 255}))},
		{
			otlptest.Double("a", math.NaN()), otlptest.Double("b", math.Inf(1)), otlptest.Double("c", 1e21), otlptest.Double("d", 1e-7),
			otlptest.Double("e", -0.5),
		},
		{otlptest.Bool("t", true), otlptest.Int("i", math.MinInt64), otlptest.Bytes("b", []byte("hex")), otlptest.Texts("none")},
		{text("http.method", "PUT"), text("http.target", "/a/b?x=1"), otlptest.Int("http.status_code", 503)},
		{text("url.full", "https://user:pw@example.com:8080/p/q?x#y"), text("http.response.status_code", "404")},
		{text("http.url", "example.com?x"), text("http.status_code", "99999")},
		{text("server.address", "db"), text("url.path", "/x"), text("SampleRate", "4")},
		{text("net.peer.name", "db"), text("SampleRate", "0.5")},
		{text("http.route", "/r"), otlptest.Double("SampleRate", 2.5), text("http.request.method", "")},
		{text("service.name", ""), text("org_id", "forged"), text("svc_org_id", "forged"), text("team", "b"), text("service.namespace", "own")},
		{text("deployment.environment.name", "prod"), text("deployment.environment", "x"), text("service.version", "1")},
		{
			text("svc.product_event.name", "order"), otlptest.Int("svc.product_event.user_id", 7), text("svc.product_event.include", "a, b,,c, a"),
			text("a", "1"), otlptest.Bool("b", true), text("svc.product_event.prop.b", "own"), text("svc.product_event.prop.", "x"),
			text("svc.product_event.url", "https://Shop.example.com:8443/p/q?x#y"), text("session.id", "s1"),
		},
		{text("svc.product_event.name", "$reserved"), text("svc.product_event.name", "$screen"), text("svc.product_event.url", ":not a url")},
		{text("svc.product_event.name", ""), text("svc.product_event.user_id", "u")},
		append(kvs{text("svc.product_event.name", strings.Repeat("é", 64)), text("svc.product_event.visitor_id", strings.Repeat("é", 200))},
			manyProperties()...),
	}
}

// manyProperties are more properties than an event holds. One of them is too long.
func manyProperties() kvs {
	all := kvs{otlptest.Text("svc.product_event.prop.k07", strings.Repeat("é", 600))}
	for i := range 40 {
		all = append(all, otlptest.Int(fmt.Sprintf("svc.product_event.prop.k%02d", i%39), int64(i)))
	}
	return append(all, otlptest.Text("svc.product_event.prop.a", strings.Repeat("é", 600)))
}

func oddTimes() []uint64 {
	now := uint64(benchTime().UnixNano())
	day := uint64(24 * time.Hour)
	return []uint64{
		0, 1, now, now - 29*day, now - 31*day, now - 89*day, now - 91*day, now + day, now + day + 1, now + 5e9, math.MaxInt64 + 1,
		math.MaxUint64, now - 3600e9,
	}
}

func oddTraces() *coltracepb.ExportTraceServiceRequest {
	out := &coltracepb.ExportTraceServiceRequest{}
	id, span := make([]byte, 16), make([]byte, 8)
	ids, spans := [][]byte{nil, id, append(make([]byte, 15), 7), make([]byte, 3)},
		[][]byte{nil, span, append(make([]byte, 7), 9), make([]byte, 9)}
	states := []string{
		"", "ot=th:8", "a=b, ot=p:1;th:c", "ot=th:", "ot=th:zz", "ot=p:1", "ot=th:fffffffffffffff", "ot=th:fffffffffffffff0",
		"ot=th:fffffffffffffffff", "ot=th:e6666666666668", "ot=th:0", "ot=th:ffffffffffffff,ot=th:8",
	}
	names := []string{"GET /x", "HTTP POST", "GET key", "FOO /x", "HTTP x", "é"}
	n := 0
	for i, attrs := range oddAttributes() {
		ss := &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: "s", Attributes: attrs}}
		for j, at := range oddTimes() {
			s := &tracepb.Span{
				TraceId: ids[2], SpanId: spans[2], ParentSpanId: spans[n%4], TraceState: states[n%len(states)], Name: names[n%len(names)],
				Kind: tracepb.Span_SpanKind(n%8 - 1), StartTimeUnixNano: at, EndTimeUnixNano: oddTimes()[(i+j)%13], Attributes: attrs,
				Events: []*tracepb.Span_Event{{TimeUnixNano: oddTimes()[n%13], Name: "e", Attributes: attrs}, {}},
				Links:  []*tracepb.Span_Link{{TraceId: ids[n%4], SpanId: spans[(n+1)%4], TraceState: "l", Attributes: attrs}},
				Status: &tracepb.Status{Code: tracepb.Status_StatusCode(n%5 - 1), Message: "m"},
			}
			if n%5 == 0 {
				s.TraceId = ids[n%4]
			}
			if n%7 == 0 {
				s.SpanId = spans[n%4]
			}
			ss.Spans = append(ss.Spans, s)
			n++
		}
		out.ResourceSpans = append(out.ResourceSpans, &tracepb.ResourceSpans{
			Resource:   &resourcepb.Resource{Attributes: attrs},
			ScopeSpans: []*tracepb.ScopeSpans{ss},
		})
	}
	return out
}

func oddLogs() *collogspb.ExportLogsServiceRequest {
	out := &collogspb.ExportLogsServiceRequest{}
	n := 0
	for _, attrs := range oddAttributes() {
		sl := &logspb.ScopeLogs{}
		for j, at := range oddTimes() {
			l := &logspb.LogRecord{
				TimeUnixNano: at, ObservedTimeUnixNano: oddTimes()[(j+n)%13], SeverityNumber: logspb.SeverityNumber(n%28 - 1),
				SeverityText: []string{"", "warn", "Größe", "INFO", " Error\t", " \n"}[n%6], Attributes: attrs, TraceId: make([]byte, n%18),
				SpanId: []byte("12345678"), EventName: "e",
			}
			if len(attrs) > 0 && n%2 == 0 {
				l.Body = attrs[n%len(attrs)].GetValue()
			}
			sl.LogRecords = append(sl.LogRecords, l)
			n++
		}
		out.ResourceLogs = append(out.ResourceLogs, &logspb.ResourceLogs{
			Resource:  &resourcepb.Resource{Attributes: attrs},
			ScopeLogs: []*logspb.ScopeLogs{sl},
		})
	}
	return out
}

func oddMetrics() *colmetricspb.ExportMetricsServiceRequest {
	out := &colmetricspb.ExportMetricsServiceRequest{}
	for i, attrs := range oddAttributes() {
		g, s, h := &metricspb.Gauge{}, &metricspb.Sum{IsMonotonic: i%2 == 0, AggregationTemporality: metricspb.AggregationTemporality(i%5 - 1)},
			&metricspb.Histogram{}
		e, y := &metricspb.ExponentialHistogram{}, &metricspb.Summary{}
		for j, at := range oddTimes() {
			start := oddTimes()[(i+j)%13]
			ex := []*metricspb.Exemplar{
				{TimeUnixNano: start, TraceId: make([]byte, j), Value: &metricspb.Exemplar_AsInt{AsInt: -5}, FilteredAttributes: attrs},
				{TimeUnixNano: at, SpanId: []byte("12345678")},
			}
			sum := float64(j)
			n := &metricspb.NumberDataPoint{TimeUnixNano: at, StartTimeUnixNano: start, Attributes: attrs, Exemplars: ex, Flags: uint32(j % 2)}
			g.DataPoints = append(g.DataPoints, n)
			s.DataPoints = append(s.DataPoints, &metricspb.NumberDataPoint{
				TimeUnixNano: at, Attributes: attrs,
				Value: &metricspb.NumberDataPoint_AsInt{AsInt: int64(j)},
			})
			h.DataPoints = append(h.DataPoints, &metricspb.HistogramDataPoint{
				TimeUnixNano: at, Attributes: attrs, Exemplars: ex,
				BucketCounts: []uint64{1, 2}, ExplicitBounds: []float64{1}, Min: &sum,
			})
			e.DataPoints = append(e.DataPoints, &metricspb.ExponentialHistogramDataPoint{
				TimeUnixNano: at, Attributes: attrs, Exemplars: ex, Scale: int32(j - 5), Max: &sum, Flags: 1 << 31,
				Positive: &metricspb.ExponentialHistogramDataPoint_Buckets{Offset: math.MinInt32, BucketCounts: []uint64{1, math.MaxUint64}},
			})
			y.DataPoints = append(y.DataPoints, &metricspb.SummaryDataPoint{
				TimeUnixNano: at, Attributes: attrs, Sum: sum, QuantileValues: []*metricspb.SummaryDataPoint_ValueAtQuantile{{
					Quantile: 0.5,
					Value:    sum,
				}, {}},
			})
		}
		out.ResourceMetrics = append(out.ResourceMetrics, &metricspb.ResourceMetrics{
			Resource: &resourcepb.Resource{Attributes: attrs},
			ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: &commonpb.InstrumentationScope{Attributes: attrs}, Metrics: []*metricspb.Metric{
				{Name: "m", Unit: "1", Data: &metricspb.Metric_Gauge{Gauge: g}},
				{Name: "m", Unit: "2", Data: &metricspb.Metric_Sum{Sum: s}},
				{Name: "h", Data: &metricspb.Metric_Histogram{Histogram: h}},
				{Name: "e", Data: &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: e}},
				{Name: "y", Data: &metricspb.Metric_Summary{Summary: y}, Metadata: attrs},
				{Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: g.DataPoints[:1]}}},
				{Name: "shapes", Data: &metricspb.Metric_Histogram{Histogram: oddHistogram()}},
				{Name: "nothing"},
			}}},
		})
	}
	return out
}

// oddHistogram returns points of every shape, valid and invalid.
func oddHistogram() *metricspb.Histogram {
	h := &metricspb.Histogram{AggregationTemporality: 7}
	for _, counts := range [][]uint64{nil, {1}, {1, 2}, {1, 2, 3}} {
		for _, bounds := range [][]float64{nil, {1}, {1, 2}, {2, 1}, {1, 1}, {math.NaN()}, {1, math.NaN()}, {math.Inf(-1), math.Inf(1)}} {
			for flags := range uint32(2) {
				h.DataPoints = append(h.DataPoints, &metricspb.HistogramDataPoint{
					TimeUnixNano: uint64(benchTime().UnixNano()), BucketCounts: counts, ExplicitBounds: bounds, Flags: flags,
					Exemplars: []*metricspb.Exemplar{{SpanId: []byte("12345678")}},
				})
			}
		}
	}
	return h
}

func nested(b []byte, fields ...protowire.Number) []byte {
	for _, f := range slices.Backward(fields) {
		b = protowire.AppendBytes(protowire.AppendTag(make([]byte, 0, len(b)+12), f, protowire.BytesType), b)
	}
	return b
}

// oddWires are requests that no message struct encodes to: embedded messages in pieces, oneofs set twice, nesting up to the
// limit.
func oddWires(signal otlp.Signal) map[string][]byte {
	str, list := nested([]byte("s"), 1), nested(nested([]byte("e"), 1), 5, 1)
	kv := func(values ...[]byte) []byte {
		out := nested([]byte("key"), 1)
		for _, v := range values {
			out = append(out, nested(v, 2)...)
		}
		return out
	}
	bad := nested([]byte{0x0a}, 5)
	// A resource attribute appears on every item, but only the item level has a body and data.
	item := map[otlp.Signal]protowire.Number{otlp.Traces: 9, otlp.Logs: 6, otlp.Metrics: 12}[signal]
	attr := func(b []byte) []byte { return nested(b, 1, 2, 2, item) }
	out := map[string][]byte{
		"value twice":           attr(kv(list, list)),
		"value thrice":          attr(kv(list, str, list)),
		"list twice":            attr(kv(append(append([]byte(nil), list...), list...))),
		"list, text, list":      attr(kv(append(append(append([]byte(nil), list...), str...), list...))),
		"value twice, one bad":  attr(kv(list, bad)),
		"value twice, cut":      attr(append(kv(list), 0x12, 0x04, 0x2a)),
		"replaced but bad":      attr(kv(append(append([]byte(nil), bad...), str...))),
		"resource twice":        append(nested(kv(list), 1, 1, 1), nested(append(nested(kv(str), 1, 1), nested(kv(list), 1, 1)...), 1)...),
		"bad text":              attr(kv(nested([]byte{0xff}, 1))),
		"bad key":               attr(nested([]byte{0xff}, 1)),
		"field number zero":     {0x00, 0x00},
		"end group":             {0x0c},
		"group":                 {0x93, 0x3f, 0x94, 0x3f},
		"group not closed":      {0x93, 0x3f},
		"group closed by other": {0x93, 0x3f, 0x9c, 0x3f},
		"reserved wire type":    {0x0f},
		"varint of eleven":      {0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01},
		"varint too large":      {0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},
	}
	for _, depth := range []int{64, 65, 4997, 4998} {
		v := str
		for range depth {
			v = nested(v, 5, 1)
		}
		out[fmt.Sprintf("depth %d", depth)] = attr(kv(v))
		if signal == otlp.Logs {
			out[fmt.Sprintf("body of depth %d", depth)] = nested(v, 1, 2, 2, 5)
		}
	}
	if signal == otlp.Logs {
		out["body twice"] = nested(append(nested(list, 5), nested(list, 5)...), 1, 2, 2)
		out["body replaced"] = nested(append(nested(list, 5), nested(str, 5)...), 1, 2, 2)
	}
	if signal == otlp.Metrics {
		point := nested(nil, 1)
		out["gauge twice"] = nested(append(nested(point, 5), nested(point, 5)...), 1, 2, 2)
		out["gauge, sum, gauge"] = nested(append(append(nested(point, 5), nested(point, 7)...), nested(point, 5)...), 1, 2, 2)
		out["gauge bad, sum"] = nested(append(nested([]byte{0x0a, 0x05}, 5), nested(point, 7)...), 1, 2, 2)
		out["packed cut"] = nested([]byte{1, 2, 3}, 1, 2, 2, 9, 1, 6)
	}
	return out
}

func oddRequest(tb testing.TB, signal otlp.Signal) []byte {
	tb.Helper()
	m := map[otlp.Signal]proto.Message{otlp.Traces: oddTraces(), otlp.Logs: oddLogs(), otlp.Metrics: oddMetrics()}[signal]
	b, err := proto.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestWalkOddRequests(t *testing.T) {
	for _, signal := range signals() {
		set := &blocks.Set{}
		t.Run(signal.String(), func(t *testing.T) { compare(t, signal, oddRequest(t, signal), set) })
		for name, in := range oddWires(signal) {
			t.Run(signal.String()+" "+name, func(t *testing.T) { compare(t, signal, in, set) })
		}
	}
}

func TestErrorsNameTheField(t *testing.T) {
	cases := []struct {
		signal otlp.Signal
		in     []byte
		want   string
	}{
		{signal: otlp.Traces, in: nested([]byte{0xff}, 1, 2, 2, 5), want: "resource_spans[0].scope_spans[0].spans[0].name: is not valid UTF-8"},
		{
			signal: otlp.Logs, in: nested([]byte{0x0a, 0x05}, 1, 2, 2, 5),
			want: "resource_logs[0].scope_logs[0].log_records[0].body.string_value: is longer",
		},
		{
			signal: otlp.Metrics, in: nested([]byte{1}, 1, 2, 2, 9, 1, 6),
			want: "resource_metrics[0].scope_metrics[0].metrics[0].histogram.data_points[0].bucket_counts[0]: malformed",
		},
		{signal: otlp.Traces, in: []byte("not protobuf"), want: "truncated"},
	}
	for _, c := range cases {
		set := &blocks.Set{}
		_, err := otlp.Walk(c.signal, c.in, stamp(), set)
		var e *otlp.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestFailedWalkLeavesTheSetAsItWas(t *testing.T) {
	for _, signal := range signals() {
		set := &blocks.Set{}
		in := body(t, signal, 50)
		if _, err := otlp.Walk(signal, in, stamp(), set); err != nil {
			t.Fatal(err)
		}
		rows, before := set.Rows(), dump(t, set)
		if _, err := otlp.Walk(signal, in[:len(in)-1], stamp(), set); err == nil {
			t.Fatal("a cut body was accepted")
		}
		if set.Rows() != rows || dump(t, set) != before {
			t.Errorf("%s: rows changed", signal)
		}
		if _, err := otlp.Walk(signal, in, stamp(), set); err != nil || set.Rows() != 2*rows {
			t.Errorf("%s: %d rows, error %v", signal, set.Rows(), err)
		}
	}
}

func dump(tb testing.TB, set *blocks.Set) string {
	tb.Helper()
	var b strings.Builder
	for t := range set.Tables() {
		b.WriteString(t.Name + t.Columns)
		if _, err := t.WriteTo(&b); err != nil {
			tb.Fatal(err)
		}
	}
	return b.String()
}

// TestRepeatedResourceIsBounded: a large resource with very many items must not fill the memory.
func TestRepeatedResourceIsBounded(t *testing.T) {
	logs := &logspb.ScopeLogs{}
	for range 5000 {
		logs.LogRecords = append(logs.LogRecords, &logspb.LogRecord{})
	}
	in, err := proto.Marshal(&collogspb.ExportLogsServiceRequest{ResourceLogs: []*logspb.ResourceLogs{{
		Resource:  &resourcepb.Resource{Attributes: kvs{otlptest.Text("big", strings.Repeat("x", 100_000))}},
		ScopeLogs: []*logspb.ScopeLogs{logs},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	set := &blocks.Set{}
	s := stamp()
	s.MaxBytes = 10 << 20
	if _, err := otlp.Walk(otlp.Logs, in, s, set); !errors.Is(err, otlp.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	if set.Rows() != 0 || set.Bytes() > 11<<20 {
		t.Errorf("%d rows, %d bytes", set.Rows(), set.Bytes())
	}
}

func TestPartialSuccessMessage(t *testing.T) {
	now := uint64(benchTime().UnixNano())
	id, span := []byte("0123456789abcdef"), []byte("01234567")
	in, err := proto.Marshal(&coltracepb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{
		{TraceId: id, SpanId: span, StartTimeUnixNano: now, EndTimeUnixNano: now - 1},
		{TraceId: id[:5], SpanId: span, StartTimeUnixNano: now},
		{TraceId: id[:6], SpanId: span, StartTimeUnixNano: now},
		{TraceId: id, SpanId: span, StartTimeUnixNano: 5},
	}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := otlp.Walk(otlp.Traces, in, stamp(), &blocks.Set{})
	if err != nil || r.Accepted != 1 || r.Rejected != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, want := range []string{
		"resource_spans[0].scope_spans[0].spans[1].trace_id: span rejected: must be 16 bytes, not all zero (2 times in this request)",
		"spans[3].start_time_unix_nano: rejected: the time is further back",
		"spans[0].end_time_unix_nano: is before the start",
	} {
		if !strings.Contains(r.Message(), want) {
			t.Errorf("%q lacks %q", r.Message(), want)
		}
	}
}
