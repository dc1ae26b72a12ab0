package purge_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/purge"
	"github.com/svc-observability/svc/server/store"
)

// world holds the deleted organizations and their rows.
type world struct {
	mu      sync.Mutex
	deleted []store.Tombstone
	rows    map[principal.OrgID]bool
	queued  map[principal.OrgID]bool
	broken  bool
	looks   int
	// deletions counts the calls that delete.
	deletions int
	changed   func(store.Change)
}

func (w *world) ListTombstones(context.Context) ([]store.Tombstone, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	return slices.Clone(w.deleted), nil
}

func (w *world) Subscribe(fn func(store.Change)) func() {
	w.changed = fn
	return func() { w.changed = nil }
}

func (w *world) Holding(_ context.Context, orgs []principal.OrgID) (held []principal.OrgID, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken {
		return nil, errors.New("the warehouse is down")
	}
	for _, org := range orgs {
		if w.rows[org] {
			held = append(held, org)
		}
	}
	return held, nil
}

func (w *world) DeleteOrganizations(_ context.Context, orgs []principal.OrgID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deletions++
	for _, org := range orgs {
		delete(w.rows, org)
	}
	return nil
}

func (w *world) flush(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for org := range w.queued {
		w.rows[org] = true
	}
	clear(w.queued)
	return nil
}

func (w *world) set(fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fn()
}

func (w *world) left() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.rows) + len(w.queued)
}

func (w *world) seen() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks
}

func TestPurger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{rows: map[principal.OrgID]bool{"gone": true, "kept": true}, queued: map[principal.OrgID]bool{}}
		p := purge.Start(purge.Config{Tombstones: w, Telemetry: w, Flush: w.flush, Logger: slog.New(slog.DiscardHandler)})
		defer p.Close()
		time.Sleep(2 * time.Second)
		if w.left() != 2 {
			t.Fatal("rows vanished although no organization was deleted")
		}
		// A deletion wakes the purger. Rows that wait in the queue go, too.
		w.set(func() {
			w.deleted = []store.Tombstone{{Org: "gone", DeletedAt: time.Now()}}
			w.queued["gone"] = true
		})
		w.changed(store.Change{Subject: store.SubjectOrganization, Org: "gone"})
		synctest.Wait()
		if w.left() != 1 || !w.rows["kept"] {
			t.Fatalf("after a deletion: rows of %v, queued of %v", w.rows, w.queued)
		}
		// Another node stores rows of it later.
		w.set(func() { w.rows["gone"] = true })
		time.Sleep(16 * time.Second)
		if w.left() != 1 {
			t.Error("rows that came soon after the deletion stay")
		}
		// A failure is tried again soon, also long after the deletion.
		time.Sleep(time.Hour)
		w.set(func() { w.rows["gone"], w.broken = true, true })
		time.Sleep(11 * time.Minute)
		w.set(func() { w.broken = false })
		time.Sleep(16 * time.Second)
		if w.left() != 1 {
			t.Error("rows stay after the warehouse has come back")
		}
		// Long after a deletion, the purger looks rarely.
		before := w.seen()
		time.Sleep(time.Hour)
		if n := w.seen() - before; n < 6 || n > 14 {
			t.Errorf("%d looks in an hour", n)
		}
		// Changes of credentials do not wake it.
		before = w.seen()
		w.changed(store.Change{Subject: store.SubjectAPIKey})
		w.changed(store.Change{Subject: store.SubjectAny, Cause: errors.New("the feed is down")})
		synctest.Wait()
		if w.seen() != before {
			t.Error("a change that is no deletion woke the purger")
		}
	})
}

// TestWithoutQueue: a node without the role of ingest has no queue.
func TestWithoutQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			rows: map[principal.OrgID]bool{"gone": true}, queued: map[principal.OrgID]bool{},
			deleted: []store.Tombstone{{Org: "gone", DeletedAt: time.Now()}},
		}
		p := purge.Start(purge.Config{Tombstones: w, Telemetry: w, Logger: slog.New(slog.DiscardHandler)})
		time.Sleep(2 * time.Second)
		if w.left() != 0 {
			t.Error("rows stay")
		}
		p.Close()
		if w.changed != nil {
			t.Error("the subscription goes on after Close")
		}
	})
}

// TestNightly deletes two organizations during a day. Their rows go together in the next night, as do rows that come later in that night.
func TestNightly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Now().UTC().Truncate(24 * time.Hour).Add(24*time.Hour + 9*time.Hour)))
		w := &world{rows: map[principal.OrgID]bool{"one": true, "two": true, "kept": true}, queued: map[principal.OrgID]bool{}}
		p := purge.Start(purge.Config{Tombstones: w, Telemetry: w, Nightly: true, Logger: slog.New(slog.DiscardHandler)})
		defer p.Close()
		for _, org := range []principal.OrgID{"one", "two"} {
			time.Sleep(time.Hour)
			w.set(func() { w.deleted = append(w.deleted, store.Tombstone{Org: org, DeletedAt: time.Now()}) })
			w.changed(store.Change{Subject: store.SubjectOrganization, Org: org})
		}
		time.Sleep(14*time.Hour + 50*time.Minute) // ten minutes before two
		if w.left() != 3 {
			t.Fatalf("%d organizations have rows during the day", w.left())
		}
		time.Sleep(25 * time.Minute)
		if w.left() != 1 || w.deletions != 1 {
			t.Fatalf("in the night: %d organizations have rows, %d deletions", w.left(), w.deletions)
		}
		w.set(func() { w.rows["two"] = true })
		time.Sleep(15 * time.Minute)
		if w.left() != 1 || w.deletions != 2 {
			t.Errorf("rows that came later: %d organizations have rows, %d deletions", w.left(), w.deletions)
		}
		time.Sleep(5 * time.Hour)
		w.set(func() { w.rows["two"] = true })
		time.Sleep(time.Hour)
		if w.left() != 2 {
			t.Error("the purger works in the day")
		}
	})
}
