// Package native holds append-only column buffers whose layout is, or is close to, that of ClickHouse's Native format. So adding
// a row needs no allocation, merging two buffers is a copy, and writing a block takes a handful of large writes.
//
// Columns are not safe for concurrent use. Bytes handed to an append are copied: a column never keeps the caller's memory. This
// package only writes. The layout is that of revision 0 (no block info, no custom serialization flag), which both libchdb and a
// ClickHouse server read over HTTP.
package native

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
)

// Column is one column of a block.
type Column interface {
	// Type is the ClickHouse type that the block header declares.
	Type() string
	// Len is the number of rows.
	Len() int
	// Bytes is the memory that the rows occupy, without reserved capacity.
	Bytes() int
	// Truncate drops every row from n on. It may cost time in proportion to the rows kept.
	Truncate(n int)
	// Reset drops every row and keeps the memory, unless the column has grown far beyond what a request needs.
	Reset()
	// AppendFrom appends every row of another column of the same Go type. A different type is a bug, and AppendFrom panics.
	AppendFrom(other Column)

	writePrefix(w *Writer)
	writeData(w *Writer)
}

// Field is a named column of a block.
type Field struct {
	Name   string
	Column Column
}

// Block is the columns of one table. All columns must have the same length when it is written or merged.
type Block struct {
	// Name is the table.
	Name   string
	Fields []Field
}

// Rows is the number of rows.
func (b *Block) Rows() int {
	if len(b.Fields) == 0 {
		return 0
	}
	return b.Fields[0].Column.Len()
}

// Bytes is the memory that the rows take up.
func (b *Block) Bytes() int {
	n := 0
	for i := range b.Fields {
		n += b.Fields[i].Column.Bytes()
	}
	return n
}

// Truncate drops every row from n on, also from columns that are one row ahead of the others.
func (b *Block) Truncate(n int) {
	for i := range b.Fields {
		b.Fields[i].Column.Truncate(n)
	}
}

// Reset drops every row.
func (b *Block) Reset() {
	for i := range b.Fields {
		b.Fields[i].Column.Reset()
	}
}

// AppendFrom appends the rows of a block with the same fields.
func (b *Block) AppendFrom(other *Block) {
	for i := range b.Fields {
		b.Fields[i].Column.AppendFrom(other.Fields[i].Column)
	}
}

// Check reports the first column whose length differs from the first column's.
func (b *Block) Check() error {
	rows := b.Rows()
	for i := range b.Fields {
		if n := b.Fields[i].Column.Len(); n != rows {
			return fmt.Errorf("column %s has %d rows, column %s has %d", b.Fields[i].Name, n, b.Fields[0].Name, rows)
		}
	}
	return nil
}

// WriteTo writes the block in Native format, revision 0.
func (b *Block) WriteTo(dst io.Writer) (int64, error) {
	if err := b.Check(); err != nil {
		return 0, err
	}
	w := &Writer{dst: dst, buf: make([]byte, 0, writerBuffer)}
	rows := b.Rows()
	w.uvarint(uint64(len(b.Fields)))
	w.uvarint(uint64(rows))
	for i := range b.Fields {
		w.text(b.Fields[i].Name)
		w.text(b.Fields[i].Column.Type())
		if rows > 0 {
			b.Fields[i].Column.writePrefix(w)
			b.Fields[i].Column.writeData(w)
			runtime.Gosched() // goroutines that answer senders have priority
		}
	}
	w.flush()
	return w.written, w.err
}

const writerBuffer = 64 << 10

// Writer buffers small writes and passes large ones through. It keeps the first error.
type Writer struct {
	dst     io.Writer
	buf     []byte
	written int64
	err     error
}

func (w *Writer) flush() {
	if len(w.buf) == 0 || w.err != nil {
		return
	}
	n, err := w.dst.Write(w.buf)
	w.written += int64(n)
	w.err = err
	w.buf = w.buf[:0]
}

// room returns a buffer with space for n more bytes (n far below writerBuffer); the caller appends to w.buf.
func (w *Writer) room(n int) {
	if cap(w.buf)-len(w.buf) < n {
		w.flush()
		w.buf = w.buf[:0]
	}
}

func (w *Writer) bytes(p []byte) {
	if len(p) <= cap(w.buf)-len(w.buf) {
		w.buf = append(w.buf, p...)
		return
	}
	w.flush()
	if w.err != nil {
		return
	}
	n, err := w.dst.Write(p)
	w.written += int64(n)
	w.err = err
}

func (w *Writer) uvarint(v uint64) {
	w.room(binary.MaxVarintLen64)
	w.buf = binary.AppendUvarint(w.buf, v)
}

func (w *Writer) text(s string) {
	w.uvarint(uint64(len(s)))
	w.bytes([]byte(s))
}

func (w *Writer) uint64(v uint64) {
	w.room(8)
	w.buf = binary.LittleEndian.AppendUint64(w.buf, v)
}
