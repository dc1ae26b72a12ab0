package queue

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzScanner reads arbitrary bytes as a segment. The scanner must end, cover the bytes without a gap, and find only records that
// really exist.
func FuzzScanner(f *testing.F) {
	var id logID // fixed, so that the corpus stays valid
	sum := newChecksum(id)
	frame := func(seq uint64, header, payload string) []byte {
		b := make([]byte, frameHeadSize, frameHeadSize+len(header)+len(payload))
		sum.putHead(b, 1, frameHead{
			headerSize: len(header), payloadSize: len(payload), seq: seq, time: 42, bodyCRC: sum.body([]byte(header), []byte(payload)),
		})
		return append(append(b, header...), payload...)
	}
	one, two := frame(1, "header", "payload"), frame(2, "", "SQR1SQR1")
	f.Add([]byte{})
	f.Add(make([]byte, 300))
	f.Add(append(bytes.Clone(one), two...))
	f.Add(append(append(bytes.Clone(one), "garbage SQR1"...), two...))
	f.Add(append(bytes.Clone(one), two[:len(two)-3]...))
	f.Add(append(bytes.Clone(two), one...))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := scanner{r: bytes.NewReader(data), sum: sum, segment: 1, end: int64(len(data))}
		var at int64
		var seq uint64
		for {
			item, err := s.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if item.from != at || item.to <= item.from || item.to > int64(len(data)) {
				t.Fatalf("range %d–%d after %d of %d bytes", item.from, item.to, at, len(data))
			}
			at = item.to
			if item.why != "" {
				continue
			}
			if item.head.seq <= seq {
				t.Fatalf("sequence %d after %d", item.head.seq, seq)
			}
			seq = item.head.seq
			again := make([]byte, frameHeadSize)
			sum.putHead(again, 1, item.head)
			again = bytes.Join([][]byte{again, item.header, item.payload}, nil)
			// The checksum covers the three spare bytes, which are zero in every record of this version.
			if !bytes.Equal(again, data[item.from:item.to]) {
				t.Fatalf("record at %d is not what the bytes say", item.from)
			}
		}
		if len(bytes.TrimRight(data[at:], "\x00")) > 0 {
			t.Fatalf("bytes from %d on were passed over", at)
		}
	})
}
