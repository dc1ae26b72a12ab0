package otlp_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

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
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

// longAttributes have sizes at, just above and far above each limit, in texts of every kind.
func longAttributes() map[string]kvs {
	text, list := otlptest.Text, otlptest.List
	crowd := kvs{}
	for i := range 1100 {
		crowd = append(crowd, otlptest.Int(fmt.Sprintf("c%d", i%1050), int64(i)))
	}
	return map[string]kvs{
		"text at the limit": {text("a", strings.Repeat("x", 64<<10))}, "text above": {text("a", strings.Repeat("x", 64<<10+1))},
		"text of runes": {text("a", strings.Repeat("é", 40<<10)), text("b", "x"+strings.Repeat("€", 30<<10))},
		"key at limit":  {text(strings.Repeat("k", 1<<10), "1")}, "keys": {
			text(strings.Repeat("k", 1<<10+1), "2"),
			text(strings.Repeat("ü", 900), "3"),
		},
		"bytes": {otlptest.Bytes("a", make([]byte, 32<<10)), otlptest.Bytes("b", make([]byte, 32<<10+1))},
		"list":  {otlptest.Texts("a", strings.Repeat("\x01€", 20<<10), "after")},
		"map":   {list("a", text(strings.Repeat("€", 30<<10), "v"), text("after", "x"))},
		"blob":  {list("a", otlptest.Bytes("b", make([]byte, 70<<10)), text("after", "x"))},
		"exact": {list("a", text("k", strings.Repeat("y", 64<<10-8))), list("b", text("k", strings.Repeat("y", 64<<10-7)))},
		"body":  {text("a", strings.Repeat("é", 600<<10)), text("b", "")}, "body of bytes": {otlptest.Bytes("a", make([]byte, 1<<19+1))},
		"body of a list":    {otlptest.Texts("a", strings.Repeat("x", 1<<20), "after")},
		"body at the limit": {text("a", strings.Repeat("x", 1<<20))},
		"many":              crowd,
	}
}

// everywhere returns a request with the attributes in every place that takes attributes.
func everywhere(signal otlp.Signal, attrs kvs) proto.Message {
	now := uint64(benchTime().UnixNano())
	res, scope := &resourcepb.Resource{Attributes: attrs}, &commonpb.InstrumentationScope{Attributes: attrs}
	switch signal {
	case otlp.Traces:
		return &coltracepb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
			Resource: res,
			ScopeSpans: []*tracepb.ScopeSpans{{Scope: scope, Spans: []*tracepb.Span{{
				TraceId: []byte("0123456789abcdef"), SpanId: []byte("01234567"), StartTimeUnixNano: now, EndTimeUnixNano: now, Attributes: attrs,
				Events: []*tracepb.Span_Event{{Attributes: attrs}}, Links: []*tracepb.Span_Link{{Attributes: attrs}},
			}}}},
		}}}
	case otlp.Logs:
		return &collogspb.ExportLogsServiceRequest{ResourceLogs: []*logspb.ResourceLogs{{
			Resource: res,
			ScopeLogs: []*logspb.ScopeLogs{{Scope: scope, LogRecords: []*logspb.LogRecord{{
				TimeUnixNano: now, Attributes: attrs, Body: attrs[0].GetValue(),
			}}}},
		}}}
	default:
		return &colmetricspb.ExportMetricsServiceRequest{ResourceMetrics: []*metricspb.ResourceMetrics{{
			Resource: res,
			ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: scope, Metrics: []*metricspb.Metric{{
				Name: "m", Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: []*metricspb.NumberDataPoint{{
					TimeUnixNano: now, Value: &metricspb.NumberDataPoint_AsInt{AsInt: 1}, Attributes: attrs,
					Exemplars: []*metricspb.Exemplar{{FilteredAttributes: attrs}},
				}}}},
			}}}},
		}}}
	}
}

func marshal(tb testing.TB, m proto.Message) []byte {
	tb.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestLongAttributesEqualReference(t *testing.T) {
	set := &blocks.Set{}
	for _, signal := range signals() {
		for name, attrs := range longAttributes() {
			t.Run(signal.String()+" "+name, func(t *testing.T) {
				in := marshal(t, everywhere(signal, attrs))
				compareWith(t, signal, in, fullStamp(), set)
				if signal == otlp.Traces {
					compareWith(t, signal, in, policyStamps()[0], set)
				}
			})
		}
	}
}

func TestLimitsAreWarnings(t *testing.T) {
	paths := map[otlp.Signal]string{
		otlp.Traces:  "resource_spans[0].scope_spans[0].spans[0].attributes",
		otlp.Logs:    "resource_logs[0].scope_logs[0].log_records[0].attributes",
		otlp.Metrics: "resource_metrics[0].scope_metrics[0].metrics[0].data_points[0].attributes",
	}
	long := otlptest.Text("a", strings.Repeat("x", 70_000))
	for _, signal := range signals() {
		for _, c := range []struct {
			attrs kvs
			want  string
		}{
			{kvs{long}, "a value is longer than 65536 bytes as text and was cut: it ends with …[cut]"},
			{kvs{otlptest.Text(strings.Repeat("k", 2000), "")}, "a key is longer than 1024 bytes and was cut: it ends with …[cut]"},
			{longAttributes()["many"], "there are more than 1024 attributes: those after them were left out"},
		} {
			in := marshal(t, everywhere(signal, c.attrs))
			r, err := otlp.Walk(signal, in, stamp(), &blocks.Set{})
			if err != nil || r.Accepted != 1 || r.Rejected != 0 || !strings.Contains(r.Message(), c.want) {
				t.Errorf("%s: %+v, %v, want %q", signal, r, err, c.want)
			}
			// The first place is the resource, or the item if there is no resource.
			if first := r.Warnings[len(r.Warnings)-1].Path; !strings.HasSuffix(first, ".resource.attributes") {
				t.Errorf("%s: path %q", signal, first)
			}
		}
		m := everywhere(signal, kvs{long})
		switch m := m.(type) {
		case *coltracepb.ExportTraceServiceRequest:
			m.ResourceSpans[0].Resource, m.ResourceSpans[0].ScopeSpans[0].Scope = nil, nil
		case *collogspb.ExportLogsServiceRequest:
			m.ResourceLogs[0].Resource, m.ResourceLogs[0].ScopeLogs[0].Scope = nil, nil
		case *colmetricspb.ExportMetricsServiceRequest:
			m.ResourceMetrics[0].Resource, m.ResourceMetrics[0].ScopeMetrics[0].Scope = nil, nil
		}
		if r, err := otlp.Walk(signal, marshal(t, m), stamp(), &blocks.Set{}); err != nil ||
			!strings.HasPrefix(r.Message(), paths[signal]+": a value") {
			t.Errorf("%s: %q, %v", signal, r.Message(), err)
		}
	}
}

// TestReplacedNumbersAreWarnings covers enums that OTLP does not define, and observed times of clocks that are far off.
func TestReplacedNumbersAreWarnings(t *testing.T) {
	span := func(kind, code int32) *tracepb.Span {
		s := oneSpan()
		s.Kind, s.Status = tracepb.Span_SpanKind(kind), &tracepb.Status{Code: tracepb.Status_StatusCode(code)}
		return s
	}
	result, rows := walkTraces(t, stamp(), export(nil, span(77, 0), span(5, 2), span(0, 7), span(-1, 1)))
	if len(rows["spans"]) != 4 || rows["spans"][0]["SpanKind"] != "Unspecified" || rows["spans"][2]["StatusCode"] != "Unset" {
		t.Errorf("%v", rows["spans"])
	}
	if want := "resource_spans[0].scope_spans[0].spans[0].kind: is a number that OTLP does not define: 0 was stored, which stands for unset " +
		"or unspecified (3 times in this request)"; result.Message() != want {
		t.Errorf("%q, want %q", result.Message(), want)
	}
	received := uint64(stamp().ReceivedUnixNano)
	const day = 24 * 3600e9
	for _, c := range []struct {
		severity int32
		observed uint64
		want     string
		stored   uint64
	}{
		{24, received + day, "", received + day},
		{0, received - 30*day, "", received - 30*day},
		{99, received, "severity_number: is a number that OTLP does not define", received},
		{25, 0, "severity_number: is a number", received},
		{1, received + 32*365*day, "observed_time_unix_nano: is more than 30 days back or 24 hours ahead: the receive time was stored", received},
		{1, received - 31*day, "observed_time_unix_nano: is more than 30 days back", received},
		{1, math.MaxUint64, "observed_time_unix_nano: is more than 30 days back", received},
	} {
		record := &logspb.LogRecord{TimeUnixNano: received, ObservedTimeUnixNano: c.observed, SeverityNumber: logspb.SeverityNumber(c.severity)}
		in := marshal(t, &collogspb.ExportLogsServiceRequest{ResourceLogs: []*logspb.ResourceLogs{{ScopeLogs: []*logspb.ScopeLogs{{LogRecords: []*logspb.LogRecord{record}}}}}})
		var set blocks.Set
		result, err := otlp.Walk(otlp.Logs, in, stamp(), &set)
		if err != nil || result.Accepted != 1 || (c.want == "") != (result.Message() == "") ||
			!strings.HasPrefix(strings.TrimPrefix(result.Message(), "resource_logs[0].scope_logs[0].log_records[0]."), c.want) {
			t.Errorf("%v: %+v, %v", record, result, err)
		}
		logs := nativetest.Rows(t, &set.Logs().Block)
		if len(logs) != 1 || logs[0]["ObservedTimestamp"] != int64(c.stored) || c.severity > 24 && logs[0]["SeverityNumber"] != uint8(0) {
			t.Errorf("%v: %v", record, logs)
		}
	}
}

// TestExpansionIsBounded covers bodies that would grow to many times their size.
func TestExpansionIsBounded(t *testing.T) {
	repeat := func(n int, b ...byte) []byte { return bytes.Repeat(b, n) }
	pieces := nested([]byte("x"), 1)
	pieces = append(nested(repeat(1<<18, 'x'), 1), pieces...)
	for range 40 { // each level comes in two pieces that must be joined
		v := nested(nested(pieces, 1), 5)
		pieces = append(v, nested(nil, 5)...)
	}
	deep := nested(repeat(1<<17, 0x0a, 2, 0x2a, 0), 5)
	for range 63 {
		deep = nested(nested(deep, 1), 5)
	}
	var keys []byte
	for i := range 1 << 14 {
		keys = append(keys, nested(nested(nested([]byte(fmt.Sprintf("%04x", i)), 1), 6), 2)...)
	}
	for name, c := range map[string]struct {
		signal otlp.Signal
		in     []byte
	}{
		"joined pieces":   {otlp.Logs, nested(nested(nested(pieces, 2), 6), 1, 2, 2)},
		"empty resources": {otlp.Logs, repeat(1<<16, 0x0a, 0)},
		"empty scopes":    {otlp.Logs, nested(repeat(1<<16, 0x12, 0), 1)},
		"bucket counts":   {otlp.Metrics, nested(repeat(1<<19, 1), 1, 2, 2, 10, 1, 8, 2)},
		"body of deep":    {otlp.Logs, nested(repeat(10, nested(deep, 2, 5)...), 1, 2)},
		"distinct keys":   {otlp.Logs, nested(keys, 1, 2)},
		"rejected spans":  {otlp.Traces, nested(repeat(1<<16, 0x12, 0), 1, 2)},
		"empty attribute": {otlp.Logs, nested(repeat(1<<18, 0x32, 0), 1, 2, 2)},
	} {
		s := stamp()
		s.MaxBytes = 2 << 20
		set := &blocks.Set{}
		r, err := otlp.Walk(c.signal, c.in, s, set)
		if name == "empty attribute" {
			if err != nil || r.Accepted != 1 || set.Bytes() > 1<<16 {
				t.Errorf("%s: %v, %d bytes", name, err, set.Bytes())
			}
			continue
		}
		if !errors.Is(err, otlp.ErrTooLarge) || set.Rows() > 0 {
			t.Errorf("%s: %v, %d rows", name, err, set.Rows())
		}
		// An acknowledged request is read again without a bound.
		s.MaxBytes = 1 << 40
		if _, err := otlp.Walk(c.signal, c.in, s, &blocks.Set{}); err != nil {
			t.Errorf("%s, without a bound: %v", name, err)
		}
	}
}

func TestFieldsGivenAgainAreBounded(t *testing.T) {
	// At each level a field is repeated before a long field, so the long field must move.
	again := `{"stringValue":"` + strings.Repeat("x", 1<<18) + `"}`
	for range 200 {
		again = `{"kvlistValue":{"values":[{"key":"a","value":` + again + `,"key":"b"}]}}`
	}
	var e *otlp.Error
	_, err := otlp.FromJSON(otlp.Logs, []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":`+again+`}]}]}]}`))
	if !errors.As(err, &e) || !strings.Contains(e.Reason, "again too often") {
		t.Errorf("fields given again: %v", err)
	}
}

// TestDeepJSONEqualsWire: from a certain depth on, lengths are written in another way.
func TestDeepJSONEqualsWire(t *testing.T) {
	for _, levels := range []int{5, 12, 13, 14, 40, 64, 65, 300} {
		value, want := `{"stringValue":"`+strings.Repeat("x", 200)+`"}`, nested([]byte(strings.Repeat("x", 200)), 1)
		for range levels {
			value, want = `{"arrayValue":{"values":[`+value+`]}}`, nested(nested(want, 1), 5)
		}
		wire, err := otlp.FromJSON(otlp.Logs, []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":`+value+`}]}]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		got, expected := &collogspb.ExportLogsServiceRequest{}, &collogspb.ExportLogsServiceRequest{}
		if err := errors.Join(proto.Unmarshal(wire, got), proto.Unmarshal(nested(want, 1, 2, 2, 5), expected)); err != nil ||
			!proto.Equal(got, expected) {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}
