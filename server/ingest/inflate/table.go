package inflate

import "math/bits"

const (
	maxCode      = 15 // bits of the longest code
	literalBits  = 11 // bits of the first table for literals and lengths
	distanceBits = 8
	sizeBits     = 7
	maxLiterals  = 288
	maxDistances = 32
	maxSizes     = 19
)

// An entry holds the length of its code in the low bits, the number of extra bits, its type, and a value. The value is the
// literal, the base of a length or distance, or the start of the second table. The entry of a code that does not exist is 0,
// which is not a valid length or distance.
const (
	lengthMask = 0xf
	extraShift = 4
	extraMask  = 0xf
	isLiteral  = 1 << 8
	isEnd      = 1 << 9
	isLink     = 1 << 10
	valueShift = 16
)

// table decodes one code. It looks up codes up to a number of bits at once. Longer codes with the same beginning share a second
// table. Each second table has room for the longest possible code, and at most half of the symbols begin one.
type table struct {
	entries [1<<distanceBits + maxLiterals/2*(1<<(maxCode-literalBits)) + 1<<literalBits]uint32
}

// next reads a code. The stream must be filled. If there were too few bits, the stream's count is negative afterwards.
func (t *table) next(s *stream, first int) uint32 {
	e := t.entries[s.bits&(1<<first-1)]
	if e&isLink != 0 {
		s.drop(first)
		e = t.entries[e>>valueShift+uint32(s.bits)&(1<<(maxCode-first)-1)]
	}
	s.drop(int(e & lengthMask))
	return e
}

// build makes the table of a canonical code from the lengths of its codes. It reports false if they are not a complete code. If
// alone is set, it also accepts a single code of one bit, which compressors write for blocks with one distance or none.
func (t *table) build(sizes []uint8, first int, alone bool, symbol func(int) uint32) bool {
	var counts [maxCode + 1]int
	used := 0
	for _, n := range sizes {
		counts[n]++
		if n > 0 {
			used++
		}
	}
	counts[0] = 0
	left, code := 1, 0
	var codes [maxCode + 1]int
	for n := 1; n <= maxCode; n++ {
		code = (code + counts[n-1]) << 1
		codes[n] = code
		if left = left<<1 - counts[n]; left < 0 {
			return false
		}
	}
	if left > 0 {
		if !alone || used > 1 || used == 1 && counts[1] == 0 {
			return false
		}
		clear(t.entries[:1<<first]) // codes without a symbol
	}
	free := 1 << first
	clear(t.entries[:free])
	for i, n := range sizes {
		if n == 0 {
			continue
		}
		reversed := int(bits.Reverse16(uint16(codes[n])) >> (16 - n))
		codes[n]++
		size := int(n)
		if size <= first {
			e := symbol(i) | uint32(n)
			for at := reversed; at < 1<<first; at += 1 << size {
				t.entries[at] = e
			}
			continue
		}
		link := &t.entries[reversed&(1<<first-1)]
		if *link == 0 {
			if free+1<<(maxCode-first) > len(t.entries) {
				return false
			}
			*link = isLink | uint32(free)<<valueShift
			free += 1 << (maxCode - first)
		}
		second := t.entries[*link>>valueShift:][:1<<(maxCode-first)]
		e := symbol(i) | uint32(size-first)
		for at := reversed >> first; at < len(second); at += 1 << (size - first) {
			second[at] = e
		}
	}
	return true
}

// literal returns the entry of a literal, of the end of a block, or of a length (RFC 1951, 3.2.5).
func literal(i int) uint32 {
	switch {
	case i < 256:
		return isLiteral | uint32(i)<<valueShift
	case i == 256:
		return isEnd
	case i < 265:
		return uint32(i-257+3) << valueShift
	case i < 285:
		extra := uint32(i-261) >> 2
		return extra<<extraShift | (4+uint32(i-265)&3)<<extra<<valueShift + 3<<valueShift
	case i == 285:
		return 258 << valueShift
	default:
		return 0 // 286 and 287 are not used
	}
}

// distance returns the entry of a distance.
func distance(i int) uint32 {
	switch {
	case i < 4:
		return uint32(i+1) << valueShift
	case i < 30:
		extra := uint32(i-2) >> 1
		return extra<<extraShift | ((2+uint32(i)&1)<<extra+1)<<valueShift
	default:
		return 0
	}
}

// fixed makes the tables for a block of kind 1.
func (d *Decoder) fixed() bool {
	sizes := d.sizes[:maxLiterals]
	for i := range sizes {
		switch {
		case i < 144:
			sizes[i] = 8
		case i < 256:
			sizes[i] = 9
		case i < 280:
			sizes[i] = 7
		default:
			sizes[i] = 8
		}
	}
	if !d.literals.build(sizes, literalBits, false, literal) {
		return false
	}
	sizes = d.sizes[:maxDistances]
	for i := range sizes {
		sizes[i] = 5
	}
	return d.distances.build(sizes, distanceBits, false, distance)
}

// dynamic reads the tables of a block of kind 2.
func (d *Decoder) dynamic(s *stream) bool {
	s.fill()
	literals, distances, codes := int(s.bits&31)+257, int(s.bits>>5&31)+1, int(s.bits>>10&15)+4
	s.drop(14)
	if s.count < 0 || literals > 286 || distances > 30 {
		return false
	}
	var sizes [maxSizes]uint8
	for i := range codes {
		if i%8 == 0 {
			s.fill()
		}
		sizes["\x10\x11\x12\x00\x08\x07\x09\x06\x0a\x05\x0b\x04\x0c\x03\x0d\x02\x0e\x01\x0f"[i]] = uint8(s.bits & 7)
		s.drop(3)
	}
	if s.count < 0 || !d.lengths.build(sizes[:], sizeBits, false, func(i int) uint32 { return uint32(i) << valueShift }) {
		return false
	}
	all := d.sizes[:literals+distances]
	for i := 0; i < len(all); {
		s.fill()
		e := d.lengths.next(s, sizeBits)
		if s.count < 0 {
			return false
		}
		v, n := uint8(e>>valueShift), 1
		switch v {
		case 16:
			if i == 0 {
				return false
			}
			v, n = all[i-1], 3+int(s.bits&3)
			s.drop(2)
		case 17:
			v, n = 0, 3+int(s.bits&7)
			s.drop(3)
		case 18:
			v, n = 0, 11+int(s.bits&127)
			s.drop(7)
		}
		if s.count < 0 || n > len(all)-i {
			return false
		}
		for range n {
			all[i] = v
			i++
		}
	}
	return all[256] > 0 && d.literals.build(all[:literals], literalBits, false, literal) &&
		d.distances.build(all[literals:], distanceBits, true, distance)
}
