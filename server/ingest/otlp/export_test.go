package otlp

import (
	"encoding/binary"
	"math/rand/v2"
)

// SeriesEntry and SeriesHash let the reference compute series hashes from its own rows.
var (
	SeriesEntry = seriesEntry
	SeriesHash  = seriesHash
)

// Scramble rewrites a request into another encoding of nearly the same message, as the protobuf encoding allows: fields in
// another order, embedded messages in several pieces, repeated scalars, unpacked numbers, unknown fields and groups, long
// varints.
func Scramble(signal Signal, body []byte, r *rand.Rand) []byte {
	return scramble(signal.message(), body, r)
}

func scramble(m message, b []byte, r *rand.Rand) []byte {
	var parts [][]byte
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		f := findField(schema[m], tag>>3)
		end := skip(b, next, tag)
		if end < 0 || f == nil {
			return b
		}
		if tag&7 != wireBytes {
			parts = append(parts, longTag(tag, b[next:end], r))
			if r.IntN(8) == 0 { // An earlier value that the later one replaces.
				parts = append(parts, b[i:end])
			}
			i = end
			continue
		}
		payload, _ := chunk(b, next)
		switch {
		case f.kind == kindMessage:
			payload = scramble(f.of, payload, r)
			if !f.repeated && r.IntN(2) == 0 {
				// Split into two pieces only where the merge gives the same result in any order.
				parts = append(parts, withLength(tag, nil, r))
			}
			parts = append(parts, withLength(tag, payload, r))
		case f.repeated && f.kind == kindFixed64 && r.IntN(2) == 0:
			var unpacked []byte
			for at := 0; at+8 <= len(payload); at += 8 {
				unpacked = binary.AppendUvarint(unpacked, uint64(f.number)<<3|wireFixed8)
				unpacked = append(unpacked, payload[at:at+8]...)
			}
			parts = append(parts, unpacked)
		default:
			parts = append(parts, withLength(tag, payload, r))
		}
		i = end
	}
	if r.IntN(3) == 0 {
		parts = append(parts, unknown(r))
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func longTag(tag uint64, value []byte, r *rand.Rand) []byte {
	return append(longNumber(tag, r), value...)
}

// longNumber sometimes uses more bytes than necessary.
func longNumber(v uint64, r *rand.Rand) []byte {
	b := binary.AppendUvarint(nil, v)
	if r.IntN(10) == 0 {
		b[len(b)-1] |= 0x80
		b = append(b, 0x80, 0)
	}
	return b
}

func withLength(tag uint64, payload []byte, r *rand.Rand) []byte {
	b := append(longNumber(tag, r), longNumber(uint64(len(payload)), r)...)
	return append(b, payload...)
}

func unknown(r *rand.Rand) []byte {
	switch r.IntN(4) {
	case 0:
		return append(binary.AppendUvarint(nil, 999<<3|wireVarint), 0x85, 0x01)
	case 1: // A known field number with a wire type that the field never has.
		return append(binary.AppendUvarint(nil, 1<<3|wireFixed4), 1, 2, 3, 4)
	case 2:
		b := append(binary.AppendUvarint(nil, 77<<3|wireGroup), 1<<3|wireVarint, 5, 2<<3|wireGroup, 2<<3|wireEnd)
		return binary.AppendUvarint(b, 77<<3|wireEnd)
	default:
		return append(binary.AppendUvarint(nil, 500<<3|wireBytes), 2, 0xff, 0xfe)
	}
}
