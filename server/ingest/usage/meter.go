package usage

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-observability/svc/server/principal"
)

// Meter counts usage and holds organizations to their plans. It is safe for concurrent use; Close it.
type Meter struct {
	cfg  Config
	wake chan struct{}
	// stale: every account is to be read at once.
	stale atomic.Bool
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once

	mu       sync.Mutex
	cells    map[cell]*Counts
	accounts map[principal.OrgID]*account
	month    calendarMonth
	// since is when the oldest count in cells or in the flush under way came in; zero when there is none.
	since, flushing time.Time
	stats           Stats

	// The rest belongs to the worker.
	batch  []Delta
	number int64
	readAt time.Time
}

// cell is one sum.
type cell struct {
	org    principal.OrgID
	day    int64
	signal string
	key    string
}

const secondsOfDay = 24 * 60 * 60

func (c cell) dayStart() time.Time { return time.Unix(c.day*secondsOfDay, 0).UTC() }

// account is what is known of an organization. The usage of a signal is what the store had when it was read, what was flushed since
// (or is being flushed), and what waits for the next flush.
type account struct {
	plan *Plan
	// month is the start of the month that the counts are of.
	month   time.Time
	signals map[string]*signalUsage
	// answered is closed when the store was asked for the first time, with or without success; asked says that it is.
	answered chan struct{}
	asked    bool
	seen     time.Time
}

type signalUsage struct{ stored, flushed, waiting Counts }

func (u *signalUsage) total() Counts {
	n := u.stored
	n.add(u.flushed)
	n.add(u.waiting)
	return n
}

// Stats is a snapshot for metrics; counters count since Start.
type Stats struct {
	// Oldest is the age of the oldest count that the store does not have, 0 when it has all.
	Oldest time.Duration
	// Cells is the number of sums that wait for the next flush.
	Cells int
	// Flushes succeeded, FlushFailures did not or have an unknown outcome, and are sent again.
	Flushes, FlushFailures int64
	// Reads of plans and sums, and how many of them failed.
	Reads, ReadFailures int64
	// Merged counts requests that were counted under OtherKeys.
	Merged int64
	// Accounts is the number of organizations that are kept in memory.
	Accounts int
}

// Start starts a meter.
func Start(cfg Config) (*Meter, error) {
	if cfg.Store == nil || cfg.Node == "" {
		return nil, errors.New("usage: Store and Node are required")
	}
	m := &Meter{
		cfg: cfg.withDefaults(), wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		cells: map[cell]*Counts{}, accounts: map[principal.OrgID]*account{},
	}
	go m.work()
	return m, nil
}

// Stats returns a snapshot.
func (m *Meter) Stats() Stats {
	now := m.cfg.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.Cells, s.Accounts = len(m.cells), len(m.accounts)
	for _, at := range []time.Time{m.since, m.flushing} {
		if !at.IsZero() {
			s.Oldest = max(s.Oldest, now.Sub(at))
		}
	}
	return s
}

// Check returns why the organization may not send more of the signal, nil when it may. Only the first requests of an organization may
// wait, for its plan; when the plan cannot be read, they pass.
func (m *Meter) Check(ctx context.Context, org principal.OrgID, signal string) *Refusal {
	now := m.cfg.Now()
	m.mu.Lock()
	a := m.account(org, now)
	if !a.asked {
		m.mu.Unlock()
		m.await(ctx, a)
		m.mu.Lock()
	}
	defer m.mu.Unlock()
	if a.plan == nil {
		return nil
	}
	var used Counts
	if u := a.signals[signal]; u != nil {
		used = u.total()
	}
	return a.plan.refusal(signal, used, a.month)
}

// Reread has all plans read at once instead of at their time, because one has changed.
func (m *Meter) Reread() {
	m.stale.Store(true)
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *Meter) await(ctx context.Context, a *account) {
	select {
	case m.wake <- struct{}{}:
	default:
	}
	limit := time.NewTimer(m.cfg.FirstWait)
	defer limit.Stop()
	select {
	case <-a.answered:
	case <-limit.C:
	case <-ctx.Done():
	}
}

// Add counts an answered request.
func (m *Meter) Add(org principal.OrgID, signal, key string, items, bytes int) {
	m.count(org, signal, key, Counts{Requests: 1, Items: int64(items), Bytes: int64(bytes)})
}

// AddItems counts items that a request of another signal made: that request, and its bytes, are counted there.
func (m *Meter) AddItems(org principal.OrgID, signal, key string, items int) {
	m.count(org, signal, key, Counts{Items: int64(items)})
}

func (m *Meter) count(org principal.OrgID, signal, key string, n Counts) {
	now := m.cfg.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	c := cell{org: org, day: now.Unix() / secondsOfDay, signal: signal, key: key}
	sum := m.cells[c]
	if sum == nil {
		if len(m.cells) >= m.cfg.MaxCells {
			m.stats.Merged++
			c.key = OtherKeys
			sum = m.cells[c]
		}
		if sum == nil {
			sum = &Counts{}
			m.cells[c] = sum
		}
	}
	sum.add(n)
	if m.since.IsZero() {
		m.since = now
	}
	m.account(org, now).of(signal).waiting.add(n)
}

// account returns the organization's account, of this month. The caller holds the lock.
func (m *Meter) account(org principal.OrgID, now time.Time) *account {
	a := m.accounts[org]
	if a == nil {
		a = &account{answered: make(chan struct{})}
		m.accounts[org] = a
	}
	a.seen = now
	a.roll(m.month.of(now))
	return a
}

// roll begins a new month, whose counts are zero.
func (a *account) roll(month time.Time) {
	if a.month != month {
		a.month, a.signals = month, map[string]*signalUsage{}
	}
}

func (a *account) of(signal string) *signalUsage {
	u := a.signals[signal]
	if u == nil {
		u = &signalUsage{}
		a.signals[signal] = u
	}
	return u
}

// calendarMonth remembers the month of the last time it was asked for, since the date is costlier than everything around it.
type calendarMonth struct{ from, to time.Time }

// of returns the start of the month in UTC.
func (c *calendarMonth) of(t time.Time) time.Time {
	if t.Before(c.from) || !t.Before(c.to) {
		y, m, _ := t.UTC().Date()
		c.from = time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
		c.to = c.from.AddDate(0, 1, 0)
	}
	return c.from
}
