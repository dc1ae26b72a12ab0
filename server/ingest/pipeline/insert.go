package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/limits"
)

// insertAll inserts one cut after the other.
func (p *Pipeline) insertAll() {
	for c := range p.cuts {
		p.mu.Lock()
		p.since[1], p.inserting = c.oldest, c.pick
		if c.oldest.IsZero() {
			p.since[1] = time.Now()
		}
		retries := p.stats.Retries
		p.mu.Unlock()
		began := time.Now()
		if !p.insert(c) {
			return
		}
		rows := c.batch.Rows()
		c.batch.Reset()
		p.mu.Lock()
		p.since[1] = time.Time{}
		if retries == p.stats.Retries {
			p.measure(rows, time.Since(began))
		}
		p.mu.Unlock()
		p.free <- c.batch
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

// insert stores the cut's tables between the two checkpoint writes. It returns false if the pipeline gave up. The next start then
// continues.
func (p *Pipeline) insert(c *cut) bool {
	if c.records > 0 && !p.checkpoint(func(s *checkpoint) {
		// After a restart, the recorded range is this one, with its recorded splits.
		if s.Intent == nil {
			s.move(c.before)
			s.Intent = &intent{From: c.from, To: c.to, Pick: c.pick, Since: p.cfg.Now()}
		}
	}) {
		return false
	}
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
	if !p.checkpoint(func(s *checkpoint) { s.Intent = nil; s.move(c.after) }) {
		return false
	}
	p.mu.Lock()
	if c.records > 0 {
		p.stats.Batches++
	}
	close(p.moved)
	p.moved = make(chan struct{})
	p.mu.Unlock()
	if err := p.log.Release(c.after.done()); err != nil {
		p.logger.Warn("queue segments not released, next batch tries again", slog.Any("error", err))
	}
	return true
}

// checkpoint changes the state and makes it durable, however long that takes. It returns false if the pipeline gives up.
func (p *Pipeline) checkpoint(change func(*checkpoint)) bool {
	p.saving.Lock()
	defer p.saving.Unlock()
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

// insertTable stores the rows of one table for a span. It returns an error only if the pipeline gives up.
func (p *Pipeline) insertTable(t Table, s span) error {
	if t.Rows() == 0 {
		return nil
	}
	if mid, ok := p.splitAt(t.Name(), s); ok {
		return p.halves(t.Name(), s, mid)
	}
	cause, err := p.store(p.insertOnce, t, p.token(t.Name(), s), p.earlier(s.to), suspectAttempts)
	if err != nil || cause == nil {
		return err
	}
	return p.isolate(t, s, cause)
}

// store inserts a table. If the warehouse refuses the rows, store inserts them again under the same token, without the views that
// fail on them. Only if that fails too may the range be cut up. An insert that failed in a view has already stored the rows in
// the table, and other tokens would store them twice.
func (p *Pipeline) store(insert insertFunc, t Table, token string, earlier bool, suspect int) (cause, err error) {
	cause, err = p.tryInsert(insert, t, token, earlier, suspect)
	s, ok := p.cfg.Inserter.(ViewIgnorer)
	if cause == nil || err != nil || !ok {
		return cause, err
	}
	refused, err := p.tryInsert(s.InsertIgnoringViews, t, token, earlier, suspectAttempts)
	if refused != nil || err != nil {
		return refused, err
	}
	p.count(func(s *Stats) { s.Salvaged++ })
	p.logger.Error("rows stored without what a view of their table makes of them: it refuses them", slog.String("table", t.Name()),
		slog.Int("rows", t.Rows()), slog.Any("error", cause))
	return nil, nil
}

func (p *Pipeline) stored(t Table, earlier bool) {
	p.count(func(s *Stats) {
		s.Rows[t.Name()] += int64(t.Rows())
		if earlier {
			s.Resumed[t.Name()] += int64(t.Rows())
		}
	})
}

// earlier reports whether a range that ends at this position was acknowledged by earlier runs.
func (p *Pipeline) earlier(to queue.Position) bool { return !p.resumeTo.Before(to) }

// These are the attempts for an insert whose failure may or may not lie in the rows. They take about eight seconds, and about two
// minutes for a single record before it is set aside. If the server was at fault after all, records are set aside only at that
// slow pace.
const (
	suspectAttempts     = 6
	loneSuspectAttempts = 11
)

// insertOnce is one attempt at an insert of the range that is being inserted.
func (p *Pipeline) insertOnce(ctx context.Context, t Table, token string) error {
	if p.isLate() {
		return p.insertLate(ctx, t, token)
	}
	return p.cfg.Inserter.Insert(ctx, t, token)
}

// insertLate is one attempt at an insert whose first attempt was long ago, or at an unknown time.
func (p *Pipeline) insertLate(ctx context.Context, t Table, token string) error {
	if l, ok := p.cfg.Inserter.(LateInserter); ok {
		return l.InsertLate(ctx, t, token)
	}
	return p.cfg.Inserter.Insert(ctx, t, token)
}

// isLate reports whether the first attempt at the range that is being inserted, perhaps by an earlier run, was long ago or at an unknown
// time.
func (p *Pipeline) isLate() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.Intent != nil && p.cfg.Now().Sub(p.state.Intent.Since) >= limits.LateInsert
}

type insertFunc func(ctx context.Context, table Table, token string) error

// tryInsert repeats an insert until it succeeds or the rows are refused; cause then holds the reason. A suspect failure (see
// Inserter) counts as a refusal after the given number of attempts. Rows of earlier runs are counted separately.
func (p *Pipeline) tryInsert(insert insertFunc, t Table, token string, earlier bool, suspect int) (cause, err error) {
	suspected := 0
	for attempt := 0; ; attempt++ {
		err := insert(p.ctx, t, token)
		if err == nil {
			p.stored(t, earlier)
			p.count(func(s *Stats) { s.Failing, s.FailingSince = nil, time.Time{} })
			return nil, nil
		}
		if p.ctx.Err() != nil {
			return nil, p.ctx.Err()
		}
		var r interface{ Retryable() bool }
		if errors.As(err, &r) && !r.Retryable() {
			return err, nil
		}
		if !isSuspect(err) {
			suspected = 0
		} else if suspected++; suspected >= suspect {
			return err, nil
		}
		wait := p.backoff(attempt)
		p.count(func(s *Stats) {
			s.Retries++
			if s.Failing == nil {
				s.FailingSince = time.Now()
			}
			s.Failing = err
		})
		p.logger.Warn("insert failed, trying again", slog.String("table", t.Name()), slog.Int("rows", t.Rows()),
			slog.Duration("wait", wait), slog.Any("error", err))
		if !p.sleep(wait) {
			return nil, p.ctx.Err()
		}
	}
}

func isSuspect(err error) bool {
	var s interface{ Suspect() bool }
	return errors.As(err, &s) && s.Suspect()
}

// backoff doubles from RetryMin to RetryMax. Up to half of it is subtracted at random.
func (p *Pipeline) backoff(attempt int) time.Duration {
	d := p.cfg.RetryMax
	if attempt < 20 {
		d = min(d, p.cfg.RetryMin<<attempt)
	}
	return d - rand.N(d/2+1)
}
