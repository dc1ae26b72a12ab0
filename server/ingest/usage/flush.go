package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/outage"
	"github.com/svc-observability/svc/server/principal"
)

const (
	// deltasAtOnce bounds one flush. orgsAtOnce bounds one read of plans and sums.
	deltasAtOnce = 2000
	orgsAtOnce   = 500
	// forgetAfter is how long an account without requests stays in memory.
	forgetAfter = time.Hour
)

// Close flushes the remaining counts. If ctx ends before that succeeds, the error says how much is lost. Stop counting before
// Close.
func (m *Meter) Close(ctx context.Context) error {
	m.once.Do(func() { close(m.stop) })
	select {
	case <-m.done:
	case <-ctx.Done():
		return fmt.Errorf("close the usage meter: %w", ctx.Err())
	}
	for {
		err := m.flush(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(min(m.cfg.FlushEvery, 100*time.Millisecond)):
		case <-ctx.Done():
			lost := m.unstored()
			return fmt.Errorf("usage could not be stored (requests: %d, items: %d, bytes: %d): %w", lost.Requests, lost.Items, lost.Bytes, err)
		}
	}
}

// unstored sums up the counts that are not in the store.
func (m *Meter) unstored() (n Counts) {
	for _, d := range m.batch {
		n.add(d.Counts)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, waiting := range m.cells {
		n.add(*waiting)
	}
	return n
}

// work flushes and reads until Close. No other goroutine does either, so a read after a flush includes everything flushed so far.
func (m *Meter) work() {
	defer close(m.done)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-m.stop: // the call under way ends, and Close continues under its own deadline
			cancel()
		case <-m.done:
		}
	}()
	ticker := time.NewTicker(m.cfg.FlushEvery)
	defer ticker.Stop()
	var down outage.Outage
	for {
		select {
		case <-m.stop:
			return
		case <-m.wake:
		case <-ticker.C:
		}
		err := m.flush(ctx)
		if readErr := m.read(ctx); readErr != nil {
			err = errors.Join(err, readErr)
		}
		if ctx.Err() != nil {
			return
		}
		switch down.Observe(err) {
		case outage.Began:
			m.cfg.Logger.Warn("usage and plans cannot be exchanged with the database; ingest goes on, counts wait in memory", slog.Any("error", err))
		case outage.Ended:
			m.cfg.Logger.Info("usage and plans are exchanged with the database again")
		case outage.None:
		}
	}
}

// flush adds the counts to the store. After an error it sends the same deltas again under the same number, before any others.
func (m *Meter) flush(ctx context.Context) error {
	for {
		left := len(m.batch) > 0
		if !left {
			left = m.take()
		}
		if len(m.batch) == 0 {
			return nil
		}
		call, cancel := context.WithTimeout(ctx, m.cfg.CallTimeout)
		err := m.cfg.Store.AddUsage(call, m.cfg.Node, m.number, m.batch)
		cancel()
		m.mu.Lock()
		if err != nil {
			m.stats.FlushFailures++
			m.mu.Unlock()
			return fmt.Errorf("add usage: %w", err)
		}
		m.stats.Flushes++
		m.flushing = time.Time{}
		m.mu.Unlock()
		m.batch = nil
		if !left {
			return nil
		}
	}
}

// take fills the next batch from the waiting counts, and reports whether some counts must wait for another batch.
func (m *Meter) take() (left bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.cells) == 0 {
		return false
	}
	m.flushing = m.since
	for c, n := range m.cells {
		if len(m.batch) == deltasAtOnce {
			left = true
			break
		}
		delete(m.cells, c)
		d := Delta{Org: c.org, Day: c.dayStart(), Signal: c.signal, Key: c.key, Counts: *n}
		m.batch = append(m.batch, d)
		if a := m.accounts[c.org]; a != nil && !d.Day.Before(a.month) {
			u := a.of(c.signal)
			u.flushed.add(*n)
			u.waiting.subtract(*n)
		}
	}
	if !left {
		m.since = time.Time{}
	}
	// All nodes flush sums in the same order. Otherwise their transactions could deadlock.
	slices.SortFunc(m.batch, func(x, y Delta) int {
		return cmp.Or(cmp.Compare(x.Org, y.Org), x.Day.Compare(y.Day), cmp.Compare(x.Signal, y.Signal), cmp.Compare(x.Key, y.Key))
	})
	m.number = max(m.number+1, m.cfg.Now().UnixMicro())
	return left
}

// read asks the store for the accounts that are due: new accounts at once, all accounts every ReadEvery and after Reread.
func (m *Meter) read(ctx context.Context) error {
	now := m.cfg.Now()
	all := m.stale.Swap(false) || m.readAt.IsZero() || now.Sub(m.readAt) >= m.cfg.ReadEvery || now.Before(m.readAt)
	if all {
		m.readAt = now
		m.forget(now)
	}
	orgs, month := m.due(all, now)
	for len(orgs) > 0 {
		part := orgs[:min(len(orgs), orgsAtOnce)]
		call, cancel := context.WithTimeout(ctx, m.cfg.CallTimeout)
		found, err := m.cfg.Store.Accounts(call, part, month)
		cancel()
		if err != nil {
			m.unanswered(orgs)
			return fmt.Errorf("read plans and usage: %w", err)
		}
		m.learn(part, found, month)
		orgs = orgs[len(part):]
	}
	return nil
}

// due returns the accounts to read, and the month to read.
func (m *Meter) due(all bool, now time.Time) (orgs []principal.OrgID, month time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for org, a := range m.accounts {
		if all || !a.asked {
			orgs = append(orgs, org)
		}
	}
	return orgs, m.month.of(now)
}

// unanswered handles a failed read. It keeps the known state of the accounts and releases the requests that wait for them. The
// next read of all accounts includes these.
func (m *Meter) unanswered(orgs []principal.OrgID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Reads++
	m.stats.ReadFailures++
	for _, org := range orgs {
		m.accounts[org].answer()
	}
}

// learn takes over the store's answer.
func (m *Meter) learn(orgs []principal.OrgID, found map[principal.OrgID]Account, month time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Reads++
	for _, org := range orgs {
		a := m.accounts[org]
		a.answer()
		a.plan = found[org].Plan
		if month.Before(a.month) {
			continue // a new month began meanwhile; the next read brings its sums
		}
		a.roll(month)
		for signal := range found[org].Used {
			a.of(signal)
		}
		for signal, u := range a.signals {
			u.stored = found[org].Used[signal]
			// If no flush has an unknown outcome, the sums include everything flushed.
			if len(m.batch) == 0 {
				u.flushed = Counts{}
			}
		}
	}
}

func (a *account) answer() {
	if !a.asked {
		a.asked = true
		close(a.answered)
	}
}

// forget drops accounts that have not been used for long, unless the store fails. Their counts are flushed by then.
func (m *Meter) forget(now time.Time) {
	if len(m.batch) > 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for org, a := range m.accounts {
		if now.Sub(a.seen) > forgetAfter {
			delete(m.accounts, org)
		}
	}
}
