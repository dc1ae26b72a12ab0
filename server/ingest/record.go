package ingest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/principal"
)

// Encoding is the compression of a queue record's payload. The values are stored: never renumber them.
type Encoding uint8

// The encodings. Gzip payloads are bodies as received. The gateway itself compresses with Zstd.
const (
	EncodingNone Encoding = 1
	EncodingGzip Encoding = 2
	EncodingZstd Encoding = 3
)

// RecordHeader holds everything besides the payload that determines the rows of a queue record, so that a second walk gives the
// same rows. Payloads are OTLP protobuf, or the format of Kind.
type RecordHeader struct {
	// Signal is the signal of an OTLP payload. Kind is the kind of another payload, and zero for OTLP.
	Signal   otlp.Signal
	Kind     activity.Kind
	Encoding Encoding
	// Origin's Mappings, Sampling and NoProductEvents are stored for traces only. A sampling policy that drops nothing is not stored.
	otlp.Origin
	ReceivedUnixNano int64
	// Chunk is stored for activity.SessionReplayEvents only.
	Chunk activity.Chunk
}

// A header is written in the lowest version that can hold it. Each header then has only one form, and an older program can read
// it as long as the new features are not used.
const (
	firstVersion = 1
	// policyVersion has the policies for traces.
	policyVersion = 2
)

// Signals as stored. otlp.Signal and activity.Kind may change their numbers, but these numbers must not change.
const (
	storedTraces              = 1
	storedLogs                = 2
	storedMetrics             = 3
	storedSessionReplays      = 4
	storedSessionReplayEvents = 5
	storedSessionEvents       = 6
	storedProductEvents       = 7
)

const attributeIfMissing = 1

// Append appends the header's stored form:
//
//	version u8, signal u8, encoding u8, received i64 (little-endian), organization, key type, key id,
//	count of attributes (uvarint), then for each: flags u8, key, value; for a chunk then its headers;
//	in version 2 then the policies
//
// where a text is its length as uvarint and its bytes.
func (h *RecordHeader) Append(b []byte) []byte {
	version, policies := byte(firstVersion), h.storedPolicies()
	if policies != 0 {
		version = policyVersion
	}
	b = append(b, version, h.storedSignal(), byte(h.Encoding))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.ReceivedUnixNano))
	b = appendText(b, string(h.Org))
	b = appendText(b, h.KeyType)
	b = appendText(b, h.KeyID)
	b = binary.AppendUvarint(b, uint64(len(h.Attributes)))
	for i := range h.Attributes {
		a := &h.Attributes[i]
		var flags byte
		if a.IfMissing {
			flags = attributeIfMissing
		}
		b = append(b, flags)
		b = appendText(b, a.Key)
		b = appendText(b, a.Value)
	}
	if h.Kind == activity.SessionReplayEvents {
		b = appendChunk(b, &h.Chunk)
	}
	if policies != 0 {
		b = h.appendPolicies(b, policies)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

var errShortHeader = errors.New("it ends too early")

// ParseRecordHeader reads the form that Append writes. It refuses unknown content, for example from a newer version, instead of
// dropping it.
func ParseRecordHeader(b []byte) (RecordHeader, error) {
	h, err := parseRecordHeader(b)
	if err != nil {
		return RecordHeader{}, fmt.Errorf("ingest: record header: %w", err)
	}
	return h, nil
}

func parseRecordHeader(b []byte) (h RecordHeader, err error) {
	if len(b) == 0 {
		return h, errShortHeader
	}
	if b[0] < firstVersion || b[0] > policyVersion {
		return h, fmt.Errorf("version %d is unknown here; this program knows %d to %d", b[0], firstVersion, policyVersion)
	}
	if len(b) < 11 {
		return h, errShortHeader
	}
	if !h.setStoredSignal(b[1]) {
		return h, fmt.Errorf("signal %d is unknown", b[1])
	}
	h.Encoding = Encoding(b[2])
	if h.Encoding < EncodingNone || h.Encoding > EncodingZstd {
		return h, fmt.Errorf("encoding %d is unknown", b[2])
	}
	h.ReceivedUnixNano = int64(binary.LittleEndian.Uint64(b[3:]))
	r := headerReader{rest: b[11:]}
	h.Org = principal.OrgID(r.text())
	h.KeyType = r.text()
	h.KeyID = r.text()
	h.Attributes = r.attributes()
	if h.Kind == activity.SessionReplayEvents {
		h.Chunk = r.chunk()
	}
	if b[0] == policyVersion {
		r.policies(&h)
	}
	switch {
	case r.err != nil:
		return h, r.err
	case len(r.rest) > 0:
		return h, fmt.Errorf("%d bytes are left over", len(r.rest))
	}
	return h, nil
}

// RecordOwner returns the organization in a stored header, which owns the record's share of the queue. It returns nil if the
// header cannot be read.
func RecordOwner(header []byte) []byte {
	if len(header) < 11 || header[0] < firstVersion || header[0] > policyVersion {
		return nil
	}
	n, size := binary.Uvarint(header[11:])
	if size <= 0 || n > uint64(len(header)-11-size) {
		return nil
	}
	return header[11+size:][:n]
}

// headerReader keeps the first error. After an error every read returns a zero value.
type headerReader struct {
	rest []byte
	err  error
}

func (r *headerReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if r.err != nil || size <= 0 || size > 1 && r.rest[size-1] == 0 { // only one form is valid: no padded numbers
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *headerReader) text() string {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail()
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

func (r *headerReader) attributes() []otlp.ResourceAttribute {
	n := r.number()
	if n == 0 || r.err != nil {
		return nil
	}
	if n > uint64(len(r.rest))/3 { // each has at least three bytes
		r.fail()
		return nil
	}
	all := make([]otlp.ResourceAttribute, n)
	for i := range all {
		if len(r.rest) == 0 || r.rest[0] > attributeIfMissing {
			r.fail()
			return nil
		}
		all[i].IfMissing = r.rest[0] == attributeIfMissing
		r.rest = r.rest[1:]
		all[i].Key = r.text()
		all[i].Value = r.text()
	}
	return all
}

func (r *headerReader) fail() {
	if r.err == nil {
		r.err = errShortHeader
	}
	r.rest = nil
}

// stamp returns the part of the header that the walk needs.
func (h *RecordHeader) stamp(maxBytes int) otlp.Stamp {
	return otlp.Stamp{Origin: h.Origin, ReceivedUnixNano: h.ReceivedUnixNano, MaxBytes: maxBytes}
}
