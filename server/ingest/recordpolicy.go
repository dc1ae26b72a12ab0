package ingest

import (
	"encoding/binary"
	"math"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// Policies of a header, as stored: never renumber them.
const (
	policySampling        = 1 << 0
	policyKeepErrors      = 1 << 1
	policyKeepSlow        = 1 << 2
	policyMappings        = 1 << 3
	policyNoProductEvents = 1 << 4
	policyAll             = policySampling | policyKeepErrors | policyKeepSlow | policyMappings | policyNoProductEvents
)

const (
	mappingOfResource = 1 << 0
	mappingMove       = 1 << 1
	mappingAll        = mappingOfResource | mappingMove
)

// storedPolicies returns the policies that can change rows. Other policies are not stored.
func (h *RecordHeader) storedPolicies() (flags byte) {
	if h.Kind != 0 || h.Signal != otlp.Traces {
		return 0
	}
	if h.Sampling.Enabled() {
		flags |= policySampling
		if h.Sampling.KeepErrors {
			flags |= policyKeepErrors
		}
		if h.Sampling.KeepSlowNano > 0 {
			flags |= policyKeepSlow
		}
	}
	if len(h.Mappings) > 0 {
		flags |= policyMappings
	}
	if h.NoProductEvents {
		flags |= policyNoProductEvents
	}
	return flags
}

// appendPolicies appends: flags u8, ratio f64 (little-endian), slow threshold (uvarint), count of mappings (uvarint), then for each:
// flags u8, source, target. Parts without their flag are absent.
func (h *RecordHeader) appendPolicies(b []byte, flags byte) []byte {
	b = append(b, flags)
	if flags&policySampling != 0 {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(h.Sampling.Ratio))
	}
	if flags&policyKeepSlow != 0 {
		b = binary.AppendUvarint(b, h.Sampling.KeepSlowNano)
	}
	if flags&policyMappings == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(h.Mappings)))
	for i := range h.Mappings {
		m := &h.Mappings[i]
		var of byte
		if m.Context == otlp.ResourceContext {
			of = mappingOfResource
		}
		if m.Move {
			of |= mappingMove
		}
		b = appendText(appendText(append(b, of), m.Source), m.Target)
	}
	return b
}

// policies reads the form that appendPolicies writes. A header without policies has no such part, so that each header has one form.
func (r *headerReader) policies(h *RecordHeader) {
	if len(r.rest) == 0 || r.rest[0] == 0 || r.rest[0]&^policyAll != 0 {
		r.fail()
		return
	}
	flags := r.rest[0]
	r.rest = r.rest[1:]
	h.NoProductEvents = flags&policyNoProductEvents != 0
	if flags&policySampling != 0 {
		h.Sampling.Ratio = r.float()
		h.Sampling.KeepErrors = flags&policyKeepErrors != 0
	}
	if flags&policyKeepSlow != 0 {
		h.Sampling.KeepSlowNano = r.number()
	}
	if flags&policyMappings != 0 {
		h.Mappings = r.mappings()
	}
	if h.storedPolicies() != flags {
		r.fail()
	}
}

func (r *headerReader) float() float64 {
	if len(r.rest) < 8 {
		r.fail()
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(r.rest))
	r.rest = r.rest[8:]
	return f
}

func (r *headerReader) mappings() []otlp.Mapping {
	n := r.number()
	if r.err != nil || n == 0 || n > uint64(len(r.rest))/3 { // each has at least three bytes
		r.fail()
		return nil
	}
	all := make([]otlp.Mapping, n)
	for i := range all {
		if len(r.rest) == 0 || r.rest[0]&^mappingAll != 0 {
			r.fail()
			return nil
		}
		if r.rest[0]&mappingOfResource != 0 {
			all[i].Context = otlp.ResourceContext
		}
		all[i].Move = r.rest[0]&mappingMove != 0
		r.rest = r.rest[1:]
		all[i].Source, all[i].Target = r.text(), r.text()
	}
	return all
}
