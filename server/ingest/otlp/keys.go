package otlp

import (
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// Attribute keys are counted by their number in a column's dictionary. The counts are added to attribute_keys when the hour or
// the resource changes, and at the end.

// There is one counter for each column of attributes whose keys are listed. The counters of metric tables have the same order as
// their places.
const (
	countSpan = iota
	countEvent
	countLink
	countLog
	countMetric
	counters = countMetric + places - placeGauge
)

type keyCounter struct {
	column *native.Map
	scope  blocks.Scope
	// counts is indexed by key number and type; touched lists the indexes above zero.
	counts  []uint32
	touched []uint32
}

const typeBits = 3

// keyUseSize is the approximate size in bytes of a row of attribute_keys before it is merged.
const keyUseSize = 64

func (c *keyCounter) reset() {
	for _, t := range c.touched {
		c.counts[t] = 0
	}
	c.touched = c.touched[:0]
	c.column = nil
	if len(c.counts) > 1<<16 {
		c.counts, c.touched = nil, nil
	}
}

func (c *keyCounter) count(slot uint32) {
	if int(slot) >= len(c.counts) {
		c.counts = append(c.counts, make([]uint32, int(slot)+1-len(c.counts)+64)...)
	}
	if c.counts[slot] == 0 {
		c.touched = append(c.touched, slot)
	}
	c.counts[slot]++
}

// countRow counts the keys of the row that was closed last.
func (c *keyCounter) countRow() {
	tags := c.column.RowTags()
	for i, id := range c.column.RowKeys() {
		c.count(id<<typeBits | uint32(tags[i]))
	}
}

// enterHour makes the hour of t the current one.
func (w *walker) enterHour(t int64) {
	// The division is expensive on this path, and nearly every item is in the same hour as the previous one.
	if from := int64(w.hour) * 1e9; t >= from && t < from+nanosPerHour {
		return
	}
	w.flushKeys()
	w.hour = uint32(t / nanosPerHour * 3600)
}

func (w *walker) signalName() blocks.Signal { return blocks.Signal(w.signal) }

// flushKeys adds the counts to attribute_keys.
func (w *walker) flushKeys() {
	for i := range w.counters {
		c := &w.counters[i]
		w.size += keyUseSize * len(c.touched) // The check for the next row refuses the request if this is too much.
		for _, t := range c.touched {
			typ := blocks.ValueType(t & (1<<typeBits - 1))
			w.keys.Add(w.org, w.hour, w.signalName(), c.scope, c.column.KeyName(t>>typeBits), typ, uint64(c.counts[t]))
			c.counts[t] = 0
		}
		c.touched = c.touched[:0]
	}
	if w.resource.rows == 0 {
		return
	}
	for i := range w.resource.attributes {
		if a := &w.resource.attributes[i]; !a.stamped {
			w.keys.Add(w.org, w.hour, w.signalName(), blocks.OnResource, a.key, a.typ, w.resource.rows)
		}
	}
	w.resource.rows = 0
}
