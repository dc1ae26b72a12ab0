package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/limits"
)

// insertTable stores the rows of one table for a span. It returns an error only if the pipeline gives up.
func (p *Pipeline) insertTable(t Table, s span) error {
	if t.Rows() == 0 {
		return nil
	}
	if mid, ok := p.splitAt(t.Name(), s); ok {
		return p.halves(t.Name(), s, mid)
	}
	cause, err := p.store(p.attempt(s), t, p.token(t.Name(), s), p.earlier(s.to), suspectAttempts)
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
	p.count(func(s *Stats) { s.StoredWithoutViews++ })
	p.logger.Error("rows were stored in their table only, because a view of the table refuses them", slog.String("table", t.Name()),
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

// attempt returns the function that makes one attempt at an insert of a span's records.
func (p *Pipeline) attempt(s span) insertFunc {
	return func(ctx context.Context, t Table, token string) error {
		if p.isLate(s) {
			return p.insertLate(ctx, t, token)
		}
		return p.cfg.Inserter.Insert(ctx, t, token)
	}
}

// insertLate is one attempt at an insert whose first attempt was long ago, or at an unknown time.
func (p *Pipeline) insertLate(ctx context.Context, t Table, token string) error {
	if l, ok := p.cfg.Inserter.(LateInserter); ok {
		return l.InsertLate(ctx, t, token)
	}
	return p.cfg.Inserter.Insert(ctx, t, token)
}

// isLate reports whether the first attempt at the intent of a span, perhaps by an earlier run, was long ago or at an unknown time.
func (p *Pipeline) isLate(s span) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.state.intentOf(s)
	return in != nil && p.cfg.Now().Sub(in.Since) >= limits.LateInsert
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
