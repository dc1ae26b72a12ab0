package demo

import (
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// random is a random source for one purpose in one minute.
type random struct{ *rand.Rand }

func newRandom(seed uint64, purpose string, n int64) random {
	return random{rand.New(rand.NewPCG(seed^hash(purpose), uint64(n)*0x9e3779b97f4a7c15+hash(purpose)))}
}

func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p)) // a hash accepts everything
		_, _ = h.Write([]byte{0})
	}
	v := h.Sum64()
	// FNV gives similar high bits for short texts.
	v ^= v >> 33
	v *= 0xff51afd7ed558ccd
	return v ^ v>>33
}

// noise returns a number from 0 up to 1 for a series at a minute.
func noise(series uint64, minute int64) float64 {
	v := series ^ uint64(minute)*0x9e3779b97f4a7c15
	v ^= v >> 30
	v *= 0xbf58476d1ce4e5b9
	v ^= v >> 27
	v *= 0x94d049bb133111eb
	v ^= v >> 31
	return float64(v>>11) / (1 << 53)
}

func (r random) chance(p float64) bool { return r.Float64() < p }

// near returns a duration around the median. It is seldom much longer, like real latencies.
func (r random) near(median time.Duration, spread float64) time.Duration {
	return time.Duration(float64(median) * math.Exp(r.NormFloat64()*spread))
}

// between returns a duration from a up to b.
func (r random) between(a, b time.Duration) time.Duration {
	return a + time.Duration(r.Int64N(int64(b-a)))
}

// arrivals returns a random number of events with the given mean.
func (r random) arrivals(mean float64) int {
	if mean > 50 {
		return max(0, int(math.Round(mean+r.NormFloat64()*math.Sqrt(mean))))
	}
	n, limit, p := 0, math.Exp(-mean), 1.0
	for {
		if p *= r.Float64(); p <= limit {
			return n
		}
		n++
	}
}

func pick[T any](r random, list []T) T { return list[r.IntN(len(list))] }

func (r random) bytes(n int) []byte {
	b := make([]byte, 0, n+7)
	for len(b) < n {
		b = binary.BigEndian.AppendUint64(b, r.Uint64()|1) // an id must not be all zero
	}
	return b[:n]
}

func (r random) hex(n int) string { return hex.EncodeToString(r.bytes((n + 1) / 2))[:n] }

// uuid returns a version 4 UUID.
func (r random) uuid() string {
	b := r.bytes(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// digits returns a number with n digits as text.
func (r random) digits(n int) string {
	low := int64(math.Pow10(n - 1))
	return strconv.FormatInt(low+r.Int64N(9*low), 10)
}
