package otlp

import "encoding/binary"

// A message is written before its length is known, and a field may come again after it was written: these are the moves that follow.

const (
	// longLengths is the depth of JSON from which the length of a message has as many bytes as any length needs. Above it, a long message is
	// moved when its length is known, which for hundreds of levels would be hundreds of times.
	longLengths = 40
	longLength  = 5
)

// keepLength keeps room for a length.
func keepLength(dst []byte, deep bool) []byte {
	if deep {
		return append(dst, 0x80, 0x80, 0x80, 0x80, 0)
	}
	return append(dst, 0)
}

// setLength writes the length of what was appended since the byte at from, where room was kept for it.
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

// cutOut removes what a field had written.
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
