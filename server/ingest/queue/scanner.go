package queue

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// scanWindow is the number of bytes that are read from a segment at once.
const scanWindow = 256 << 10

// scanned is a finding of the scanner: a record, or a range of bytes without a record.
type scanned struct {
	from, to int64
	head     frameHead
	header   []byte
	payload  []byte
	// why is set for a damaged range. seqKnown says that the head of the damaged record was readable.
	why      string
	seqKnown bool
}

// scanner walks the frames of one segment and continues behind damaged bytes. Its slices are valid until the next call.
type scanner struct {
	r       io.ReaderAt
	sum     checksum
	segment uint64
	off     int64
	end     int64
	lastSeq uint64

	buf    []byte
	bufOff int64
}

// view returns n bytes at off. The caller stays within end.
func (s *scanner) view(off, n int64) ([]byte, error) {
	if off >= s.bufOff && off+n <= s.bufOff+int64(len(s.buf)) {
		return s.buf[off-s.bufOff:][:n], nil
	}
	want := min(max(n, scanWindow), s.end-off)
	if int64(cap(s.buf)) < want {
		s.buf = make([]byte, want)
	}
	s.buf = s.buf[:want]
	got, err := s.r.ReadAt(s.buf, off)
	s.buf, s.bufOff = s.buf[:got], off
	if int64(got) < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read %d bytes at offset %d: %w", n, off, err)
	}
	return s.buf[:n], nil
}

// next returns the next record or damaged range. It returns io.EOF at the end of the segment, or if only unused space follows.
// Afterwards s.off is the end of the finding.
func (s *scanner) next() (scanned, error) {
	if s.off >= s.end {
		return scanned{}, io.EOF
	}
	b, err := s.view(s.off, min(frameHeadSize, s.end-s.off))
	if err != nil {
		return scanned{}, err
	}
	h, why := s.believe(b)
	if why != "" {
		if empty, err := s.onlyZeros(s.off); err != nil || empty {
			return scanned{}, errors.Join(err, eofIf(empty))
		}
		to, err := s.resync(s.off + 1)
		if err != nil {
			return scanned{}, err
		}
		return s.damaged(to, scanned{why: why}), nil
	}
	s.lastSeq = h.seq
	if s.off+h.size() > s.end {
		return s.damaged(s.end, scanned{head: h, seqKnown: true, why: "the record is cut off"}), nil
	}
	body, err := s.view(s.off+frameHeadSize, h.bodySize())
	if err != nil {
		return scanned{}, err
	}
	header, payload := body[:h.headerSize:h.headerSize], body[h.headerSize:]
	if s.sum.body(header, payload) != h.bodyCRC {
		return s.damaged(s.off+h.size(), scanned{head: h, seqKnown: true, why: "the checksum of the record does not match"}), nil
	}
	found := scanned{from: s.off, to: s.off + h.size(), head: h, header: header, payload: payload}
	s.off = found.to
	return found, nil
}

func eofIf(b bool) error {
	if b {
		return io.EOF
	}
	return nil
}

func (s *scanner) damaged(to int64, d scanned) scanned {
	d.from, d.to = s.off, to
	s.off = to
	return d
}

// believe parses a head and checks it against the order of sequence numbers.
func (s *scanner) believe(b []byte) (frameHead, string) {
	h, why := s.sum.parseHead(b, s.segment)
	if why == "" && h.seq <= s.lastSeq {
		return h, "the sequence number does not follow"
	}
	return h, why
}

// resync returns the offset of the next valid head at or behind off, or the end.
func (s *scanner) resync(off int64) (int64, error) {
	var magic [4]byte
	binary.LittleEndian.PutUint32(magic[:], frameMagic)
	for off+frameHeadSize <= s.end {
		b, err := s.view(off, min(scanWindow, s.end-off))
		if err != nil {
			return 0, err
		}
		i := bytes.Index(b, magic[:])
		if i < 0 {
			off += int64(len(b)) - int64(len(magic)) + 1
			continue
		}
		off += int64(i)
		if off+frameHeadSize > s.end {
			break
		}
		head, err := s.view(off, frameHeadSize)
		if err != nil {
			return 0, err
		}
		if _, why := s.believe(head); why == "" {
			return off, nil
		}
		off++
	}
	return s.end, nil
}

// onlyZeros reports whether nothing was ever written from off on, which is the preallocated rest of a segment.
func (s *scanner) onlyZeros(off int64) (bool, error) {
	at, err := s.nonZeroEnd(off, s.end, true)
	return at == off, err
}

// nonZeroEnd returns the end of the last nonzero byte in [from, to), or from if all bytes are zero. If first is set, it stops at
// the first window with a nonzero byte.
func (s *scanner) nonZeroEnd(from, to int64, first bool) (int64, error) {
	last := from
	for off := from; off < to; {
		b, err := s.view(off, min(scanWindow, to-off))
		if err != nil {
			return 0, err
		}
		if t := bytes.TrimRight(b, "\x00"); len(t) > 0 {
			last = off + int64(len(t))
			if first {
				return last, nil
			}
		}
		off += int64(len(b))
	}
	return last, nil
}
