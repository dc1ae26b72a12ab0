package otlp_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/otlp/otlptest"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

// oneSpan returns a span with all fields set.
func oneSpan(attributes ...kv) *tracepb.Span {
	now := uint64(benchTime().UnixNano())
	return &tracepb.Span{
		TraceId: []byte("0123456789abcdef"), SpanId: []byte("01234567"), Name: "work",
		StartTimeUnixNano: now - 5e6, EndTimeUnixNano: now, Attributes: attributes,
	}
}

func export(resource kvs, spans ...*tracepb.Span) *coltracepb.ExportTraceServiceRequest {
	return &coltracepb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: resource}, ScopeSpans: []*tracepb.ScopeSpans{{Spans: spans}},
	}}}
}

// walkTraces returns the result of a request and its rows by table.
func walkTraces(tb testing.TB, stamp *otlp.Stamp, m proto.Message) (otlp.Result, map[string][]row) {
	tb.Helper()
	set := &blocks.Set{}
	result, err := otlp.Walk(otlp.Traces, marshal(tb, m), stamp, set)
	if err != nil {
		tb.Fatal(err)
	}
	rows := map[string][]row{}
	for t := range set.Tables() {
		rows[t.Name] = nativetest.Rows(tb, t)
	}
	return result, rows
}

// TestEnvironment: under either name of the attribute, the value that the key always sets wins over the sender's value, which
// wins over the value that the key adds if missing.
func TestEnvironment(t *testing.T) {
	const old, name = "deployment.environment", "deployment.environment.name"
	always := func(key, value string) otlp.ResourceAttribute { return otlp.ResourceAttribute{Key: key, Value: value} }
	missing := func(key, value string) otlp.ResourceAttribute {
		return otlp.ResourceAttribute{Key: key, Value: value, IfMissing: true}
	}
	text := otlptest.Text
	for i, c := range []struct {
		sent kvs
		key  []otlp.ResourceAttribute
		want string
	}{
		{kvs{text(name, "new"), text(old, "old")}, nil, "old"},
		{kvs{text(name, "new")}, nil, "new"},
		{kvs{text(name, "new"), text(old, "")}, nil, "new"},
		{kvs{text(old, "staging")}, []otlp.ResourceAttribute{always(name, "prod")}, "prod"},
		{kvs{text(old, "staging"), text(name, "x")}, []otlp.ResourceAttribute{always(name, "prod")}, "prod"},
		{kvs{text(name, "staging")}, []otlp.ResourceAttribute{always(old, "prod")}, "prod"},
		{kvs{text(old, "staging")}, []otlp.ResourceAttribute{always(name, "new"), always(old, "old")}, "old"},
		{kvs{text(old, "staging")}, []otlp.ResourceAttribute{always(name, "")}, ""},
		{kvs{text(name, "staging")}, []otlp.ResourceAttribute{missing(old, "prod")}, "staging"},
		{kvs{text(old, "staging")}, []otlp.ResourceAttribute{missing(name, "prod")}, "staging"},
		{kvs{text(name, "staging")}, []otlp.ResourceAttribute{missing(old, "filled"), always(name, "prod")}, "prod"},
		{nil, []otlp.ResourceAttribute{missing(name, "filled"), missing("team", "a")}, "filled"},
		{nil, nil, ""},
	} {
		s := stamp()
		s.Attributes = c.key
		m := export(c.sent, oneSpan())
		if _, rows := walkTraces(t, s, m); rows["spans"][0]["Environment"] != c.want {
			t.Errorf("case %d: %v of %v and %v, want %q", i, rows["spans"][0]["Environment"], c.sent, c.key, c.want)
		}
		compareWith(t, otlp.Traces, marshal(t, m), s, &blocks.Set{})
	}
}

func TestMappings(t *testing.T) {
	text := otlptest.Text
	copies := func(source, target string) otlp.Mapping { return otlp.Mapping{Source: source, Target: target} }
	moves := func(source, target string) otlp.Mapping {
		return otlp.Mapping{Source: source, Target: target, Move: true}
	}
	resource := func(source, target string) otlp.Mapping {
		return otlp.Mapping{Context: otlp.ResourceContext, Source: source, Target: target, Move: true}
	}
	long := strings.Repeat("k", 1<<10+1)
	for name, c := range map[string]struct {
		mappings []otlp.Mapping
		span     kvs
		want     map[string]string
		columns  row
	}{
		"copy":      {[]otlp.Mapping{copies("a", "b")}, kvs{text("a", "1")}, map[string]string{"a": "1", "b": "1"}, nil},
		"move":      {[]otlp.Mapping{moves("a", "b")}, kvs{text("a", "1")}, map[string]string{"b": "1"}, nil},
		"no source": {[]otlp.Mapping{moves("a", "b")}, kvs{text("c", "1")}, map[string]string{"c": "1"}, nil},
		"the target is kept": {
			[]otlp.Mapping{copies("a", "b")},
			kvs{text("b", ""), text("a", "1")},
			map[string]string{"a": "1", "b": ""},
			nil,
		},
		"so is then the source": {
			[]otlp.Mapping{moves("a", "b")},
			kvs{text("a", "1"), text("b", "2")},
			map[string]string{"a": "1", "b": "2"},
			nil,
		},
		"onto itself": {[]otlp.Mapping{moves("a", "a")}, kvs{text("a", "1")}, map[string]string{"a": "1"}, nil},
		"in the order of the list": {
			[]otlp.Mapping{copies("b", "c"), copies("a", "b")},
			kvs{text("a", "1")},
			map[string]string{"a": "1", "b": "1"},
			nil,
		},
		"on what others made": {
			[]otlp.Mapping{moves("a", "b"), copies("b", "c")},
			kvs{text("a", "1")},
			map[string]string{"b": "1", "c": "1"},
			nil,
		},
		"a moved source is gone": {[]otlp.Mapping{moves("a", "b"), copies("a", "c")}, kvs{text("a", "1")}, map[string]string{"b": "1"}, nil},
		"a moved source is free": {
			[]otlp.Mapping{moves("a", "b"), copies("c", "a")},
			kvs{text("a", "1"), text("c", "2")},
			map[string]string{"a": "2", "b": "1", "c": "2"},
			nil,
		},
		"swapped": {
			[]otlp.Mapping{moves("a", "x"), moves("b", "a"), moves("x", "b")},
			kvs{text("a", "1"), text("b", "2")},
			map[string]string{"a": "2", "b": "1"},
			nil,
		},
		"the first target wins": {
			[]otlp.Mapping{copies("a", "c"), copies("b", "c")},
			kvs{text("a", "1"), text("b", "2")},
			map[string]string{"a": "1", "b": "2", "c": "1"},
			nil,
		},
		"a key given twice": {
			[]otlp.Mapping{moves("a", "b")},
			kvs{text("a", "1"), text("c", "2"), text("a", "3")},
			map[string]string{"b": "3", "c": "2"},
			nil,
		},
		"resource, never moved": {[]otlp.Mapping{resource("host.name", "host")}, nil, map[string]string{"host": "h1"}, nil},
		"resource, target kept": {
			[]otlp.Mapping{resource("host.name", "host")},
			kvs{text("host", "own")},
			map[string]string{"host": "own"},
			nil,
		},
		"resource as the key set it": {[]otlp.Mapping{resource("team", "owner")}, nil, map[string]string{"owner": "checkout"}, nil},
		"a resource key on the span": {[]otlp.Mapping{copies("host.name", "host")}, nil, map[string]string{}, nil},
		"a number": {
			[]otlp.Mapping{moves("n", "m")},
			kvs{otlptest.Int("n", 7), otlptest.Bool("x", true)},
			map[string]string{"m": "7", "x": "true"},
			nil,
		},
		"a list": {
			[]otlp.Mapping{moves("n", "m")},
			kvs{otlptest.Texts("n", "p", "q")},
			map[string]string{"m": `["p","q"]`},
			nil,
		},
		"keys cut as they are": {
			[]otlp.Mapping{moves(long, "b"), copies("b", long+"x")},
			kvs{text(long, "1")},
			map[string]string{"b": "1", strings.Repeat("k", 1<<10-len("…[cut]")) + "…[cut]": "1"},
			nil,
		},
		"onto columns": {
			[]otlp.Mapping{
				copies("route", "http.route"), copies("verb", "http.method"), moves("code", "http.status_code"),
				resource("rate", "SampleRate"),
			},
			kvs{text("route", "/r"), text("verb", "GET"), otlptest.Int("code", 503)},
			map[string]string{"route": "/r", "http.route": "/r", "verb": "GET", "http.method": "GET", "http.status_code": "503", "SampleRate": "4"},
			row{"HttpRoute": "/r", "HttpMethod": "GET", "HttpStatusCode": uint16(503), "HasError": true, "SampleRate": 4.0},
		},
		"away from columns": {
			[]otlp.Mapping{moves("http.route", "route"), moves("http.status_code", "code"), moves("SampleRate", "rate")},
			kvs{text("http.route", "/r"), otlptest.Int("http.status_code", 503), otlptest.Int("SampleRate", 9), text("url.path", "/p")},
			map[string]string{"route": "/r", "code": "503", "rate": "9", "url.path": "/p"},
			row{"HttpRoute": "/p", "HttpStatusCode": uint16(0), "HasError": false, "SampleRate": 1.0},
		},
		"from one column to another": {
			[]otlp.Mapping{moves("http.response.status_code", "http.status_code")},
			kvs{otlptest.Int("http.response.status_code", 404)},
			map[string]string{"http.status_code": "404"},
			row{"HttpStatusCode": uint16(404)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stamp()
			s.Mappings, s.Attributes = c.mappings, []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}}
			own := kvs{text("host.name", "h1"), text("rate", "4")}
			in := export(own, oneSpan(c.span...), oneSpan(), oneSpan(c.span...))
			_, rows := walkTraces(t, s, in)
			for _, i := range []int{0, 2} {
				got := rows["spans"][i]
				if diff := cmp.Diff(c.want, got["SpanAttributes"]); diff != "" {
					t.Errorf("span %d: -want +got:\n%s", i, diff)
				}
				for column, want := range c.columns {
					if got[column] != want {
						t.Errorf("span %d: %s is %v, want %v", i, column, got[column], want)
					}
				}
				if diff := cmp.Diff("h1", got["ResourceAttributes"].(map[string]string)["host.name"]); diff != "" {
					t.Errorf("the resource changed: %s", diff)
				}
			}
			// Keys are listed in their stored form.
			used := map[string]uint64{}
			for _, r := range rows["spans"] {
				for k := range r["SpanAttributes"].(map[string]string) {
					used[k]++
				}
			}
			listed := map[string]uint64{}
			for _, r := range rows["attribute_keys"] {
				if r["Scope"] == "span" {
					listed[r["Key"].(string)] += r["UsageCount"].(uint64)
				}
			}
			if diff := cmp.Diff(used, listed); diff != "" {
				t.Errorf("attribute_keys: -used +listed:\n%s", diff)
			}
			compareWith(t, otlp.Traces, marshal(t, in), s, &blocks.Set{})
			asJSON, err := otlp.FromJSON(otlp.Traces, hexIDs(t, in))
			if err != nil {
				t.Fatal(err)
			}
			var one, other blocks.Set
			for set, b := range map[*blocks.Set][]byte{&one: marshal(t, in), &other: asJSON} {
				if _, err := otlp.Walk(otlp.Traces, b, s, set); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(nativeBytes(t, &one), nativeBytes(t, &other)); diff != "" {
				t.Errorf("JSON gives other rows: %s", diff)
			}
		})
	}
}

func nativeBytes(tb testing.TB, set *blocks.Set) map[string]string {
	tb.Helper()
	all := map[string]string{}
	for t := range set.Tables() {
		var b bytes.Buffer
		if _, err := t.WriteTo(&b); err != nil {
			tb.Fatal(err)
		}
		all[t.Name] = b.String()
	}
	return all
}

// TestMappingsOfFullSpans: a span with the maximum number of attributes gets no more, and the response has a warning.
func TestMappingsOfFullSpans(t *testing.T) {
	full := kvs{}
	for i := range 1024 {
		full = append(full, otlptest.Int(fmt.Sprintf("k%d", i), int64(i)))
	}
	s := stamp()
	s.Mappings = []otlp.Mapping{{Source: "k1", Target: "new", Move: true}}
	in := export(nil, oneSpan(full...), oneSpan(full[:1023]...))
	result, rows := walkTraces(t, s, in)
	if len(result.Warnings) != 1 || !strings.Contains(result.Message(), "spans[0].attributes: there are more than 1024 attributes") {
		t.Errorf("warnings: %q", result.Message())
	}
	for i, moved := range []bool{false, true} {
		m := rows["spans"][i]["SpanAttributes"].(map[string]string)
		if _, has := m["new"]; has != moved || (m["k1"] == "1") == moved || len(m) != 1024-i {
			t.Errorf("span %d: moved is %v, %d attributes", i, has, len(m))
		}
	}
	compareWith(t, otlp.Traces, marshal(t, in), s, &blocks.Set{})
}

// TestMappingsAreBounded: a long resource value that is copied to many small spans counts as memory.
func TestMappingsAreBounded(t *testing.T) {
	spans := make([]*tracepb.Span, 400)
	for i := range spans {
		spans[i] = oneSpan()
	}
	in := export(kvs{otlptest.Text("long", strings.Repeat("x", 60<<10))}, spans...)
	s := stamp()
	s.MaxBytes = 60 << 20 // room for the resource on each span
	if _, err := otlp.Walk(otlp.Traces, marshal(t, in), s, &blocks.Set{}); err != nil {
		t.Fatal(err)
	}
	s.Mappings = []otlp.Mapping{{Context: otlp.ResourceContext, Source: "long", Target: "a"}, {Source: "a", Target: "b"}}
	if _, err := otlp.Walk(otlp.Traces, marshal(t, in), s, &blocks.Set{}); err != otlp.ErrTooLarge { //nolint:errorlint // Walk promises the bare value.
		t.Errorf("%v", err)
	}
}

// TestAttributesAfterEvents: a span with the maximum number of attributes continues with an attribute after its events. The keys
// of events have their own numbers.
func TestAttributesAfterEvents(t *testing.T) {
	full := kvs{}
	for i := range 1024 {
		full = append(full, otlptest.Int("k", int64(i)))
	}
	span, event, more := oneSpan(full...), kvs{}, &tracepb.Span{Attributes: kvs{otlptest.Text("http.route", "/r")}}
	for i := range 20 {
		event = append(event, otlptest.Int(fmt.Sprintf("e%d", i), 1))
	}
	span.Events = []*tracepb.Span_Event{{Attributes: event}}
	wire := nested(append(marshal(t, span), marshal(t, more)...), 1, 2, 2)
	compare(t, otlp.Traces, wire, &blocks.Set{})
}
