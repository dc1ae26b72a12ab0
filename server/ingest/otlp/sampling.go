package otlp

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// TraceHash decides whether a trace is sampled. A trace is stored if its hash, as a share of 2⁶⁴, is at most the ratio. The hash
// is XXH64 with seed 0 of the organization, a colon and the trace id in lower-case hexadecimal. The warehouse computes the same
// with xxHash64(concat(OrgId, ':', TraceId)). Every node must decide alike, now and when a queue is read back, so the hash must
// never change.
func TraceHash(org principal.OrgID, traceID []byte) uint64 {
	return traceHash([]byte(string(org)+":"), traceID)
}

func traceHash(prefix, traceID []byte) uint64 {
	return xxhash.Sum64(hex.AppendEncode(prefix, traceID))
}

const traceIDDigits = 32

// sampler is the sampling policy of a request.
type sampler struct {
	Sampling
	enabled bool
	// most is the largest hash that passes the ratio.
	most uint64
	// weight is the weight of a span that passes. text and typ are the same as an attribute.
	weight float64
	text   []byte
	typ    blocks.ValueType
	// prefix holds the bytes that are hashed before the trace id, with room for the id.
	prefix []byte
}

func (s *sampler) reset(policy Sampling, org []byte) {
	s.enabled = policy.Enabled()
	if !s.enabled {
		return
	}
	s.prefix = slices.Grow(append(append(s.prefix[:0], org...), ':'), traceIDDigits)
	if s.Sampling == policy {
		return
	}
	s.Sampling = policy
	ratio := max(policy.Ratio, MinSampleRatio)
	s.most = uint64(ratio * (1 << 64))
	s.weight = 1 / ratio
	s.text = appendWeight(s.text[:0], s.weight)
	s.typ = blocks.DoubleValue
	if s.weight == math.Trunc(s.weight) {
		s.typ = blocks.IntValue
	}
}

// appendWeight writes a weight as a whole number, or with up to six decimals.
func appendWeight(dst []byte, weight float64) []byte {
	from := len(dst)
	dst = strconv.AppendFloat(dst, weight, 'f', 6, 64)
	end := len(dst)
	for end > from && dst[end-1] == '0' {
		end--
	}
	if dst[end-1] == '.' {
		end--
	}
	return dst[:end]
}

// sample decides whether the span is stored, and puts its weight into w.weight.
//
// The weight is one divided by the chance that the span had of being stored. A span that the policy always keeps, as an error,
// had a chance of one and stands for itself alone, even if its trace passes the ratio. With the weight of its trace, errors would
// be counted up to twice.
func (w *walker) sample(start int64) bool {
	s := &w.sampler
	w.weight = 1
	if s.KeepErrors && (enum(w.span.statusCode, statusError) == statusError || w.hotKeys.httpStatus() >= 500) {
		return true
	}
	if s.KeepSlowNano > 0 {
		if d, _ := w.spanDuration(start); d >= s.KeepSlowNano {
			return true
		}
	}
	if traceHash(s.prefix, w.span.traceID) > s.most {
		return false
	}
	w.weight = s.weight
	return true
}

// stampWeight writes the weight on the span, unless the sender has set that attribute. The column SampleRate holds the product of
// both.
func (w *walker) stampWeight(m *native.Map) bool {
	if w.weight == 1 || w.hotKeys.has(hotSampleRate) {
		return true
	}
	if _, carried := threshold(w.span.traceState); carried {
		return true
	}
	s, h := &w.sampler, &w.hotKeys
	id, ok := w.key(m, []byte("SampleRate"), s.typ)
	if !ok {
		return false
	}
	m.Values.Append(s.text)
	h.classify(m, id)
	if h.byID[id]&mapped != 0 { // Mappings see the weight; the column must not count it twice.
		h.take(mapped, id, s.text, s.typ)
	}
	return true
}
