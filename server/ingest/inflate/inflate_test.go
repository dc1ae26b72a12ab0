package inflate_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/svc-observability/svc/server/ingest/inflate"
)

// pack compresses with one of the two writers that Go senders use.
func pack(tb testing.TB, raw []byte, level int, std bool) []byte {
	tb.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	if std {
		w, err = stdgzip.NewWriterLevel(&b, level)
	} else {
		w, err = gzip.NewWriterLevel(&b, level)
	}
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(raw); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func samples() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 200_000)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	var text strings.Builder
	for text.Len() < 300_000 {
		fmt.Fprintf(&text, "order %d of customer %d took %d ms;", r.Uint32(), r.IntN(1000), r.IntN(900))
	}
	skewed := make([]byte, 150_000) // codes of very different lengths
	for i := range skewed {
		skewed[i] = byte(min(r.ExpFloat64()*6, 255))
	}
	return map[string][]byte{
		"empty": {}, "one": {'x'}, "short": []byte("hello, hello, hello"), "zeros": make([]byte, 100_000),
		"pairs":  bytes.Repeat([]byte("ab"), 40_000),
		"random": random, "text": []byte(text.String()), "skewed": skewed, "seven": bytes.Repeat([]byte("abcdefg"), 10_000),
	}
}

func TestGunzip(t *testing.T) {
	var d inflate.Decoder
	for name, raw := range samples() {
		for _, std := range []bool{true, false} {
			for _, level := range []int{-2, -1, 0, 1, 5, 9} {
				packed := pack(t, raw, level, std)
				got := make([]byte, len(raw))
				if !d.Gunzip(got, packed) {
					t.Errorf("%s at level %d (standard library: %t) is not taken", name, level, std)
				} else if !bytes.Equal(got, raw) {
					t.Errorf("%s at level %d (standard library: %t) differs", name, level, std)
				}
			}
		}
	}
}

// Gunzip leaves anything other than the plain case to a general reader.
func TestNotPlain(t *testing.T) {
	var d inflate.Decoder
	raw := samples()["text"]
	packed := pack(t, raw, 6, true)
	change := func(at int, by byte) []byte {
		b := bytes.Clone(packed)
		b[at] ^= by
		return b
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "header alone": packed[:10], "cut": packed[:len(packed)/2], "no trailer": packed[:len(packed)-8],
		"wrong checksum": change(len(packed)-8, 1), "wrong length": change(len(packed)-4, 1), "a name in the header": change(3, 8),
		"another method": change(2, 1), "no magic": change(0, 1), "damaged": change(len(packed)/2, 4),
		"two members":    append(bytes.Clone(packed), packed...),
		"more behind it": append(bytes.Clone(packed), 0),
	} {
		if d.Gunzip(make([]byte, len(raw)), b) {
			t.Errorf("%s is taken", name)
		}
	}
	for _, n := range []int{0, len(raw) - 1, len(raw) + 1} {
		if d.Gunzip(make([]byte, n), packed) {
			t.Errorf("%d bytes are made of %d", n, len(raw))
		}
	}
}

// A general reader accepts all that Gunzip accepts, with the same result.
func FuzzGunzip(f *testing.F) {
	for _, raw := range samples() {
		raw = raw[:min(len(raw), 2000)]
		f.Add(pack(f, raw, 6, true), uint16(len(raw)))
		f.Add(pack(f, raw, 1, false), uint16(len(raw)))
		f.Add(pack(f, raw, -2, false), uint16(len(raw)))
	}
	f.Fuzz(func(t *testing.T, packed []byte, size uint16) {
		var d inflate.Decoder
		got := make([]byte, size)
		if n := len(packed); n > 18 { // the right length and checksum, so that only decoding can find damage
			if r, err := stdgzip.NewReader(bytes.NewReader(packed)); err == nil {
				r.Multistream(false)
				if b, _ := io.ReadAll(io.LimitReader(r, 1<<16)); len(b) > 0 && len(b) < 1<<16 {
					got = make([]byte, len(b))
				}
			}
		}
		if !d.Gunzip(got, packed) {
			return
		}
		r, err := stdgzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatalf("taken, but: %v", err)
		}
		want, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("taken, but differs: %v", err)
		}
	})
}

func BenchmarkGunzip(b *testing.B) {
	raw := samples()["text"]
	for _, level := range []int{1, 6} {
		packed := pack(b, raw, level, level == 6)
		b.Run(fmt.Sprintf("level=%d/here", level), func(b *testing.B) {
			var d inflate.Decoder
			out := make([]byte, len(raw))
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if !d.Gunzip(out, packed) {
					b.Fatal("not taken")
				}
			}
		})
		b.Run(fmt.Sprintf("level=%d/general", level), func(b *testing.B) {
			var z gzip.Reader
			out := make([]byte, len(raw))
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if err := z.Reset(bytes.NewReader(packed)); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(&z, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
