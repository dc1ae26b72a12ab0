package pipeline

import (
	"errors"
	"log/slog"

	"github.com/svc-observability/svc/server/ingest/queue"
)

var errGivenUp = errors.New("the ingest pipeline gives up")

// isolate finds the records for which a table refuses a range, by bisection. Each split is recorded before any part of it is
// inserted, so that a restart makes the same cuts and uses the same tokens. The whole range is never inserted after that.
func (p *Pipeline) isolate(t Table, from, to queue.Position, cause error) error {
	table := t.Name()
	var at []queue.Position
	if err := p.again(func() error {
		at = at[:0]
		return p.each(from, to, func(r queue.Committed) error {
			at = append(at, r.Position)
			return nil
		})
	}); err != nil {
		return err
	}
	if len(at) == 0 {
		if !p.earlier(to) {
			p.count(func(s *Stats) { s.Refused[table] += int64(t.Rows()) })
		}
		p.logger.Error("rows refused by the warehouse, and their records are no longer readable", slog.String("table", table),
			slog.String("from", from.String()), slog.String("to", to.String()), slog.Any("error", cause))
		return nil
	}
	if len(at) == 1 {
		if isSuspect(cause) {
			if again, err := p.store(p.insertOnce, t, p.token(table, from, to), p.earlier(to), loneSuspectAttempts); err != nil || again == nil {
				return err
			}
		}
		if !p.earlier(to) {
			p.count(func(s *Stats) { s.Refused[table] += int64(t.Rows()) })
		}
		return p.again(func() error {
			return p.each(from, to, func(r queue.Committed) error { return p.quarantine(r, table, cause) })
		})
	}
	mid := at[len(at)/2]
	p.logger.Warn("rows refused by the warehouse, looking for the record at fault", slog.String("table", table),
		slog.Int("records", len(at)), slog.Any("error", cause))
	if !p.checkpoint(func(s *checkpoint) {
		s.Intent.Splits = append(s.Intent.Splits, split{Table: table, From: from, Mid: mid, To: to})
	}) {
		return errGivenUp
	}
	return p.halves(table, from, mid, to)
}

// halves stores the two parts of a range that was split.
func (p *Pipeline) halves(table string, from, mid, to queue.Position) error {
	for _, part := range [][2]queue.Position{{from, mid}, {mid, to}} {
		t, err := p.part(table, part[0], part[1])
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		if err := p.insertTable(t, part[0], part[1]); err != nil {
			return err
		}
	}
	return nil
}

// part decodes a range again and returns its rows for one table. It returns nil if the table has no rows.
func (p *Pipeline) part(table string, from, to queue.Position) (Table, error) {
	b := p.cfg.NewBatch()
	if err := p.again(func() error {
		b.Reset()
		return p.each(from, to, func(r queue.Committed) error {
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
func (p *Pipeline) splitAt(table string, from, to queue.Position) (queue.Position, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.Intent == nil {
		return queue.Position{}, false
	}
	for _, s := range p.state.Intent.Splits {
		if s.Table == table && s.From == from && s.To == to {
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
