package corpus

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"
)

// The member holds its input, even though repeated parts are compressed once and written many times.
func TestZipped(t *testing.T) {
	period := bytes.Repeat([]byte("abc"), zipChunk)
	for name, want := range map[string][]byte{
		"nothing": {}, "a chunk": noise(zipChunk), "a byte more": period[:zipChunk+1], "repeats": period,
		"begins otherwise": join([]byte("begins"), period),
		"ends otherwise":   join(period, noise(2*zipChunk)), "changes": join(period[:3*zipChunk], noise(zipChunk+1), period,
			bytes.Repeat([]byte("xyz"), zipChunk)),
		"two equal ones, another, and again": join(period[:2*zipChunk], noise(zipChunk), period[:2*zipChunk]),
	} {
		r, err := gzip.NewReader(bytes.NewReader(zipped(want)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes became %d: %v", name, len(want), len(got), err)
		}
	}
	if n := len(zipped(make([]byte, 64*zipChunk))); n > 1<<20 {
		t.Errorf("61 MB of zeros became %d bytes", n)
	}
}
