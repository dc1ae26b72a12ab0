package otlp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	collogspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

func newRequest(signal otlp.Signal) proto.Message {
	switch signal {
	case otlp.Traces:
		return &coltracepb.ExportTraceServiceRequest{}
	case otlp.Logs:
		return &collogspb.ExportLogsServiceRequest{}
	default:
		return &colmetricspb.ExportMetricsServiceRequest{}
	}
}

func idsToHex(s string) (string, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	return hex.EncodeToString(b), err
}

func idsToBase64(s string) (string, error) {
	b, err := hex.DecodeString(s)
	return base64.StdEncoding.EncodeToString(b), err
}

// rewriteIDs rewrites the id fields of a JSON request. It drops names that OTLP JSON does not know but protojson does.
func rewriteIDs(text []byte, rewrite func(string) (string, error)) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var walk func(v any) error
	walk = func(v any) error {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				if err := walk(e); err != nil {
					return err
				}
			}
		case map[string]any:
			for k, e := range v {
				if strings.Contains(k, "_") {
					delete(v, k)
					continue
				}
				if s, ok := e.(string); ok && (k == "traceId" || k == "spanId" || k == "parentSpanId") {
					r, err := rewrite(s)
					if err != nil {
						return err
					}
					v[k] = r
				}
				if err := walk(e); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := walk(v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func TestFromJSONRoundTrip(t *testing.T) {
	for _, signal := range []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics} {
		want := request(t, signal, 24)
		wire, err := otlp.FromJSON(signal, hexIDs(t, want))
		if err != nil {
			t.Fatal(err)
		}
		got := newRequest(signal)
		if err := proto.Unmarshal(wire, got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, protocmp.Transform()); d != "" {
			t.Errorf("%s: %s", signal, d)
		}
	}
}

func TestFromJSON(t *testing.T) {
	span := func(fields string) string { return `{"resourceSpans":[{"scopeSpans":[{"spans":[{` + fields + `}]}]}]}` }
	cases := []struct {
		name, in string
		// want is the request in protojson with base64 ids. err is a part of the error.
		want, err string
	}{
		{"empty object", `{}`, `{}`, ""},
		{"upper-case hex", span(`"traceId":"0102030405060708090A0B0C0D0E0F10"`), span(`"traceId":"AQIDBAUGBwgJCgsMDQ4PEA=="`), ""},
		{"number in quotes", span(`"startTimeUnixNano":"5","endTimeUnixNano":6`), span(`"startTimeUnixNano":"5","endTimeUnixNano":"6"`), ""},
		{"null is absent", span(`"name":null,"attributes":null,"status":null`), span(``), ""},
		{"unknown ignored", span(`"color":{"a":[1,{"b":null}],"c":"\u00e9"},"name":"x"`), span(`"name":"x"`), ""},
		{"snake case ignored", span(`"trace_id":5,"name":"x"`), span(`"name":"x"`), ""},
		{"last wins", span(`"name":"a","kind":1,"attributes":[{"key":"k"}],"name":"b","attributes":[]`), span(`"name":"b","kind":1`), ""},
		{"last message wins", span(`"status":{"message":"m"},"status":{"code":2}`), span(`"status":{"code":2}`), ""},
		{"given twice, null last", span(`"name":"a","name":null`), span(``), ""},
		{"escapes", span(`"name":"\ud83d\ude00\n\/"`), span(`"name":"😀\n/"`), ""},
		{"whole double", span(`"kind":2.0,"flags":1e2`), span(`"kind":2,"flags":100`), ""},
		{"enum name", span(`"kind":"SPAN_KIND_SERVER"`), "", "resourceSpans[0].scopeSpans[0].spans[0].kind: must be the number"},
		{"bad hex", span(`"spanId":"xyz"`), "", "resourceSpans[0].scopeSpans[0].spans[0].spanId: must be hexadecimal"},
		{"odd hex", span(`"spanId":"abc"`), "", "spanId: must be hexadecimal"},
		{"text for object", span(`"status":"ok"`), "", "status: must be an object"},
		{"too big", span(`"flags":4294967296`), "", "flags: must be a whole number"},
		{"negative", span(`"startTimeUnixNano":-1`), "", "startTimeUnixNano: must be a whole number"},
		{"null in array", `{"resourceSpans":[null]}`, "", "resourceSpans[0]: null"},
		{"trailing text", `{} x`, "", "after the end"},
		{"lone surrogate", span(`"name":"\ud83d"`), "", "name: bad"},
		{"invalid UTF-8", span("\"name\":\"\xff\""), "", "UTF-8"},
		{"unfinished", `{"resourceSpans":[`, "", "resourceSpans[0]: must be an object"},
		{"leading zero", span(`"kind":01`), "", "expected a comma"},
		{"deep", span(`"x":` + strings.Repeat("[", 2000)), "", "nested more than"},
		{"empty body", ``, "", "must be an object"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			wire, err := otlp.FromJSON(otlp.Traces, []byte(c.in))
			if c.err != "" {
				var e *otlp.Error
				if !errors.As(err, &e) || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, want := newRequest(otlp.Traces), newRequest(otlp.Traces)
			if err := proto.Unmarshal(wire, got); err != nil {
				t.Fatal(err)
			}
			if err := protojson.Unmarshal([]byte(c.want), want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got, protocmp.Transform()); d != "" {
				t.Error(d)
			}
		})
	}
}

// FuzzFromJSON compares FromJSON with protojson: if both accept a body, they must read the same message.
func FuzzFromJSON(f *testing.F) {
	for _, signal := range []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics} {
		f.Add(uint8(signal), hexIDs(f, request(f, signal, 2)))
	}
	f.Add(uint8(0), []byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":{"bytesValue":"_-8"}}]},"resource":null}]}`))
	f.Add(uint8(2), []byte(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"gauge":{"dataPoints":[{"asDouble":"NaN","asInt":"-5"}]}}]}]}]}`))
	f.Fuzz(func(t *testing.T, s uint8, in []byte) {
		signal := otlp.Signal(s % 3)
		wire, err := otlp.FromJSON(signal, in)
		if err != nil {
			return
		}
		got, want := newRequest(signal), newRequest(signal)
		if err := proto.Unmarshal(wire, got); err != nil {
			t.Fatalf("wire is malformed: %v", err)
		}
		if !json.Valid(in) {
			t.Fatal("accepted what is not JSON")
		}
		canonical, err := rewriteIDs(in, idsToBase64)
		if err != nil {
			return // A field of that name inside an ignored field.
		}
		if (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(canonical, want) != nil {
			return
		}
		if d := cmp.Diff(want, got, protocmp.Transform(), cmpopts.EquateNaNs()); d != "" {
			t.Error(d)
		}
	})
}
