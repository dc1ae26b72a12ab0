package outcome

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/outage"
)

const (
	// keysAtOnce bounds one save.
	keysAtOnce  = 100
	deleteEvery = 24 * time.Hour
)

// Close saves the unsaved outcomes. Stop recording before Close.
func (r *Recorder) Close(ctx context.Context) error {
	r.once.Do(func() { close(r.stop) })
	select {
	case <-r.done:
	case <-ctx.Done():
		return fmt.Errorf("close the recorder of ingest outcomes: %w", ctx.Err())
	}
	return r.save(ctx, true)
}

// work saves until Close.
func (r *Recorder) work() {
	defer close(r.done)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-r.stop:
			cancel()
		case <-r.done:
		}
	}()
	ticker := time.NewTicker(r.cfg.SaveEvery)
	defer ticker.Stop()
	var deleted time.Time
	var down outage.Outage
	for {
		select {
		case <-r.stop:
			return
		case <-ticker.C:
		}
		err := r.save(ctx, false)
		if now := r.cfg.Now(); err == nil && now.Sub(deleted) >= deleteEvery {
			deleted = now
			err = r.deleteOld(ctx, now)
		}
		if ctx.Err() != nil {
			return
		}
		switch down.Observe(err) {
		case outage.Began:
			r.cfg.Logger.Warn("outcomes of ingest requests cannot be saved; they are kept in memory", slog.Any("error", err))
		case outage.Ended:
			r.cfg.Logger.Info("outcomes of ingest requests are saved again")
		case outage.None:
		}
	}
}

func (r *Recorder) deleteOld(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.CallTimeout)
	defer cancel()
	if err := r.cfg.Store.DeleteOutcomes(ctx, now.Add(-r.cfg.Keep)); err != nil {
		return fmt.Errorf("delete old ingest outcomes: %w", err)
	}
	return nil
}

// save saves the histories that are due, the earliest changes first. If everything is set, it saves all changed histories.
func (r *Recorder) save(ctx context.Context, everything bool) error {
	due := r.due(everything)
	for part := range slices.Chunk(due, keysAtOnce) {
		if err := r.savePart(ctx, part); err != nil {
			r.mu.Lock()
			r.stats.SaveFailures++
			r.mu.Unlock()
			return fmt.Errorf("save ingest outcomes: %w", err)
		}
		if !everything {
			break // the rest waits for the next tick, so that a save stays small
		}
	}
	return nil
}

func (r *Recorder) due(everything bool) (due []*history) {
	now := r.cfg.Now()
	since := map[*history]time.Time{}
	r.mu.Lock()
	for _, h := range r.keys {
		if c := h.unsaved; c.any() && (everything || c.problem || now.Sub(c.since) >= r.cfg.SaveCleanEvery) {
			due = append(due, h)
			since[h] = c.since
		}
	}
	r.mu.Unlock()
	slices.SortFunc(due, func(x, y *history) int { return since[x].Compare(since[y]) })
	return due
}

// savePart saves some histories. Outcomes recorded meanwhile are saved the next time.
func (r *Recorder) savePart(ctx context.Context, part []*history) (err error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.CallTimeout)
	defer cancel()
	all := make([]History, 0, len(part))
	saving := make([]changes, 0, len(part))
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if err == nil {
			r.stats.Saved += int64(len(part))
			return
		}
		for i, c := range saving {
			part[i].unsaved = changes{since: c.since, problem: c.problem || part[i].unsaved.problem}
		}
	}()
	for _, h := range part {
		if !h.seeded { // only this goroutine seeds
			earlier, err := r.cfg.Store.Outcomes(ctx, r.cfg.Node, h.key)
			if err != nil {
				return err
			}
			r.mu.Lock()
			h.seed(earlier)
			r.mu.Unlock()
		}
		r.mu.Lock()
		all = append(all, History{Key: h.key, Outcomes: h.list()})
		saving = append(saving, h.unsaved)
		h.unsaved = changes{}
		r.mu.Unlock()
	}
	return r.cfg.Store.PutOutcomes(ctx, r.cfg.Node, all)
}
