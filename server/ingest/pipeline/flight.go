package pipeline

import (
	"errors"
	"log/slog"
	"sync"
	"time"
)

// flight is a cut that is being inserted. Up to Config.Parallel cuts are in flight. Each is recorded as an intent before its first
// insert, in the order in which the cuts were made. Their inserts end in any order. The checkpoint passes a flight when all flights before
// it are stored, too: until then, a restart inserts its records again, with the same tokens.
type flight struct {
	*cut
	// age is the time since which the oldest record of the cut waits.
	age    time.Time
	stored bool
}

// insertAll inserts the cuts. It takes a cut only when fewer than Config.Parallel are in flight: until then, the cut grows.
func (p *Pipeline) insertAll() {
	var inserts sync.WaitGroup
	defer inserts.Wait()
	for {
		select {
		case p.slots <- struct{}{}:
		case <-p.ctx.Done():
			return
		}
		c, more := <-p.cuts
		if !more {
			return
		}
		f, ok := p.begin(c)
		if !ok {
			return
		}
		inserts.Go(func() {
			if p.insert(c) {
				p.land(f)
			}
		})
	}
}

// begin records what is going to be inserted. It returns false if the pipeline gives up.
func (p *Pipeline) begin(c *cut) (*flight, bool) {
	f := &flight{cut: c, age: c.oldest}
	if f.age.IsZero() {
		f.age = time.Now()
	}
	p.mu.Lock()
	p.flights = append(p.flights, f)
	p.mu.Unlock()
	if c.records == 0 || c.recorded {
		return f, true
	}
	c.recorded = p.checkpoint(func(s *checkpoint) {
		s.begin(intent{From: c.from, To: c.to, Pick: c.pick, Before: c.before, Since: p.cfg.Now()})
	})
	return f, c.recorded
}

// insert stores the cut's tables. It returns false if the pipeline gives up. The next start then continues.
func (p *Pipeline) insert(c *cut) bool {
	retries, began := p.retries(), time.Now()
	var wg sync.WaitGroup
	tables := c.batch.Tables()
	errs := make([]error, len(tables))
	for i, t := range tables {
		wg.Go(func() { errs[i] = p.insertTable(t, c.span) })
	}
	wg.Wait()
	if errors.Join(errs...) != nil {
		return false
	}
	if retries == p.retries() {
		p.measure(c.batch.Rows(), time.Since(began))
	}
	return true
}

func (p *Pipeline) retries() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats.Retries
}

// land notes that a flight is stored, and moves the checkpoint behind all flights before which nothing is missing.
func (p *Pipeline) land(f *flight) {
	p.saving.Lock()
	defer p.saving.Unlock()
	p.mu.Lock()
	f.stored = true
	landed, spans := 0, 0
	for landed < len(p.flights) && p.flights[landed].stored {
		if p.flights[landed].recorded {
			spans++
		}
		landed++
	}
	flights := p.flights[:landed]
	p.mu.Unlock()
	if landed == 0 {
		return // an earlier flight lands this one, too
	}
	entry, ok := p.account(flights)
	if !ok || !p.write(func(s *checkpoint) { s.end(spans, flights[landed-1].after); s.Ledger = entry }) {
		return
	}
	if p.cfg.Ledger != nil {
		p.cfg.Ledger.Settle(entry)
	}
	p.mu.Lock()
	p.flights = p.flights[landed:]
	p.stats.Batches += int64(spans)
	done := p.state.Done
	close(p.moved)
	p.moved = make(chan struct{})
	p.mu.Unlock()
	if err := p.log.Release(done); err != nil {
		p.logger.Warn("queue segments not released, next batch tries again", slog.Any("error", err))
	}
	for _, f := range flights {
		f.batch.Reset()
		p.free <- f.batch
		<-p.slots
	}
}

// account appends the sums of stored flights to the ledger, however long that takes. It returns false if the pipeline gives up.
func (p *Pipeline) account(flights []*flight) (entry int64, ok bool) {
	if p.cfg.Ledger == nil {
		return 0, true
	}
	batches := make([]Batch, len(flights))
	for i, f := range flights {
		batches[i] = f.batch
	}
	for attempt := 0; ; attempt++ {
		entry, err := p.cfg.Ledger.Append(batches)
		if err == nil {
			return entry, true
		}
		p.logger.Error("sums of an ingest batch not written, trying again", slog.Any("error", err))
		if !p.sleep(p.backoff(attempt)) {
			return 0, false
		}
	}
}

// measure notes how many rows a second the warehouse stores. Small cuts tell little about large ones. The rate falls at once and
// rises slowly, because others wait for a cut that is too large.
func (p *Pipeline) measure(rows int, took time.Duration) {
	if rows < p.cfg.LaneRows/10 || took <= 0 {
		return
	}
	rate := int64(float64(rows) / took.Seconds())
	if old := p.rate.Load(); old > 0 && old < rate {
		rate = (old + rate) / 2
	}
	p.rate.Store(max(rate, 1))
}

// checkpoint changes the state and makes it durable, however long that takes. It returns false if the pipeline gives up.
func (p *Pipeline) checkpoint(change func(*checkpoint)) bool {
	p.saving.Lock()
	defer p.saving.Unlock()
	return p.write(change)
}

// write is checkpoint for a caller that holds p.saving.
func (p *Pipeline) write(change func(*checkpoint)) bool {
	p.mu.Lock()
	next := p.state.clone()
	p.mu.Unlock()
	change(&next)
	for attempt := 0; ; attempt++ {
		err := p.save(p.log.Dir(), next)
		if err == nil {
			p.mu.Lock()
			p.state = next
			p.mu.Unlock()
			return true
		}
		p.logger.Error("ingest checkpoint not written, trying again", slog.Any("error", err))
		if !p.sleep(p.backoff(attempt)) {
			return false
		}
	}
}
