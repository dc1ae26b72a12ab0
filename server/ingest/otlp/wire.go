package otlp

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
)

// Wire types of the protobuf encoding, and limits that the walk shares with the Go implementation of protobuf.
const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireGroup  = 3
	wireEnd    = 4
	wireFixed4 = 5

	maxFieldNumber = 1<<29 - 1
	maxGroupNumber = 1<<31 - 1
	maxDepth       = limits.ProtobufDepth
)

// The functions below read at b[i]. They return the position after the bytes they read, or a negative number if the input is
// malformed.

// varint reads an unsigned number of up to ten bytes.
func varint(b []byte, i int) (uint64, int) {
	if i < len(b) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	return longVarint(b, i)
}

func longVarint(b []byte, i int) (uint64, int) {
	v, n := binary.Uvarint(b[i:])
	if n <= 0 {
		return 0, -1
	}
	return v, i + n
}

// chunk reads a length and that many bytes.
func chunk(b []byte, i int) ([]byte, int) {
	if i < len(b) && b[i] < 0x80 {
		n := i + 1 + int(b[i])
		if n > len(b) {
			return nil, -1
		}
		return b[i+1 : n], n
	}
	return longChunk(b, i)
}

func longChunk(b []byte, i int) ([]byte, int) {
	size, i := longVarint(b, i)
	if i < 0 || size > uint64(len(b)-i) {
		return nil, -1
	}
	return b[i : i+int(size)], i + int(size)
}

// text reads a chunk that must be UTF-8.
func text(b []byte, i int) ([]byte, int) {
	s, i := chunk(b, i)
	if i >= 0 && !validText(s) {
		return nil, -1
	}
	return s, i
}

// validText does the same as utf8.Valid, with a fast path for ASCII.
func validText(s []byte) bool {
	const high = 0x8080808080808080
	n := len(s)
	var all uint64
	switch {
	case n >= 8:
		for t := s; len(t) >= 8; t = t[8:] {
			all |= binary.LittleEndian.Uint64(t)
		}
		all |= binary.LittleEndian.Uint64(s[n-8:]) // the rest, which overlaps the bytes above
	case n >= 4:
		all = uint64(binary.LittleEndian.Uint32(s)) | uint64(binary.LittleEndian.Uint32(s[n-4:]))
	case n > 0:
		all = uint64(s[0] | s[n/2] | s[n-1])
	}
	return all&high == 0 || utf8.Valid(s)
}

func fixed64(b []byte, i int) (uint64, int) {
	if len(b)-i < 8 {
		return 0, -1
	}
	return binary.LittleEndian.Uint64(b[i:]), i + 8
}

func fixed32(b []byte, i int) (uint32, int) {
	if len(b)-i < 4 {
		return 0, -1
	}
	return binary.LittleEndian.Uint32(b[i:]), i + 4
}

// skip skips the value of an unknown field, or of a field with an unexpected wire type.
func skip(b []byte, i int, tag uint64) int {
	if n := tag >> 3; n < 1 || n > maxFieldNumber {
		return -1
	}
	return skipValue(b, i, tag, maxDepth)
}

func skipValue(b []byte, i int, tag uint64, depth int) int {
	switch tag & 7 {
	case wireVarint:
		_, i = varint(b, i)
	case wireFixed8:
		_, i = fixed64(b, i)
	case wireBytes:
		_, i = chunk(b, i)
	case wireFixed4:
		_, i = fixed32(b, i)
	case wireGroup:
		i = skipGroup(b, i, tag>>3, depth)
	default:
		i = -1
	}
	return i
}

func skipGroup(b []byte, i int, number uint64, depth int) int {
	if depth < 0 {
		return -1
	}
	for {
		var tag uint64
		if tag, i = varint(b, i); i < 0 {
			return -1
		}
		if n := tag >> 3; n < 1 || n > maxGroupNumber {
			return -1
		}
		if tag&7 == wireEnd {
			if tag>>3 != number {
				return -1
			}
			return i
		}
		if i = skipValue(b, i, tag, depth-1); i < 0 {
			return -1
		}
	}
}

func zigzag(v uint64) int32 {
	u := uint32(v)
	return int32(u>>1) ^ -int32(u&1)
}
