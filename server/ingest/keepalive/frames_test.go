package keepalive

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
)

// stream is what a client may send after its preface: every kind of frame, some without a payload.
func stream(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	fr := http2.NewFramer(&b, nil)
	for _, err := range []error{
		fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20}),
		fr.WriteSettingsAck(),
		fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("block")}),
		fr.WriteContinuation(1, true, []byte("more")),
		fr.WriteData(1, false, bytes.Repeat([]byte{framePing}, 300)),
		fr.WriteData(1, true, nil),
		fr.WritePing(false, [8]byte{1}),
		fr.WriteWindowUpdate(0, 70000),
		fr.WritePing(true, [8]byte{2}),
		fr.WriteRSTStream(3, http2.ErrCodeCancel),
		fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1<<31 - 1, BlockFragment: nil, EndStream: true, EndHeaders: true}),
		fr.WriteGoAway(5, http2.ErrCodeNo, []byte("bye")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// framesOf reads with the HTTP/2 of golang.org/x/net, as far as it goes.
func framesOf(b []byte) (all []frame) {
	fr := http2.NewFramer(nil, bytes.NewReader(b))
	fr.AllowIllegalReads = true
	fr.SetMaxReadFrameSize(1<<24 - 1)
	for {
		h, err := fr.ReadFrameHeader()
		if err != nil {
			return all
		}
		all = append(all, frame{kind: byte(h.Type), flags: byte(h.Flags), stream: h.StreamID})
		if _, err := fr.ReadFrameForHeader(h); err != nil {
			return all
		}
	}
}

func follow(f *follower, p []byte) (all []frame) {
	for {
		rest, fr, ok := f.next(p)
		if !ok {
			return all
		}
		all = append(all, fr)
		p = rest
	}
}

func TestFollowerAtEverySplit(t *testing.T) {
	b := stream(t)
	want := framesOf(b)
	if len(want) != 12 {
		t.Fatalf("%d frames", len(want))
	}
	for size := 1; size <= len(b); size++ {
		var f follower
		var got []frame
		for rest := b; len(rest) > 0; {
			n := min(size, len(rest))
			got = append(got, follow(&f, rest[:n])...)
			rest = rest[n:]
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(frame{})); diff != "" {
			t.Fatalf("in pieces of %d (-want +got):\n%s", size, diff)
		}
		if !f.atEnd() {
			t.Fatalf("in pieces of %d: not at an end", size)
		}
	}
}

// TestUntilEnd: from any place in the stream, untilEnd leads to the next end.
func TestUntilEnd(t *testing.T) {
	b := stream(t)
	for at := range b {
		var f follower
		follow(&f, b[:at])
		n := f.untilEnd(b[at:])
		if f.atEnd() != (n == 0) {
			t.Fatalf("at %d: at an end %v, %d bytes until the end", at, f.atEnd(), n)
		}
		follow(&f, b[at:at+n])
		if !f.atEnd() {
			t.Fatalf("at %d: no end after %d bytes", at, n)
		}
	}
}

// FuzzFollower holds the follower against golang.org/x/net for any bytes, in pieces of any size.
func FuzzFollower(f *testing.F) {
	f.Add(stream(f), byte(7))
	f.Add([]byte{0, 0, 1, 6, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}, byte(1))
	f.Add([]byte{0xff, 0xff, 0xff, 6, 0, 0, 0, 0, 0}, byte(0))
	f.Fuzz(func(t *testing.T, b []byte, size byte) {
		var pieces, whole follower
		var got []frame
		for rest := b; len(rest) > 0; {
			n := min(max(int(size), 1), len(rest))
			until := pieces.untilEnd(rest)
			got = append(got, follow(&pieces, rest[:n])...)
			// What is all of the rest may be less than until the end.
			if n == until && until < len(rest) && !pieces.atEnd() {
				t.Fatalf("%d bytes were not until the end", until)
			}
			rest = rest[n:]
		}
		want := follow(&whole, b)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(frame{})); diff != "" {
			t.Errorf("in pieces (-whole +pieces):\n%s", diff)
		}
		if pieces.have != whole.have || pieces.skip != whole.skip {
			t.Errorf("in pieces it ends at %+v, whole at %+v", pieces, whole)
		}
		// Where the other one ends early, it refuses a payload, which is not our business.
		if theirs := framesOf(b); len(theirs) > len(got) || cmp.Diff(theirs, got[:len(theirs)], cmp.AllowUnexported(frame{})) != "" {
			t.Errorf("golang.org/x/net reads %v, we %v", theirs, got)
		}
	})
}

// FuzzConn: whatever a client sends, in whatever pieces, reading gives those bytes or the end, and nothing fails.
func FuzzConn(f *testing.F) {
	f.Add(append([]byte(preface), stream(f)...), byte(3))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), byte(30))
	f.Fuzz(func(t *testing.T, b []byte, size byte) {
		in := &script{in: b, size: max(int(size), 1)}
		c := &conn{Conn: in, policy: &Policy{MinInterval: time.Hour, MaxStrikes: 2, Logger: slog.New(slog.DiscardHandler)}}
		got := make([]byte, 0, len(b))
		p := make([]byte, 512)
		for {
			n, err := c.Read(p)
			got = append(got, p[:n]...)
			if err != nil {
				break
			}
		}
		if !bytes.HasPrefix(b, got) || !c.dismissed.Load() && len(got) != len(b) {
			t.Errorf("read %d bytes of %d, dismissed %v", len(got), len(b), c.dismissed.Load())
		}
	})
}
