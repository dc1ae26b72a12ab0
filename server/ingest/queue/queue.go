// Package queue is the durable ingest queue: a log of records in segment files. Append returns once its record is on stable
// storage. One fdatasync serves every append that is waiting (group commit). The log hands records on in log order. It reads them
// again from the files after a restart, or when the consumer fell behind.
//
// The queue guarantees three things. A record whose Append returned nil is kept until Release passes it. A record whose Append
// returned an error is never replayed, as long as the disk can be repaired. A damaged record is reported and never takes an
// undamaged one with it.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-observability/svc/server/ingest/fair"
	"github.com/svc-observability/svc/server/limits"
)

// Errors of Append. Every failure to store wraps ErrUnavailable; a lack of room wraps ErrFull too. All of them pass by themselves
// once the cause is gone. Nothing of a refused record is written, except with ErrUndecided.
var (
	// ErrOwnerFull says that the unreleased bytes of the record's owner have reached Config.MaxBytesPerOwner.
	ErrOwnerFull = errors.New("the owner's share of the ingest queue is full")
	// ErrBackedUp says that the whole queue is backed up. Either its consumer is too far behind, or the disk does not write the
	// waiting records.
	ErrBackedUp = errors.New("the ingest queue is backed up")
	// ErrUndecided says that the context ended while the disk was writing the record. The record is stored once or not at all.
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
	// DefaultMaxBytesPerOwner bounds the delay that one owner's burst causes for all others, because the log is consumed in
	// order.
	DefaultMaxBytesPerOwner = limits.QueueOfOrganization
	// DefaultMaxWaitingBytes is many groups of commitBytes. A working disk is never that far behind.
	DefaultMaxWaitingBytes = limits.QueueWaiting
	minSegmentBytes        = 4 << 10
)

// Config sets where and how a log keeps its records.
type Config struct {
	// Dir is the folder. Open creates it if it is missing. Only one process at a time can use it.
	Dir string
	// SegmentBytes is the size of a segment file. It is at most a quarter of MaxBytes, so that room returns step by step.
	SegmentBytes int64
	// MaxBytes bounds the bytes of unreleased segments. Above it Append returns ErrFull.
	MaxBytes int64
	// MaxBytesPerOwner bounds the unreleased bytes of one owner. Above it Append returns ErrOwnerFull. 0 means
	// DefaultMaxBytesPerOwner, or a quarter of MaxBytes if that is less. A negative value means no bound. An owner without
	// unreleased bytes may always store one record of any size.
	MaxBytesPerOwner int64
	// Owner reads the owner (Record.Owner) from a record's header, so that Open can count unreleased bytes by owner. The result
	// may share memory with the header. Without this function, the bytes of earlier runs count to no owner.
	Owner func(header []byte) []byte
	// HighWaterBytes is the number of unreleased bytes from which Append returns ErrBackedUp. 0 means seven eighths of MaxBytes.
	// A negative value means MaxBytes itself.
	HighWaterBytes int64
	// MaxWaitingBytes bounds the records that wait for the disk, with their attachments. Above it Append returns ErrBackedUp.
	MaxWaitingBytes int64
	// MinFreeBytes is the space that the log leaves free on the disk, because the consumer needs room to empty the queue. 0 means
	// two segments. A negative value means no such reserve.
	MinFreeBytes int64
	Logger       *slog.Logger
	// Filesystem is the disk. Nil means the real disk.
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
		c.HighWaterBytes = c.MaxBytes / 8 * limits.QueueEighths
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

// Log is an open log. Its methods are safe for concurrent use.
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
	// waitingBytes counts appends that were neither answered nor withdrawn, with their attachments.
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

	// Only the committer uses the fields below.
	active     File
	activeSeg  *segment
	suspect    bool
	spare      []*pending
	buffers    [][]byte
	committed  []Committed
	lastRefuse time.Time

	// failing is the last failure to write a group, nil after a success.
	failing atomic.Pointer[failure]

	appended, refused, syncs, commits atomic.Int64
}

// failure is a group that could not be written.
type failure struct {
	err error
	at  time.Time
}

// failureCounts is how long Writable reports a failure. After that time, only another append can show whether the disk works
// again.
const failureCounts = 10 * time.Second

// Writable returns an error if Append fails, or will fail soon, as far as that can be known without writing: the disk has no room
// for the next segment, or the last group could not be written.
func (l *Log) Writable() error {
	if f := l.failing.Load(); f != nil && time.Since(f.at) < failureCounts {
		return f.err
	}
	if l.cfg.MinFreeBytes <= 0 {
		return nil
	}
	free, err := l.fs.Free(l.cfg.Dir)
	switch {
	case err != nil:
		return unavailable(err)
	case free < uint64(l.cfg.SegmentBytes+l.cfg.MinFreeBytes):
		return fmt.Errorf("%w: %w: the disk has %d bytes free; the next segment needs %d, and %d stay in reserve", ErrUnavailable, ErrFull, free,
			l.cfg.SegmentBytes, l.cfg.MinFreeBytes)
	}
	return nil
}

// Subscribe sets the sink. The sink gets every committed record in log order, after the disk has the record and before Append
// returns. The sink runs on the committing goroutine. It must not block, must not call the log's Append, and must not keep the
// slice, Header or Payload after it returns. Call Subscribe before the first Append.
func (l *Log) Subscribe(sink func([]Committed)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sink = sink
}

// ID returns the random id of this log. Together with a range of sequence numbers, it identifies records uniquely across all
// logs.
func (l *Log) ID() string { return l.id.String() }

// installationFile holds the id of the installation that the records belong to.
const installationFile = "installation"

// Installation returns the id of the installation that the records belong to. It is empty if none has claimed the queue.
func (l *Log) Installation() (string, error) {
	text, err := os.ReadFile(filepath.Join(l.cfg.Dir, installationFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the installation of the ingest queue: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// ClaimInstallation records that the records belong to an installation.
func (l *Log) ClaimInstallation(id string) error {
	if err := writeLine(l.fs, l.cfg.Dir, installationFile, id); err != nil {
		return fmt.Errorf("write the installation of the ingest queue: %w", err)
	}
	return nil
}

// Owner returns the owner that a record's header names, or nil without Config.Owner. The result may share memory with the header.
func (l *Log) Owner(header []byte) []byte {
	if l.cfg.Owner == nil {
		return nil
	}
	return l.cfg.Owner(header)
}

// LargestOwner looks at the records behind a position, without those of the given owners. It returns the owner with most of the bytes,
// the bytes of this owner, and the bytes of all other records. Records without an owner count among the others only. Bytes are known to
// within a thousandth of Config.MaxBytes, at most 1 MiB.
func (l *Log) LargestOwner(behind Position, except []string) (owner string, bytes, others int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ledger.largestBehind(behind, except)
}

// Dir returns the folder.
func (l *Log) Dir() string { return l.cfg.Dir }

// Tail returns the end of the newest committed record.
func (l *Log) Tail() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tail
}

// EnsureAfter places every future record behind pos, with a sequence number of at least pos.Seq, even if the files that held pos
// are lost. Otherwise a consumer that is done up to pos would skip new records. Call it before the first Append.
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

// Release gives up the records before upTo and deletes segments that hold no other records. The newest segment stays, because it
// shows which sequence numbers have been used.
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
	// Bytes and Records count unreleased segments. MaxBytes is the bound.
	Bytes, MaxBytes, Records int64
	Segments                 int
	// OldestSegment is the creation time of the oldest unreleased segment, or zero if there is no such segment.
	OldestSegment time.Time
	// Waiting counts appends that are not yet on disk. WaitingBytes is their size with the attachments, and MaxWaitingBytes its
	// bound.
	Waiting                       int
	WaitingBytes, MaxWaitingBytes int64
	// HeldBytes counts the bytes of unreleased records. LargestOwnerBytes is the largest share of one owner, and MaxBytesPerOwner
	// its bound.
	HeldBytes, LargestOwnerBytes, MaxBytesPerOwner int64
	// Appended and Refused count records, Commits counts groups, and Syncs counts calls of fdatasync, all since Open.
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

// Close writes the waiting records, refuses later ones with ErrClosed, and unlocks the folder. It waits for the disk until ctx
// ends. If ctx ends first, the folder stays locked until the process ends.
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
