// Package work divides background work among the processes that do it. A kind of work has a fixed number of shards. The process with
// the lease of a shard does its work, and another process takes over when the lease ends.
//
// The lease is for comfort: it keeps two processes from doing the same work. Safety comes from the fence: every transaction of a worker
// begins with the proof of its lease (store.Fence), so a process that lost its lease without noticing writes nothing.
package work

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// Kind is one kind of background work.
type Kind struct {
	// Name is the name of its shards in the store, for example store.WorkAlerts.
	Name string
	// Run does the work of one shard. It returns when the shard is stopping and its running work has ended, or when ctx ends: then the
	// lease is lost, or the time for the stop is over. Tick and Due are its loops.
	Run func(ctx context.Context, shard *Shard)
	// Lag returns the age of the oldest thing that is due in the shards of this process; nil if the kind has no such figure.
	Lag func() time.Duration
}

// Leases are the leases of shards. *store.Store has them.
type Leases interface {
	JoinWork(ctx context.Context, node store.WorkNode) error
	BeatWork(ctx context.Context, node store.WorkNode) ([]store.Fence, error)
	LeaveWork(ctx context.Context, node uuid.UUID) error
	// WorkExpires is false where a lease lasts as long as the process.
	WorkExpires() bool
}

// Config configures a Worker.
type Config struct {
	Leases Leases
	Kinds  []Kind
	// Host and Version describe the process to people.
	Host, Version string
	Logger        *slog.Logger
	Metrics       prometheus.Registerer
}

// Shard is a shard whose lease this process has.
type Shard struct {
	store.Fence
	stopping <-chan struct{}
	metrics  *metrics
	log      *slog.Logger
}

// Stopping is closed when the shard must begin nothing new.
func (s *Shard) Stopping() <-chan struct{} { return s.stopping }

// Worker holds leases and runs the work of their shards.
type Worker struct {
	cfg     Config
	node    store.WorkNode
	kinds   map[string]Kind
	metrics *metrics

	running map[string]*run // by the id of the shard; only the loop uses it
	ended   sync.WaitGroup
	stop    chan struct{}
	done    chan struct{}
	cancel  context.CancelFunc
}

// run is the work of one shard that goes on.
type run struct {
	fence  store.Fence
	stop   func()             // begin nothing new
	cancel context.CancelFunc // end at once
	done   chan struct{}
	lost   bool
}

// Start joins the work and begins with the shards of this process. Close it.
func Start(ctx context.Context, cfg Config) (*Worker, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make the id of a node: %w", err)
	}
	w := &Worker{
		cfg: cfg, node: store.WorkNode{ID: id, Host: cfg.Host, Version: cfg.Version}, kinds: map[string]Kind{},
		running: map[string]*run{}, stop: make(chan struct{}), done: make(chan struct{}),
	}
	for _, k := range cfg.Kinds {
		w.kinds[k.Name] = k
		w.node.Kinds = append(w.node.Kinds, k.Name)
	}
	w.metrics = newMetrics(cfg.Metrics, cfg.Kinds)
	if err := cfg.Leases.JoinWork(ctx, w.node); err != nil {
		return nil, err
	}
	loop, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w.cancel = cancel
	go w.loop(loop)
	return w, nil
}

// Close stops the work: nothing new begins, running work gets some time, and then the leases are given back.
func (w *Worker) Close(ctx context.Context) error {
	close(w.stop)
	<-w.done
	for _, r := range w.running {
		r.stop()
	}
	grace := time.AfterFunc(limits.WorkStops, w.cancel)
	defer grace.Stop()
	defer context.AfterFunc(ctx, w.cancel)()
	w.ended.Wait()
	w.cancel()
	// The leases end by themselves if the database does not answer.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.WorkBeat)
	defer cancel()
	if err := w.cfg.Leases.LeaveWork(ctx, w.node.ID); err != nil {
		return fmt.Errorf("give back the leases of background work: %w", err)
	}
	return nil
}

// loop renews the leases and starts and stops the work of shards.
func (w *Worker) loop(ctx context.Context) {
	defer close(w.done)
	clock := startClock()
	held := time.Now() // the start of the last renewal that succeeded
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if step := clock.step(); step != 0 {
			w.metrics.clockSteps.Inc()
			w.cfg.Logger.Warn("the clock of this machine was set; background work goes on by the new time", "step", step.String())
		}
		start := time.Now()
		leases, err := w.beat(ctx, held)
		switch {
		case err == nil:
			held = start
			w.follow(ctx, leases)
		case ctx.Err() != nil:
			return
		default:
			w.cfg.Logger.Warn("the leases of background work could not be renewed; svc tries again", "error", err)
			if w.cfg.Leases.WorkExpires() && time.Since(held) >= limits.WorkHolds {
				w.lose()
			}
		}
		timer.Reset(max(0, limits.WorkBeat-time.Since(start)))
	}
}

// beat renews the leases. It takes at most until the node must assume that they are lost.
func (w *Worker) beat(ctx context.Context, held time.Time) ([]store.Fence, error) {
	left := limits.WorkHolds - time.Since(held)
	if !w.cfg.Leases.WorkExpires() || left <= limits.WorkBeat {
		left = limits.WorkBeat
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	return w.cfg.Leases.BeatWork(ctx, w.node)
}

// follow makes the running work equal to the leases.
func (w *Worker) follow(ctx context.Context, leases []store.Fence) {
	now := map[string]store.Fence{}
	for _, f := range leases {
		now[f.Shard()] = f
	}
	for id, r := range w.running {
		f, kept := now[id]
		select {
		case <-r.done:
			// It ended by itself, because a transaction met a newer lease, or by a defect. It starts again under the present lease.
			delete(w.running, id)
			continue
		default:
		}
		if !kept || f.Token != r.fence.Token {
			w.end(r)
		}
	}
	for id, f := range now {
		// Work under an old lease may need a moment to end. Its shard begins again at the next beat.
		if w.running[id] == nil {
			w.running[id] = w.begin(ctx, f)
		}
	}
	w.metrics.hold(w.running)
}

// end ends the work of a shard whose lease is lost. It does not wait, because the other leases must be renewed in time.
func (w *Worker) end(r *run) {
	if !r.lost {
		r.lost = true
		w.metrics.lost.Inc()
	}
	r.cancel()
}

// lose ends all work, because the leases may be over.
func (w *Worker) lose() {
	going := slices.ContainsFunc(slices.Collect(maps.Values(w.running)), func(r *run) bool { return !r.lost })
	if !going {
		return
	}
	w.cfg.Logger.Error("background work stops here: its leases could not be renewed in time", "shards", len(w.running))
	for _, r := range w.running {
		w.end(r)
	}
	w.metrics.hold(nil)
}

func (w *Worker) begin(ctx context.Context, f store.Fence) *run {
	ctx, cancel := context.WithCancel(ctx)
	stopping := make(chan struct{})
	r := &run{fence: f, cancel: cancel, stop: sync.OnceFunc(func() { close(stopping) }), done: make(chan struct{})}
	shard := &Shard{Fence: f, stopping: stopping, metrics: w.metrics, log: w.cfg.Logger.With("shard", f.Shard())}
	w.ended.Go(func() {
		defer close(r.done)
		defer cancel()
		defer func() {
			// A defect in the work of one shard must not end the server. The shard begins again at the next beat.
			if p := recover(); p != nil {
				w.metrics.runs.WithLabelValues(f.Kind, "panicked").Inc()
				shard.log.Error("background work met a defect of the server", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			}
		}()
		w.kinds[f.Kind].Run(ctx, shard)
	})
	return r
}

// failed reports the result of one run of work, and whether the shard must end.
func (s *Shard) failed(ctx context.Context, took time.Duration, err error) (over bool) {
	result := "ok"
	switch {
	case errors.Is(err, store.ErrFenced):
		result = "fenced"
		s.metrics.fenced.Inc()
		s.log.Warn("another process has this background work now", "error", err)
	case err != nil && ctx.Err() != nil:
		result = "stopped"
	case err != nil:
		result = "failed"
		s.log.Warn("background work failed; svc tries again", "error", err)
	}
	s.metrics.runs.WithLabelValues(s.Kind, result).Inc()
	s.metrics.seconds.WithLabelValues(s.Kind).Observe(took.Seconds())
	return result == "fenced" || result == "stopped"
}
