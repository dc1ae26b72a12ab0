package queue

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"
)

// refuseLogEvery is the shortest time between two log messages about a failing disk.
const refuseLogEvery = 10 * time.Second

// commitBytes bounds the bytes of one sync. Larger groups are not faster, cost twice the processor time in the page cache, and
// let the first writers wait for the last (measured with 64 writers of 256 KiB, from 1 to 64 MiB).
const commitBytes = 2 << 20

// run is the committer. No other goroutine writes.
func (l *Log) run() {
	defer close(l.done)
	for {
		_, open := <-l.wake
		for {
			// Callers that were just answered are about to append again. Let them run, so that they share this sync.
			runtime.Gosched()
			group := l.take()
			if len(group) == 0 {
				break
			}
			l.commit(group)
			clear(group)
			l.spare = group[:0]
		}
		if !open {
			return
		}
	}
}

// take returns the appends of the next sync, up to commitBytes. Owners take turns, so the backlog of one owner delays another by
// at most one group.
func (l *Log) take() []*pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	group := l.spare[:0]
	for room := int64(commitBytes); ; {
		_, p, ok := l.waiting.Peek()
		if !ok {
			return group
		}
		if room -= p.head.size(); room < 0 && len(group) > 0 {
			return group
		}
		l.waiting.Pop()
		p.state = taken
		group = append(group, p)
	}
}

// commit makes the group durable in as few writes as the segments allow and answers every append in it.
func (l *Log) commit(group []*pending) {
	for len(group) > 0 {
		first := group[0]
		if err := l.makeRoom(first.head.size()); err != nil {
			// After a record that does not fit the bound, a smaller one may fit. A failing disk fails all of them.
			n := len(group)
			if errors.Is(err, errBound) {
				n = 1
			}
			l.refuse(group[:n], err)
			group = group[n:]
			continue
		}
		n := l.fit(group)
		if err := l.write(group[:n]); err != nil {
			l.suspect = true
			l.repairOrLog()
			l.refuse(group, err)
			return
		}
		l.publish(group[:n])
		group = group[n:]
	}
}

// errBound says that the total bound is reached, as opposed to a full disk.
var errBound = errors.New("the bound of the queue is reached")

// makeRoom makes sure that the active segment has room for size bytes. Otherwise it returns the reason.
func (l *Log) makeRoom(size int64) error {
	if l.suspect {
		if err := l.repair(); err != nil {
			return err
		}
	}
	roll := l.active == nil || (l.activeSeg.size+size > l.cfg.SegmentBytes && l.activeSeg.size > segmentHeadSize)
	need := size
	if roll {
		need += segmentHeadSize
	}
	segmentSize := max(l.cfg.SegmentBytes, size+segmentHeadSize)
	total, consumed := l.usage()
	if total+need > l.cfg.MaxBytes {
		if !consumed {
			return fmt.Errorf("%w: %d of %d bytes are in use", errBound, total, l.cfg.MaxBytes)
		}
		return l.replaceNewest(segmentSize)
	}
	if !roll {
		return nil
	}
	return l.roll(segmentSize)
}

// usage returns the bytes in use, and whether the consumer is done with all of them.
func (l *Log) usage() (total int64, consumed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total, len(l.segments) > 0 && !l.released.Before(l.tail)
}

// replaceNewest starts a new segment, so that Release can delete the present newest one, which it otherwise keeps.
func (l *Log) replaceNewest(size int64) error {
	if err := l.roll(size); err != nil {
		return err
	}
	l.mu.Lock()
	upTo := l.released
	l.mu.Unlock()
	return l.Release(upTo)
}

// fit returns how many appends of the group go into the active segment within the bounds. It is at least one, because makeRoom
// made room for that one.
func (l *Log) fit(group []*pending) int {
	l.mu.Lock()
	room := l.cfg.MaxBytes - l.total
	l.mu.Unlock()
	room = min(room, l.cfg.SegmentBytes-l.activeSeg.size, commitBytes)
	n := 0
	for n < len(group) {
		room -= group[n].head.size()
		if room < 0 && n > 0 {
			break
		}
		n++
	}
	return n
}

// roll seals the active segment and creates the next one.
func (l *Log) roll(size int64) error {
	if err := l.seal(); err != nil {
		return err
	}
	if l.cfg.MinFreeBytes > 0 {
		free, err := l.fs.Free(l.cfg.Dir)
		if err != nil {
			return err
		}
		if free < uint64(size+l.cfg.MinFreeBytes) {
			return fmt.Errorf("%w: the disk has %d bytes free; a segment of %d and %d in reserve are needed",
				ErrFull, free, size, l.cfg.MinFreeBytes)
		}
	}
	l.mu.Lock()
	now := time.Now()
	head := segmentHead{number: l.nextSegment, firstSeq: l.nextSeq, created: now.UnixNano(), id: l.id}
	l.nextSegment++
	l.mu.Unlock()
	f, err := createSegment(l.fs, l.cfg.Dir, head, size)
	l.syncs.Add(1)
	if err != nil {
		return err
	}
	seg := &segment{number: head.number, path: segmentPath(l.cfg.Dir, head.number), created: now, size: segmentHeadSize}
	l.active, l.activeSeg = f, seg
	l.mu.Lock()
	l.segments = append(l.segments, seg)
	l.total += seg.size
	l.mu.Unlock()
	return nil
}

// seal closes the active segment and gives back its unused space. Its records are durable already.
func (l *Log) seal() error {
	if l.active == nil {
		return nil
	}
	err := l.active.Truncate(l.activeSeg.size)
	if err != nil {
		// Unused space at the end of a segment does no harm.
		l.logger.Warn("queue segment not shortened", slog.String("segment", l.activeSeg.name()), slog.Any("error", err))
	}
	if err := l.active.Close(); err != nil {
		l.logger.Warn("queue segment not closed cleanly", slog.String("segment", l.activeSeg.name()), slog.Any("error", err))
	}
	l.mu.Lock()
	l.activeSeg.sealed = true
	l.mu.Unlock()
	l.active, l.activeSeg = nil, nil
	return nil
}

// write writes the group behind the last durable record and syncs it.
func (l *Log) write(group []*pending) error {
	l.mu.Lock()
	after, seq := l.tail, l.nextSeq
	l.nextSeq += uint64(len(group)) // used up even if the write fails: two records never share a number
	l.mu.Unlock()
	off := l.activeSeg.size
	l.buffers = l.buffers[:0]
	for _, p := range group {
		p.head.seq = seq
		p.after = after
		p.pos = Position{Segment: l.activeSeg.number, Offset: uint64(off), Seq: seq}
		seq++
		off += p.head.size()
		p.next = Position{Segment: l.activeSeg.number, Offset: uint64(off), Seq: seq}
		after = p.next
		l.sum.putHead(p.front, l.activeSeg.number, p.head)
		l.buffers = append(l.buffers, p.front)
		if len(p.payload) > 0 {
			l.buffers = append(l.buffers, p.payload)
		}
	}
	all := l.buffers
	want := off - l.activeSeg.size
	n, err := l.active.WriteBuffers(l.buffers, l.activeSeg.size)
	clear(all)
	if err == nil && n != want {
		err = fmt.Errorf("%d of %d bytes written to %s", n, want, l.activeSeg.name())
	}
	if err != nil {
		return err
	}
	l.syncs.Add(1)
	return l.active.Sync()
}

// publish makes the group visible to readers, hands it to the sink and answers the callers.
func (l *Log) publish(group []*pending) {
	last := group[len(group)-1].next
	l.failing.Store(nil)
	l.mu.Lock()
	l.total += int64(last.Offset) - l.activeSeg.size
	l.activeSeg.size = int64(last.Offset)
	l.activeSeg.records += int64(len(group))
	l.tail = last
	l.settle(group, true)
	sink := l.sink
	l.mu.Unlock()
	l.commits.Add(1)
	l.appended.Add(int64(len(group)))
	if sink != nil {
		l.committed = l.committed[:0]
		for _, p := range group {
			l.committed = append(l.committed, Committed{
				After: p.after, Position: p.pos, Next: p.next, Time: time.Unix(0, p.head.time),
				Header: p.front[frameHeadSize:], Payload: p.payload, Owner: p.owner, Attachment: p.attachment,
			})
		}
		sink(l.committed)
		clear(l.committed)
	}
	l.answer(group, nil)
}

// refuse answers the callers with the cause.
func (l *Log) refuse(group []*pending, cause error) {
	err := unavailable(cause)
	if errors.Is(cause, errBound) && !errors.Is(err, ErrFull) {
		err = fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrFull, cause)
	}
	l.failing.Store(&failure{err: err, at: time.Now()})
	if now := time.Now(); now.Sub(l.lastRefuse) > refuseLogEvery {
		l.lastRefuse = now
		l.logger.Error("queue refuses data", slog.Any("error", err), slog.Int("records", len(group)))
	}
	l.mu.Lock()
	l.settle(group, false)
	l.mu.Unlock()
	l.answer(group, err)
}

// repair makes sure that nothing behind the last durable record survives a failed write, and abandons the segment. After a failed
// sync the kernel may hold pages that it will never write, so the log does not write to the file again.
func (l *Log) repair() error {
	seg := l.activeSeg
	if err := l.active.Truncate(seg.size); err != nil {
		return fmt.Errorf("cut the refused records from %s: %w", seg.name(), err)
	}
	l.syncs.Add(1)
	if err := l.active.Sync(); err != nil {
		return fmt.Errorf("cut the refused records from %s: %w", seg.name(), err)
	}
	l.suspect = false
	return l.seal()
}

func (l *Log) repairOrLog() {
	if err := l.repair(); err != nil {
		l.logger.Error("queue segment not repaired, next append tries again", slog.Any("error", err))
	}
}
