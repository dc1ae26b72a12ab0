package scrape

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
)

// run makes one scrape of a target.
func (s *Scraper) run(t *scheduled, planned, deadline time.Time) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(t.running)
		t.running = nil
		if t.handed {
			s.hand(t, t.successor)
		}
	}()
	wait, cancel := context.WithDeadline(s.ctx, deadline)
	defer cancel()
	host := t.host()
	if t.expands() {
		host = t.public // its endpoints are many hosts
	}
	if !s.slots.host.enter(wait, host) {
		s.skip(t)
		return
	}
	defer s.slots.host.leave(host)
	if !s.slots.org.enter(wait, string(t.Org)) {
		s.skip(t)
		return
	}
	defer s.slots.org.leave(string(t.Org))
	select {
	case s.slots.all <- struct{}{}:
		defer func() { <-s.slots.all }()
	case <-wait.Done():
		s.skip(t)
		return
	}
	s.metrics.delay.Observe(time.Since(planned).Seconds())
	if t.expands() {
		s.scrapeMembers(t)
		return
	}
	s.scrape(t)
}

// skip records a scrape that found no place in its whole interval.
func (s *Scraper) skip(t *scheduled) {
	if s.ctx.Err() != nil {
		return
	}
	s.metrics.skipped.Inc()
	now := time.Now()
	s.book.check(check{t: t, at: now, problem: errBusy.Error()})
	s.record(t, now, errBusy.Error())
}

// scrape makes one attempt and its check.
func (s *Scraper) scrape(t *scheduled) {
	started := time.Now()
	r := s.attempt(t)
	if s.ctx.Err() != nil {
		return
	}
	problem := ""
	if r.err != nil {
		problem = r.err.Error()
	}
	s.conclude(t, started, r.took, r.samples, problem)
}

// conclude writes the check of a scrape.
func (s *Scraper) conclude(t *scheduled, started time.Time, took time.Duration, samples int, problem string) {
	seconds := took.Seconds()
	ended := check{t: t, at: started, problem: problem, seconds: &seconds}
	if problem == "" {
		n := uint32(samples)
		ended.samples = &n
	}
	s.book.check(ended)
	s.record(t, started, problem)
}

// attempted is the result of an attempt.
type attempted struct {
	samples int
	took    time.Duration
	err     error
}

// attempt fetches, converts and submits. After a stop, the result means nothing.
func (s *Scraper) attempt(t *scheduled) attempted {
	started := time.Now()
	ctx, cancel := context.WithTimeout(s.ctx, t.Timeout())
	defer cancel()
	page, err := page{}, errors.New(t.Problem)
	if t.Problem == "" {
		var done func()
		if page, done, err = s.fetcher.fetch(ctx, t.client, &t.Target); err == nil {
			defer done()
		}
	}
	took := time.Since(started)
	if s.ctx.Err() != nil {
		return attempted{err: err}
	}
	s.pace(t, err, started)
	s.slots.convert <- struct{}{}
	defer func() { <-s.slots.convert }()
	c := converters.Get().(*converter)
	defer converters.Put(c)
	added := 0
	c.begin(t.id, started, nil)
	if err == nil {
		if err = c.reader.read(page); err == nil {
			added = s.follow(t, c, page, started)
		}
	}
	samples := c.reader.samples
	if err != nil {
		samples = 0
		c.begin(t.id, started, nil)
		s.endSeries(t, c, t.series, started)
		t.series, t.kept = nil, nil
	}
	up := 1.0
	if err != nil {
		up = 0
	}
	c.own("up", "1 if the scrape of the target succeeded, else 0", "", up)
	c.own("scrape_duration_seconds", "Time from the request to the end of the answer", "s", took.Seconds())
	c.own("scrape_samples_scraped", "Samples that the target exposed", "", float64(samples))
	c.own("scrape_samples_post_metric_relabeling", "Samples after relabeling", "", float64(samples))
	c.own("scrape_series_added", "Samples of series that the scrape before did not have", "", float64(added))
	c.own("scrape_timeout_seconds", "Time that a scrape may take", "s", t.Timeout().Seconds())
	c.cut()
	stored := s.submit(t, c.requests)
	if err == nil {
		err = stored
	}
	if s.ctx.Err() != nil {
		return attempted{err: err}
	}
	s.metrics.seconds.Observe(took.Seconds())
	s.metrics.result(err)
	return attempted{samples, took, err}
}

// submit stores export requests. A failure of one does not keep the others back.
func (s *Scraper) submit(t *scheduled, requests [][]byte) (err error) {
	s.mu.Lock()
	deleted := s.deleted[t.Org]
	s.mu.Unlock()
	if deleted {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, limits.IngestTime)
	defer cancel()
	for _, body := range requests {
		if fail := s.cfg.Sink.SubmitMetrics(ctx, t.Org, t.public, body); fail != nil && err == nil {
			err = fail
			var known *apierr.Error
			if errors.As(fail, &known) {
				err = errors.New(known.Message) // without the tag and the cause, which are for callers of the API and for logs
			}
		}
	}
	return err
}

// follow compares the series of a page with those of the page before, ends those that are gone, and returns the number of samples in
// new series.
func (s *Scraper) follow(t *scheduled, c *converter, p page, at time.Time) (added int) {
	now := slices.Clone(c.series)
	if slices.Equal(now, t.series) {
		return 0
	}
	counts := c.counts
	before := make(map[uint64]bool, len(t.series))
	for _, h := range t.series {
		before[h] = true
	}
	for _, h := range now {
		if !before[h] {
			added += counts[h]
		}
		delete(before, h)
	}
	if len(before) > 0 {
		gone := make([]uint64, 0, len(before))
		for h := range before {
			gone = append(gone, h)
		}
		ending := converters.Get().(*converter)
		s.endSeries(t, ending, gone, at)
		ending.cut()
		c.cut()
		c.requests = append(c.requests, ending.requests...)
		converters.Put(ending)
	}
	c.packed = s.packer.EncodeAll(p.body, c.packed[:0])
	t.series, t.kept, t.keptType = now, slices.Clone(c.packed), p.contentType // a clone has no room that it does not need
	return added
}

// endSeries writes a point without a value for each of the series, from the page that had them.
func (s *Scraper) endSeries(t *scheduled, c *converter, gone []uint64, at time.Time) {
	if len(gone) == 0 || t.kept == nil {
		return
	}
	body, err := s.reader.DecodeAll(t.kept, nil)
	if err != nil {
		return // cannot happen: this process compressed it
	}
	all := make(map[uint64]bool, len(gone))
	for _, h := range gone {
		all[h] = true
	}
	c.begin(t.id, at, all)
	err = c.reader.read(page{body, t.keptType})
	c.gone = nil
	if err != nil {
		s.cfg.Logger.Warn("a page that was read before cannot be read again, so its series do not end", "error", err)
	}
}

// end ends all series of a target that was deleted or paused, with those about its scrapes. The caller holds the lock, and no scrape of
// the target runs.
func (s *Scraper) end(t *scheduled) {
	for _, member := range t.members.of {
		s.end(member)
	}
	if s.ctx.Err() != nil || t.series == nil || s.deleted[t.Org] {
		return
	}
	s.scrapes.Go(func() {
		s.slots.convert <- struct{}{}
		defer func() { <-s.slots.convert }()
		c := converters.Get().(*converter)
		defer converters.Put(c)
		now := time.Now()
		c.begin(t.id, now, nil)
		s.endSeries(t, c, t.series, now)
		c.endOwn()
		c.cut()
		if err := s.submit(t, c.requests); err != nil {
			s.cfg.Logger.Warn("the series of a scrape target were not ended", "target", t.public, "error", err)
		}
	})
}

// pace sets the pause that a target asks for with 429 or 503.
func (s *Scraper) pace(t *scheduled, err error, now time.Time) {
	var status *statusError
	if !errors.As(err, &status) || status.status != http.StatusTooManyRequests && status.status != http.StatusServiceUnavailable {
		t.failures = 0
		s.pauseUntil(t, time.Time{})
		return
	}
	pause := min(t.Interval<<min(t.failures, 10), limits.ScrapeBackoff)
	t.failures++
	s.pauseUntil(t, now.Add(max(pause, status.after)))
}

func (s *Scraper) pauseUntil(t *scheduled, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.until = until
}

// record keeps the result for the row of the target: once a minute, and whenever the problem changes.
func (s *Scraper) record(t *scheduled, at time.Time, problem string) {
	if problem == t.problem && t.everSaved && (problem != "" || at.Sub(t.recorded) < time.Minute) {
		return
	}
	t.problem, t.everSaved = problem, true
	if problem == "" {
		t.recorded = at
	}
	s.book.result(t, at, problem)
}
