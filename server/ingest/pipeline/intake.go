package pipeline

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/ingest/queue"
)

// pendingRecord is a committed record whose decoded columns are in memory.
type pendingRecord struct {
	after, pos, next queue.Position
	time             time.Time
	owner            string
	// attachment is nil for a run of records whose owner had a lane when they arrived.
	attachment queue.Attachment
	bytes      int64
}

// passBytes is the memory of a pendingRecord without an attachment.
const passBytes = 192

// accept is the log's sink. It keeps attachments within the memory bound. Every other record is read from the log later.
func (p *Pipeline) accept(records []queue.Committed) {
	p.mu.Lock()
	for _, c := range records {
		p.seen = c.Next
		if p.newest != "" && c.Owner != p.newest {
			p.mixedAt(c.Time)
		}
		p.newest = c.Owner
		if c.Attachment == nil {
			continue
		}
		// A lane reads its records from the log. The owner in the header decides, as it does after a restart.
		beside := slices.Contains(p.beside, c.Owner)
		if beside || c.Owner != "" && c.Owner != string(p.log.Owner(c.Header)) {
			c.Attachment.Release()
			p.stats.Spilled++
			if beside {
				p.pass(c)
			}
			continue
		}
		n := int64(c.Attachment.Bytes())
		if p.memory+n > p.cfg.MaxMemory && len(p.pending) > 0 || p.ctx.Err() != nil {
			c.Attachment.Release()
			p.stats.Spilled++
			continue
		}
		p.memory += n
		p.pending = append(p.pending, pendingRecord{
			after: c.After, pos: c.Position, next: c.Next, time: c.Time, owner: c.Owner, attachment: c.Attachment, bytes: n,
		})
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// pass notes a record that the main cursor may pass without reading it from the log. It requires p.mu.
func (p *Pipeline) pass(c queue.Committed) {
	if n := len(p.pending); n > 0 {
		if last := &p.pending[n-1]; last.attachment == nil && last.owner == c.Owner && last.next == c.After {
			last.next = c.Next
			return
		}
	}
	if p.memory+passBytes > p.cfg.MaxMemory {
		return
	}
	p.memory += passBytes
	p.pending = append(p.pending, pendingRecord{
		after: c.After, pos: c.Position, next: c.Next, time: c.Time, owner: c.Owner, bytes: passBytes,
	})
}

// inMemory takes the next record from memory if that record follows the cursor. It passes records of lanes.
func (p *Pipeline) inMemory() (pendingRecord, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.pending) > 0 {
		r := p.pending[0]
		if p.cursor.Before(r.after) {
			return pendingRecord{}, false // records in between are only in the log
		}
		laned := p.laned(r.owner)
		if r.attachment == nil && !laned && p.cursor.Before(r.next) {
			return pendingRecord{}, false // the lane has closed, and the records are only in the log
		}
		p.memory -= r.bytes
		p.pending[0] = pendingRecord{}
		p.pending = p.pending[1:]
		if !laned && r.attachment != nil && !r.pos.Before(p.cursor) {
			return r, true
		}
		if r.attachment != nil {
			r.attachment.Release() // already taken from the log, or left to a lane
		}
		if laned && p.cursor.Before(r.next) {
			p.cursor = r.next
		}
	}
	return pendingRecord{}, false
}

// fill adds the next record to the cut and reports whether it found one.
func (p *Pipeline) fill(c *cut) (bool, error) {
	if r, ok := p.inMemory(); ok {
		if p.divert(c, r.owner, r.time) {
			r.attachment.Release()
			p.cursor = r.next
			return true, nil
		}
		err := c.batch.Add(r.attachment)
		r.attachment.Release()
		if err != nil {
			// The record decides, not the columns made from it. It is read from the log next.
			p.logger.Warn("decoded columns refused, record is decoded again", slog.String("position", r.pos.String()), slog.Any("error", err))
			return true, nil
		}
		p.took(c, r.pos, r.next, r.time)
		return true, nil
	}
	p.mu.Lock()
	seen := p.seen
	p.mu.Unlock()
	if !p.cursor.Before(seen) {
		return false, nil
	}
	r, err := p.read()
	if errors.Is(err, io.EOF) {
		p.cursor = seen // nothing readable before seen
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if p.divert(c, string(p.log.Owner(r.Header)), r.Time) {
		p.cursor = r.Next
		return true, nil
	}
	if err := c.batch.Decode(r.Header, r.Payload); err != nil {
		if err := p.quarantine(r, "", err); err != nil {
			p.readerAt = queue.Position{} // read it again
			return false, err
		}
	}
	p.count(func(s *Stats) { s.Replayed++ })
	p.took(c, r.Position, r.Next, r.Time)
	return true, nil
}

// read returns the next record behind the cursor from the log.
func (p *Pipeline) read() (queue.Committed, error) {
	if p.reader == nil || p.readerAt != p.cursor {
		p.closeReader()
		p.reader = p.log.Reader(p.cursor)
	}
	r, err := p.reader.Next()
	if err != nil {
		p.closeReader()
		return r, err
	}
	p.readerAt = r.Next
	return r, nil
}

func (p *Pipeline) closeReader() {
	if p.reader == nil {
		return
	}
	if err := p.reader.Close(); err != nil {
		p.logger.Warn("queue reader not closed cleanly", slog.Any("error", err))
	}
	p.reader = nil
}

// took moves the cursor behind a record that is now part of the cut.
func (p *Pipeline) took(c *cut, pos, next queue.Position, at time.Time) {
	if c.records == 0 {
		c.pick, c.before = pick{Skip: p.laneOwners()}, p.places()
		p.mu.Lock()
		p.gathering = at
		p.mu.Unlock()
	}
	c.take(pos, next, at)
	p.cursor = next
}

// rebuild fills the cut with the records of a recorded range, which may be larger than a batch is now.
func (p *Pipeline) rebuild(c *cut, in intent) error {
	c.span, c.recorded = in.span(), true
	return p.each(c.span, func(r queue.Committed) error {
		c.records++
		p.count(func(s *Stats) { s.Replayed++ })
		if err := c.batch.Decode(r.Header, r.Payload); err != nil {
			return p.quarantine(r, "", err)
		}
		return nil
	})
}
