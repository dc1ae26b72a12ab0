package otlp_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/otlp/otlptest"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

// TestTraceHash pins the hash, because every node and every version must decide alike about a trace. The values come from
// ClickHouse, as xxHash64('org_1:000102030405060708090a0b0c0d0e0f').
func TestTraceHash(t *testing.T) {
	id := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	for org, want := range map[principal.OrgID]uint64{"": 6828606181333448554, "org_1": 1756130587424941110, "org_2Kv7": 9429145803461955289} {
		if got := otlp.TraceHash(org, id); got != want {
			t.Errorf("%q: %d, want %d", org, got, want)
		}
	}
}

// traceWith returns a trace id for the organization of stamp(). Its hash is below the given share, or not.
func traceWith(share float64, below bool) []byte {
	id := make([]byte, 16)
	for n := uint64(1); ; n++ {
		binary.BigEndian.PutUint64(id, n)
		if h := float64(otlp.TraceHash(stamp().Org, id)) / math.Ldexp(1, 64); h < share == below {
			return id
		}
	}
}

func TestSampling(t *testing.T) {
	const slow = 3e6 // oneSpan takes 5 ms
	failed := func(s *tracepb.Span) { s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR} }
	with := func(attributes ...kv) func(*tracepb.Span) {
		return func(s *tracepb.Span) { s.Attributes = append(s.Attributes, attributes...) }
	}
	tenth := otlp.Sampling{Ratio: 0.1, KeepErrors: true, KeepSlowNano: slow * 2}
	type outcome struct {
		Kept   bool
		Weight float64
		// Attribute is SampleRate as stored. It is empty if the span has no such attribute.
		Attribute string
	}
	dropped := outcome{}
	for name, c := range map[string]struct {
		policy      otlp.Sampling
		change      func(*tracepb.Span)
		pass, other outcome // the outcomes of a span whose trace passes the ratio, and of a span whose trace does not
	}{
		"no policy":           {otlp.Sampling{}, nil, outcome{true, 1, ""}, outcome{true, 1, ""}},
		"all":                 {otlp.Sampling{Ratio: 1}, nil, outcome{true, 1, ""}, outcome{true, 1, ""}},
		"not a share":         {otlp.Sampling{Ratio: math.NaN()}, nil, outcome{true, 1, ""}, outcome{true, 1, ""}},
		"more than all":       {otlp.Sampling{Ratio: 7}, nil, outcome{true, 1, ""}, outcome{true, 1, ""}},
		"below none":          {otlp.Sampling{Ratio: -1}, nil, outcome{true, 1, ""}, outcome{true, 1, ""}},
		"a tenth":             {tenth, nil, outcome{true, 10, "10"}, dropped},
		"a third":             {otlp.Sampling{Ratio: 0.3}, nil, outcome{true, 1 / 0.3, "3.333333"}, dropped},
		"failed":              {tenth, failed, outcome{true, 1, ""}, outcome{true, 1, ""}},
		"failed by HTTP":      {tenth, with(otlptest.Int("http.response.status_code", 500)), outcome{true, 1, ""}, outcome{true, 1, ""}},
		"not quite failed":    {tenth, with(otlptest.Int("http.response.status_code", 499)), outcome{true, 10, "10"}, dropped},
		"failures are common": {otlp.Sampling{Ratio: 0.1}, failed, outcome{true, 10, "10"}, dropped},
		"slow":                {otlp.Sampling{Ratio: 0.1, KeepSlowNano: 5e6}, nil, outcome{true, 1, ""}, outcome{true, 1, ""}},
		"not quite slow":      {otlp.Sampling{Ratio: 0.1, KeepSlowNano: 5e6 + 1}, nil, outcome{true, 10, "10"}, dropped},
		"without a duration": {
			otlp.Sampling{Ratio: 0.1, KeepSlowNano: 1},
			func(s *tracepb.Span) { s.EndTimeUnixNano = s.StartTimeUnixNano - 1 },
			outcome{true, 10, "10"},
			dropped,
		},
		"sampled before, by attribute": {tenth, with(otlptest.Int("SampleRate", 4)), outcome{true, 40, "4"}, dropped},
		"sampled before, unreadable":   {tenth, with(otlptest.Text("SampleRate", "often")), outcome{true, 10, "often"}, dropped},
		"sampled before, by threshold": {tenth, func(s *tracepb.Span) { s.TraceState = "ot=rv:1;th:8" }, outcome{true, 20, ""}, dropped},
		"another trace state":          {tenth, func(s *tracepb.Span) { s.TraceState = "vendor=th:8" }, outcome{true, 10, "10"}, dropped},
		"sampled before, and failed": {
			tenth, func(s *tracepb.Span) { failed(s); s.TraceState = "ot=th:8" },
			outcome{true, 2, ""},
			outcome{true, 2, ""},
		},
		"a great weight":   {tenth, with(otlptest.Int("SampleRate", 99_999_999)), outcome{true, 999_999_990, "99999999"}, dropped},
		"an absurd weight": {tenth, with(otlptest.Text("SampleRate", "1e308")), outcome{true, 1e9, "1e308"}, dropped},
		"nothing kept, by threshold": {
			tenth, func(s *tracepb.Span) { s.TraceState = "ot=th:ffffffffffffff" },
			outcome{true, 100_000, ""},
			dropped,
		},
		"a threshold of 16 digits": {
			tenth, func(s *tracepb.Span) { s.TraceState = "ot=th:8000000000000000" },
			outcome{true, 20, ""},
			dropped,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pass := range []bool{true, false} {
				s, span, want := stamp(), oneSpan(otlptest.Text("k", "v")), c.pass
				s.Sampling = c.policy
				span.TraceId = traceWith(0.1, true)
				if !pass {
					span.TraceId, want = traceWith(0.9, false), c.other
				}
				if c.change != nil {
					c.change(span)
				}
				result, rows := walkTraces(t, s, export(nil, span))
				got := outcome{Kept: len(rows["spans"]) == 1}
				if got.Kept {
					got.Weight = rows["spans"][0]["SampleRate"].(float64)
					got.Attribute = rows["spans"][0]["SpanAttributes"].(map[string]string)["SampleRate"]
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("passes: %v: -want +got:\n%s", pass, diff)
				}
				if (result.Accepted == 1) != got.Kept || (result.Sampled == 1) == got.Kept || result.Rejected != 0 {
					t.Errorf("passes: %v: %+v", pass, result)
				}
				compareWith(t, otlp.Traces, marshal(t, export(nil, span)), s, &blocks.Set{})
			}
		})
	}
}

// TestSamplingClamps: the lowest ratio is a millionth.
func TestSamplingClamps(t *testing.T) {
	s := stamp()
	s.Sampling = otlp.Sampling{Ratio: 1e-300}
	span := oneSpan()
	span.TraceId = []byte{5: 0x24, 6: 0x27, 7: 0x6f, 15: 0} // its hash is below a millionth
	_, rows := walkTraces(t, s, export(nil, span))
	if got := rows["spans"][0]["SampleRate"]; got != 1e6 {
		t.Errorf("weight %v", got)
	}
}

// TestDroppedSpansLeaveNothing: a request with dropped spans gives the same bytes and notes as one without them.
func TestDroppedSpansLeaveNothing(t *testing.T) {
	text := otlptest.Text
	s := stamp()
	s.Sampling = otlp.Sampling{Ratio: 0.1}
	s.Mappings = []otlp.Mapping{{Source: "only", Target: "mapped", Move: true}}
	stored, dropped := oneSpan(text("k", "v")), oneSpan(text("only", "here"), otlptest.Bytes("long", make([]byte, 40<<10)), text("k", "w"))
	stored.TraceId, dropped.TraceId = traceWith(0.1, true), traceWith(0.9, false)
	dropped.StartTimeUnixNano -= 3600e9
	dropped.EndTimeUnixNano = 5
	dropped.ParentSpanId = []byte("short")
	dropped.Name, dropped.TraceState = "other", "vendor=1"
	dropped.Events = []*tracepb.Span_Event{{Name: "e", Attributes: kvs{text("ek", "v")}}, {Name: "f"}}
	dropped.Links = []*tracepb.Span_Link{{TraceId: []byte("0123456789abcdef"), Attributes: kvs{text("lk", "v")}}}
	wantResult, want := walkTraces(t, s, export(nil, stored, stored))
	result, got := walkTraces(t, s, export(nil, dropped, stored, dropped, stored, dropped))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-without +with:\n%s", diff)
	}
	wantResult.Sampled = 3
	if diff := cmp.Diff(wantResult, result); diff != "" {
		t.Errorf("-without +with:\n%s", diff)
	}
	result, got = walkTraces(t, s, export(nil, dropped))
	if diff := cmp.Diff(otlp.Result{Sampled: 1}, result); diff != "" || len(got) > 0 {
		t.Errorf("all dropped: %s, %d tables", diff, len(got))
	}
	// A note stays in its place if a stored span causes it too.
	long := oneSpan(otlptest.Bytes("long", make([]byte, 40<<10)))
	long.TraceId = stored.TraceId
	result, _ = walkTraces(t, s, export(nil, dropped, long, dropped, long))
	if len(result.Warnings) != 1 || result.Warnings[0].Count != 2 ||
		result.Warnings[0].Path != "resource_spans[0].scope_spans[0].spans[1].attributes" {
		t.Errorf("warnings: %+v", result.Warnings)
	}
}

// TestMappingsAfterSampling: mappings see the weight attribute, and do not influence the sampling.
func TestMappingsAfterSampling(t *testing.T) {
	s := stamp()
	s.Sampling = otlp.Sampling{Ratio: 0.1, KeepErrors: true}
	s.Mappings = []otlp.Mapping{
		{Source: "SampleRate", Target: "weight"},
		{Source: "given", Target: "SampleRate"},
		{Source: "code", Target: "http.status_code", Move: true},
	}
	span := oneSpan(otlptest.Int("given", 3), otlptest.Int("code", 500))
	span.TraceId = traceWith(0.1, true)
	_, rows := walkTraces(t, s, export(nil, span))
	want := map[string]string{"SampleRate": "10", "weight": "10", "given": "3", "http.status_code": "500"}
	if diff := cmp.Diff(want, rows["spans"][0]["SpanAttributes"]); diff != "" || rows["spans"][0]["SampleRate"] != 10.0 ||
		rows["spans"][0]["HasError"] != true {
		t.Errorf("-want +got:\n%s%v", diff, rows["spans"][0])
	}
	span.TraceId = traceWith(0.9, false)
	if result, _ := walkTraces(t, s, export(nil, span)); result.Sampled != 1 {
		t.Errorf("a span that fails by a mapping only was kept: %+v", result)
	}
}

// TestSamplingIsFair: over many traces, all spans of a trace are stored or dropped together. Weighted sums equal the sums without
// sampling, for all spans as well as for errors and slow spans.
func TestSamplingIsFair(t *testing.T) {
	const traces, spansEach = 8_000, 4
	for _, ratio := range []float64{0.5, 0.1, 0.02} {
		t.Run(strconv.FormatFloat(ratio, 'f', -1, 64), func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, 11))
			s, set := stamp(), &blocks.Set{}
			s.Sampling = otlp.Sampling{Ratio: ratio, KeepErrors: true, KeepSlowNano: 100e6}
			// The classes are plain, errors and slow. sent holds the true sums, weighted the sums of the stored rows.
			var sent, weighted [3]float64
			stored, plain := map[string]int{}, map[string]int{}
			for from := 0; from < traces; from += 500 {
				var spans []*tracepb.Span
				for range 500 {
					id := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, r.Uint64()), r.Uint64())
					for i := range spansEach {
						span := oneSpan()
						span.TraceId, span.SpanId = id, binary.BigEndian.AppendUint64(nil, uint64(i+1))
						class := 0
						switch r.IntN(20) {
						case 0, 1:
							class, span.Status = 1, &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
						case 2:
							class, span.EndTimeUnixNano = 2, span.StartTimeUnixNano+200e6
						default:
							plain[hexID(id, 16)]++
						}
						sent[class]++
						spans = append(spans, span)
					}
				}
				set.Reset()
				result, err := otlp.Walk(otlp.Traces, marshal(t, export(nil, spans...)), s, set)
				if err != nil || result.Accepted+result.Sampled != len(spans) {
					t.Fatal(result, err)
				}
				rows := set.Spans()
				weights, failed, durations := rows.SampleRate.Rows(), rows.HasError.Rows(), rows.DurationNano.Rows()
				ids := nativetest.Rows(t, &native.Block{Fields: []native.Field{{Name: "TraceId", Column: rows.TraceID}}})
				for i, weight := range weights {
					class := 0
					switch {
					case failed[i] == 1:
						class = 1
					case durations[i] >= 100e6:
						class = 2
					default:
						stored[ids[i]["TraceId"].(string)]++
					}
					weighted[class] += weight
				}
			}
			for id, n := range stored {
				if n != plain[id] {
					t.Fatalf("%d of %d spans of a trace are stored", n, plain[id])
				}
			}
			// All errors and slow spans are stored, and each counts as one.
			if weighted[1] != sent[1] || weighted[2] != sent[2] {
				t.Errorf("sent %v, weighted %v", sent, weighted)
			}
			// For the others, whole traces are drawn, so the spread is that of traces.
			spread := spansEach * math.Sqrt(traces*(1-ratio)/ratio)
			if off := math.Abs(weighted[0] - sent[0]); off > 4*spread {
				t.Errorf("plain spans: %v sent, %v weighted, off by %.0f, expected spread %.0f", sent[0], weighted[0], off, spread)
			}
		})
	}
}
