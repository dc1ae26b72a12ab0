package usage

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-observability/svc/server/principal"
)

// Meter counts usage and enforces the plans of organizations. It is safe for concurrent use. The caller must Close it.
type Meter struct {
	cfg  Config
	wake chan struct{}
	// stale says that the worker must read every account at once.
	stale atomic.Bool
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once

	mu       sync.Mutex
	cells    map[cell]*Counts
	accounts map[principal.OrgID]*account
	month    calendarMonth
	// since is the time of the oldest count in cells; flushing is that of the flush under way. Zero means that there is no such
	// count.
	since, flushing time.Time
	stats           Stats

	// Only the worker uses the fields below.
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

// account is the known state of an organization. The usage of a signal is the sum that the store had at the last read, the counts
// flushed since then (or being flushed), and the counts that wait for the next flush.
type account struct {
	plan *Plan
	// month is the start of the month of the counts.
	month   time.Time
	signals map[string]*signalUsage
	// answered is closed after the store was first asked, with or without success. asked says that it is closed.
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

// Stats is a snapshot for metrics. Its counters start at Start.
type Stats struct {
	// Oldest is the age of the oldest count that is not in the store, or 0 if all counts are.
	Oldest time.Duration
	// Cells is the number of sums that wait for the next flush.
	Cells int
	// Flushes counts the flushes that succeeded. FlushFailures counts those that failed or have an unknown outcome; they are sent
	// again.
	Flushes, FlushFailures int64
	// Reads counts reads of plans and sums. ReadFailures counts the reads that failed.
	Reads, ReadFailures int64
	// Merged counts requests that were counted under OtherKeys.
	Merged int64
	// Accounts is the number of organizations in memory.
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

// Check returns the reason why the organization may not send more of the signal, or nil if it may. Only the first requests of an
// organization may wait for its plan. If the plan cannot be read, they pass.
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

// Reread makes the worker read all plans at once, because one has changed.
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

// AddItems counts items that a request of another signal created. The request and its bytes count under that other signal.
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

// account returns the organization's account for the current month. The caller holds the lock.
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

// roll begins a new month with zero counts.
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

// calendarMonth remembers the last month that it returned, because computing the date costs more than everything around it.
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
