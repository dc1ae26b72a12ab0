package pack

import (
	"bytes"
	"strings"
)

// common has the bytes of source code from the most frequent one on, as counted in 40 MB of the sources of Go in lower case.
const common = " etran\tis\nocl0df,pu.mxg()/hb1\"=2yv{4}36:w_k8"

// needle is a text to be found. Package bytes looks for the first byte of a text. A rare byte, such as the capital letter of "return
// Error", is found in fewer wrong places: searches of BenchmarkSearch take 13 to 25 % less processor time.
type needle struct {
	text []byte
	// rare is the place of the byte that is the least frequent in source code.
	rare int
}

func newNeedle(text string) needle {
	n, least := needle{text: []byte(text)}, -1
	for i := range n.text {
		rank := strings.IndexByte(common, n.text[i])
		if rank < 0 {
			rank = len(common)
		}
		if rank > least {
			n.rare, least = i, rank
		}
	}
	return n
}

// in returns the first place of the needle from a place on, or -1.
func (n *needle) in(text []byte, from int) int {
	rare := n.text[n.rare]
	for at, misses := from+n.rare, 0; at < len(text); misses++ {
		if misses > 4+(at-from)/16 {
			// The byte is not rare here. Package bytes compares sixteen bytes and more at a time.
			at -= n.rare
			if i := bytes.Index(text[at:], n.text); i >= 0 {
				return at + i
			}
			return -1
		}
		i := bytes.IndexByte(text[at:], rare)
		if i < 0 {
			return -1
		}
		start := at + i - n.rare
		if start+len(n.text) <= len(text) && bytes.Equal(text[start:start+len(n.text)], n.text) {
			return start
		}
		at += i + 1
	}
	return -1
}
