package native

import "encoding/binary"

// Map is a column of Map(LowCardinality(String), String), the type of attribute columns. To add an entry, call Key and then
// append once to Values. EndRow closes the row. If a key comes twice in a row, its last entry stays.
type Map struct {
	Values String

	keys LowCardinality
	ends []uint64

	// tags holds the tag of each entry of the open row, and of the row closed last.
	tags []uint8
	// next predicts the next key, since senders write their attributes in few orders. All numbers here are keys + 1. next[k] is the
	// key that last followed k, and next[0] is the first key of the last row. previous is the latest key of the open row.
	next     []uint32
	previous uint32
	// seen[k] is 1 + the number of the row in which key k was last appended.
	seen []uint64
	row  uint64
	// uneven says that the open row has entries to drop: entries of repeated keys and removed entries.
	uneven bool

	rowKeys, rowBytes int

	keep []bool // memory for dropEntries
}

// removed is the key of an entry that Remove took out of the open row.
const removed = ^uint32(0)

// NewMap returns an empty column.
func NewMap() *Map { return &Map{} }

// Key begins an entry and returns the number of its key. The tag is the caller's own, for RowTags.
func (c *Map) Key(key []byte, tag uint8) uint32 {
	if id, ok := c.Guess(key, tag); ok {
		return id
	}
	id := c.keys.dict.intern(key)
	for int(id) >= len(c.seen) {
		c.seen = append(c.seen, 0)
	}
	for int(id)+1 >= len(c.next) {
		c.next = append(c.next, 0)
	}
	c.next[c.previous] = id + 1
	c.entry(id, tag)
	return id
}

// Guess begins an entry if the key is the one that last followed the previous key. This only compares bytes and needs no lookup.
// Otherwise it does nothing and returns false.
func (c *Map) Guess(key []byte, tag uint8) (uint32, bool) {
	if int(c.previous) < len(c.next) {
		if n := c.next[c.previous]; n > 0 && string(c.keys.dict.key(n-1)) == string(key) {
			c.entry(n-1, tag)
			return n - 1, true
		}
	}
	return 0, false
}

func (c *Map) entry(id uint32, tag uint8) {
	if c.seen[id] == c.row+1 {
		c.uneven = true
	}
	c.seen[id] = c.row + 1
	c.keys.ids = append(c.keys.ids, id)
	c.tags = append(c.tags, tag)
	c.previous = id + 1
}

// BeginRow forgets the tags of the row before. It must be called before the first entry of a row.
func (c *Map) BeginRow() {
	c.tags, c.previous = c.tags[:0], 0
	c.row++
	c.rowKeys, c.rowBytes = len(c.keys.ids), len(c.Values.buf)
}

// Has reports whether the open row has an entry of the key with this number.
func (c *Map) Has(id uint32) bool { return int(id) < len(c.seen) && c.seen[id] == c.row+1 }

// Remove removes every entry of a key from the open row. The values stay in memory until the row ends.
func (c *Map) Remove(id uint32) {
	ids := c.keys.ids[c.rowKeys:]
	for i := range ids {
		if ids[i] == id {
			ids[i] = removed
		}
	}
	c.seen[id], c.uneven = 0, true
}

// EndRow closes the row and reports whether entries were dropped, because of a repeated key or by Remove.
func (c *Map) EndRow() (dropped bool) {
	if c.uneven {
		c.dropEntries()
		dropped = true
	}
	c.ends = append(c.ends, uint64(len(c.keys.ids)))
	return dropped
}

// EachOfRow calls do with the entries of the open row, or of the row closed last. Do not call it in an open row after Remove.
func (c *Map) EachOfRow(do func(key, value []byte)) {
	at := c.rowBytes
	for _, id := range c.RowKeys() {
		size, width := binary.Uvarint(c.Values.buf[at:])
		at += width
		do(c.keys.dict.key(id), c.Values.buf[at:at+int(size)])
		at += int(size)
	}
}

// dropEntries keeps the last entry of each key in the open row.
func (c *Map) dropEntries() {
	c.uneven = false
	ids := c.keys.ids[c.rowKeys:]
	// Going backwards, the first entry of a key is its last one. A new row number marks all keys as unseen.
	c.row++
	keep := append(c.keep[:0], make([]bool, len(ids))...)
	c.keep = keep
	for i := len(ids) - 1; i >= 0; i-- {
		if ids[i] != removed && c.seen[ids[i]] != c.row+1 {
			c.seen[ids[i]] = c.row + 1
			keep[i] = true
		}
	}
	n, from, to := 0, c.rowBytes, c.rowBytes
	for i, id := range ids {
		size := skipStrings(c.Values.buf[from:], 1)
		if keep[i] {
			ids[n], c.tags[n] = id, c.tags[i]
			n++
			to += copy(c.Values.buf[to:], c.Values.buf[from:from+size])
		}
		from += size
	}
	c.Values.buf = c.Values.buf[:to]
	c.Values.rows -= len(ids) - n
	c.keys.ids = c.keys.ids[:c.rowKeys+n]
	c.tags = c.tags[:n]
}

// RowKeys and RowTags are the keys and tags of the row closed last, valid until the next BeginRow.
func (c *Map) RowKeys() []uint32 { return c.keys.ids[len(c.keys.ids)-len(c.tags):] }

// RowTags is described with RowKeys.
func (c *Map) RowTags() []uint8 { return c.tags }

// KeyName is the key with the given number, valid until the next entry.
func (c *Map) KeyName(id uint32) []byte { return c.keys.dict.key(id) }

// KeyCount is the number of distinct keys.
func (c *Map) KeyCount() int { return c.keys.dict.len() }

// Span names a closed row for Repeat. It holds until rows before it are truncated or the column is reset.
type Span struct{ keyFrom, keyTo, byteFrom, byteTo int }

// LastRow is the row closed last.
func (c *Map) LastRow() Span {
	return Span{c.rowKeys, len(c.keys.ids), c.rowBytes, len(c.Values.buf)}
}

// Size is the memory that repeating the row takes.
func (s Span) Size() int { return s.byteTo - s.byteFrom + 4*(s.keyTo-s.keyFrom) + 8 }

// Repeat appends a copy of a row.
func (c *Map) Repeat(s Span) {
	c.keys.ids = append(c.keys.ids, c.keys.ids[s.keyFrom:s.keyTo]...)
	c.Values.buf = append(c.Values.buf, c.Values.buf[s.byteFrom:s.byteTo]...)
	c.Values.rows += s.keyTo - s.keyFrom
	c.ends = append(c.ends, uint64(len(c.keys.ids)))
}

// Mark is a position to go back to in constant time.
type Mark struct{ rows, keys, values, bytes int }

// Mark returns the present position.
func (c *Map) Mark() Mark {
	return Mark{len(c.ends), len(c.keys.ids), c.Values.rows, len(c.Values.buf)}
}

// Rollback drops what was appended since the mark. Keys stay in the dictionary.
func (c *Map) Rollback(m Mark) {
	c.ends, c.keys.ids = c.ends[:m.rows], c.keys.ids[:m.keys]
	c.Values.buf, c.Values.rows = c.Values.buf[:m.bytes], m.values
	c.uneven = false
}

// Type implements Column.
func (c *Map) Type() string { return "Map(LowCardinality(String), String)" }

// Len implements Column.
func (c *Map) Len() int { return len(c.ends) }

// Bytes implements Column.
func (c *Map) Bytes() int { return 8*len(c.ends) + c.keys.Bytes() + c.Values.Bytes() }

// Truncate implements Column; entries of an open row go too.
func (c *Map) Truncate(n int) {
	c.ends = c.ends[:min(n, len(c.ends))]
	entries := 0
	if len(c.ends) > 0 {
		entries = int(c.ends[len(c.ends)-1])
	}
	c.keys.Truncate(entries)
	c.Values.Truncate(entries)
	c.uneven = false
}

// Reset implements Column.
func (c *Map) Reset() {
	c.ends, c.tags, c.next, c.previous = c.ends[:0], c.tags[:0], c.next[:0], 0
	c.keys.Reset()
	c.Values.Reset()
	if cap(c.seen) > keepSlots {
		c.seen, c.next = nil, nil
	}
	if cap(c.keep) > keepSlots {
		c.keep = nil
	}
	c.seen, c.row, c.uneven = c.seen[:0], 0, false
	c.rowKeys, c.rowBytes = 0, 0
}

// AppendFrom implements Column. Both columns must have no open row.
func (c *Map) AppendFrom(other Column) {
	o := other.(*Map)
	c.ends = appendShifted(c.ends, o.ends, uint64(len(c.keys.ids)))
	c.keys.AppendFrom(&o.keys)
	c.Values.AppendFrom(&o.Values)
	for len(c.seen) < c.keys.dict.len() {
		c.seen = append(c.seen, 0)
	}
	c.tags = c.tags[:0]
}

func (c *Map) writePrefix(w *Writer) { c.keys.writePrefix(w) }

func (c *Map) writeData(w *Writer) {
	writeNumbers(w, c.ends)
	c.keys.writeData(w)
	c.Values.writeData(w)
}
