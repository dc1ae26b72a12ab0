package logpush_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAttributes checks the attribute of a single field.
func TestAttributes(t *testing.T) {
	for fields, want := range map[string]map[string]string{
		`"EdgeColoCode":"FRA"`:                                  {"cloudflare.edge_colo_code": "FRA"},
		`"JA3Hash":"x","JA4":"y"`:                               {"cloudflare.ja3_hash": "x", "cloudflare.ja4": "y"},
		`"OriginTLSHandshakeDurationMs":7`:                      {"cloudflare.origin_tls_handshake_duration_ms": "7"},
		`"BotDetectionIDs":[1,2]`:                               {"cloudflare.bot_detection_ids": "[1,2]"},
		`"ClientTCPRTTMs":12`:                                   {"cloudflare.client_tcp_rtt_ms": "12"},
		`"EdgeCFConnectingO2O":true`:                            {"cloudflare.edge_cf_connecting_o2o": "true"},
		`"somethingNew":"x"`:                                    {"cloudflare.something_new": "x"},
		`"a.b-c d":1.5`:                                         {"cloudflare.a.b-c d": "1.5"},
		`"Big":9223372036854775807`:                             {"cloudflare.big": "9223372036854775807"},
		`"Bigger":9223372036854775808`:                          {"cloudflare.bigger": "9223372036854775808"},
		`"Huge":1e999`:                                          {"cloudflare.huge": "1e999"},
		`"Null":null,"Empty":"","None":[ ],"Void":{}`:           {},
		`"Deep":{"a":[1,null,{"b":"\u00e9"}]}`:                  {"cloudflare.deep": `{"a":[1,null,{"b":"é"}]}`},
		"\"Bytes\":\"a\xffb\"":                                  {"cloudflare.bytes": "a\uFFFDb"},
		`"Half":"\ud800x"`:                                      {"cloudflare.half": "\uFFFDx"},
		`"\u0052ay":"x"`:                                        {"cloudflare.ray": "x"},
		`"ClientRequestMethod":"GET"`:                           {"http.request.method": "GET"},
		`"ClientRequestMethod":"get"`:                           {"http.request.method": "_OTHER", "http.request.method_original": "get"},
		`"ClientRequestHost":"a.example"`:                       {"server.address": "a.example"},
		`"ClientRequestHost":"a.example:8443"`:                  {"server.address": "a.example", "server.port": "8443"},
		`"ClientRequestHost":"[2001:db8::1]:443"`:               {"server.address": "2001:db8::1", "server.port": "443"},
		`"ClientRequestHost":"[2001:db8::1]"`:                   {"server.address": "2001:db8::1"},
		`"ClientRequestHost":"2001:db8::1"`:                     {"server.address": "2001:db8::1"},
		`"ClientRequestHost":"a.example:x"`:                     {"server.address": "a.example:x"},
		`"ClientRequestURI":"/a?b=c?d"`:                         {"url.path": "/a", "url.query": "b=c?d"},
		`"ClientRequestURI":"/a?u=http://x/y"`:                  {"url.path": "/a", "url.query": "u=http://x/y"},
		`"ClientRequestURI":"http://x.example/y?z"`:             {"url.path": "/y", "url.query": "z"},
		`"ClientRequestURI":"http://x.example"`:                 {"url.path": "/"},
		`"ClientRequestURI":"*"`:                                {"url.path": "*"},
		`"ClientRequestPath":"/p","ClientRequestURI":"/q?r"`:    {"url.path": "/p", "url.query": "r"},
		`"ClientRequestProtocol":"HTTP/1.1"`:                    {"network.protocol.name": "http", "network.protocol.version": "1.1"},
		`"ClientRequestProtocol":"SPDY"`:                        {"network.protocol.name": "spdy"},
		`"ClientSSLProtocol":"TLSv1.2"`:                         {"tls.protocol.name": "tls", "tls.protocol.version": "1.2"},
		`"ClientSSLProtocol":"none"`:                            {"cloudflare.client_ssl_protocol": "none"},
		`"ClientRequestReferer":"https://a/"`:                   {"http.request.header.referer": `["https://a/"]`},
		`"RequestHeaders":{"X-A":"1","x-b":["2","3"],"x-c":""}`: {"http.request.header.x-a": `["1"]`, "http.request.header.x-b": `["2","3"]`},
		`"ResponseHeaders":{"Server":"x"}`:                      {"http.response.header.server": `["x"]`},
		`"RequestHeaders":"x"`:                                  {"cloudflare.request_headers": "x"},
		`"EdgeResponseStatus":"404"`:                            {"http.response.status_code": "404"},
		`"ClientIP":"192.0.2.1","ClientSrcPort":1`:              {"client.address": "192.0.2.1", "client.port": "1"},
	} {
		got := one(t, `{"RayID":"1","EdgeStartTimestamp":1773143999,`+fields+`}`)["LogAttributes"].(map[string]string)
		got = maps.Clone(got)
		delete(got, "cloudflare.ray_id")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", fields, d)
		}
	}
}

func TestBody(t *testing.T) {
	for fields, want := range map[string]string{
		`"ClientRequestMethod":"GET","ClientRequestHost":"a.example","ClientRequestURI":"/b?c","EdgeResponseStatus":200`: "GET a.example/b 200",
		`"ClientRequestMethod":"get","ClientRequestURI":"/b"`:                                                            "get /b",
		`"EdgeResponseStatus":404`: "404",
		`"ClientIP":"192.0.2.1"`:   "",
	} {
		if got := one(t, `{"RayID":"1",`+fields+`}`)["Body"]; got != want {
			t.Errorf("%s: %q, want %q", fields, got, want)
		}
	}
}

func TestTraceparent(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for value, want := range map[string][2]string{
		"00-" + trace + "-" + span + "-01":                                      {trace, span},
		"01-" + trace + "-" + span + "-01-more":                                 {trace, span},
		"ff-" + trace + "-" + span + "-01":                                      {},
		"00-" + trace + "-" + span:                                              {},
		"00-" + trace[1:] + "-" + span + "-01":                                  {},
		"00-" + strings.Repeat("z", 32) + "-" + span + "-01":                    {},
		"00-" + trace + "-" + strings.Repeat("z", 16) + "-01":                   {},
		"00-" + strings.Repeat("0", 32) + "-" + strings.Repeat("0", 16) + "-01": {},
		"": {},
	} {
		got := one(t, `{"RayID":"1","RequestHeaders":{"TraceParent":"`+value+`"}}`)
		if d := cmp.Diff(want, [2]string{got["TraceId"].(string), got["SpanId"].(string)}); d != "" {
			t.Errorf("%q (-want +got):\n%s", value, d)
		}
	}
}

// TestManyFields checks that a line grows to no more than a few times its size, and loses only attributes that no log record may
// have.
func TestManyFields(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"RayID":"1"`)
	for i := range 100_000 {
		b.WriteString(`,"` + string(rune('a'+i%26)) + strings.Repeat("x", i%7) + `":1`)
	}
	b.WriteString(`,"n":[` + strings.Repeat("0,", 200_000) + `0]}`)
	m, result, err := convert(t, b.String())
	if err != nil || result.Accepted != 1 {
		t.Fatalf("%+v %v", result, err)
	}
	if n := len(records(m)[0].Attributes); n > 2100 {
		t.Errorf("%d attributes", n)
	}
}
