package otlp_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

func fullStamp() *otlp.Stamp {
	s := stamp()
	s.KeyType, s.KeyID = otlp.KeyCustom, "ingk_1"
	s.Attributes = []otlp.ResourceAttribute{{Key: "team", Value: "a"}, {Key: "service.namespace", Value: "fallback", IfMissing: true}}
	return s
}

// compare checks the walk of a body against the reference. For traces it does so without policies and with some.
func compare(tb testing.TB, signal otlp.Signal, in []byte, set *blocks.Set) {
	tb.Helper()
	compareWith(tb, signal, in, fullStamp(), set)
	if signal == otlp.Traces {
		for _, s := range policyStamps() {
			compareWith(tb, signal, in, s, set)
		}
	}
}

// compareWith checks the walk of a body against the reference: both refuse the body, or both store the same rows.
func compareWith(tb testing.TB, signal otlp.Signal, in []byte, stamp *otlp.Stamp, set *blocks.Set) {
	tb.Helper()
	ref := newReference(stamp)
	accepts := ref.run(signal, in)
	set.Reset()
	result, err := otlp.Walk(signal, in, stamp, set)
	if accepts != (err == nil) {
		tb.Fatalf("proto.Unmarshal accepts: %v; walk: %v", accepts, err)
	}
	if err != nil {
		if set.Rows() > 0 {
			tb.Fatal("a refused body left rows")
		}
		return
	}
	if result.Accepted != ref.accepted || result.Rejected != ref.rejected || result.Sampled != ref.sampled ||
		result.ProductEvents != ref.events {
		tb.Fatalf("%+v; want accepted %d, rejected %d, sampled %d, events %d", result, ref.accepted, ref.rejected, ref.sampled, ref.events)
	}
	got := map[string][]row{}
	for t := range set.Tables() {
		got[t.Name] = nativetest.Rows(tb, t)
	}
	keys, catalog := ref.rollups()
	if d := differ(sortRows(keys), sortRows(got["attribute_keys"])); d != "" {
		tb.Fatalf("attribute_keys: %.3000s", d)
	}
	if d := differ(sortRows(catalog), sortRows(got["metric_catalog"])); d != "" {
		tb.Fatalf("metric_catalog: %.3000s", d)
	}
	delete(got, "attribute_keys")
	delete(got, "metric_catalog")
	if d := differ(ref.tables, got); d != "" {
		tb.Fatalf("rows: %.3000s", d)
	}
}

// differ returns the difference between rows. Nil equals empty, and NaN equals NaN. Rows that are identical, as nearly all are,
// skip cmp.
func differ[T any](want, got T) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateNaNs())
}

func signals() []otlp.Signal { return []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics} }

func TestWalkEqualsReference(t *testing.T) {
	set := &blocks.Set{}
	for _, signal := range signals() {
		compare(t, signal, nil, set)
		compare(t, signal, body(t, signal, 100), set)
	}
}

func TestWalkScrambled(t *testing.T) {
	set, r := &blocks.Set{}, rand.New(rand.NewPCG(9, 9))
	for _, signal := range signals() {
		in := body(t, signal, 24)
		for range 12 {
			compare(t, signal, otlp.Scramble(signal, in, r), set)
		}
	}
}

// TestWalkDamaged flips and cuts bytes. The walk and the reference must refuse and accept the same bodies.
func TestWalkDamaged(t *testing.T) {
	set, r := &blocks.Set{}, rand.New(rand.NewPCG(7, 7))
	for _, signal := range signals() {
		in := body(t, signal, 6)
		for range 80 {
			damaged := append([]byte(nil), in...)
			for range 1 + r.IntN(3) {
				damaged[r.IntN(len(damaged))] = byte(r.Uint32())
			}
			if r.IntN(4) == 0 {
				damaged = damaged[:r.IntN(len(damaged))]
			}
			compare(t, signal, damaged, set)
		}
	}
}

func fuzzWalk(f *testing.F, signal otlp.Signal) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 4 {
		f.Add(otlp.Scramble(signal, body(f, signal, 2), r))
	}
	f.Add(body(f, signal, 2))
	for _, in := range oddWires(signal) {
		if len(in) < 4096 {
			f.Add(in)
		}
	}
	set := &blocks.Set{}
	f.Fuzz(func(t *testing.T, in []byte) { compare(t, signal, in, set) })
}

func FuzzWalkTraces(f *testing.F) { fuzzWalk(f, otlp.Traces) }

func FuzzWalkLogs(f *testing.F) { fuzzWalk(f, otlp.Logs) }

func FuzzWalkMetrics(f *testing.F) { fuzzWalk(f, otlp.Metrics) }
