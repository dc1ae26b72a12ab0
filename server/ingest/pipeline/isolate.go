package pipeline

import (
	"errors"
	"log/slog"

	"github.com/svc-observability/svc/server/ingest/queue"
)

var errGivenUp = errors.New("the ingest pipeline gives up")

// isolate finds the records for which a table refuses a span, by bisection. Each split is recorded before any part of it is
// inserted, so that a restart makes the same cuts and uses the same tokens. The whole range is never inserted after that.
func (p *Pipeline) isolate(t Table, s span, cause error) error {
	table := t.Name()
	var at []queue.Position
	if err := p.again(func() error {
		at = at[:0]
		return p.each(s, func(r queue.Committed) error {
			at = append(at, r.Position)
			return nil
		})
	}); err != nil {
		return err
	}
	if len(at) == 0 {
		if !p.earlier(s.to) {
			p.count(func(st *Stats) { st.Refused[table] += int64(t.Rows()) })
		}
		p.logger.Error("rows refused by the warehouse, and their records are no longer readable", slog.String("table", table),
			slog.String("from", s.from.String()), slog.String("to", s.to.String()), slog.Any("error", cause))
		return nil
	}
	if len(at) == 1 {
		if isSuspect(cause) {
			if again, err := p.store(p.attempt(s), t, p.token(table, s), p.earlier(s.to), loneSuspectAttempts); err != nil || again == nil {
				return err
			}
		}
		if !p.earlier(s.to) {
			p.count(func(st *Stats) { st.Refused[table] += int64(t.Rows()) })
		}
		return p.again(func() error {
			return p.each(s, func(r queue.Committed) error { return p.quarantine(r, table, cause) })
		})
	}
	mid := at[len(at)/2]
	p.logger.Warn("rows refused by the warehouse, looking for the record at fault", slog.String("table", table),
		slog.Int("records", len(at)), slog.Any("error", cause))
	if !p.checkpoint(func(c *checkpoint) {
		in := c.intentOf(s)
		in.Splits = append(in.Splits, split{Table: table, From: s.from, Mid: mid, To: s.to})
	}) {
		return errGivenUp
	}
	return p.halves(table, s, mid)
}

// halves stores the two parts of a range that was split.
func (p *Pipeline) halves(table string, s span, mid queue.Position) error {
	for _, half := range []span{s.part(s.from, mid), s.part(mid, s.to)} {
		t, err := p.part(table, half)
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		if err := p.insertTable(t, half); err != nil {
			return err
		}
	}
	return nil
}

// part decodes a span again and returns its rows for one table. It returns nil if the table has no rows.
func (p *Pipeline) part(table string, s span) (Table, error) {
	b := p.cfg.NewBatch()
	if err := p.again(func() error {
		b.Reset()
		return p.each(s, func(r queue.Committed) error {
			if err := b.Decode(r.Header, r.Payload); err != nil {
				return p.quarantine(r, "", err)
			}
			return nil
		})
	}); err != nil {
		return nil, err
	}
	for _, t := range b.Tables() {
		if t.Name() == table {
			return t, nil
		}
	}
	return nil, nil
}

// splitAt returns the position where a range of a table was split, in this run or an earlier one.
func (p *Pipeline) splitAt(table string, part span) (queue.Position, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.state.intentOf(part)
	if in == nil {
		return queue.Position{}, false
	}
	for _, s := range in.Splits {
		if s.Table == table && s.From == part.from && s.To == part.to {
			return s.Mid, true
		}
	}
	return queue.Position{}, false
}

// again repeats disk work until it succeeds or the pipeline gives up.
func (p *Pipeline) again(f func() error) error {
	for {
		err := f()
		if err == nil {
			return nil
		}
		p.logger.Error("queue folder not usable, trying again", slog.Any("error", err))
		if !p.sleep(readRetry) {
			return errGivenUp
		}
	}
}
