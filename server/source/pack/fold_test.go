package pack

import (
	"bytes"
	"testing"
)

// TestLowerASCII compares eight bytes at a time with one at a time, for every byte at every place of a word.
func TestLowerASCII(t *testing.T) {
	for b := range 256 {
		for at := range 19 {
			for _, rest := range []byte{0, 'A', 'Z', 'z', '[', '@', 0x80, 0xff} {
				src := bytes.Repeat([]byte{rest}, 19)
				src[at] = byte(b)
				got, want := make([]byte, len(src)), make([]byte, len(src))
				for i, c := range src {
					want[i] = lower(c)
				}
				if lowerASCII(got, src); !bytes.Equal(got, want) {
					t.Fatalf("%q becomes %q instead of %q", src, got, want)
				}
			}
		}
	}
	if lower('A') != 'a' || lower('Z') != 'z' || lower('@') != '@' || lower('[') != '[' || lower('a') != 'a' {
		t.Error("lower")
	}
}
