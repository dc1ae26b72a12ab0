package pack

import (
	"bytes"
	"encoding/binary"
)

func lower(b byte) byte {
	if b-'A' < 26 {
		return b + 'a' - 'A'
	}
	return b
}

// lowerASCII writes src with the letters A–Z as a–z to dst, which has the same length. It takes eight bytes at a time.
func lowerASCII(dst, src []byte) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	n := len(src) &^ 7
	for i := 0; i < n; i += 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		low := w &^ high
		upper := (low + (0x80-'A')*ones) &^ (low + (0x80-'Z'-1)*ones) &^ w & high
		binary.LittleEndian.PutUint64(dst[i:], w+upper>>2)
	}
	for i := n; i < len(src); i++ {
		dst[i] = lower(src[i])
	}
}

// foldsBeyond7 reports whether a text holds ſ (U+017F) or K (U+212A), which equal s and k when case is ignored. No other character outside
// of ASCII equals one inside. Texts that hold them are searched without the shortcuts for ASCII.
func foldsBeyond7(text []byte) bool {
	return bytes.Contains(text, []byte("\u017F")) || bytes.Contains(text, []byte("\u212A"))
}
