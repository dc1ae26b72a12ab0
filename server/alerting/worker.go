package alerting

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Store keeps rules, states and incidents. *store.Store has them.
type Store interface {
	AlertCursors(ctx context.Context, shard int) ([]store.AlertCursor, error)
	AlertMemory(ctx context.Context, org principal.OrgID) (store.AlertMemory, error)
	CommitAlerts(ctx context.Context, f store.Fence, org principal.OrgID, c store.AlertCommit) (dropped []uuid.UUID, err error)
}

// Notice is something to tell about an incident.
type Notice struct {
	Rule     *store.AlertRule
	Incident *store.AlertIncident
	Event    Event
	// At is the evaluated minute, Value and Samples are its figures.
	At      time.Time
	Value   *float64
	Samples float64
}

// Config configures a Worker.
type Config struct {
	Store  Store
	Source Source
	// StoredThrough says how far the telemetry of all ingest nodes is stored. ok is false while it is not known.
	StoredThrough func(ctx context.Context) (m store.IngestMark, ok bool, err error)
	// Messages makes the rows of the outbox for notices about one rule: one for each enabled destination.
	Messages func(ctx context.Context, org principal.OrgID, notices []Notice) ([]store.NewDelivery, error)
	// Summary says in a sentence what a notice observed.
	Summary func(Notice) string
	Logger  *slog.Logger
}

// Worker evaluates the rules of shards.
type Worker struct {
	cfg Config
	mu  sync.Mutex
	// late is the wall time at which the oldest minute became due that is not evaluated, by shard.
	late map[int]time.Time
}

// NewWorker returns a Worker.
func NewWorker(cfg Config) *Worker { return &Worker{cfg: cfg, late: map[int]time.Time{}} }

// Lag is the age of the oldest minute that is due.
func (w *Worker) Lag() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lag time.Duration
	for _, at := range w.late {
		lag = max(lag, time.Since(at))
	}
	return lag
}

// Shard is the work of one shard, with the memory of its organizations.
type Shard struct {
	*Worker
	fence store.Fence
	orgs  map[principal.OrgID]*orgMemory
	turn  int
}

// Shard begins with the work of a shard.
func (w *Worker) Shard(f store.Fence) *Shard {
	return &Shard{Worker: w, fence: f, orgs: map[principal.OrgID]*orgMemory{}}
}

// Close ends the work of the shard here.
func (s *Shard) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.late, s.fence.Number)
}

// Run evaluates everything that is due and returns the time at which something is due next.
func (s *Shard) Run(ctx context.Context) (next time.Time, err error) {
	cursors, err := s.cfg.Store.AlertCursors(ctx, s.fence.Number)
	if err != nil {
		return time.Time{}, err
	}
	s.forget(cursors)
	if len(cursors) > 0 {
		// Each run begins with another organization, so that no one is always the last.
		s.turn = (s.turn + 1) % len(cursors)
		cursors = slices.Concat(cursors[s.turn:], cursors[:s.turn])
	}
	mark, known, err := s.cfg.StoredThrough(ctx)
	if err != nil {
		return time.Time{}, err
	}
	var oldest time.Time
	var errs []error
	for _, c := range cursors {
		if c.Rules == 0 {
			continue
		}
		now := time.Now()
		due := dueMinute(c.Org, now)
		at := due.Add(time.Minute + settle(c.Org))
		if c.Lacks(due) {
			var stored time.Time
			if known {
				stored = mark.Of(c.Org)
			}
			done, err := s.organization(ctx, c, due, stored)
			switch {
			case errors.Is(err, store.ErrFenced), ctx.Err() != nil:
				return time.Time{}, errors.Join(err, ctx.Err())
			case errors.Is(err, store.ErrNotFound):
				continue // the organization was deleted
			}
			errs = append(errs, err)
			if err != nil || !done {
				at = now.Add(limits.AlertRetry)
				if first := firstDue(c, due); oldest.IsZero() || first.Before(oldest) {
					oldest = first
				}
			}
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.late, s.fence.Number)
	if !oldest.IsZero() {
		s.late[s.fence.Number] = oldest
	}
	if err := errors.Join(errs...); err != nil {
		return time.Time{}, err
	}
	return next, nil
}

// settle is the time after a minute until its telemetry is expected. Organizations are spread, so that not all are due at once.
func settle(org principal.OrgID) time.Duration {
	return limits.AlertSettle + phase(string(org), limits.AlertSpread)
}

func dueMinute(org principal.OrgID, now time.Time) time.Time {
	return now.UTC().Add(-settle(org)).Truncate(time.Minute)
}

// firstDue is the wall time at which the first minute became due that is not evaluated.
func firstDue(c store.AlertCursor, due time.Time) time.Time {
	if c.EvaluatedThrough != nil {
		due = c.EvaluatedThrough.Add(time.Minute)
	}
	return due.Add(settle(c.Org))
}

// forget drops the memory of organizations that are gone, or whose rules were edited.
func (s *Shard) forget(cursors []store.AlertCursor) {
	current := map[principal.OrgID]store.AlertCursor{}
	for _, c := range cursors {
		current[c.Org] = c
	}
	for org, m := range s.orgs {
		if c, ok := current[org]; !ok || !m.current(c) {
			delete(s.orgs, org)
		}
	}
}

// organization evaluates the rules of an organization as far as its telemetry is stored, at most through the minute that is due. Minutes
// that cannot be evaluated wait, at most for limits.AlertPatience. done is false while some wait.
func (s *Shard) organization(ctx context.Context, c store.AlertCursor, due, stored time.Time) (done bool, err error) {
	m := s.orgs[c.Org]
	if m == nil {
		stored, err := s.cfg.Store.AlertMemory(ctx, c.Org)
		if err != nil {
			return false, err
		}
		if m, err = remember(c, stored); err != nil {
			return false, err
		}
		s.orgs[c.Org] = m
	}
	through := due
	if stored.Before(due) {
		through = stored.UTC().Truncate(time.Minute)
	}
	failure, category := errDelayed, categoryDelayed
	if c.Lacks(through) {
		asks, rules := m.asks(m.minutes(c.EvaluatedThrough, through))
		var figures []Figures
		failure, category = nil, categoryWarehouse
		if len(asks) > 0 {
			figures, failure = s.cfg.Source.Figures(ctx, c.Org, asks)
		}
		switch {
		case failure == nil:
			err := s.commit(ctx, m, rules, asks, figures, store.AlertCommit{Through: through})
			return err == nil && through.Equal(due), err
		case ctx.Err() != nil:
			return false, failure // the stop ended the reads, so they say nothing
		}
	}
	if err := s.giveUp(ctx, c, m, failure, category); err != nil || category == categoryDelayed {
		return false, err
	}
	return false, failure
}

// giveUp records the minutes that waited too long as failed. They change nothing but the checks and the holds of open incidents.
func (s *Shard) giveUp(ctx context.Context, c store.AlertCursor, m *orgMemory, failure error, category string) error {
	through := time.Now().UTC().Add(-limits.AlertPatience).Truncate(time.Minute)
	if !c.Lacks(through) {
		return nil
	}
	asks, rules := m.asks(m.minutes(c.EvaluatedThrough, through))
	commit := store.AlertCommit{Through: through}
	figures := make([]Figures, len(asks))
	for i := range figures {
		figures[i] = Figures{Err: failure, Category: category}
		text := failure.Error()
		commit.Error = &text
	}
	return s.commit(ctx, m, rules, asks, figures, commit)
}

// commit decides about the figures and stores the result.
func (s *Shard) commit(
	ctx context.Context, m *orgMemory, rules []*ruleMemory, asks []Ask, figures []Figures, commit store.AlertCommit,
) error {
	org := m.cursor.Org
	if err := s.decide(ctx, org, m, rules, asks, figures, commit.Error != nil, &commit); err != nil {
		delete(s.orgs, org)
		return err
	}
	dropped, err := s.cfg.Store.CommitAlerts(ctx, s.fence, org, commit)
	if err != nil || len(dropped) > 0 {
		// The memory has decisions that are not stored.
		delete(s.orgs, org)
	}
	return err
}

// Categories of failures that say nothing about a rule.
const (
	categoryDelayed   = "ingest_delay"
	categoryWarehouse = "warehouse"
)

var errDelayed = errors.New("telemetry of this minute is not stored yet, so it was not judged")

// minutes are the minutes to evaluate: all that were missed, or the last ones after a long gap.
func (m *orgMemory) minutes(through *time.Time, due time.Time) []time.Time {
	n := 1
	if through != nil {
		n = int(due.Sub(*through) / time.Minute)
		if missed := n; missed > limits.AlertCatchUp {
			n = limits.AlertReplay
			for _, r := range m.list {
				n = max(n, r.ConsecutiveBreachesRequired, r.ConsecutiveHealthyRequired)
			}
			n = min(n, missed, limits.AlertLongestReplay)
		}
	}
	out := make([]time.Time, 0, n)
	for i := range n {
		out = append(out, due.Add(-time.Duration(n-1-i)*time.Minute))
	}
	return out
}

// asks are the questions about the rules that are enabled, and these rules.
func (m *orgMemory) asks(minutes []time.Time) (asks []Ask, rules []*ruleMemory) {
	for _, r := range m.list {
		if !r.Enabled {
			continue
		}
		own := make([]time.Time, 0, len(minutes))
		for _, t := range minutes {
			// Metrics arrive later, because SDKs export them once a minute.
			if Late(&r.AlertRule) {
				t = t.Add(-time.Minute)
			}
			if r.EnabledAt == nil || t.After(*r.EnabledAt) {
				own = append(own, t)
			}
		}
		if len(own) > 0 {
			asks = append(asks, Ask{Rule: &r.AlertRule, Minutes: own, Keep: r.openGroups()})
			rules = append(rules, r)
		}
	}
	return asks, rules
}
