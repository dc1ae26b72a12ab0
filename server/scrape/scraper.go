// Package scrape fetches the metrics of scrape targets and stores them as points of OTLP.
//
// A Scraper has the targets of the shards that this process holds. Each target has a fixed place in its interval, which follows from its
// id. A scrape fetches the page of the target, turns it into export requests, and submits these to ingest like the requests of an
// exporter. Every attempt adds series about itself (up, scrape_duration_seconds, …) and a check.
package scrape

import (
	"container/heap"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Targets is the part of the relational store that a Scraper needs.
type Targets interface {
	ScrapeTargetsOfShards(ctx context.Context, shards []int) ([]store.ScrapeTarget, error)
	RecordScrapes(ctx context.Context, results []store.ScrapeResult) error
	Subscribe(fn func(store.Change)) (unsubscribe func())
}

// Sink stores the metrics. id is the public id of the target.
type Sink interface {
	SubmitMetrics(ctx context.Context, org principal.OrgID, id string, body []byte) error
}

// Checks stores the checks.
type Checks interface {
	InsertRows(ctx context.Context, table string, columns []string, rows [][]any, token string) error
}

// Config configures a Scraper. All fields are required, except Metrics and Expander.
type Config struct {
	Targets Targets
	Vault   Vault
	Guard   *egress.Guard
	Sink    Sink
	Checks  Checks
	// Expander knows the endpoints of targets that integrations own.
	Expander Expander
	Logger   *slog.Logger
	Metrics  prometheus.Registerer
}

const (
	// reconcileEvery is the time after which the targets are read again although no change was announced.
	reconcileEvery = time.Minute
	// changesSettle is the wait after an announced change, so that many changes cause one read.
	changesSettle = 250 * time.Millisecond
	// flushEvery is the time between two writes of checks and results.
	flushEvery = 10 * time.Second
	// rearm bounds the sleep of the schedule, because a timer does not notice a step of the wall clock.
	rearm = 30 * time.Second
	// converting bounds the scrapes that convert and submit at once. Their export requests are larger than the pages.
	converting = 32
)

// Scraper scrapes the targets of the shards that it is given. Close it.
type Scraper struct {
	cfg     Config
	fetcher *fetcher
	metrics *metrics
	packer  *zstd.Encoder
	reader  *zstd.Decoder
	book    *book

	slots struct {
		all, convert chan struct{}
		host, org    *keyed
	}

	ctx      context.Context // ends every scrape when the scraper is closed
	cancel   context.CancelFunc
	loops    sync.WaitGroup
	scrapes  sync.WaitGroup
	wake     chan struct{} // the schedule has changed
	changed  chan struct{} // the targets have changed
	unfollow func()

	mu      sync.Mutex
	shards  map[int]store.Fence
	targets map[uuid.UUID]*scheduled
	due     schedule
	// deleted are organizations for which nothing may be stored any more.
	deleted map[principal.OrgID]bool
}

// New makes a scraper. It scrapes nothing until Run gives it a shard.
func New(cfg Config) (*Scraper, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(256<<10))
	if err != nil {
		return nil, err
	}
	reader, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(2*limits.ScrapeBody))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Scraper{
		cfg: cfg, fetcher: newFetcher(), packer: packer, reader: reader, book: newBook(cfg.Checks, cfg.Targets, cfg.Logger),
		ctx: ctx, cancel: cancel, wake: make(chan struct{}, 1), changed: make(chan struct{}, 1),
		shards: map[int]store.Fence{}, targets: map[uuid.UUID]*scheduled{}, deleted: map[principal.OrgID]bool{},
	}
	s.slots.all, s.slots.convert = make(chan struct{}, limits.ScrapesInFlight), make(chan struct{}, converting)
	s.slots.host, s.slots.org = newKeyed(limits.ScrapesOfHost), newKeyed(limits.ScrapesOfOrganization)
	s.metrics, err = newMetrics(cfg.Metrics, s)
	if err != nil {
		cancel()
		return nil, err
	}
	s.unfollow = cfg.Targets.Subscribe(func(c store.Change) {
		if c.Subject == store.SubjectOrganization {
			s.mu.Lock()
			s.deleted[c.Org] = true
			s.mu.Unlock()
		}
		if c.Subject == store.SubjectScrapeTarget || c.Subject == store.SubjectOrganization || c.Subject == store.SubjectAny && c.Cause == nil {
			notify(s.changed)
		}
	})
	s.loops.Go(s.schedule)
	s.loops.Go(s.reconcile)
	s.loops.Go(s.flush)
	return s, nil
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Close ends the scrapes that run, and writes the checks and results that are left until ctx ends.
func (s *Scraper) Close(ctx context.Context) error {
	s.unfollow()
	s.cancel()
	s.loops.Wait()
	s.scrapes.Wait()
	s.reader.Close()
	return s.book.flush(ctx)
}

// Run scrapes the targets of the shard of a lease until stopping is closed and their scrapes have ended, or until ctx ends, because the
// lease is lost. Results are recorded under the lease.
func (s *Scraper) Run(ctx context.Context, lease store.Fence, stopping <-chan struct{}) {
	shard := lease.Number
	s.mu.Lock()
	s.shards[shard] = lease
	s.mu.Unlock()
	notify(s.changed)
	select {
	case <-stopping:
	case <-ctx.Done():
	}
	s.mu.Lock()
	delete(s.shards, shard)
	var running []chan struct{}
	for id, t := range s.targets {
		if t.row.Shard == shard {
			if t.running != nil {
				running = append(running, t.running)
			}
			s.drop(id)
		}
	}
	s.mu.Unlock()
	for _, done := range running {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
	if ctx.Err() != nil {
		return
	}
	// The next holder sees the last results, and afterwards they could not be recorded any more.
	if err := s.book.saveResults(ctx); err != nil {
		s.cfg.Logger.Warn("the last results of scrape targets could not be recorded", "error", err)
	}
}

// drop takes a target from the schedule. The caller holds the lock.
func (s *Scraper) drop(id uuid.UUID) {
	t := s.targets[id]
	delete(s.targets, id)
	if t.index >= 0 {
		heap.Remove(&s.due, t.index)
	}
	if t.client != nil {
		t.client.CloseIdleConnections()
	}
}

// reconcile keeps the targets equal to those of the store.
func (s *Scraper) reconcile() {
	timer := time.NewTimer(reconcileEvery)
	defer timer.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-timer.C:
		case <-s.changed:
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(changesSettle):
			}
		}
		timer.Reset(reconcileEvery)
		s.mu.Lock()
		var shards []int
		for n := range s.shards {
			shards = append(shards, n)
		}
		s.mu.Unlock()
		if len(shards) == 0 {
			continue
		}
		rows, err := s.cfg.Targets.ScrapeTargetsOfShards(s.ctx, shards)
		if err != nil {
			// The targets that are known are scraped meanwhile.
			if s.ctx.Err() == nil {
				s.cfg.Logger.Warn("the scrape targets cannot be read; the known ones are scraped", "error", err)
			}
			continue
		}
		s.replace(rows, shards)
	}
}

// replace makes the rows the targets of the shards.
func (s *Scraper) replace(rows []store.ScrapeTarget, shards []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	listed := make(map[uuid.UUID]bool, len(rows))
	for i := range rows {
		row := &rows[i]
		lease, held := s.shards[row.Shard]
		if row.TargetType != store.ScrapePrometheus && s.cfg.Expander == nil || !held {
			continue
		}
		listed[row.ID] = true
		old := s.targets[row.ID]
		if old != nil && old.lease == lease && old.row.UpdatedAt.Equal(row.UpdatedAt) {
			continue
		}
		t := s.newScheduled(row, lease)
		if old != nil {
			s.drop(row.ID)
			s.hand(old, t)
		}
		s.targets[row.ID] = t
		t.due = next(now, t.ID, t.Interval)
		heap.Push(&s.due, t)
	}
	for id, t := range s.targets {
		if !listed[id] && slices.Contains(shards, t.row.Shard) {
			s.drop(id)
			s.hand(t, nil)
		}
	}
	notify(s.wake)
}

// hand gives the state of a target to its successor after an edit, nil for a target that was deleted or paused. Series that the
// successor does not have end. While a scrape runs, this waits for it. The caller holds the lock.
func (s *Scraper) hand(old, to *scheduled) {
	if old.running != nil {
		old.handed, old.successor = true, to
		return
	}
	if to != nil && to.running == nil {
		to.succeed(old)
	}
	if to == nil || !to.same(old) {
		s.end(old)
	}
}

// schedule starts each scrape at its time.
func (s *Scraper) schedule() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		timer.Reset(s.startDue())
	}
}

// startDue starts the scrapes that are due and returns the time until the next one.
func (s *Scraper) startDue() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.due) > 0 {
		t, now := s.due[0], time.Now()
		// The clock may have been set back: no target waits longer than its interval.
		if ahead := t.due.Sub(now); ahead > t.Interval {
			t.due = next(now, t.ID, t.Interval)
			heap.Fix(&s.due, 0)
			continue
		}
		if t.due.After(now) {
			return min(t.due.Sub(now), rearm)
		}
		planned := t.due
		t.due = next(now, t.ID, t.Interval)
		heap.Fix(&s.due, 0)
		switch {
		case t.running != nil:
			s.metrics.skipped.Inc() // the one before still runs
		case now.Before(t.until):
			s.metrics.backedOff.Inc()
		default:
			t.running = make(chan struct{})
			deadline := t.due
			s.scrapes.Go(func() { s.run(t, planned, deadline) })
		}
	}
	return rearm
}
