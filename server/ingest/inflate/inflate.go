// Package inflate decompresses gzip files that are completely in memory and have a known length, as the bodies of exporters do.
// docs/adr/0003-own-deflate.md has the measured gain. The package reads only the plain case. It reports false for anything else:
// several members, names in the header, damage of any kind. A general reader then reads the file and provides the error message.
package inflate

import (
	"encoding/binary"
	"hash/crc32"
	"runtime"
)

const (
	headerSize  = 10
	trailerSize = 8
	// slack is the number of bytes that one step of the fast loop may write: the longest match, plus the bytes beyond it that
	// copying by words writes.
	slack = 258 + 8
)

// Decoder holds the memory for decoding tables. The zero value is ready. It is not safe for concurrent use.
type Decoder struct {
	literals  table
	distances table
	lengths   table
	sizes     [maxLiterals + maxDistances]uint8
}

// Gunzip decompresses src into dst. It reports whether src is a gzip file of one member that fills dst exactly and has the right
// checksum. If it reports false, the content of dst is undefined.
func (d *Decoder) Gunzip(dst, src []byte) bool {
	if len(src) < headerSize+trailerSize || src[0] != 0x1f || src[1] != 0x8b || src[2] != 8 || src[3] != 0 {
		return false
	}
	trailer := src[len(src)-trailerSize:]
	if binary.LittleEndian.Uint32(trailer[4:]) != uint32(len(dst)) {
		return false
	}
	s := stream{dst: dst, src: src, in: headerSize}
	yielded := 0
	for last := false; !last; {
		if s.out-yielded >= yieldEvery {
			yielded = s.out
			runtime.Gosched()
		}
		s.fill()
		last = s.bits&1 == 1
		kind := s.bits >> 1 & 3
		s.drop(3)
		ok := false
		switch kind {
		case 0:
			ok = s.stored()
		case 1:
			ok = d.fixed() && s.block(&d.literals, &d.distances)
		case 2:
			ok = d.dynamic(&s) && s.block(&d.literals, &d.distances)
		}
		if !ok {
			return false
		}
	}
	// The decoder may have read ahead into the trailer, but must not have used any of it.
	return s.count >= 0 && s.in-s.count/8 == len(src)-trailerSize && s.out == len(dst) &&
		crc32.ChecksumIEEE(dst) == binary.LittleEndian.Uint32(trailer)
}

// yieldEvery is the number of bytes, about 0.1 ms of work, after which other requests get the processor. The scheduler itself would give a
// large body 10 ms at a time.
const yieldEvery = 128 << 10

// stream is the state of one decompression. The next bits to read are the low ones of bits. At least count of them are valid. The
// bits above those are zero or the next bits of the source.
type stream struct {
	dst, src []byte
	in, out  int
	bits     uint64
	count    int
}

// fill makes at least 56 bits ready, or all remaining bits if there are fewer.
func (s *stream) fill() {
	if s.in+8 <= len(s.src) {
		s.bits |= binary.LittleEndian.Uint64(s.src[s.in:]) << s.count
		s.in += (63 - s.count) >> 3
		s.count |= 56
		return
	}
	if s.count < 0 {
		return // more bits were used than exist: the source is damaged
	}
	s.bits &= 1<<s.count - 1
	for s.count <= 56 && s.in < len(s.src) {
		s.bits |= uint64(s.src[s.in]) << s.count
		s.in++
		s.count += 8
	}
}

func (s *stream) drop(n int) {
	s.bits >>= n
	s.count -= n
}

// stored copies an uncompressed block.
func (s *stream) stored() bool {
	if s.count < 0 {
		return false
	}
	s.in -= s.count / 8 // give back whole bytes; the rest of the current byte is padding
	s.bits, s.count = 0, 0
	if s.in+4 > len(s.src) {
		return false
	}
	n, check := binary.LittleEndian.Uint16(s.src[s.in:]), binary.LittleEndian.Uint16(s.src[s.in+2:])
	s.in += 4
	size := int(n)
	if n != ^check || size > len(s.src)-s.in || size > len(s.dst)-s.out {
		return false
	}
	copy(s.dst[s.out:], s.src[s.in:s.in+size])
	s.in += size
	s.out += size
	return true
}

// block decodes a compressed block to its end.
func (s *stream) block(literals, distances *table) bool {
	if ended, ok := s.fast(literals, distances); ended || !ok {
		return ok
	}
	return s.careful(literals, distances)
}

// fast decodes while source and destination have enough room left that no step needs to check them. The result ended says that
// the block is over.
func (s *stream) fast(literals, distances *table) (ended, ok bool) {
	dst, src := s.dst, s.src
	// Nothing may take the address of these variables, so that they stay in registers.
	in, out, bits, count := s.in, s.out, s.bits, s.count
	ok = true
	for out+slack+3 <= len(dst) && in+16 <= len(src) {
		bits |= binary.LittleEndian.Uint64(src[in:]) << (count & 63)
		in += (63 - count) >> 3
		count |= 56
		e := literals.entries[bits&(1<<literalBits-1)]
		// Three literals take 33 bits at most, because the literals of the first table are short.
		if e&isLiteral != 0 {
			dst[out] = byte(e >> valueShift)
			out++
			bits, count = bits>>(e&lengthMask&63), count-int(e&lengthMask)
			if e = literals.entries[bits&(1<<literalBits-1)]; e&isLiteral != 0 {
				dst[out] = byte(e >> valueShift)
				out++
				bits, count = bits>>(e&lengthMask&63), count-int(e&lengthMask)
				if e = literals.entries[bits&(1<<literalBits-1)]; e&isLiteral != 0 {
					dst[out] = byte(e >> valueShift)
					out++
					bits, count = bits>>(e&lengthMask&63), count-int(e&lengthMask)
					continue
				}
			}
		}
		if e&isLink != 0 {
			bits, count = bits>>literalBits, count-literalBits
			e = literals.entries[e>>valueShift+uint32(bits)&(1<<(maxCode-literalBits)-1)]
			if e&isLiteral != 0 {
				dst[out] = byte(e >> valueShift)
				out++
				bits, count = bits>>(e&lengthMask&63), count-int(e&lengthMask)
				continue
			}
		}
		bits, count = bits>>(e&lengthMask&63), count-int(e&lengthMask)
		if e&isEnd != 0 {
			ended = true
			break
		}
		extra := e >> extraShift & extraMask
		length := int(e>>valueShift) + int(bits&(1<<extra-1))
		bits, count = bits>>(extra&63), count-int(extra)

		bits |= binary.LittleEndian.Uint64(src[in:]) << (count & 63)
		in += (63 - count) >> 3
		count |= 56
		e = distances.entries[bits&(1<<distanceBits-1)]
		if e&isLink != 0 {
			bits, count = bits>>distanceBits, count-distanceBits
			e = distances.entries[e>>valueShift+uint32(bits)&(1<<(maxCode-distanceBits)-1)]
		}
		bits, count = bits>>(e&lengthMask&63), count-int(e&lengthMask)
		extra = e >> extraShift & extraMask
		distance := int(e>>valueShift) + int(bits&(1<<extra-1))
		bits, count = bits>>(extra&63), count-int(extra)
		if distance == 0 || distance > out || length == 0 {
			ok = false
			break
		}
		if distance >= 8 {
			from, to := dst[out-distance:], dst[out:out+slack]
			for i := 0; i < length; i += 8 {
				binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
			}
		} else {
			for i := out; i < out+length; i++ {
				dst[i] = dst[i-distance]
			}
		}
		out += length
	}
	s.in, s.out, s.bits, s.count = in, out, bits, count
	return ended, ok
}

// careful decodes the rest of a block near the end of the source or of the destination.
func (s *stream) careful(literals, distances *table) bool {
	for {
		s.fill()
		e := literals.next(s, literalBits)
		if s.count < 0 {
			return false
		}
		switch {
		case e&isLiteral != 0:
			if s.out == len(s.dst) {
				return false
			}
			s.dst[s.out] = byte(e >> valueShift)
			s.out++
			continue
		case e&isEnd != 0:
			return true
		}
		length := s.value(e)
		s.fill()
		distance := s.value(distances.next(s, distanceBits))
		if s.count < 0 || distance == 0 || distance > s.out || length == 0 || length > len(s.dst)-s.out {
			return false
		}
		for range length {
			s.dst[s.out] = s.dst[s.out-distance]
			s.out++
		}
	}
}

// value adds the extra bits to the base value of an entry.
func (s *stream) value(e uint32) int {
	extra := e >> extraShift & extraMask
	v := int(e>>valueShift) + int(s.bits&(1<<extra-1))
	s.drop(int(extra))
	return v
}
