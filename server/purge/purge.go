// Package purge removes the telemetry of organizations that were deleted, and rows of the database that are old.
package purge

import (
	"context"
	"log/slog"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// How often the purger looks for rows of deleted organizations in the warehouse. Telemetry of a deleted organization may still
// arrive from a queue: from this node until its queue is stored, from another node whenever that comes back, or out of
// quarantine. So no organization is ever marked as done. One look costs one query that reads next to nothing.
const (
	soon   = time.Second
	often  = 15 * time.Second
	rarely = 10 * time.Minute
	// recent is the time after a deletion in which the purger looks often.
	recent  = 15 * time.Minute
	timeout = 10 * time.Minute
	// flushTimeout bounds the wait for the queue. Behind a long backlog, the purger goes on without it.
	flushTimeout = 30 * time.Second
	// nightBegins and nightEnds are hours of the day, UTC.
	nightBegins, nightEnds = 2, 5
)

// Tombstones are the organizations that were deleted. *store.Store has them.
type Tombstones interface {
	// ListTombstones returns every deleted organization, the latest deletion first.
	ListTombstones(ctx context.Context) ([]store.Tombstone, error)
	Subscribe(fn func(store.Change)) (unsubscribe func())
}

// Telemetry is the warehouse.
type Telemetry interface {
	// Holding returns those of the organizations that have rows.
	Holding(ctx context.Context, orgs []principal.OrgID) ([]principal.OrgID, error)
	DeleteOrganizations(ctx context.Context, orgs []principal.OrgID) error
}

// Config configures a Purger.
type Config struct {
	Tombstones Tombstones
	Telemetry  Telemetry
	// Flush returns when the telemetry that this node's queue holds now is stored. Nil means that the node has no queue.
	Flush func(ctx context.Context) error
	// Nightly lets the purger work in the night only. A deletion writes parts of every table of a cluster anew, on every replica, and
	// costs the same for many organizations as for one.
	Nightly bool
	Logger  *slog.Logger
}

// Purger looks for rows of deleted organizations, at once after a deletion and from time to time.
type Purger struct {
	cfg         Config
	wake        chan struct{}
	unsubscribe func()
	cancel      context.CancelFunc
	done        chan struct{}
}

// Start starts the Purger's goroutine. Close it.
func Start(cfg Config) *Purger {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Purger{cfg: cfg, wake: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{})}
	p.unsubscribe = cfg.Tombstones.Subscribe(func(c store.Change) {
		if c.Subject == store.SubjectOrganization || c.Subject == store.SubjectAny && c.Cause == nil {
			select {
			case p.wake <- struct{}{}:
			default:
			}
		}
	})
	go func() {
		defer close(p.done)
		p.run(ctx)
	}()
	return p
}

// Close ends the goroutine and its work.
func (p *Purger) Close() {
	p.unsubscribe()
	p.cancel()
	<-p.done
}

func (p *Purger) run(ctx context.Context) {
	timer := time.NewTimer(soon)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-timer.C:
		}
		timer.Reset(p.sweep(ctx))
	}
}

// sweep removes the rows of every deleted organization and returns the time until the next look.
func (p *Purger) sweep(parent context.Context) time.Duration {
	if hour := time.Now().UTC().Hour(); p.cfg.Nightly && (hour < nightBegins || hour >= nightEnds) {
		return rarely
	}
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	newest, err := p.remove(ctx)
	switch {
	case err != nil && parent.Err() == nil:
		p.cfg.Logger.Warn("telemetry of deleted organizations could not be removed; svc tries again", "error", err)
		return p.often()
	case err != nil || newest.IsZero():
		return rarely
	}
	if p.cfg.Flush != nil {
		// This node's queue may hold rows of them. They are stored first, so that this look removes them too.
		if err := p.flush(ctx); err != nil && ctx.Err() == nil {
			p.cfg.Logger.Warn("the queue could not be stored before a purge", "error", err)
		}
		if _, err := p.remove(ctx); err != nil && ctx.Err() == nil {
			return p.often()
		}
	}
	if time.Since(newest) < recent {
		return p.often()
	}
	return rarely
}

// often is the time until the next look soon after a deletion or a failure. On a cluster, statements may go on after a failure, so the
// purger does not repeat them at once.
func (p *Purger) often() time.Duration {
	if p.cfg.Nightly {
		return rarely
	}
	return often
}

func (p *Purger) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	return p.cfg.Flush(ctx)
}

// remove removes the rows of deleted organizations and returns the time of the newest deletion.
func (p *Purger) remove(ctx context.Context) (newest time.Time, err error) {
	tombstones, err := p.cfg.Tombstones.ListTombstones(ctx)
	if err != nil || len(tombstones) == 0 {
		return time.Time{}, err
	}
	orgs := make([]principal.OrgID, len(tombstones))
	for i, t := range tombstones {
		orgs[i] = t.Org
	}
	held, err := p.cfg.Telemetry.Holding(ctx, orgs)
	if err == nil && len(held) > 0 {
		err = p.cfg.Telemetry.DeleteOrganizations(ctx, held)
	}
	return tombstones[0].DeletedAt, err
}
