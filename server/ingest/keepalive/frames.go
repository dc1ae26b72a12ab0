package keepalive

import "encoding/binary"

// What of HTTP/2 (RFC 9113) is looked at.
const (
	headerBytes = 9

	frameData    = 0x0
	frameHeaders = 0x1
	framePing    = 0x6
	frameGoAway  = 0x7

	flagAck = 0x1

	enhanceYourCalm = 0xb
)

// preface is what a client begins with, before its first frame.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// frame is the beginning of a frame.
type frame struct {
	kind, flags byte
	stream      uint32
}

// follower knows where frames begin in one direction of a connection. Its zero value is at a beginning.
type follower struct {
	header [headerBytes]byte
	// have is how much of the header has come, skip how much of the payload is still to come.
	have, skip int
}

// next takes bytes until a header is complete, and returns what is left of p. ok is false when p ended before.
func (f *follower) next(p []byte) (rest []byte, fr frame, ok bool) {
	if f.skip > 0 {
		n := min(f.skip, len(p))
		f.skip -= n
		p = p[n:]
	}
	n := copy(f.header[f.have:], p)
	f.have += n
	if f.have < headerBytes {
		return nil, fr, false
	}
	f.have = 0
	f.skip = int(f.header[0])<<16 | int(f.header[1])<<8 | int(f.header[2])
	return p[n:], frame{kind: f.header[3], flags: f.header[4], stream: binary.BigEndian.Uint32(f.header[5:]) &^ (1 << 31)}, true
}

// atEnd says that a frame has ended and none begun.
func (f *follower) atEnd() bool { return f.have == 0 && f.skip == 0 }

// untilEnd is how much of p belongs to the frame that has begun.
func (f *follower) untilEnd(p []byte) int {
	if f.have > 0 { // take the rest of the header to know the length
		probe := *f
		rest, _, ok := probe.next(p)
		if !ok {
			return len(p)
		}
		return len(p) - len(rest) + min(probe.skip, len(rest))
	}
	return min(f.skip, len(p))
}

// appendGoAway appends the frame that dismisses a client. Streams up to the last one may have been served; a client may repeat later ones.
func appendGoAway(b []byte, last uint32) []byte {
	const reason = "too_many_pings"
	b = append(b, 0, 0, byte(8+len(reason)), frameGoAway, 0, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, last)
	b = binary.BigEndian.AppendUint32(b, enhanceYourCalm)
	return append(b, reason...)
}
