package keepalive

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

func newConn(s *script) *conn {
	return &conn{Conn: s, policy: &Policy{MinInterval: 10 * time.Second, MaxStrikes: 2, Logger: slog.New(slog.DiscardHandler)}}
}

func TestStrikes(t *testing.T) {
	for _, c := range []struct {
		name string
		// at are the times of the pings in seconds, after of those before which the server answered.
		at    []float64
		after map[int]bool
		// out is the ping that is one too many, -1 for none.
		out int
	}{
		{"on time", []float64{0, 10, 20, 30, 40, 50}, nil, -1},
		{"on time, but the net is uneven", []float64{0, 9.5, 19.8, 29, 38.2, 48}, nil, -1},
		{"too often", []float64{0, 1, 2, 3}, nil, 3},
		{"too often now and then", []float64{0, 1, 20, 21, 40, 41}, nil, 5},
		{"after every answer", []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5}, map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true}, -1},
		{"an answer forgives what was before", []float64{0, 1, 2, 3, 4, 5}, map[int]bool{3: true}, -1},
		{"an answer forgives what was before, not what comes", []float64{0, 1, 2, 3, 4, 5, 6}, map[int]bool{3: true}, 6},
	} {
		conn := newConn(&script{})
		start := time.Now()
		out := -1
		for i, at := range c.at {
			if c.after[i] {
				conn.answered.Store(true)
			}
			if conn.strike(start.Add(time.Duration(at * float64(time.Second)))) {
				out = i
				break
			}
		}
		if out != c.out {
			t.Errorf("%s: ping %d was one too many, want %d", c.name, out, c.out)
		}
	}
}

func pings(n int) []byte {
	var b bytes.Buffer
	b.WriteString(preface)
	fr := http2.NewFramer(&b, nil)
	_ = fr.WriteSettings()                                                              // a buffer takes everything
	_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 7, BlockFragment: []byte{1}}) // likewise
	for range n {
		_ = fr.WritePing(false, [8]byte{})
	}
	return b.Bytes()
}

// answer is a frame of the server's that forgives nothing.
func answer(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := http2.NewFramer(&b, nil).WriteWindowUpdate(0, 100); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func checkGoAway(t *testing.T, s *script, before []byte) {
	t.Helper()
	said, found := bytes.CutPrefix(s.out.Bytes(), before)
	if !found {
		t.Fatalf("%x was written, want first %x", s.out.Bytes(), before)
	}
	fr := http2.NewFramer(nil, bytes.NewReader(said))
	f, err := fr.ReadFrame()
	if err != nil {
		t.Fatalf("%v in %x", err, said)
	}
	bye, ok := f.(*http2.GoAwayFrame)
	if !ok || bye.ErrCode != http2.ErrCodeEnhanceYourCalm || string(bye.DebugData()) != "too_many_pings" || bye.LastStreamID != 7 {
		t.Errorf("%v", f)
	}
	if _, err := fr.ReadFrame(); !errors.Is(err, io.EOF) {
		t.Errorf("more behind the GOAWAY: %v", err)
	}
	if !s.closedHalf {
		t.Error("the connection is not closed for writing")
	}
}

// TestGoAwayBetweenFrames: wherever in a frame the server is when a client is dismissed, the GOAWAY comes right behind that frame, and
// nothing behind the GOAWAY.
func TestGoAwayBetweenFrames(t *testing.T) {
	two := append(answer(t), answer(t)...)
	for at := 0; at <= len(two); at++ {
		s := &script{in: pings(4), size: 1 << 10}
		c := newConn(s)
		write := func(p []byte) {
			if n, err := c.Write(p); err != nil || n != len(p) {
				t.Fatalf("at %d: %d, %v", at, n, err)
			}
		}
		write(two[:at])
		if _, err := c.Read(make([]byte, 1<<10)); err != nil {
			t.Fatal(err)
		}
		write(two[at:])
		write(two)
		frames := (at + len(two)/2 - 1) / (len(two) / 2)
		checkGoAway(t, s, two[:frames*len(two)/2])
		if n, err := c.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("reading after the GOAWAY: %d, %v", n, err)
		}
	}
}

func TestNotDismissed(t *testing.T) {
	acks := bytes.ReplaceAll(pings(9), []byte{framePing, 0}, []byte{framePing, flagAck})
	for name, in := range map[string][]byte{
		"three pings":      pings(3),
		"acknowledgements": acks,
		"HTTP/1.1":         []byte("POST / HTTP/1.1\r\n\r\n" + strings.Repeat(string(pings(9)), 2)),
		"no preface":       pings(9)[1:],
	} {
		s := &script{in: in, size: 5}
		c := newConn(s)
		got, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(got, in) || c.dismissed.Load() || s.out.Len() > 0 {
			t.Errorf("%s: %d bytes of %d, %v, dismissed %v", name, len(got), len(in), err, c.dismissed.Load())
		}
	}
}

// BenchmarkFollow is what a call costs the connection: its bytes come in pieces of a frame header and a payload, as HTTP/2 reads them.
func BenchmarkFollow(b *testing.B) {
	c := newConn(&script{})
	c.greeted = len(preface)
	header, payload := []byte{0, 0x40, 0, frameData, 0, 0, 0, 0, 1}, make([]byte, 16<<10)
	b.SetBytes(int64(len(header) + len(payload)))
	for b.Loop() {
		c.tooManyPings(header)
		c.tooManyPings(payload)
	}
}
