package otlp_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/otlp/otlptest"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

const benchItems = 512

func benchTime() time.Time { return time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC) }

func request(tb testing.TB, signal otlp.Signal, n int) proto.Message {
	tb.Helper()
	switch signal {
	case otlp.Traces:
		return otlptest.Traces(1, n, benchTime())
	case otlp.Logs:
		return otlptest.Logs(1, n, benchTime())
	default:
		return otlptest.Metrics(1, n, benchTime())
	}
}

func body(tb testing.TB, signal otlp.Signal, n int) []byte {
	tb.Helper()
	b, err := proto.Marshal(request(tb, signal, n))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func stamp() *otlp.Stamp {
	return &otlp.Stamp{Origin: otlp.Origin{Org: "org_bench", KeyType: otlp.KeyPrivate}, ReceivedUnixNano: benchTime().UnixNano()}
}

// perItem measures the processor time of an item, from the call of perItem to the call of the function that it returns.
func perItem(b *testing.B) func() {
	from := cpuTime(b)
	return func() { b.ReportMetric(float64(cpuTime(b)-from)/float64(b.N)/benchItems, "cpu-ns/item") }
}

func BenchmarkWalk(b *testing.B) {
	for _, signal := range []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics} {
		b.Run(signal.String(), func(b *testing.B) {
			in, set := body(b, signal, benchItems), &blocks.Set{}
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			done := perItem(b)
			for b.Loop() {
				set.Reset()
				if r, err := otlp.Walk(signal, in, stamp(), set); err != nil || r.Accepted != benchItems {
					b.Fatal(r, err)
				}
			}
			done()
		})
	}
}

// BenchmarkWalkPolicies measures the walk of traces with the policies of an organization. Items that are dropped count as well.
func BenchmarkWalkPolicies(b *testing.B) {
	mappings := []otlp.Mapping{
		{Source: "db.system.name", Target: "db.system"},
		{Source: "user_agent.original", Target: "browser", Move: true},
		{Source: "enduser.id", Target: "user.id"},
		{Context: otlp.ResourceContext, Source: "k8s.pod.name", Target: "pod"},
		{Source: "net.peer.name", Target: "server.address"},
	}
	tenth := otlp.Sampling{Ratio: 0.1, KeepErrors: true, KeepSlowNano: 10e9}
	for _, c := range []struct {
		name     string
		mappings []otlp.Mapping
		sampling otlp.Sampling
	}{
		{"none", nil, otlp.Sampling{}},
		{"mappings-unmatched", []otlp.Mapping{mappings[2], mappings[4]}, otlp.Sampling{}},
		{"mappings-of-span", mappings[:3], otlp.Sampling{}},
		{"mappings", mappings, otlp.Sampling{}},
		{"sampling", nil, tenth},
		{"both", mappings, tenth},
	} {
		b.Run(c.name, func(b *testing.B) {
			in, set, s := body(b, otlp.Traces, benchItems), &blocks.Set{}, stamp()
			s.Mappings, s.Sampling = c.mappings, c.sampling
			b.ReportAllocs()
			done := perItem(b)
			for b.Loop() {
				set.Reset()
				if r, err := otlp.Walk(otlp.Traces, in, s, set); err != nil || r.Accepted+r.Sampled != benchItems {
					b.Fatal(r, err)
				}
			}
			done()
		})
	}
}

// BenchmarkPath measures a request from compressed body to Native bytes: gunzip, walk, merge into the batch, and the request's
// share of writing the batch.
func BenchmarkPath(b *testing.B) {
	const batch = 100
	for _, signal := range []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics} {
		b.Run(signal.String(), func(b *testing.B) {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			if _, err := z.Write(body(b, signal, benchItems)); err != nil {
				b.Fatal(err)
			}
			if err := z.Close(); err != nil {
				b.Fatal(err)
			}
			var in bytes.Buffer
			var unzip gzip.Reader
			set, merged, n := &blocks.Set{}, &blocks.Set{}, 0
			b.ReportAllocs()
			done := perItem(b)
			for b.Loop() {
				in.Reset()
				if err := unzip.Reset(bytes.NewReader(packed.Bytes())); err != nil {
					b.Fatal(err)
				}
				if _, err := in.ReadFrom(&unzip); err != nil {
					b.Fatal(err)
				}
				set.Reset()
				if _, err := otlp.Walk(signal, in.Bytes(), stamp(), set); err != nil {
					b.Fatal(err)
				}
				merged.AppendFrom(set)
				if n++; n%batch == 0 {
					for t := range merged.Tables() {
						if _, err := t.WriteTo(io.Discard); err != nil {
							b.Fatal(err)
						}
					}
					merged.Reset()
				}
			}
			done()
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	set, merged, n := &blocks.Set{}, &blocks.Set{}, 0
	if _, err := otlp.Walk(otlp.Traces, body(b, otlp.Traces, benchItems), stamp(), set); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	done := perItem(b)
	for b.Loop() {
		merged.AppendFrom(set)
		if n++; n%100 == 0 {
			merged.Reset()
		}
	}
	done()
}

func BenchmarkFromJSON(b *testing.B) {
	in := hexIDs(b, request(b, otlp.Traces, benchItems))
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	done := perItem(b)
	for b.Loop() {
		if _, err := otlp.FromJSON(otlp.Traces, in); err != nil {
			b.Fatal(err)
		}
	}
	done()
}

func BenchmarkUnmarshal(b *testing.B) {
	in, m := body(b, otlp.Traces, benchItems), request(b, otlp.Traces, 0)
	b.ReportAllocs()
	done := perItem(b)
	for b.Loop() {
		if err := proto.Unmarshal(in, m); err != nil {
			b.Fatal(err)
		}
	}
	done()
}

// hexIDs returns a request as OTLP JSON. protojson writes ids in base64, but OTLP requires hexadecimal.
func hexIDs(tb testing.TB, m proto.Message) []byte {
	tb.Helper()
	text, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	text, err = rewriteIDs(text, idsToHex)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}
