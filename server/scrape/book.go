package scrape

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/store"
)

// mostChecks bounds the checks that wait for the warehouse. Beyond it the oldest are dropped; the log says how many.
const mostChecks = 50_000

// check is the record of one scrape.
type check struct {
	t       *scheduled
	at      time.Time
	seconds *float64
	samples *uint32
	problem string
}

// book gathers checks and results, and writes them together.
type book struct {
	checksTo  Checks
	resultsTo Targets
	log       *slog.Logger

	mu      sync.Mutex
	checks  [][]any
	dropped int
	results map[uuid.UUID]store.ScrapeResult
	// writing is held during a write, so that two never mix.
	writing sync.Mutex
}

func newBook(checks Checks, results Targets, log *slog.Logger) *book {
	return &book{checksTo: checks, resultsTo: results, log: log, results: map[uuid.UUID]store.ScrapeResult{}}
}

func checkColumns() []string {
	return []string{
		"OrgId", "TargetId", "SubTargetKey", "Timestamp", "Success", "DurationSeconds", "SamplesScraped", "SamplesPostMetricRelabeling",
		"Message",
	}
}

func (b *book) check(c check) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.checks) >= mostChecks {
		b.checks = b.checks[mostChecks/10:]
		b.dropped += mostChecks / 10
	}
	b.checks = append(b.checks, []any{
		string(c.t.Org), c.t.public, "", c.at.UTC(), c.problem == "", c.seconds, c.samples, c.samples, c.problem,
	})
}

func (b *book) result(t *scheduled, at time.Time, problem string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.results[t.ID] = store.ScrapeResult{Org: t.Org, ID: t.ID, At: at, Problem: problem, Under: &t.lease}
}

// flush writes everything. After a failure it keeps the entries that were not written.
func (b *book) flush(ctx context.Context) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	return errors.Join(b.flushResults(ctx), b.flushChecks(ctx))
}

// saveResults writes the results only.
func (b *book) saveResults(ctx context.Context) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	return b.flushResults(ctx)
}

func (b *book) flushResults(ctx context.Context) error {
	b.mu.Lock()
	taken := b.results
	b.results = map[uuid.UUID]store.ScrapeResult{}
	b.mu.Unlock()
	var all []store.ScrapeResult
	for _, r := range taken {
		all = append(all, r)
	}
	err := b.resultsTo.RecordScrapes(ctx, all)
	if err == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, r := range taken {
		if _, newer := b.results[id]; !newer {
			b.results[id] = r
		}
	}
	return err
}

func (b *book) flushChecks(ctx context.Context) error {
	b.mu.Lock()
	taken, dropped := b.checks, b.dropped
	b.checks, b.dropped = nil, 0
	b.mu.Unlock()
	if dropped > 0 {
		b.log.Warn("checks of scrape targets were dropped, because the telemetry store takes none", "checks", dropped)
	}
	if len(taken) == 0 {
		return nil
	}
	err := b.checksTo.InsertRows(ctx, "scrape_checks", checkColumns(), taken, rand.Text())
	if err == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checks = append(taken, b.checks...)
	return err
}

// flush writes the book at an interval.
func (s *Scraper) flush() {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
		if err := s.book.flush(s.ctx); err != nil && s.ctx.Err() == nil {
			s.cfg.Logger.Warn("checks of scrape targets cannot be written; svc tries again", "error", err)
		}
	}
}
