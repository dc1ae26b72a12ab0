package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// pending is an append on its way to the disk. It is pooled; who owns it follows from state.
type pending struct {
	// front holds the frame head and the record header, so that a record is two buffers and the payload is never copied.
	front      []byte
	head       frameHead
	payload    []byte
	attachment any
	// state is guarded by Log.mu.
	state pendingState
	after Position
	pos   Position
	next  Position
	done  chan error
}

type pendingState int

const (
	// queued: the caller may still withdraw it.
	queued pendingState = iota
	// taken: the committer has it and will answer on done.
	taken
	// withdrawn: the caller is gone, the committer drops it.
	withdrawn
)

// pendings is a pool that keeps the memory of frame heads and answer channels; it holds no state of any log.
type pendings struct{ pool sync.Pool }

func (p *pendings) get() *pending {
	if v, ok := p.pool.Get().(*pending); ok {
		return v
	}
	return &pending{done: make(chan error, 1)}
}

func (p *pendings) put(v *pending) {
	v.payload, v.attachment = nil, nil
	p.pool.Put(v)
}

// Append stores the record and returns its position once it is on stable storage. A record whose ctx ends before the writer took
// it is withdrawn: nothing of it is written. Once the writer has it, Append waits for the outcome whatever ctx says.
func (l *Log) Append(ctx context.Context, rec Record) (Position, error) {
	if err := ctx.Err(); err != nil {
		return Position{}, fmt.Errorf("queue: append withdrawn: %w", err)
	}
	size := len(rec.Header) + len(rec.Payload)
	if size > maxRecordBytes || int64(size)+frameHeadSize+segmentHeadSize > l.cfg.MaxBytes {
		return Position{}, fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	p := l.pool.get()
	p.head = frameHead{
		headerSize: len(rec.Header), payloadSize: len(rec.Payload), time: time.Now().UnixNano(),
		bodyCRC: l.sum.body(rec.Header, rec.Payload),
	}
	p.front = append(append(p.front[:0], make([]byte, frameHeadSize)...), rec.Header...)
	p.payload, p.attachment, p.state = rec.Payload, rec.Attachment, queued

	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		l.pool.put(p)
		return Position{}, ErrClosed
	}
	l.waiting = append(l.waiting, p)
	select {
	case l.wake <- struct{}{}:
	default:
	}
	l.mu.Unlock()

	var err error
	select {
	case err = <-p.done:
	case <-ctx.Done():
		l.mu.Lock()
		if p.state == queued {
			p.state, p.payload, p.attachment = withdrawn, nil, nil
			l.mu.Unlock()
			return Position{}, fmt.Errorf("queue: append withdrawn: %w", ctx.Err())
		}
		l.mu.Unlock()
		err = <-p.done
	}
	pos := p.pos
	l.pool.put(p)
	if err != nil {
		l.refused.Add(1)
		return Position{}, err
	}
	return pos, nil
}

// unavailable wraps the cause of a failed write for the caller.
func unavailable(cause error) error {
	if errors.Is(cause, syscall.ENOSPC) || errors.Is(cause, syscall.EDQUOT) || errors.Is(cause, syscall.EFBIG) {
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrFull, cause)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, cause)
}
