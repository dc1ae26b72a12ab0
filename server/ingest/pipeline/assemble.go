package pipeline

import (
	"log/slog"
	"time"

	"github.com/svc-observability/svc/server/ingest/queue"
)

// readRetry is the pause after a failure to read the log or to quarantine a record.
const readRetry = time.Second

// cut is a span of the log with the batch made from it.
type cut struct {
	span
	batch   Batch
	records int
	// recorded says that the checkpoint has the cut's span as an intent.
	recorded bool
	// before and after are the places when the cut's first record is next, and once the cut is stored.
	before, after places
	// first is the time when the first record was added; oldest is the time when it was appended to the log.
	first  time.Time
	oldest time.Time
}

// take notes a record that is now part of the cut.
func (c *cut) take(pos, next queue.Position, at time.Time) {
	if c.records == 0 {
		c.from, c.first, c.oldest = pos, time.Now(), at
	}
	c.records++
	c.to = next
}

// full says that the batch is worth an insert. brimful says that it must not grow any more.
func (p *Pipeline) full(c *cut) bool { return c.batch.Rows() >= p.cfg.MaxRows || p.brimful(c) }

func (p *Pipeline) brimful(c *cut) bool {
	rows := c.batch.Rows()
	return rows >= growth*p.cfg.MaxRows || rows >= p.cfg.MaxRows/10 && rows >= p.mostRows() || c.batch.Bytes() >= p.cfg.MaxBytes ||
		p.resumed(c, p.cursor)
}

// othersSince is the time for which the pipeline expects records of several owners after it has seen them.
const othersSince = 10 * time.Minute

// mostRows bounds a cut by the time of its insert, because the records of other owners wait for it. Owners who are alone get the largest
// cuts, which cost the warehouse least.
func (p *Pipeline) mostRows() int {
	most, rate := growth*p.cfg.MaxRows, int(p.rate.Load())
	alone := time.Since(time.Unix(0, p.mixed.Load())) > othersSince
	switch {
	case alone && rate > 0:
		return min(most, max(2*rate, p.cfg.LaneRows)) // the first record of another owner may come while such a cut is inserted
	case alone:
		return p.cfg.LaneRows
	case rate > 0:
		return min(most, max(rate+rate/2, p.cfg.MaxRows/10))
	}
	return p.cfg.MaxRows / 5
}

// mixedAt notes that records of several owners came at a time.
func (p *Pipeline) mixedAt(at time.Time) { p.mixed.Store(at.UnixNano()) }

// resumed reports whether the cut has the last records of earlier runs, up to the place of its cursor.
func (p *Pipeline) resumed(c *cut, at queue.Position) bool {
	return c.records > 0 && c.from.Before(p.resumeTo) && !at.Before(p.resumeTo)
}

// assemble takes the records in log order, or from several cursors, and cuts them into batches. While one batch is inserted, the next one
// fills. When that is full too, records wait in memory up to the bound. Beyond the bound they wait in the log only.
func (p *Pipeline) assemble() {
	defer close(p.cuts)
	defer func() {
		p.closeReader()
		for _, l := range p.lanes {
			p.closeLane(l)
		}
	}()
	if !p.resume() {
		return
	}
	for {
		c := p.nextCut()
		switch {
		case c == nil:
			return
		case len(p.lanes) > 0:
			if !p.takeTurns(c) {
				return
			}
		case !p.gather(c):
			return
		}
	}
}

// nextCut waits for a free batch. It returns nil if the pipeline gives up.
func (p *Pipeline) nextCut() *cut {
	select {
	case b := <-p.free:
		return &cut{batch: b}
	case <-p.ctx.Done():
		return nil
	}
}

// gather fills the cut and hands it to the inserter. It returns false at the end of the work.
func (p *Pipeline) gather(c *cut) bool {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		// Asked before the look for records: Close promises to insert the records that were committed before it.
		stopping := p.stopping()
		more := true
		for more && len(p.lanes) == 0 && !p.full(c) && !p.aged(c) && p.ctx.Err() == nil {
			var err error
			if more, err = p.fill(c); err != nil {
				p.logger.Error("queue not readable, trying again", slog.Any("error", err))
				if !p.sleep(readRetry) {
					return false
				}
				more = !p.stopping()
			}
		}
		if len(p.lanes) > 0 || p.giveWay(c) {
			return p.takeTurns(c)
		}
		if stopping && c.records == 0 {
			return false
		}
		if stopping || p.brimful(c) {
			return p.handOn(c)
		}
		// A full or aged batch goes as soon as the inserter is free, and grows until then. A slow warehouse needs fewer and
		// larger inserts.
		var ready chan<- *cut
		wait := time.Hour
		if c.records > 0 {
			wait = time.Until(c.first.Add(p.cfg.MaxAge))
			if p.full(c) || p.aged(c) {
				ready, wait = p.cuts, p.cfg.LaneAge/10 // it may have to give way
				if p.grow(c) {
					continue
				}
			}
		}
		timer.Reset(wait)
		c.after = p.places()
		select {
		case ready <- c:
			p.handedOn()
			return true
		case <-p.wake:
		case <-timer.C:
		case <-p.stop:
		case <-p.ctx.Done():
			return false
		}
	}
}

// handOn gives the cut to the inserter, and waits until it is free. If the cut gives way meanwhile, another is handed on. It returns
// false if the pipeline gives up.
func (p *Pipeline) handOn(c *cut) bool {
	look := time.NewTicker(p.cfg.LaneAge / 10)
	defer look.Stop()
	c.after = p.places()
	for {
		select {
		case p.cuts <- c:
			p.handedOn()
			return true
		case <-look.C:
			if p.giveWay(c) {
				return p.takeTurns(c)
			}
		case <-p.ctx.Done():
			return false
		}
	}
}

func (p *Pipeline) stopping() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

func (p *Pipeline) aged(c *cut) bool { return c.records > 0 && time.Since(c.first) >= p.cfg.MaxAge }

// grow adds one more record to a cut while the inserter is busy, and reports whether it found a record.
func (p *Pipeline) grow(c *cut) bool {
	if !p.busy() {
		return false
	}
	more, err := p.fill(c)
	if err != nil {
		p.logger.Error("queue not readable, trying again", slog.Any("error", err))
		return false
	}
	return more
}

// busy reports whether the inserter has as many cuts as it inserts at once.
func (p *Pipeline) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.flights) >= p.cfg.Parallel
}

// handedOn records that no cut is being filled. From now on, the inserter or a lane measures the age of its records.
func (p *Pipeline) handedOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gathering = time.Time{}
}

// resume rebuilds the spans that were being inserted when the process ended, and hands them on first.
func (p *Pipeline) resume() bool {
	p.mu.Lock()
	intents := p.state.clone().Intents
	p.mu.Unlock()
	for i := range intents {
		in := &intents[i]
		p.logger.Info("ingest batch is inserted again", slog.String("from", in.From.String()), slog.String("to", in.To.String()))
		c := p.rebuilt(*in)
		if c == nil {
			return false
		}
		if i+1 < len(intents) {
			p.stand(intents[i+1].Before)
		} else {
			p.moveTo(in)
		}
		if !p.handOn(c) {
			return false
		}
	}
	return true
}

// rebuilt is the cut of a recorded span. It is nil if the pipeline gives up.
func (p *Pipeline) rebuilt(in intent) *cut {
	for {
		c := p.nextCut()
		if c == nil {
			return nil
		}
		err := p.rebuild(c, in)
		if err == nil {
			return c
		}
		p.logger.Error("queue not readable, trying again", slog.Any("error", err))
		c.batch.Reset()
		p.free <- c.batch
		if !p.sleep(readRetry) {
			return nil
		}
	}
}

// stand moves the cursors to recorded places.
func (p *Pipeline) stand(at places) {
	p.cursor, p.lanes = at.Main, nil
	for _, l := range at.Lanes {
		p.lanes = append(p.lanes, &lane{owner: l.Owner, at: l.At, oldest: p.started})
	}
	p.lanesChanged()
}

// moveTo moves the cursor of the recorded range behind it.
func (p *Pipeline) moveTo(in *intent) {
	if in.Pick.Owner == "" {
		p.cursor = in.To
		return
	}
	for _, l := range p.lanes {
		if l.owner == in.Pick.Owner {
			l.at = in.To
		}
	}
}

// sleep waits. It returns false if the pipeline gives up meanwhile.
func (p *Pipeline) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}
