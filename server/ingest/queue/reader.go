package queue

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Reader reads committed records from the files in log order. Only one goroutine may use it. The log may be written meanwhile.
type Reader struct {
	log  *Log
	pos  Position
	seg  *segment
	file File
	scan scanner
}

// Reader returns a reader that starts with the first record at or behind from.
func (l *Log) Reader(from Position) *Reader { return &Reader{log: l, pos: from} }

// Next returns the next committed record. It returns io.EOF if there is no further record yet, and may be called again later. The
// record's slices are valid until the next call. Next reports damaged bytes and skips them.
func (r *Reader) Next() (Committed, error) {
	for {
		if r.file == nil {
			if err := r.open(); err != nil {
				return Committed{}, err
			}
		}
		item, err := r.scan.next()
		switch {
		case errors.Is(err, io.EOF):
			if err := r.advance(); err != nil {
				return Committed{}, err
			}
			continue
		case err != nil:
			return Committed{}, fmt.Errorf("read queue segment %s: %w", r.seg.name(), err)
		case item.why != "":
			r.log.reportDamage(r.file, r.seg, item)
			continue
		}
		rec := Committed{
			After:    r.pos,
			Position: Position{Segment: r.seg.number, Offset: uint64(item.from), Seq: item.head.seq},
			Next:     Position{Segment: r.seg.number, Offset: uint64(item.to), Seq: item.head.seq + 1},
			Time:     time.Unix(0, item.head.time), Header: item.header, Payload: item.payload,
		}
		r.pos = rec.Next
		return rec, nil
	}
}

// Close closes the file it reads from.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file, r.seg = nil, nil
	return f.Close()
}

// open opens the segment that holds r.pos, or the first one behind it.
func (r *Reader) open() error {
	for {
		seg, size := r.find()
		if seg == nil {
			return io.EOF
		}
		f, err := r.log.fs.Open(seg.path)
		if err != nil {
			if live, _ := r.find(); live != seg {
				continue // released in between
			}
			return fmt.Errorf("open a queue segment: %w", err)
		}
		off := int64(segmentHeadSize)
		if seg.number == r.pos.Segment {
			off = max(off, int64(r.pos.Offset))
		}
		r.seg, r.file = seg, f
		r.scan = scanner{r: f, sum: r.log.sum, segment: seg.number, off: off, end: size, buf: r.scan.buf[:0]}
		return nil
	}
}

func (r *Reader) find() (*segment, int64) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	for _, s := range r.log.segments {
		if s.number > r.pos.Segment || (s.number == r.pos.Segment && (!s.sealed || s.size > int64(r.pos.Offset))) {
			return s, s.size
		}
	}
	return nil, 0
}

// advance continues at the known end of the segment: with more of this segment, with the next segment, or with io.EOF.
func (r *Reader) advance() error {
	r.log.mu.Lock()
	size, sealed := r.seg.size, r.seg.sealed
	r.log.mu.Unlock()
	if size > r.scan.end {
		r.scan.end = size
		return nil
	}
	if !sealed {
		return io.EOF
	}
	// Everything in this segment has been read. Look behind it.
	r.pos = Position{Segment: r.seg.number, Offset: uint64(max(size, r.scan.off)), Seq: r.pos.Seq}
	if err := r.Close(); err != nil {
		return err
	}
	return r.open()
}
