package wirejson_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/wirejson"
)

func TestMarshal(t *testing.T) {
	at := time.Date(2026, 1, 31, 9, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		in   proto.Message
		want string
	}{
		{
			"explicit nulls, and txid left out", &svcv2.ApiKeyMutationResponse{Id: "key_1", Object: "api_key", CreatedAt: timestamppb.New(at)},
			`{"id":"key_1","object":"api_key","name":"","description":null,"key_prefix":"","kind":"","scopes":null,"revoked":false,` +
				`"revoked_at":null,"last_used_at":null,"expires_at":null,"created_at":"2026-01-31T09:30:00Z","created_by":"","created_by_email":null}`,
		},
		{
			"set ones", &svcv2.ApiKeyMutationResponse{Description: proto.String(""), Scopes: []string{"a:read"}, Txid: proto.String("7")},
			`{"id":"","object":"","name":"","description":"","key_prefix":"","kind":"","scopes":["a:read"],"revoked":false,` +
				`"revoked_at":null,"last_used_at":null,"expires_at":null,"created_at":null,"created_by":"","created_by_email":null,"txid":"7"}`,
		},
		{
			"empty list", &svcv2.ListApiKeysResponse{Object: "list"},
			`{"object":"list","data":[],"has_more":false,"next_cursor":null}`,
		},
		{
			"maps are sorted, text is escaped", &svcv2.SpanEvent{
				Name:       "a\"\\\n\r\t\x01<é\u2028",
				Attributes: map[string]string{"b": "2", "a": "1", "": "0"},
			},
			`{"timestamp":null,"name":"a\"\\\n\r\t\u0001<é` + "\u2028" + `","attributes":{"":"0","a":"1","b":"2"}}`,
		},
		{
			"value: number", &svcv2.AttributeFilter{Key: "k", Value: structpb.NewNumberValue(1.5)},
			`{"key":"k","operator":"","value":1.5,"negated":null}`,
		},
		{
			"value: nested", &svcv2.AttributeFilter{Value: value(t, map[string]any{"b": []any{nil, true, "x"}, "a": map[string]any{}})},
			`{"key":"","operator":"","value":{"a":{},"b":[null,true,"x"]},"negated":null}`,
		},
		{"value: empty", &svcv2.AttributeFilter{Value: &structpb.Value{}}, `{"key":"","operator":"","value":null,"negated":null}`},
		{
			"64-bit integers are numbers", everythingOf(t, `int64_field: -9223372036854775808 uint64_field: 18446744073709551615 uint32_field: 4294967295
				float_field: 0.1 double_field: 1e21 bytes_field: "\x00\xff" color: RED right: 0 counts { key: 10 value: 1 } counts { key: 9 value: 2 }`),
			`{"int64_field":-9223372036854775808,"uint64_field":18446744073709551615,"uint32_field":4294967295,"float_field":0.1,"double_field":1e+21,` +
				`"bytes_field":"AP8=","color":"RED","right":0,"counts":{"10":1,"9":2},"child":null,"children":[],"duration":null}`,
		},
		{
			"negative zero is zero", everythingOf(t, `double_field: -0.0 left: ""`),
			`{"int64_field":0,"uint64_field":0,"uint32_field":0,"float_field":0,"double_field":0,"bytes_field":"","color":"NONE","left":"","counts":{},"child":null,"children":[],"duration":null}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := wirejson.Marshal(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if !json.Valid(got) {
				t.Error("this is not JSON")
			}
		})
	}
}

func value(t *testing.T, v any) *structpb.Value {
	t.Helper()
	out, err := structpb.NewValue(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMarshalTimestamp(t *testing.T) {
	for nanos, want := range map[int32]string{
		0: "2026-01-31T09:30:00Z", 500_000_000: "2026-01-31T09:30:00.500Z", 1_000: "2026-01-31T09:30:00.000001Z",
		1: "2026-01-31T09:30:00.000000001Z",
	} {
		at := timestamppb.New(time.Date(2026, 1, 31, 9, 30, 0, int(nanos), time.UTC))
		got, err := wirejson.Marshal(at)
		if err != nil || string(got) != `"`+want+`"` {
			t.Errorf("%d ns: %s, %v; want %s", nanos, got, err, want)
		}
	}
}

func TestMarshalRefuses(t *testing.T) {
	for _, c := range []struct {
		name, path string
		in         proto.Message
	}{
		{"infinity", "duration_ms", &svcv2.Span{DurationMs: math.Inf(1)}},
		{"not a number, deep", "data[1].p50_latency_ms", &svcv2.ListServicesResponse{Data: []*svcv2.Service{{}, {P50LatencyMs: math.NaN()}}}},
		{"invalid UTF-8", `attributes["k"]`, &svcv2.SpanEvent{Attributes: map[string]string{"k": "\xff"}}},
		{"time out of range", "created_at", &svcv2.ApiKey{CreatedAt: &timestamppb.Timestamp{Seconds: 1 << 40}}},
		{"bad nanos", "created_at", &svcv2.ApiKey{CreatedAt: &timestamppb.Timestamp{Nanos: -1}}},
		{"unknown enum value", "color", everythingOf(t, `color: 7`)},
		{"a type without a form", "child.duration.google.protobuf.Duration", everythingOf(t, `child { duration { seconds: 1 } }`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := wirejson.Marshal(c.in)
			var e *wirejson.EncodeError
			if !errors.As(err, &e) {
				t.Fatalf("got %s, %v; want an EncodeError", got, err)
			}
			if e.Path != c.path {
				t.Errorf("path %q, want %q", e.Path, c.path)
			}
		})
	}
}

func TestMarshalIsDeterministic(t *testing.T) {
	m := &svcv2.Span{Attributes: map[string]string{}}
	for i := range 50 {
		m.Attributes[string(rune('a'+i))] = "x"
	}
	first, err := wirejson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := wirejson.Marshal(m)
		if err != nil || string(again) != string(first) {
			t.Fatalf("the same message was written in two ways: %v", err)
		}
	}
}

func BenchmarkMarshalTrace(b *testing.B) {
	trace := &svcv2.Trace{Id: "0af7651916cd43dd8448eb211c80319c", Object: "trace"}
	for range 100 {
		trace.Spans = append(trace.Spans, &svcv2.Span{
			Id: "b7ad6b7169203331", Object: "span", Name: "GET /users", StartTime: timestamppb.Now(), DurationMs: 12.5,
			Attributes: map[string]string{"http.route": "/users/{id}", "http.request.method": "GET", "server.address": "example.org"},
		})
	}
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		var err error
		if out, err = wirejson.Append(out[:0], trace); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(out)))
}
