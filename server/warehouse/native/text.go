package native

import (
	"encoding/binary"
	"slices"
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
	if len(v) < 0x80 {
		c.buf = append(c.buf, byte(len(v)))
	} else {
		c.buf = binary.AppendUvarint(c.buf, uint64(len(v)))
	}
	c.buf = append(c.buf, v...)
	c.rows++
}

// AppendString adds a row.
func (c *String) AppendString(v string) {
	c.buf = binary.AppendUvarint(c.buf, uint64(len(v)))
	c.buf = append(c.buf, v...)
	c.rows++
}

const hexDigits = "0123456789abcdef"

// AppendHex adds a row that holds v in lower-case hexadecimal.
func (c *String) AppendHex(v []byte) {
	c.buf = binary.AppendUvarint(c.buf, uint64(2*len(v)))
	at := len(c.buf)
	c.buf = slices.Grow(c.buf, 2*len(v))[:at+2*len(v)]
	for i, out := 0, c.buf[at:]; i < len(v) && len(out) >= 2; i, out = i+1, out[2:] {
		out[0], out[1] = hexDigits[v[i]>>4], hexDigits[v[i]&15]
	}
	c.rows++
}

// Last is the row appended last, valid until the next append. The column must not be empty and size must be its length.
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
