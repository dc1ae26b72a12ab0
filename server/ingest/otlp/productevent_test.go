package otlp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/otlp/otlptest"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

func TestProductEvents(t *testing.T) {
	text := otlptest.Text
	event := func(field, value string) kv { return text("svc.product_event."+field, value) }
	long := strings.Repeat("é", 1200)
	at := benchTime().UnixNano() - 5e6
	for name, c := range map[string]struct {
		span    kvs
		want    row // nil if no event is expected
		warning string
	}{
		"not named": {kvs{event("user_id", "u1"), event("prop.plan", "pro")}, nil, ""},
		"named":     {kvs{event("name", "order placed")}, row{"Name": "order placed"}, ""},
		"everything": {
			kvs{
				event("name", "order"), event("user_id", "u1"), event("group_id", "g1"), event("visitor_id", "v1"), text("session.id", "s2"),
				event("url", "https://Shop.Example.com:8443/cart/%2F?id=7#top"), event("prop.plan", "pro"),
				otlptest.Int("svc.product_event.prop.items", 3),
				event("include", "http.route, missing ,tags"), text("http.route", "/cart"), otlptest.Texts("tags", "a"), text("secret", "x"),
			},
			row{
				"Name": "order", "UserId": "u1", "GroupId": "g1", "VisitorId": "v1", "SessionId": "s2", "Host": "shop.example.com",
				"Url": "https://Shop.Example.com:8443/cart/%2F?id=7#top", "PagePath": "/cart/%2F",
				"Attributes": map[string]string{"plan": "pro", "items": "3", "http.route": "/cart", "tags": `["a"]`},
			},
			"",
		},
		"a property wins over an included key": {
			kvs{event("name", "e"), event("prop.a", "property"), event("include", "a"), text("a", "span")},
			row{"Name": "e", "Attributes": map[string]string{"a": "property"}},
			"",
		},
		"a screen":        {kvs{event("name", "$screen")}, row{"Name": "$screen", "Kind": "screen"}, ""},
		"a reserved name": {kvs{event("name", "$pageview")}, nil, "must not begin with $"},
		"an empty name":   {kvs{event("name", "")}, nil, "must be 1 to 128 bytes long"},
		"a long name":     {kvs{event("name", strings.Repeat("n", 129))}, nil, "must be 1 to 128 bytes long"},
		"the longest":     {kvs{event("name", strings.Repeat("n", 128))}, row{"Name": strings.Repeat("n", 128)}, ""},
		"a name twice":    {kvs{event("name", "$first"), event("name", "last")}, row{"Name": "last"}, ""},
		"a number":        {kvs{otlptest.Int("svc.product_event.name", 42)}, row{"Name": "42"}, ""},
		"long texts": {
			kvs{event("name", "e"), event("user_id", long), event("prop.a", long)},
			row{"Name": "e", "UserId": long[:256], "Attributes": map[string]string{"a": long[:1020] + "…"}},
			"too long or more than 32",
		},
		"a long key": {
			kvs{event("name", "e"), event("prop."+strings.Repeat("k", 65), "1"), event("prop."+strings.Repeat("k", 64), "2"), event("prop.", "3")},
			row{"Name": "e", "Attributes": map[string]string{strings.Repeat("k", 64): "2", "svc_dropped_attributes_count": "2"}},
			"too long or more than 32",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stamp()
			own := kvs{text("service.name", "shop"), text("session.id", "s1"), text("svc_org_id", "forged")}
			span := oneSpan(c.span...)
			result, rows := walkTraces(t, s, export(own, span, oneSpan()))
			if result.Accepted != 2 || len(rows["spans"]) != 2 || !strings.Contains(result.Message(), c.warning) ||
				(c.warning == "") != (len(result.Warnings) == 0) {
				t.Errorf("%+v, want %q", result, c.warning)
			}
			if c.warning != "" && !strings.HasPrefix(result.Message(),
				"resource_spans[0].scope_spans[0].spans[0].attributes.svc.product_event.name: ") {
				t.Errorf("message: %q", result.Message())
			}
			var want []row
			if c.want != nil {
				full := row{
					"OrgId": "org_bench", "Timestamp": at, "Kind": "custom", "Source": "span", "VisitorId": "", "UserId": "", "GroupId": "",
					"SessionId": "s1", "ServiceName": "shop", "Url": "", "Host": "", "PagePath": "", "Attributes": map[string]string{},
					"ResourceAttributes": rows["spans"][0]["ResourceAttributes"],
				}
				for k, v := range c.want {
					full[k] = v
				}
				want = append(want, full)
			}
			if diff := cmp.Diff(want, rows["product_events"]); diff != "" || result.ProductEvents != len(want) {
				t.Errorf("%d events, -want +got:\n%s", result.ProductEvents, diff)
			}
			// The span keeps its own attributes.
			if got := rows["spans"][0]["SpanAttributes"].(map[string]string); len(c.span) > 0 && got[c.span[0].Key] == "" &&
				name != "an empty name" {
				t.Errorf("the span has lost %s", c.span[0].Key)
			}
			compareWith(t, otlp.Traces, marshal(t, export(own, span, oneSpan())), s, &blocks.Set{})
		})
	}
}

// TestProductEventsOfPolicies: an event is created from the span as sent, regardless of what sampling and mappings do to the
// span.
func TestProductEventsOfPolicies(t *testing.T) {
	s := stamp()
	s.Sampling = otlp.Sampling{Ratio: 0.1}
	s.Mappings = []otlp.Mapping{
		{Source: "svc.product_event.name", Target: "event", Move: true},
		{Source: "other", Target: "svc.product_event.name"},
	}
	named, other := oneSpan(otlptest.Text("svc.product_event.name", "order")), oneSpan(otlptest.Text("other", "x"))
	named.TraceId, other.TraceId = traceWith(0.9, false), traceWith(0.1, true)
	result, rows := walkTraces(t, s, export(nil, named, other))
	if diff := cmp.Diff(otlp.Result{Accepted: 1, Sampled: 1, ProductEvents: 1}, result); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(rows["spans"]) != 1 || len(rows["product_events"]) != 1 || rows["product_events"][0]["Name"] != "order" {
		t.Errorf("%v", rows)
	}
	// A problem with the event is reported even if its span is dropped.
	named.Attributes[0] = otlptest.Text("svc.product_event.name", "$order")
	if result, _ = walkTraces(t, s, export(nil, named)); result.Sampled != 1 || !strings.Contains(result.Message(), "reserved") {
		t.Errorf("%+v", result)
	}
	// A rejected span creates no event.
	rejected := oneSpan(otlptest.Text("svc.product_event.name", "order"))
	rejected.SpanId = nil
	if result, rows = walkTraces(t, s, export(nil, rejected)); result.Rejected != 1 || result.ProductEvents != 0 || len(rows) != 0 {
		t.Errorf("%+v, %v", result, rows)
	}
	// A key that may not send events creates none from spans, and the result says so.
	s = stamp()
	s.NoProductEvents = true
	result, rows = walkTraces(t, s, export(nil, oneSpan(otlptest.Text("svc.product_event.name", "order")), oneSpan()))
	if result.Accepted != 2 || result.ProductEvents != 0 || len(rows["product_events"]) != 0 ||
		!strings.Contains(result.Message(), "this ingest key may not send events") {
		t.Errorf("%+v, %v", result, rows)
	}
}

// TestProductEventsAreBounded: the resource is written with each event and counts each time.
func TestProductEventsAreBounded(t *testing.T) {
	named := oneSpan(otlptest.Text("svc.product_event.name", "order"))
	own := kvs{otlptest.Text("long", strings.Repeat("x", 60<<10))}
	in := export(own)
	for range 300 {
		in.ResourceSpans[0].ScopeSpans[0].Spans = append(in.ResourceSpans[0].ScopeSpans[0].Spans, named)
	}
	s := stamp()
	s.MaxBytes, s.NoProductEvents = 40<<20, true
	if _, err := otlp.Walk(otlp.Traces, marshal(t, in), s, &blocks.Set{}); err != nil {
		t.Fatal(err)
	}
	s.NoProductEvents = false
	set := &blocks.Set{}
	_, err := otlp.Walk(otlp.Traces, marshal(t, in), s, set)
	if err != otlp.ErrTooLarge || set.Rows() > 0 { //nolint:errorlint // Walk promises the bare value.
		t.Errorf("%v, %d rows", err, set.Rows())
	}
}
