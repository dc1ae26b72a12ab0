package logpush

import "google.golang.org/protobuf/encoding/protowire"

// The length of a message is known only after the message is written.

// open begins a message in the field. The bytes appended before shut are its content.
func open(b []byte, number protowire.Number) ([]byte, int) {
	b = appendTag(b, number)
	return b, len(b)
}

// shut inserts the length of the message that began at from.
func shut(b []byte, from int) []byte {
	size := len(b) - from
	n := protowire.SizeVarint(uint64(size))
	b = append(b, make([]byte, n)...)
	copy(b[from+n:], b[from:from+size])
	protowire.AppendVarint(b[:from], uint64(size))
	return b
}

// longLength is the size of a length for which room is reserved beforehand, because the messages around all records are too large
// to be moved.
const longLength = 5

func keepLength(b []byte) ([]byte, int) {
	return append(b, 0x80, 0x80, 0x80, 0x80, 0), len(b)
}

// setLength writes the length of all following bytes, into room that was reserved for it.
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

// appendText appends s as field 1, which holds the key of an attribute and the text of a value.
func appendText(b []byte, s string) []byte {
	return protowire.AppendString(appendTag(b, 1), s)
}
