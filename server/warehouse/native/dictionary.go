package native

import (
	"encoding/binary"
	"hash/maphash"
)

// dictionarySeed is shared by every dictionary of the process, so that a hash computed when a key was first seen can be reused
// when dictionaries are merged. The seed is random: a sender who could predict the hashes could make every lookup a linear
// search.
var dictionarySeed = maphash.MakeSeed()

// dictionary numbers distinct byte strings in the order they were first seen. It copies them into its own memory.
type dictionary struct {
	// keys holds the strings as Native writes them: varint length, bytes.
	keys []byte
	// entries are the strings by number. slots is an open-addressing table of numbers + 1; its length is a power of two.
	entries []dictionaryEntry
	slots   []uint32
}

type dictionaryEntry struct {
	hash       uint64
	start, end int
}

const (
	firstSlots = 64
	// Reset releases a dictionary that grew beyond these limits to the garbage collector. Clearing it for each later request would
	// cost more than building a small one.
	keepSlots = 1 << 12
	keepKeys  = 1 << 18
)

func (d *dictionary) len() int { return len(d.entries) }

func (d *dictionary) key(id uint32) []byte {
	e := &d.entries[id]
	return d.keys[e.start:e.end]
}

// intern returns the number of key.
func (d *dictionary) intern(key []byte) uint32 {
	return d.internHashed(key, maphash.Bytes(dictionarySeed, key))
}

func (d *dictionary) internHashed(key []byte, hash uint64) uint32 {
	if 2*len(d.entries) >= len(d.slots) {
		d.grow()
	}
	mask := uint64(len(d.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		n := d.slots[at]
		if n == 0 {
			d.slots[at] = d.add(key, hash)
			return d.slots[at] - 1
		}
		if e := &d.entries[n-1]; e.hash == hash && string(d.keys[e.start:e.end]) == string(key) {
			return n - 1
		}
	}
}

// add stores a key and returns its number + 1.
func (d *dictionary) add(key []byte, hash uint64) uint32 {
	d.keys = binary.AppendUvarint(d.keys, uint64(len(key)))
	start := len(d.keys)
	d.keys = append(d.keys, key...)
	d.entries = append(d.entries, dictionaryEntry{hash: hash, start: start, end: len(d.keys)})
	return uint32(len(d.entries))
}

func (d *dictionary) grow() {
	n := max(firstSlots, 2*len(d.slots))
	d.slots = make([]uint32, n)
	mask := uint64(n - 1)
	for i := range d.entries {
		at := d.entries[i].hash & mask
		for d.slots[at] != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = uint32(i + 1)
	}
}

func (d *dictionary) reset() {
	if len(d.slots) > keepSlots || cap(d.keys) > keepKeys {
		*d = dictionary{}
		return
	}
	clear(d.slots)
	d.keys, d.entries = d.keys[:0], d.entries[:0]
}
