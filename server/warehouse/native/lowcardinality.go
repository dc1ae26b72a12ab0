package native

import "encoding/binary"

// LowCardinality is a column of LowCardinality(String): a dictionary, and for each row the number of its value in it. Truncating
// keeps the dictionary, so a block may contain values that no row uses any more; readers allow that.
type LowCardinality struct {
	dict  dictionary
	ids   []uint32
	fixed []string
	remap []uint32
}

// NewLowCardinality returns an empty column. The given values are always in the dictionary, numbered from 0 in the given order,
// so that AppendID needs no lookup.
func NewLowCardinality(values ...string) *LowCardinality {
	c := &LowCardinality{fixed: values}
	c.Reset()
	return c
}

// Append adds a row.
func (c *LowCardinality) Append(v []byte) { c.ids = append(c.ids, c.Intern(v)) }

// AppendString adds a row.
func (c *LowCardinality) AppendString(v string) { c.ids = append(c.ids, c.Intern([]byte(v))) }

// Intern returns the number of a value for AppendID, valid until Reset.
func (c *LowCardinality) Intern(v []byte) uint32 {
	// Values tend to repeat from row to row.
	if n := len(c.ids); n > 0 {
		if id := c.ids[n-1]; string(c.dict.key(id)) == string(v) {
			return id
		}
	}
	return c.dict.intern(v)
}

// AppendID adds a row with a value that Intern returned.
func (c *LowCardinality) AppendID(id uint32) { c.ids = append(c.ids, id) }

// Key returns the value with the given number. The bytes are valid until the next append.
func (c *LowCardinality) Key(id uint32) []byte { return c.dict.key(id) }

// Keys is the number of values in the dictionary.
func (c *LowCardinality) Keys() int { return c.dict.len() }

// IDs is the column's own memory: for each row the number of its value.
func (c *LowCardinality) IDs() []uint32 { return c.ids }

// Type implements Column.
func (c *LowCardinality) Type() string { return "LowCardinality(String)" }

// Len implements Column.
func (c *LowCardinality) Len() int { return len(c.ids) }

// Bytes implements Column.
func (c *LowCardinality) Bytes() int { return 4*len(c.ids) + len(c.dict.keys) + 24*len(c.dict.entries) }

// Truncate implements Column.
func (c *LowCardinality) Truncate(n int) { c.ids = c.ids[:min(n, len(c.ids))] }

// Reset implements Column.
func (c *LowCardinality) Reset() {
	c.ids = c.ids[:0]
	if c.dict.len() == len(c.fixed) && len(c.fixed) > 0 {
		return
	}
	c.dict.reset()
	for _, v := range c.fixed {
		c.dict.intern([]byte(v))
	}
}

// AppendFrom implements Column. It looks up each value of the other dictionary once and then renumbers the rows.
func (c *LowCardinality) AppendFrom(other Column) {
	o := other.(*LowCardinality)
	if len(o.ids) == 0 {
		return
	}
	c.remap = c.remap[:0]
	for i := range o.dict.entries {
		e := &o.dict.entries[i]
		c.remap = append(c.remap, c.dict.internHashed(o.dict.keys[e.start:e.end], e.hash))
	}
	base := len(c.ids)
	c.ids = append(c.ids, o.ids...)
	added, remap := c.ids[base:], c.remap
	for i, id := range added {
		added[i] = remap[id]
	}
	if cap(c.remap) > keepSlots {
		c.remap = nil
	}
}

const (
	sharedDictionariesVersion = 1
	hasAdditionalKeys         = 1 << 9
)

func (c *LowCardinality) writePrefix(w *Writer) { w.uint64(sharedDictionariesVersion) }

func (c *LowCardinality) writeData(w *Writer) {
	if len(c.ids) == 0 {
		return
	}
	// Index type: 0, 1, 2 for UInt8, UInt16, UInt32.
	keys, width := c.dict.len(), uint64(0)
	switch {
	case keys > 1<<16:
		width = 2
	case keys > 1<<8:
		width = 1
	}
	w.uint64(hasAdditionalKeys | width)
	w.uint64(uint64(keys))
	w.bytes(c.dict.keys)
	w.uint64(uint64(len(c.ids)))
	c.writeIDs(w, width)
}

func (c *LowCardinality) writeIDs(w *Writer, width uint64) {
	const chunk = 8192
	for ids := c.ids; len(ids) > 0 && w.err == nil; {
		n := min(chunk, len(ids))
		w.room(4 * chunk)
		switch width {
		case 0:
			for _, id := range ids[:n] {
				w.buf = append(w.buf, byte(id))
			}
		case 1:
			for _, id := range ids[:n] {
				w.buf = binary.LittleEndian.AppendUint16(w.buf, uint16(id))
			}
		default:
			for _, id := range ids[:n] {
				w.buf = binary.LittleEndian.AppendUint32(w.buf, id)
			}
		}
		ids = ids[n:]
	}
}
