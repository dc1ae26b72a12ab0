package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// pending is an append on its way to the disk. It is pooled. The state decides who owns it.
type pending struct {
	// front holds the frame head and the record header. A record is then two buffers, and the payload is never copied.
	front      []byte
	head       frameHead
	payload    []byte
	attachment Attachment
	owner      string
	holder     *holder
	memory     int64
	// state is guarded by Log.mu.
	state pendingState
	after Position
	pos   Position
	next  Position
	done  chan error
}

type pendingState int

const (
	// queued: the caller may still withdraw the append.
	queued pendingState = iota
	// taken: the committer has the append and will answer on done.
	taken
	// answered: the outcome is known and is being sent.
	answered
	// abandoned: the caller gave up while the disk had the append. The committer drops it.
	abandoned
)

// pendings is a pool that reuses the memory of frame heads and answer channels. It holds no state of any log.
type pendings struct{ pool sync.Pool }

func (p *pendings) get() *pending {
	if v, ok := p.pool.Get().(*pending); ok {
		return v
	}
	return &pending{done: make(chan error, 1)}
}

func (p *pendings) put(v *pending) {
	v.payload, v.attachment, v.holder, v.owner = nil, nil, nil, ""
	p.pool.Put(v)
}

// Append stores the record and returns its position once it is on stable storage. If ctx ends before the writer took the record,
// Append withdraws it and writes nothing of it. Once the writer has the record, Append waits for the outcome even if ctx is
// canceled, but not beyond the deadline of ctx. At the deadline it returns ErrUndecided.
func (l *Log) Append(ctx context.Context, rec Record) (Position, error) {
	if err := ctx.Err(); err != nil {
		return Position{}, fmt.Errorf("queue: append withdrawn: %w", err)
	}
	size := len(rec.Header) + len(rec.Payload)
	if size > maxRecordBytes || int64(size)+frameHeadSize+segmentHeadSize > l.cfg.MaxBytes {
		return Position{}, fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	// This check runs before the checksum is made, so that a refusal costs next to nothing. The check in enqueue is the one that
	// counts.
	if err := l.Admits(rec.Owner, rec.Public, size); err != nil {
		l.refused.Add(1)
		return Position{}, err
	}
	p := l.pool.get()
	p.head = frameHead{
		headerSize: len(rec.Header), payloadSize: len(rec.Payload), time: time.Now().UnixNano(),
		bodyCRC: l.sum.body(rec.Header, rec.Payload),
	}
	p.front = append(append(p.front[:0], make([]byte, frameHeadSize)...), rec.Header...)
	p.payload, p.attachment, p.state = rec.Payload, rec.Attachment, queued
	p.owner, p.memory = rec.Owner, p.head.size()
	if rec.Attachment != nil {
		p.memory += int64(rec.Attachment.Bytes())
	}

	if err := l.enqueue(p, rec.Public); err != nil {
		l.pool.put(p)
		l.refused.Add(1)
		return Position{}, err
	}
	err, settled := l.await(ctx, p)
	if !settled {
		return Position{}, err
	}
	pos := p.pos
	l.pool.put(p)
	if err != nil {
		l.refused.Add(1)
		return Position{}, err
	}
	return pos, nil
}

// Admits returns nil if the log would now take a record of size bytes (header and payload). Otherwise it returns ErrOwnerFull,
// ErrBackedUp or ErrClosed.
func (l *Log) Admits(owner string, public bool, size int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.admits(owner, public, frameHeadSize+int64(size))
}

// admits requires l.mu.
func (l *Log) admits(owner string, public bool, size int64) error {
	if l.closing {
		return ErrClosed
	}
	share := l.cfg.MaxBytesPerOwner
	if public {
		share /= 2
	}
	if held := l.ledger.held(owner); owner != "" && share > 0 && held > 0 && held+size > share {
		return fmt.Errorf("%w: %d of %d bytes are in use", ErrOwnerFull, held, share)
	}
	if backlog := l.ledger.total; l.cfg.HighWaterBytes > 0 && backlog > 0 && backlog+size > l.cfg.HighWaterBytes {
		return fmt.Errorf("%w: %d of %d bytes are in use", ErrBackedUp, backlog, l.cfg.MaxBytes)
	}
	if l.waitingBytes > 0 && l.waitingBytes+size > l.cfg.MaxWaitingBytes {
		return fmt.Errorf("%w: %d bytes wait for the disk", ErrBackedUp, l.waitingBytes)
	}
	return nil
}

// enqueue reserves the record's bytes and hands the append to the committer.
func (l *Log) enqueue(p *pending, public bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.admits(p.owner, public, p.head.size()); err != nil {
		return err
	}
	p.holder = l.ledger.reserve(p.owner, p.head.size())
	l.waitingBytes += p.memory
	l.waiting.Push(p.owner, p.head.size(), p)
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return nil
}

// await returns the outcome of an append. If settled is false, this caller gets no outcome and must not touch p any more.
func (l *Log) await(ctx context.Context, p *pending) (err error, settled bool) { // the error is the result here, not a failure of await
	select {
	case err := <-p.done:
		return err, true
	case <-ctx.Done():
	}
	if l.withdraw(p) {
		l.pool.put(p)
		return fmt.Errorf("queue: append withdrawn: %w", ctx.Err()), false
	}
	var late <-chan time.Time
	if deadline, ok := ctx.Deadline(); ok {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case err := <-p.done:
		return err, true
	case <-late:
	}
	if l.abandon(p) {
		return fmt.Errorf("%w: %w", ErrUndecided, context.DeadlineExceeded), false
	}
	return <-p.done, true
}

// withdraw takes back an append that the committer has not taken, and reports whether that succeeded.
func (l *Log) withdraw(p *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.state != queued {
		return false
	}
	l.waiting.Remove(p.owner, p)
	l.ledger.cancel(p.holder, p.head.size())
	l.waitingBytes -= p.memory
	return true
}

// abandon leaves an append to the committer, unless its outcome is about to arrive.
func (l *Log) abandon(p *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.state != taken {
		return false
	}
	p.state = abandoned
	return true
}

// settle records the outcome of a group. It requires l.mu. Committed records stay in the ledger until they are released.
func (l *Log) settle(group []*pending, committed bool) {
	for _, p := range group {
		l.waitingBytes -= p.memory
		if committed {
			l.ledger.commit(p.holder, p.head.size(), p.next)
		} else {
			l.ledger.cancel(p.holder, p.head.size())
		}
		if p.state == taken {
			p.state = answered
		}
	}
}

// answer sends the outcome to the callers of a settled group.
func (l *Log) answer(group []*pending, err error) {
	for _, p := range group {
		if p.state == abandoned {
			l.pool.put(p)
			continue
		}
		p.done <- err
	}
}

// unavailable wraps the cause of a failed write for the caller.
func unavailable(cause error) error {
	if errors.Is(cause, syscall.ENOSPC) || errors.Is(cause, syscall.EDQUOT) || errors.Is(cause, syscall.EFBIG) {
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrFull, cause)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, cause)
}
