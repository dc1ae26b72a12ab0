package logpush

import "google.golang.org/protobuf/encoding/protowire"

// The length of a message is known only once it is written.

// open begins a message in the field; what is appended until shut is its inside.
func open(b []byte, number protowire.Number) ([]byte, int) {
	b = appendTag(b, number)
	return b, len(b)
}

// shut makes room for the length of a message that began at from.
func shut(b []byte, from int) []byte {
	size := len(b) - from
	n := protowire.SizeVarint(uint64(size))
	b = append(b, make([]byte, n)...)
	copy(b[from+n:], b[from:from+size])
	protowire.AppendVarint(b[:from], uint64(size))
	return b
}

// longLength is the size of a length whose room is kept beforehand: the messages around all records are too large to be moved.
const longLength = 5

func keepLength(b []byte) ([]byte, int) {
	return append(b, 0x80, 0x80, 0x80, 0x80, 0), len(b)
}

// setLength writes a length where keepLength kept its room, of everything that follows.
func setLength(b []byte, from int) {
	size := len(b) - from - longLength
	for i := range longLength - 1 {
		b[from+i] = byte(size>>(7*i))&0x7f | 0x80
	}
	b[from+longLength-1] = byte(size >> (7 * (longLength - 1)))
}

func appendTag(b []byte, number protowire.Number) []byte {
	return protowire.AppendTag(b, number, protowire.BytesType)
}

func appendText(b []byte, number protowire.Number, s string) []byte {
	return protowire.AppendString(appendTag(b, number), s)
}
