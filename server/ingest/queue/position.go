package queue

import (
	"cmp"
	"fmt"
	"time"
)

// Position names a place between records: the record that starts there, or the end of the record before it. Positions of one
// log are totally ordered. The zero Position is before every record.
type Position struct {
	// Segment is the number of the segment file.
	Segment uint64 `json:"segment"`
	// Offset is the byte in that file.
	Offset uint64 `json:"offset"`
	// Seq is the sequence number of the record that starts here; for an end, one more than that of the last record.
	// Sequence numbers rise through the life of a log and are never used twice, but may have gaps.
	Seq uint64 `json:"seq"`
}

// Compare orders positions: negative when p is before q.
func (p Position) Compare(q Position) int {
	if c := cmp.Compare(p.Segment, q.Segment); c != 0 {
		return c
	}
	return cmp.Compare(p.Offset, q.Offset)
}

// Before reports whether p is before q.
func (p Position) Before(q Position) bool { return p.Compare(q) < 0 }

// IsZero reports whether p is the zero Position.
func (p Position) IsZero() bool { return p == Position{} }

func (p Position) String() string { return fmt.Sprintf("%d:%d#%d", p.Segment, p.Offset, p.Seq) }

// Record is what Append stores.
type Record struct {
	// Header and Payload are stored as given. They must stay unchanged until Append returns; after that the caller may
	// use the memory again.
	Header  []byte
	Payload []byte
	// Owner is whose share of the queue the record counts against; empty counts against nobody's. Owners take turns at the disk.
	Owner string
	// Memory is what the attachment holds, for Config.MaxWaitingBytes.
	Memory int
	// Attachment is not stored. It is handed to the sink with the committed record and belongs to the sink once Append
	// has returned nil; when Append returns an error the sink has not seen it and it stays the caller's. It must not
	// refer to the memory of Header or Payload. After ErrUndecided Header, Payload and Attachment are the log's for good.
	Attachment any
}

// Committed is a record that is on disk.
type Committed struct {
	// After is the end of the record committed before this one: a consumer that has read up to After has missed nothing.
	After Position
	// Position is where the record starts, Next where it ends.
	Position Position
	Next     Position
	// Time is when Append was called.
	Time    time.Time
	Header  []byte
	Payload []byte
	// Attachment is the value given to Append; nil when the record was read from the files.
	Attachment any
}
