package native

// Array is a column of arrays. The elements of a row are appended to Elements, then EndRow closes it.
type Array[C Column] struct {
	Elements C
	ends     []uint64
}

// NewArray returns an empty column over elements, which must be empty.
func NewArray[C Column](elements C) *Array[C] { return &Array[C]{Elements: elements} }

// EndRow closes the row, which holds the elements appended since the previous row.
func (c *Array[C]) EndRow() { c.ends = append(c.ends, uint64(c.Elements.Len())) }

// Start is the number of elements in closed rows, which is where the open row begins.
func (c *Array[C]) Start() int {
	if len(c.ends) == 0 {
		return 0
	}
	return int(c.ends[len(c.ends)-1])
}

// Type implements Column.
func (c *Array[C]) Type() string { return "Array(" + c.Elements.Type() + ")" }

// Len implements Column.
func (c *Array[C]) Len() int { return len(c.ends) }

// Bytes implements Column.
func (c *Array[C]) Bytes() int { return 8*len(c.ends) + c.Elements.Bytes() }

// Truncate implements Column; elements of an open row go too.
func (c *Array[C]) Truncate(n int) {
	c.ends = c.ends[:min(n, len(c.ends))]
	c.Elements.Truncate(c.Start())
}

// Reset implements Column.
func (c *Array[C]) Reset() {
	c.ends = c.ends[:0]
	c.Elements.Reset()
}

// AppendFrom implements Column.
func (c *Array[C]) AppendFrom(other Column) {
	o := other.(*Array[C])
	c.ends = appendShifted(c.ends, o.ends, uint64(c.Elements.Len()))
	c.Elements.AppendFrom(o.Elements)
}

func (c *Array[C]) writePrefix(w *Writer) { c.Elements.writePrefix(w) }

func (c *Array[C]) writeData(w *Writer) {
	writeNumbers(w, c.ends)
	c.Elements.writeData(w)
}

func appendShifted(dst, src []uint64, by uint64) []uint64 {
	at := len(dst)
	dst = append(dst, src...)
	added := dst[at:]
	for i := range added {
		added[i] += by
	}
	return dst
}

// NullableFloat64 is a column of Nullable(Float64).
type NullableFloat64 struct {
	null   UInt8
	values Float64
}

// NewNullableFloat64 returns an empty column.
func NewNullableFloat64() *NullableFloat64 { return &NullableFloat64{} }

// Append adds a row, NULL unless valid.
func (c *NullableFloat64) Append(v float64, valid bool) {
	if !valid {
		v = 0
	}
	AppendBool(&c.null, !valid)
	c.values.Append(v)
}

// Type implements Column.
func (c *NullableFloat64) Type() string { return "Nullable(Float64)" }

// Len implements Column.
func (c *NullableFloat64) Len() int { return c.values.Len() }

// Bytes implements Column.
func (c *NullableFloat64) Bytes() int { return c.null.Bytes() + c.values.Bytes() }

// Truncate implements Column.
func (c *NullableFloat64) Truncate(n int) {
	c.null.Truncate(n)
	c.values.Truncate(n)
}

// Reset implements Column.
func (c *NullableFloat64) Reset() {
	c.null.Reset()
	c.values.Reset()
}

// AppendFrom implements Column.
func (c *NullableFloat64) AppendFrom(other Column) {
	o := other.(*NullableFloat64)
	c.null.AppendFrom(&o.null)
	c.values.AppendFrom(&o.values)
}

func (c *NullableFloat64) writePrefix(*Writer) {}

func (c *NullableFloat64) writeData(w *Writer) {
	c.null.writeData(w)
	c.values.writeData(w)
}
