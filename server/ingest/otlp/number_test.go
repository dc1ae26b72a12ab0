package otlp

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestAppendDouble compares the fast paths with the general one.
func TestAppendDouble(t *testing.T) {
	general := func(f float64) string {
		if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
			return strconv.FormatFloat(f, 'e', -1, 64)
		}
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	edges := []float64{
		0, math.Copysign(0, -1), 1, -1, 1e15, 1e21, 1e-6, 1.5e-6, 9.99999e-7, 999999999.9999999, 0.1, 123.456789, 1 << 53, 1<<53 + 2,
		math.MaxFloat64, math.SmallestNonzeroFloat64, math.MaxInt64, math.MinInt64,
	}
	for _, f := range edges {
		if got, want := string(appendDouble(nil, f)), general(f); got != want {
			t.Errorf("%v is written %s, want %s", f, got, want)
		}
	}
	r, short := rand.New(rand.NewPCG(1, 2)), 0
	const rounds = 300_000
	for i := range rounds {
		f := [...]float64{
			math.Float64frombits(r.Uint64()), r.Float64() * 100, float64(r.IntN(1e9)) / 1e4, float64(r.IntN(1e6)) / 16,
			-float64(r.IntN(1e6)) / 1e6, float64(r.Int64N(1e16)) / math.Pow10(r.IntN(18)),
		}[i%6]
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		if _, ok := appendDecimal(nil, f); ok {
			short++
		}
		if got, want := string(appendDouble(nil, f)), general(f); got != want {
			t.Fatalf("%v is written %s, want %s", f, got, want)
		}
	}
	if short < rounds/3 {
		t.Errorf("only %d of %d numbers took the short way", short, rounds)
	}
}
