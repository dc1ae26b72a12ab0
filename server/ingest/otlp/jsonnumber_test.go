package otlp_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	collogspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// wholeNumbers are spellings of numbers, with and without a fraction, inside and outside the range of every kind.
func wholeNumbers() []string {
	all := []string{
		"1.7952393840827085e+18", "1763700000000000000.0", "1.7637e+18", "1.7952393840827085123e18", "5.0", "5.10", "0.5e1", "50e-1", "55e-1",
		"1.0e0",
		"0", "-0", "0.0", "-0.0e5", "0e99999999999", "1e0", "1E3", "1e+3", "1e-0", "1.5", "1.5e1", "1.05e1", "0.01e2", "00", "1.", ".5", "1e",
		"e1", "-", "",
		"18446744073709551615", "18446744073709551616", "1.8446744073709551615e19", "1.8446744073709551616e19", "184467440737095516150e-1",
		"1e19", "1e20", "1e400",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9.223372036854775807e18",
		"-9.223372036854775808E+18",
		"2147483647", "2147483648", "-2147483648.0", "-2147483649", "4294967295.0", "4.294967295e9", "4.294967296e9", "-1", "-1e0",
		"1e-99999999999", "1e99999999999",
	}
	r := rand.New(rand.NewPCG(3, 3))
	for range 400 {
		digits := fmt.Sprint(r.Uint64() >> r.IntN(64))
		at := 1 + r.IntN(len(digits))
		all = append(all, fmt.Sprintf("%s%s.%s0e%d", []string{"", "-"}[r.IntN(2)], digits[:at], digits[at:], r.IntN(24)-3))
	}
	return all
}

// TestJSONIntegersEqualProtojson: FromJSON accepts and refuses the same integers as protojson, with one exception: it never
// refuses a whole number in range.
func TestJSONIntegersEqualProtojson(t *testing.T) {
	kinds := []struct {
		signal otlp.Signal
		fields string
	}{
		{otlp.Traces, `"startTimeUnixNano":%s`},                                                      // fixed64
		{otlp.Traces, `"flags":%s`},                                                                  // fixed32
		{otlp.Traces, `"droppedAttributesCount":%s`},                                                 // uint32
		{otlp.Traces, `"attributes":[{"key":"a","value":{"intValue":%s}}]`},                          // int64
		{otlp.Traces, `"kind":%s`},                                                                   // enum
		{otlp.Metrics, `"gauge":{"dataPoints":[{"asInt":%s}]}`},                                      // sfixed64
		{otlp.Metrics, `"exponentialHistogram":{"dataPoints":[{"scale":%s}]}`},                       // sint32
		{otlp.Metrics, `"exponentialHistogram":{"dataPoints":[{"positive":{"bucketCounts":[%s]}}]}`}, // uint64
	}
	taken := 0
	for _, k := range kinds {
		outer := `{"resourceSpans":[{"scopeSpans":[{"spans":[{%s}]}]}]}`
		if k.signal == otlp.Metrics {
			outer = `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{%s}]}]}]}`
		}
		for _, number := range wholeNumbers() {
			for _, text := range []string{number, `"` + number + `"`} {
				if text == "" || strings.Contains(k.fields, "kind") && text != number {
					continue // OTLP JSON has no enums in quotes.
				}
				in := fmt.Sprintf(outer, fmt.Sprintf(k.fields, text))
				want := newRequest(k.signal)
				refused := protojson.Unmarshal([]byte(in), want)
				wire, err := otlp.FromJSON(k.signal, []byte(in))
				if refused == nil && err != nil && json.Valid([]byte(in)) {
					t.Errorf("%s: refused: %v", in, err)
					continue
				}
				if err != nil {
					continue
				}
				taken++
				if v, ok := new(big.Rat).SetString(number); len(number) < 40 && !strings.Contains(number, "e9999") && (!ok || !v.IsInt()) {
					t.Errorf("%s: taken, and it is no whole number", in)
				}
				got := newRequest(k.signal)
				if err := proto.Unmarshal(wire, got); err != nil {
					t.Fatal(err)
				}
				if refused == nil && !proto.Equal(got, want) {
					t.Errorf("%s: got %v, want %v", in, got, want)
				}
			}
		}
	}
	if taken < 1000 {
		t.Errorf("only %d numbers were taken", taken)
	}
}

func TestJSONIntegersAreExact(t *testing.T) {
	for in, want := range map[string]uint64{
		`1.7952393840827085e+18`: 1795239384082708500, `"1.7637e+18"`: 1763700000000000000, `1763700000000000001.0`: 1763700000000000001,
		`0.018446744073709551615e21`: 18446744073709551615,
	} {
		wire, err := otlp.FromJSON(otlp.Traces, []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":`+in+`}]}]}]}`))
		got := &coltracepb.ExportTraceServiceRequest{}
		if err != nil || proto.Unmarshal(wire, got) != nil || got.ResourceSpans[0].ScopeSpans[0].Spans[0].StartTimeUnixNano != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for in, want := range map[string]int64{`-9.223372036854775808e18`: -1 << 63, `"-50e-1"`: -5} {
		wire, err := otlp.FromJSON(otlp.Logs, []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"intValue":`+in+`}}]}]}]}`))
		got := &collogspb.ExportLogsServiceRequest{}
		if err != nil || proto.Unmarshal(wire, got) != nil || got.ResourceLogs[0].ScopeLogs[0].LogRecords[0].Body.GetIntValue() != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
}
