package pack

import (
	"bytes"
	"slices"
	"strings"
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

// TestNeedle finds texts that occur at every place, and texts whose rare byte occurs everywhere.
func TestNeedle(t *testing.T) {
	for _, word := range []string{"E", "Et", "tE", "aaE", "eee", "EEE", "teEt"} {
		n := newNeedle(word)
		for _, filler := range []string{"", "e", "E", "t", "eE", "te", "EEt"} {
			for size := range 60 {
				text := []byte(strings.Repeat(filler, size))
				for at := 0; at <= len(text); at += 7 {
					with := slices.Insert(bytes.Clone(text), at, []byte(word)...)
					for from := 0; from <= len(with); from += 5 {
						want := bytes.Index(with[from:], []byte(word))
						if want >= 0 {
							want += from
						}
						if got := n.in(with, from); got != want {
							t.Fatalf("%q in %q from %d: %d instead of %d", word, with, from, got, want)
						}
					}
				}
			}
		}
	}
}
