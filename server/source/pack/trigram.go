package pack

import "math/bits"

// The index answers which blocks may hold a literal: those that hold each three bytes in a row of it. Letters A–Z count as a–z, so one
// index serves both kinds of search. Trigrams share 2^17 buckets by a hash: a block of 1 MiB of source code fills 15 % of them, so blocks
// that do not hold a word of eight letters pass with a chance below 0.1 %. The rows of all buckets are compressed together; they are
// 4 % of a pack.
const (
	bucketBits = 17
	buckets    = 1 << bucketBits
)

func bucket(trigram uint32) uint32 { return trigram * 0x9E3779B1 >> (32 - bucketBits) }

// column has a bit for each bucket. A block has one.
type column []uint64

// add sets the buckets of a file. Trigrams do not cross files.
func (c column) add(text []byte) {
	if len(text) < 3 {
		return
	}
	t := uint32(lower(text[0]))<<8 | uint32(lower(text[1]))
	for _, b := range text[2:] {
		t = (t<<8 | uint32(lower(b))) & 0xffffff
		h := bucket(t)
		c[h>>6] |= 1 << (h & 63)
	}
}

// rows turns columns, one a block, into rows of bits, one a bucket.
func rows(columns []column) []byte {
	width := (len(columns) + 7) / 8
	b := make([]byte, width*buckets)
	for i, c := range columns {
		at, bit := i/8, byte(1)<<(i%8)
		for w, word := range c {
			for ; word != 0; word &= word - 1 {
				b[(w*64+bits.TrailingZeros64(word))*width+at] |= bit
			}
		}
	}
	return b
}

// blockSet has a bit for each block, as a row has.
type blockSet []byte

func (s blockSet) has(block int) bool { return s[block/8]>>(block%8)&1 != 0 }

func allBlocks(blocks int) blockSet {
	s := make(blockSet, (blocks+7)/8)
	for i := range s {
		s[i] = 0xff
	}
	return s
}

// index is the decompressed content of the frame of that name.
type index struct {
	rows  []byte
	width int
}

// with returns the blocks that may hold a text. A text of fewer than three bytes may be in any block.
func (x index) with(text string) blockSet {
	s := allBlocks(8 * x.width)
	for i := 0; i+3 <= len(text); i++ {
		row := bucket(uint32(lower(text[i]))<<16 | uint32(lower(text[i+1]))<<8 | uint32(lower(text[i+2])))
		for j, b := range x.rows[int(row)*x.width : int(row+1)*x.width] {
			s[j] &= b
		}
	}
	return s
}
