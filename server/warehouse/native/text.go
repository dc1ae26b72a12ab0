package native

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
)

// String is a column of byte strings, kept as Native writes them: a varint length and the bytes, one after the other.
type String struct {
	buf  []byte
	rows int
}

// NewString returns an empty column.
func NewString() *String { return &String{} }

// Append adds a row.
func (c *String) Append(v []byte) {
	at := len(c.buf)
	if end := at + 1 + len(v); len(v) < 0x80 && end <= cap(c.buf) {
		c.buf = c.buf[:end]
		c.buf[at] = byte(len(v))
		copy(c.buf[at+1:], v)
	} else {
		c.buf = append(binary.AppendUvarint(c.buf, uint64(len(v))), v...)
	}
	c.rows++
}

// AppendString adds a row.
func (c *String) AppendString(v string) {
	c.buf = binary.AppendUvarint(c.buf, uint64(len(v)))
	c.buf = append(c.buf, v...)
	c.rows++
}

// AppendInt adds a row that holds v in decimal, and returns that text, valid until the next append.
func (c *String) AppendInt(v int64) []byte {
	at := len(c.buf)
	c.buf = strconv.AppendInt(append(c.buf, 0), v, 10)
	c.buf[at] = byte(len(c.buf) - at - 1) // at most 20 digits
	c.rows++
	return c.buf[at+1:]
}

// AppendHex adds a row that holds v in lower-case hexadecimal.
func (c *String) AppendHex(v []byte) {
	c.buf = binary.AppendUvarint(c.buf, uint64(2*len(v)))
	at := len(c.buf)
	c.buf = slices.Grow(c.buf, 2*len(v))[:at+2*len(v)]
	out := c.buf[at:]
	for ; len(v) >= 4 && len(out) >= 8; v, out = v[4:], out[8:] {
		binary.LittleEndian.PutUint64(out, hexOf(binary.BigEndian.Uint32(v)))
	}
	hex.Encode(out, v)
	c.rows++
}

// hexOf returns four bytes in hexadecimal. It computes all eight digits at once.
func hexOf(v uint32) uint64 {
	const ones = 0x0101010101010101
	// Spread the digits over bytes, the first digit in the lowest byte.
	n := uint64(v)
	n = (n>>16 | n<<32) & 0x0000ffff0000ffff
	n = (n>>8 | n<<16) & 0x00ff00ff00ff00ff
	n = (n>>4 | n<<8) & 0x0f0f0f0f0f0f0f0f
	letters := (n + 6*ones) >> 4 & ones
	return n + '0'*ones + letters*('a'-'0'-10)
}

// Last is the row appended last, valid until the next append. The column must not be empty, and size must be the length of that
// row.
func (c *String) Last(size int) []byte { return c.buf[len(c.buf)-size:] }

// Type implements Column.
func (c *String) Type() string { return "String" }

// Len implements Column.
func (c *String) Len() int { return c.rows }

// Bytes implements Column.
func (c *String) Bytes() int { return len(c.buf) }

// Truncate implements Column.
func (c *String) Truncate(n int) {
	if n >= c.rows {
		return
	}
	c.buf, c.rows = c.buf[:skipStrings(c.buf, n)], n
}

// skipStrings returns where the n-th string of buf begins.
func skipStrings(buf []byte, n int) int {
	at := 0
	for range n {
		size, width := binary.Uvarint(buf[at:])
		at += width + int(size)
	}
	return at
}

// Reset implements Column.
func (c *String) Reset() { c.buf, c.rows = c.buf[:0], 0 }

// AppendFrom implements Column.
func (c *String) AppendFrom(other Column) {
	o := other.(*String)
	c.buf = append(c.buf, o.buf...)
	c.rows += o.rows
}

func (c *String) writePrefix(*Writer) {}

func (c *String) writeData(w *Writer) { w.bytes(c.buf) }

// Mark returns the present position.
func (c *String) Mark() Mark { return Mark{values: c.rows, bytes: len(c.buf)} }

// Rollback drops what was appended since the mark, in constant time.
func (c *String) Rollback(m Mark) { c.buf, c.rows = c.buf[:m.bytes], m.values }
