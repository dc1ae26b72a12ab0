package native

import (
	"encoding/binary"
	"unsafe"
)

// Numeric lists the element types of fixed-width columns.
type Numeric interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int32 | ~int64 | ~float64
}

// Number is a column of fixed width.
type Number[T Numeric] struct {
	typ  string
	rows []T
}

// Columns of fixed width.
type (
	// UInt8 is a UInt8 or Bool column.
	UInt8 = Number[uint8]
	// UInt16 is a UInt16 column.
	UInt16 = Number[uint16]
	// UInt32 is a UInt32 or DateTime column.
	UInt32 = Number[uint32]
	// UInt64 is a UInt64 column.
	UInt64 = Number[uint64]
	// Int32 is an Int32 column.
	Int32 = Number[int32]
	// Int64 is an Int64 or DateTime64 column.
	Int64 = Number[int64]
	// Float64 is a Float64 column.
	Float64 = Number[float64]
)

// NewNumber returns an empty column that declares the ClickHouse type typ. The width of typ must be the width of T.
func NewNumber[T Numeric](typ string) *Number[T] { return &Number[T]{typ: typ} }

// NewBool returns a Bool column; AppendBool fills it.
func NewBool() *UInt8 { return NewNumber[uint8]("Bool") }

// NewUInt8 returns a UInt8 column.
func NewUInt8() *UInt8 { return NewNumber[uint8]("UInt8") }

// NewUInt64 returns a UInt64 column.
func NewUInt64() *UInt64 { return NewNumber[uint64]("UInt64") }

// NewInt32 returns an Int32 column.
func NewInt32() *Int32 { return NewNumber[int32]("Int32") }

// NewFloat64 returns a Float64 column.
func NewFloat64() *Float64 { return NewNumber[float64]("Float64") }

// NewDateTime returns a column of seconds since 1970.
func NewDateTime() *UInt32 { return NewNumber[uint32]("DateTime('UTC')") }

// NewDateTime64 returns a column of nanoseconds since 1970.
func NewDateTime64() *Int64 { return NewNumber[int64]("DateTime64(9, 'UTC')") }

// Append adds a row.
func (c *Number[T]) Append(v T) { c.rows = append(c.rows, v) }

// AppendBool adds a row to a Bool column.
func AppendBool(c *UInt8, v bool) {
	var b uint8
	if v {
		b = 1
	}
	c.rows = append(c.rows, b)
}

// Rows is the column's own memory, for reading or changing existing rows.
func (c *Number[T]) Rows() []T { return c.rows }

// Type implements Column.
func (c *Number[T]) Type() string { return c.typ }

// Len implements Column.
func (c *Number[T]) Len() int { return len(c.rows) }

// Bytes implements Column.
func (c *Number[T]) Bytes() int { return len(c.rows) * int(unsafe.Sizeof(T(0))) }

// Truncate implements Column.
func (c *Number[T]) Truncate(n int) { c.rows = c.rows[:min(n, len(c.rows))] }

// Reset implements Column.
func (c *Number[T]) Reset() { c.rows = c.rows[:0] }

// AppendFrom implements Column.
func (c *Number[T]) AppendFrom(other Column) { c.rows = append(c.rows, other.(*Number[T]).rows...) }

func (c *Number[T]) writePrefix(*Writer) {}

func (c *Number[T]) writeData(w *Writer) { writeNumbers(w, c.rows) }

// writeNumbers writes little-endian numbers, one full buffer at a time.
func writeNumbers[T Numeric](w *Writer, rows []T) {
	const chunk = 4096
	for len(rows) > 0 && w.err == nil {
		n := min(chunk, len(rows))
		w.room(8 * chunk)
		w.buf = appendNumbers(w.buf, rows[:n])
		rows = rows[n:]
	}
}

func appendNumbers[T Numeric](dst []byte, rows []T) []byte {
	out, err := binary.Append(dst, binary.LittleEndian, rows)
	if err != nil {
		panic(err) // unreachable: package binary accepts every type of Numeric
	}
	return out
}
