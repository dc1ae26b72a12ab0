// Package queue is the durable ingest queue: a log of records in segment files. Append returns once its record is on stable
// storage; one fdatasync serves every append that is waiting (group commit). Records are handed on in log order, and read again
// from the files after a restart or when the consumer fell behind.
//
// What it promises: a record whose Append returned nil is kept until Release passes it; a record whose Append returned an error
// is never replayed (as long as the disk lets itself be repaired); a damaged record is named and never takes an undamaged one
// with it.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-observability/svc/server/ingest/fair"
	"github.com/svc-observability/svc/server/limits"
)

// Errors of Append. Every failure to store wraps ErrUnavailable; lack of room wraps ErrFull too. All of them pass by themselves
// once the cause is gone. Of a record that was refused nothing is written, but for ErrUndecided.
var (
	// ErrOwnerFull says that the record's owner has as many unreleased bytes as Config.MaxBytesPerOwner.
	ErrOwnerFull = errors.New("the owner's share of the ingest queue is full")
	// ErrBackedUp says that the queue as a whole is backed up: its consumer is too far behind, or the disk does not take what waits.
	ErrBackedUp = errors.New("the ingest queue is backed up")
	// ErrUndecided says that the context ended while the disk was writing the record: it may be stored, then once, or not at all.
	ErrUndecided   = errors.New("the ingest queue's disk has not answered in time")
	ErrUnavailable = errors.New("the ingest queue cannot store data at the moment")
	ErrFull        = errors.New("the ingest queue is full")
	ErrTooLarge    = errors.New("the record is too large for the ingest queue")
	ErrClosed      = errors.New("the ingest queue is closed")
)

// Defaults of Config.
const (
	DefaultSegmentBytes = 64 << 20
	DefaultMaxBytes     = limits.Queue
	// DefaultMaxBytesPerOwner bounds what one owner's rush delays everybody behind it, for the log is consumed in order.
	DefaultMaxBytesPerOwner = limits.QueueOfOrganization
	// DefaultMaxWaitingBytes is many groups of commitBytes: a disk that works is never that far behind.
	DefaultMaxWaitingBytes = limits.QueueWaiting
	minSegmentBytes        = 4 << 10
)

// Config says where and how a log keeps its records.
type Config struct {
	// Dir is the folder; it is made when missing and belongs to one process at a time.
	Dir string
	// SegmentBytes is the size of a segment file; at most a quarter of MaxBytes, so that room comes back step by step.
	SegmentBytes int64
	// MaxBytes bounds the bytes of unreleased segments; beyond it Append answers ErrFull.
	MaxBytes int64
	// MaxBytesPerOwner bounds the unreleased bytes of one owner; beyond it Append answers ErrOwnerFull. 0 means
	// DefaultMaxBytesPerOwner, or a quarter of MaxBytes when that is less; negative no bound. An owner that has none may always store one
	// record, whatever its size.
	MaxBytesPerOwner int64
	// Owner reads the owner from a record's header, as Record.Owner had it, so that Open knows whose the unreleased bytes are. The result
	// may lie in the header. Without it the bytes of an earlier run are nobody's.
	Owner func(header []byte) []byte
	// HighWaterBytes is the bytes of unreleased records from which Append answers ErrBackedUp; 0 means seven eighths of MaxBytes, negative MaxBytes itself.
	HighWaterBytes int64
	// MaxWaitingBytes bounds the records that wait for the disk, with their attachments; beyond it Append answers ErrBackedUp.
	MaxWaitingBytes int64
	// MinFreeBytes is left free on the disk: the consumer needs room to empty the queue. 0 means two segments, negative none.
	MinFreeBytes int64
	Logger       *slog.Logger
	// Filesystem is the real disk when nil.
	Filesystem Filesystem
}

func (c Config) withDefaults() (Config, error) {
	if c.Dir == "" {
		return c, errors.New("queue: Dir is empty")
	}
	if c.SegmentBytes < 0 || c.MaxBytes < 0 {
		return c, errors.New("queue: SegmentBytes and MaxBytes must not be negative")
	}
	if c.SegmentBytes == 0 {
		c.SegmentBytes = DefaultSegmentBytes
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.MaxBytesPerOwner == 0 {
		c.MaxBytesPerOwner = min(DefaultMaxBytesPerOwner, c.MaxBytes/4)
	}
	if c.HighWaterBytes == 0 {
		c.HighWaterBytes = c.MaxBytes / 8 * 7
	}
	if c.MaxWaitingBytes <= 0 {
		c.MaxWaitingBytes = DefaultMaxWaitingBytes
	}
	c.SegmentBytes = max(min(c.SegmentBytes, c.MaxBytes/4), minSegmentBytes)
	if c.MinFreeBytes == 0 {
		c.MinFreeBytes = 2 * c.SegmentBytes
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Filesystem == nil {
		c.Filesystem = OSFilesystem{}
	}
	return c, nil
}

// Log is an open log. Its methods may be called from any goroutine.
type Log struct {
	cfg    Config
	fs     Filesystem
	logger *slog.Logger
	id     logID
	sum    checksum
	lock   *os.File
	pool   pendings

	wake chan struct{}
	done chan struct{}

	mu      sync.Mutex
	waiting fair.Queue[*pending]
	// waitingBytes are those of appends that were neither answered nor withdrawn, with their attachments.
	waitingBytes int64
	ledger       ledger
	closing      bool
	sink         func([]Committed)
	segments     []*segment
	total        int64
	tail         Position
	released     Position
	damage       []Damage
	known        map[damageKey]bool

	releasing sync.Mutex

	// nextSegment and nextSeq are read and written under mu; after Open only the committer and EnsureAfter change them.
	nextSegment uint64
	nextSeq     uint64

	// The rest belongs to the committer alone.
	active     File
	activeSeg  *segment
	suspect    bool
	spare      []*pending
	buffers    [][]byte
	committed  []Committed
	lastRefuse time.Time

	appended, refused, syncs, commits atomic.Int64
}

// Subscribe sets the sink, which gets every committed record in log order, right after the disk has it and before Append
// returns. The sink runs on the committing goroutine: it must not block, must not call the log's Append, and must not keep the
// slice, Header or Payload after it returns. Call it before the first Append.
func (l *Log) Subscribe(sink func([]Committed)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sink = sink
}

// ID returns the random id of this log: with a range of sequence numbers it names records uniquely across all logs.
func (l *Log) ID() string { return l.id.String() }

// Dir returns the folder.
func (l *Log) Dir() string { return l.cfg.Dir }

// Tail returns the end of the newest committed record.
func (l *Log) Tail() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tail
}

// EnsureAfter makes every future record come behind pos and carry a sequence number of at least pos.Seq, even when the files
// that held pos are lost: a consumer that is done up to pos would otherwise pass over new records. Call it before the first
// Append.
func (l *Log) EnsureAfter(pos Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.tail.Before(pos) && l.nextSeq >= pos.Seq {
		return
	}
	l.logger.Warn("queue ends before the checkpoint", slog.String("queue_end", l.tail.String()), slog.String("checkpoint", pos.String()))
	if l.tail.Before(pos) {
		l.tail = pos
	}
	l.nextSegment = max(l.nextSegment, pos.Segment+1)
	l.nextSeq = max(l.nextSeq, pos.Seq)
}

// Release gives up the records before upTo: segments that hold nothing else are deleted. The newest segment stays, because it
// tells which sequence numbers have been used.
func (l *Log) Release(upTo Position) error {
	l.releasing.Lock()
	defer l.releasing.Unlock()
	l.mu.Lock()
	if l.released.Before(upTo) {
		l.released = upTo
	}
	l.ledger.release(upTo)
	l.mu.Unlock()
	for {
		l.mu.Lock()
		var oldest *segment
		if len(l.segments) > 1 {
			oldest = l.segments[0]
			if oldest.number > upTo.Segment || (oldest.number == upTo.Segment && uint64(oldest.size) > upTo.Offset) {
				oldest = nil
			}
		}
		l.mu.Unlock()
		if oldest == nil {
			return nil
		}
		if err := l.fs.Remove(oldest.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("delete a segment that is no longer needed: %w", err)
		}
		l.mu.Lock()
		l.segments = l.segments[1:]
		l.total -= oldest.size
		l.mu.Unlock()
	}
}

// Stats is a snapshot for metrics.
type Stats struct {
	// Bytes and Records are those of unreleased segments; MaxBytes is the bound.
	Bytes, MaxBytes, Records int64
	Segments                 int
	// OldestSegment is when the oldest unreleased segment was made; zero when there is none.
	OldestSegment time.Time
	// Waiting appends are not yet on disk; WaitingBytes are theirs, with the attachments, MaxWaitingBytes is the bound.
	Waiting                       int
	WaitingBytes, MaxWaitingBytes int64
	// HeldBytes are those of unreleased records, LargestOwnerBytes the most that one owner has of them, MaxBytesPerOwner the bound.
	HeldBytes, LargestOwnerBytes, MaxBytesPerOwner int64
	// Appended and Refused count records, Commits groups, Syncs calls of fdatasync, since Open.
	Appended, Refused, Commits, Syncs int64
	Damaged                           int
	Tail                              Position
}

// Stats returns a snapshot.
func (l *Log) Stats() Stats {
	s := Stats{
		MaxBytes: l.cfg.MaxBytes, MaxWaitingBytes: l.cfg.MaxWaitingBytes, MaxBytesPerOwner: l.cfg.MaxBytesPerOwner,
		Appended: l.appended.Load(), Refused: l.refused.Load(), Commits: l.commits.Load(), Syncs: l.syncs.Load(),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Bytes, s.Segments, s.Waiting, s.Damaged, s.Tail = l.total, len(l.segments), l.waiting.Len(), len(l.damage), l.tail
	s.WaitingBytes, s.HeldBytes, s.LargestOwnerBytes = l.waitingBytes, l.ledger.total, l.ledger.largest()
	for i, seg := range l.segments {
		if i == 0 {
			s.OldestSegment = seg.created
		}
		s.Records += seg.records
	}
	return s
}

// Close writes what is waiting, refuses everything after that with ErrClosed, and gives the folder free. It waits for the disk,
// at most until ctx ends; then the folder stays locked until the process ends.
func (l *Log) Close(ctx context.Context) error {
	l.mu.Lock()
	again := l.closing
	l.closing = true
	l.mu.Unlock()
	if !again {
		close(l.wake)
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		return fmt.Errorf("close the ingest queue: %w", ctx.Err())
	}
	if again {
		return nil
	}
	return errors.Join(l.seal(), l.lock.Close())
}
