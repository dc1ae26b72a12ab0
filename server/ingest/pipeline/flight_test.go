package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// heldRows is a warehouse that stores a block with a certain row only when the test allows it.
type heldRows struct {
	*warehouse
	row     string
	allowed chan struct{}
}

func (h *heldRows) Insert(ctx context.Context, t Table, token string) error {
	var text strings.Builder
	if _, err := t.WriteTo(&text); err != nil {
		return err
	}
	if t.Name() == "a" && strings.Contains(text.String(), h.row) {
		select {
		case <-h.allowed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return h.warehouse.Insert(ctx, t, token)
}

// Several cuts are inserted at once. The checkpoint passes them in order, so that a crash repeats those behind a cut that is not stored,
// and no row is stored twice.
func TestParallelInserts(t *testing.T) { synctest.Test(t, testParallelInserts) }

func testParallelInserts(t *testing.T) {
	w := newWarehouse(t)
	h := &heldRows{warehouse: w, row: "row 0001", allowed: make(chan struct{})}
	insert := func(c *Config) { c.Inserter, c.Parallel, c.MaxRows, c.MaxAge = h, 3, 1, time.Millisecond }
	r := newRig(t, t.TempDir(), w, insert)
	first := r.append("a,b", "row 0000", true)
	r.flushed(first)
	for _, row := range rows(1, 4) {
		r.append("a,b", row, true)
		for end := time.Now().Add(10 * time.Second); !slices.Contains(w.stored("b"), row); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s is not inserted beside the one before it", row)
			}
		}
	}
	fourth := r.append("a,b", "row 0004", true)
	synctest.Wait()
	if got := w.stored("a"); !cmp.Equal(got, []string{"row 0000", "row 0002", "row 0003"}) {
		t.Errorf("while the second record is not stored: %v", got)
	}
	c, err := loadCheckpoint(r.dir, r.log.ID(), quietLogger())
	if err != nil || len(c.Intents) != 3 || c.Done != c.Intents[0].From || !first.Before(c.Done) {
		t.Errorf("checkpoint %+v, %v", c, err)
	}
	if s := r.p.Stats(); s.Batches != 1 || s.OldestUnflushed == 0 {
		t.Errorf("%+v", s)
	}
	r.crash()
	r.change = func(c *Config) { insert(c); c.Parallel = 2 } // fewer than there are intents
	r.open()
	synctest.Wait()
	close(h.allowed)
	r.flushed(fourth)
	r.flushed(r.append("a,b", "row 0005", false))
	r.close()
	for _, table := range []string{"a", "b"} {
		got := w.stored(table)
		slices.Sort(got)
		if diff := cmp.Diff(rows(0, 6), got); diff != "" {
			t.Errorf("table %s: %s", table, diff)
		}
	}
	if c, err := loadCheckpoint(r.dir, r.log.ID(), quietLogger()); err != nil || len(c.Intents) > 0 || c.Done != r.log.Tail() {
		t.Errorf("checkpoint %+v, %v", c, err)
	}
}

// A record that a table refuses is found although other cuts are inserted meanwhile, also after a crash in the search.
func TestParallelIsolation(t *testing.T) {
	w := newWarehouse(t)
	fail := false
	var mu sync.Mutex
	w.hooks(func(string) error {
		mu.Lock()
		defer mu.Unlock()
		if fail {
			return errors.New("connection refused")
		}
		return nil
	}, nil)
	r := newRig(t, t.TempDir(), w, func(c *Config) { c.Parallel, c.MaxRows, c.MaxAge = 3, 8, time.Millisecond })
	var want []string
	for i := range 200 {
		row := fmt.Sprintf("row %04d", i)
		if i%37 == 5 {
			row = fmt.Sprintf("poison@a %04d", i)
		} else {
			want = append(want, row)
		}
		last := r.append("a", row, i%2 == 0)
		if i%50 == 49 {
			mu.Lock()
			fail = true
			mu.Unlock()
			time.Sleep(3 * time.Millisecond)
			r.crash()
			mu.Lock()
			fail = false
			mu.Unlock()
			r.open()
			r.flushed(last)
		}
	}
	r.close()
	got := w.stored("a")
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
