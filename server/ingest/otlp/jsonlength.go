package otlp

import "encoding/binary"

// The parser writes a message before it knows the length, and a field may be repeated after it was written. The functions below
// move the bytes in these cases.

const (
	// longLengths is a JSON depth. From this depth on, the length of a message is written in longLength bytes, which is enough for any
	// length. At smaller depths, a long message is moved once its length is known. Moving it at hundreds of levels would cost
	// hundreds of copies.
	longLengths = 40
	longLength  = 5
)

// keepLength reserves room for a length.
func keepLength(dst []byte, deep bool) []byte {
	if deep {
		return append(dst, 0x80, 0x80, 0x80, 0x80, 0)
	}
	return append(dst, 0)
}

// setLength writes the length of the bytes appended since from, into the room that keepLength reserved.
func setLength(dst []byte, from int, deep bool) []byte {
	if deep {
		b := dst[from:]
		size := len(b) - longLength
		for i := range longLength - 1 {
			b[i] = byte(size>>(7*i)) | 0x80
		}
		b[longLength-1] = byte(size >> (7 * (longLength - 1)))
		return dst
	}
	size := len(dst) - from - 1
	if size < 0x80 {
		dst[from] = byte(size)
		return dst
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(size))
	dst = append(dst, length[1:n]...)
	copy(dst[from+n:], dst[from+1:from+1+size])
	copy(dst[from:], length[:n])
	return dst
}

// cutOut removes the bytes that a field has written.
func cutOut(dst []byte, written *[16]extent, index int) []byte {
	cut := written[index]
	size := cut.to - cut.from
	if size == 0 {
		return dst
	}
	dst = append(dst[:cut.from], dst[cut.to:]...)
	for i := range written {
		if written[i].from >= cut.to {
			written[i].from -= size
			written[i].to -= size
		}
	}
	return dst
}
