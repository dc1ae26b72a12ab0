package queue

import (
	"cmp"
	"fmt"
	"time"
)

// Position is a place between records. It is the start of one record and the end of the record before it. Positions of one log
// are totally ordered. The zero Position is before every record.
type Position struct {
	// Segment is the number of the segment file.
	Segment uint64 `json:"segment"`
	// Offset is the byte offset in that file.
	Offset uint64 `json:"offset"`
	// Seq is the sequence number of the record that starts here. At an end, it is one more than the number of the last record.
	// Sequence numbers rise through the life of a log and are never used twice, but may have gaps.
	Seq uint64 `json:"seq"`
}

// Compare orders positions. The result is negative if p is before q.
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

// Attachment is the decoded form of a record. It stays in memory, so that its consumer need not decode the record again.
type Attachment interface {
	// Bytes returns the memory that it takes.
	Bytes() int
	// Release returns the memory. The owner calls it once, and must not use the attachment any more. It must not block.
	Release()
}

// Record is the argument of Append.
type Record struct {
	// Header and Payload are stored unchanged. They must not change until Append returns. After that the caller may reuse the
	// memory.
	Header  []byte
	Payload []byte
	// Owner names the owner of the record, for the shares of the queue. A record with an empty owner counts to no share. Owners
	// take turns at the disk.
	Owner string
	// Public says that the record came with a key that everybody can read. Such a record is refused while the owner uses half of its share
	// or more, so the rest is left to the owner's other keys.
	Public bool
	// Attachment may be nil. It is not stored. The log hands it to the sink with the committed record. Once Append has returned nil,
	// it belongs to the sink. If Append returns an error, the sink has not seen it and it still belongs to the caller. It must not refer to
	// the memory of Header or Payload. After ErrUndecided the log owns Header, Payload and Attachment for good.
	Attachment Attachment
}

// Committed is a record that is on disk.
type Committed struct {
	// After is the end of the record committed before this one. A consumer that has read up to After has missed nothing.
	After Position
	// Position is the start of the record, Next its end.
	Position Position
	Next     Position
	// Time is the time of the call of Append.
	Time    time.Time
	Header  []byte
	Payload []byte
	// Owner is the value given to Append. It is empty if the record was read from the files; Log.Owner then tells it.
	Owner string
	// Attachment is the value given to Append. It is nil if the record was read from the files.
	Attachment Attachment
}
