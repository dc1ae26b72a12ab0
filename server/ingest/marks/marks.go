// Package marks records how far the telemetry of a node is stored, for rules that wait for it, and counts the nodes that take requests.
package marks

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/outage"
	"github.com/svc-observability/svc/server/store"
)

// Config has the parts of New.
type Config struct {
	Store *store.Store
	// Queue and Pipeline are nil in a process that takes no telemetry.
	Queue    *queue.Log
	Pipeline *pipeline.Pipeline
	// Nodes takes the number of nodes that are alive, every limits.IngestMarkEvery. It may be nil.
	Nodes  func(n int)
	Logger *slog.Logger
}

// Marks is the mark of one node. It is safe for concurrent use.
type Marks struct {
	Config

	stop    context.CancelFunc
	running sync.WaitGroup
	writes  outage.Outage

	mu     sync.Mutex
	silent []string
}

// New returns the marks of a node.
func New(c Config) *Marks { return &Marks{Config: c, stop: func() {}} }

// Start writes the mark of this node from now on. A process that is alone needs no rows for it.
func (m *Marks) Start() {
	if m.Queue == nil || !m.Store.WorkExpires() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.stop = cancel
	m.running.Go(func() {
		tick := time.NewTicker(limits.IngestMarkEvery)
		defer tick.Stop()
		for {
			m.beat(ctx)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// Close ends Start. With a backlog, the mark stays until it is too old to count.
func (m *Marks) Close(ctx context.Context) error {
	m.stop()
	m.running.Wait()
	if m.Queue == nil || !m.Store.WorkExpires() || m.Pipeline.Stats().Done.Before(m.Queue.Tail()) {
		return nil
	}
	return m.Store.ClearIngestMark(ctx, m.Queue.ID())
}

// beat writes the mark, and counts the nodes. While the database does not answer, the last number applies.
func (m *Marks) beat(ctx context.Context) {
	err := m.write(ctx)
	if ctx.Err() != nil {
		return
	}
	switch m.writes.Observe(err) {
	case outage.Began:
		m.Logger.Warn("alerts may wait for this node: it cannot say how far its telemetry is stored", "error", err)
	case outage.Ended:
		m.Logger.Info("this node says again how far its telemetry is stored")
	case outage.None:
	}
	if m.Nodes == nil {
		return
	}
	if others, err := m.Store.CountIngestNodes(ctx, m.Queue.ID()); err == nil {
		m.Nodes(1 + others)
	}
}

// write writes the mark of this node. While it is not known, the node gives only a sign of life: it takes requests, so others must count
// it, and alerts must wait for it.
func (m *Marks) write(ctx context.Context) error {
	mark, ok := m.own()
	if !ok {
		return m.Store.KeepIngestMark(ctx, m.Queue.ID())
	}
	return m.Store.SetIngestMark(ctx, m.Queue.ID(), mark)
}

// own says how far this node's telemetry is stored. It is not known until the records of earlier runs are.
func (m *Marks) own() (store.IngestMark, bool) {
	now, stats := time.Now(), m.Pipeline.Stats()
	if !stats.Caught {
		return store.IngestMark{}, false
	}
	return store.IngestMark{
		Through: now.Add(-stats.OldestOutsideLanes), Behind: stats.Beside, BehindThrough: now.Add(-stats.OldestUnflushed),
	}, true
}

// StoredThrough says how far the telemetry of all nodes is stored. ok is false while it is not known.
func (m *Marks) StoredThrough(ctx context.Context) (mark store.IngestMark, ok bool, err error) {
	if !m.Store.WorkExpires() {
		if m.Pipeline == nil {
			return mark, false, nil
		}
		mark, ok = m.own()
		return mark, ok, nil
	}
	mark, ok, silent, err := m.Store.StoredThrough(ctx)
	if err == nil {
		m.noteSilent(silent)
	}
	return mark, ok, err
}

// noteSilent logs each change of the nodes that gave no sign of life.
func (m *Marks) noteSilent(nodes []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.Sort(nodes)
	if slices.Equal(nodes, m.silent) {
		return
	}
	m.silent = nodes
	if len(nodes) > 0 {
		m.Logger.Warn("alerts are evaluated without ingest nodes that gave no sign of life", "nodes", nodes)
	} else {
		m.Logger.Info("alerts wait for every ingest node again")
	}
}
