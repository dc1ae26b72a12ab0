package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/svc-observability/svc/server/ingest/queue"
)

func TestRowsArriveOnceAndInOrder(t *testing.T) {
	for _, attached := range []bool{true, false} {
		t.Run(fmt.Sprintf("attached=%v", attached), func(t *testing.T) {
			w := newWarehouse(t)
			r := newRig(t, t.TempDir(), w, func(c *Config) { c.MaxRows = 50 })
			var last queue.Position
			for _, row := range rows(0, 500) {
				last = r.append("a,b", row, attached)
			}
			r.flushed(last)
			for _, table := range []string{"a", "b"} {
				if diff := cmp.Diff(rows(0, 500), w.stored(table)); diff != "" {
					t.Error(diff)
				}
			}
			s := r.p.Stats()
			for end := time.Now().Add(5 * time.Second); s.OldestUnflushed != 0 && time.Now().Before(end); s = r.p.Stats() {
				time.Sleep(time.Millisecond) // Flushed returns at the checkpoint, before the batch is given back
			}
			if s.Rows["a"] != 500 || s.Rows["b"] != 500 || s.Batches == 0 || s.MemoryBytes != 0 || s.OldestUnflushed != 0 {
				t.Errorf("stats %+v", s)
			}
			// A record that arrives just when a batch is cut may also be read from the log.
			if attached && s.Replayed > 10 || !attached && s.Replayed != 500 {
				t.Errorf("%d records read from the log", s.Replayed)
			}
			if n := r.log.Stats().Segments; n > 2 {
				t.Errorf("%d segments left", n)
			}
			r.close()
			r.open()
			r.close()
			if n := len(w.stored("a")); n != 500 {
				t.Errorf("%d rows after a restart", n)
			}
		})
	}
}

func TestCloseInsertsWhatIsGathered(t *testing.T) {
	w := newWarehouse(t)
	r := newRig(t, t.TempDir(), w, func(c *Config) { c.MaxAge = time.Hour })
	for _, row := range rows(0, 20) {
		r.append("a", row, true)
	}
	r.close()
	if diff := cmp.Diff(rows(0, 20), w.stored("a")); diff != "" {
		t.Error(diff)
	}
	if w.inserts.Load() != 1 {
		t.Errorf("%d inserts", w.inserts.Load())
	}
}

// A crash at every step of a batch. Afterwards each row is stored exactly once.
func TestCrashAtEveryStep(t *testing.T) {
	down := errors.New("connection refused")
	noDisk := errors.New("no space left")
	tests := map[string]func(r *rig, failed func(error) error){
		"before the intent": func(r *rig, failed func(error) error) {
			r.save = func(string, checkpoint) error { return failed(noDisk) }
		},
		"after the intent": func(r *rig, failed func(error) error) { r.w.hooks(func(string) error { return failed(down) }, nil) },
		"after some tables": func(r *rig, failed func(error) error) {
			r.w.hooks(func(table string) error {
				if table == "b" {
					return failed(down)
				}
				return nil
			}, nil)
		},
		"stored but the answer is lost": func(r *rig, failed func(error) error) { r.w.hooks(nil, func(string) error { return failed(down) }) },
		"after all tables, before the checkpoint": func(r *rig, failed func(error) error) {
			r.save = func(dir string, c checkpoint) error {
				if len(c.Intents) == 0 {
					return failed(noDisk)
				}
				return saveCheckpoint(dir, c)
			}
		},
		"between the two renames": func(r *rig, failed func(error) error) {
			r.save = func(dir string, c checkpoint) error {
				if err := saveCheckpoint(dir, c); err != nil || len(c.Intents) > 0 {
					return err
				}
				return errors.Join(failed(noDisk), os.Remove(filepath.Join(dir, checkpointFile)))
			}
		},
	}
	for name, fail := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWarehouse(t)
			r := newRig(t, t.TempDir(), w, nil)
			r.flushed(r.append("a,b", "row 0000", true))
			r.close()
			failures := make(chan struct{}, 1)
			fail(r, func(err error) error {
				select {
				case failures <- struct{}{}:
				default:
				}
				return err
			})
			r.open()
			for i, row := range rows(1, 40) {
				r.append("a,b", row, i%2 == 0)
			}
			select {
			case <-failures:
			case <-time.After(10 * time.Second):
				t.Fatal("the step did not fail")
			}
			r.crash()
			w.hooks(nil, nil)
			r.save = saveCheckpoint
			r.open()
			r.flushed(r.append("a,b", "row 0040", true))
			r.close()
			for _, table := range []string{"a", "b"} {
				if diff := cmp.Diff(rows(0, 41), w.stored(table)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestRefusedRecordIsQuarantinedAlone(t *testing.T) {
	w := newWarehouse(t)
	r := newRig(t, t.TempDir(), w, func(c *Config) { c.MaxAge = time.Hour })
	want := rows(0, 100)
	want[37] = "poison@b 37"
	want[90] = "poison@b 90"
	var seqs []uint64
	for i, row := range want {
		pos := r.append("a,b", row, true)
		if i == 37 || i == 90 {
			seqs = append(seqs, pos.Seq)
		}
	}
	bad := r.append("a", "undecodable", false)
	stats := r.p
	r.close()
	if diff := cmp.Diff(want, w.stored("a")); diff != "" {
		t.Error(diff)
	}
	wantB := slices.Delete(slices.Clone(want), 90, 91)
	wantB = slices.Delete(wantB, 37, 38)
	if diff := cmp.Diff(wantB, w.stored("b")); diff != "" {
		t.Error(diff)
	}
	if n := stats.Stats().Quarantined; n != 3 {
		t.Errorf("%d quarantined", n)
	}
	for i, seq := range seqs {
		b, err := os.ReadFile(filepath.Join(r.dir, "quarantine", fmt.Sprintf("%d-b.rec", seq)))
		if err != nil {
			t.Fatal(err)
		}
		first, rest, _ := bytes.Cut(b, []byte("\n"))
		if !strings.Contains(string(first), "out of range") || string(rest) != "a,b"+want[[]int{37, 90}[i]] {
			t.Errorf("quarantine file %q", b)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "quarantine", fmt.Sprintf("%d.rec", bad.Seq))); err != nil {
		t.Error(err)
	}
}

// Crashes interrupt the search for a refused record. The cuts that it made stay.
func TestCrashWhileIsolating(t *testing.T) {
	w := newWarehouse(t)
	r := newRig(t, t.TempDir(), w, func(c *Config) { c.MaxAge = 30 * time.Millisecond })
	want := rows(0, 64)
	want[40] = "poison@a"
	var last queue.Position
	var budget atomic.Int64
	w.hooks(func(string) error {
		if budget.Add(-1) < 0 {
			return errors.New("connection refused")
		}
		return nil
	}, nil)
	for _, row := range want {
		last = r.append("a", row, true)
	}
	for range 12 {
		for r.p.Stats().Done.Before(last) && budget.Load() >= 0 {
			time.Sleep(time.Millisecond)
		}
		r.crash()
		budget.Store(2)
		r.open()
	}
	w.hooks(nil, nil)
	r.flushed(last)
	r.close()
	got := w.stored("a")
	slices.Sort(got)
	if diff := cmp.Diff(slices.Delete(want, 40, 41), got); diff != "" {
		t.Error(diff)
	}
}

func TestMemoryBoundWhileWarehouseIsDown(t *testing.T) {
	w := newWarehouse(t)
	var down atomic.Bool
	down.Store(true)
	w.hooks(func(string) error {
		if down.Load() {
			return errors.New("connection refused")
		}
		return nil
	}, nil)
	r := newRig(t, t.TempDir(), w, func(c *Config) { c.MaxRows, c.MaxMemory = 20, 200 })
	for _, row := range rows(0, 1000) {
		r.append("a", row, true)
		if m := r.p.Stats().MemoryBytes; m > 200 {
			t.Fatalf("%d bytes in memory", m)
		}
	}
	if s := r.p.Stats(); s.Spilled < 800 || s.OldestUnflushed <= 0 {
		t.Errorf("stats %+v", s)
	}
	// On a fast disk, all rows are there before the first insert was tried.
	for deadline := time.Now().Add(time.Minute); r.p.Stats().Retries == 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	down.Store(false)
	last := r.append("a", "row 1000", true)
	r.flushed(last)
	before := r.p.Stats().Replayed
	// The pipeline has caught up. Records come from memory again.
	r.flushed(r.append("a", "row 1001", true))
	if s := r.p.Stats(); s.Replayed != before || s.Retries == 0 {
		t.Errorf("%d records read from the log after catching up, %d retries", s.Replayed-before, s.Retries)
	}
	r.close()
	if diff := cmp.Diff(rows(0, 1002), w.stored("a")); diff != "" {
		t.Error(diff)
	}
}

// While one batch is being inserted, the next grows beyond MaxRows, but not without a bound.
func TestBatchGrowsWhileTheInserterIsBusy(t *testing.T) {
	w := newWarehouse(t)
	begun, release := make(chan struct{}), make(chan struct{})
	var inserts atomic.Int64
	w.hooks(func(string) error {
		if inserts.Add(1) == 1 {
			close(begun)
			<-release
		}
		return nil
	}, nil)
	r := newRig(t, t.TempDir(), w, func(c *Config) { c.MaxRows, c.MaxAge = 20, time.Millisecond })
	r.append("a", "row 0000", true)
	<-begun
	const waiting = 5
	var last queue.Position
	for _, row := range rows(1, 1+growth*20+waiting) {
		last = r.append("a", row, true)
	}
	pending := -1
	for deadline := time.Now().Add(5 * time.Second); pending != waiting && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		r.p.mu.Lock()
		pending = len(r.p.pending)
		r.p.mu.Unlock()
	}
	if pending != waiting {
		t.Errorf("%d records wait outside the batch, want %d", pending, waiting)
	}
	close(release)
	r.flushed(last)
	r.close()
	if n := inserts.Load(); n != 3 {
		t.Errorf("%d inserts, want 3", n)
	}
	if diff := cmp.Diff(rows(0, 1+growth*20+waiting), w.stored("a")); diff != "" {
		t.Error(diff)
	}
}

// unreadable is a disk whose segments cannot be opened for a while.
type unreadable struct {
	queue.OSFilesystem
	broken atomic.Bool
	failed atomic.Int64
}

func (u *unreadable) Open(path string) (queue.File, error) {
	if u.broken.Load() {
		u.failed.Add(1)
		return nil, errors.New("input/output error")
	}
	return u.OSFilesystem.Open(path)
}

func TestUnreadableLogIsReadAgain(t *testing.T) {
	w := newWarehouse(t)
	disk := &unreadable{}
	r := &rig{t: t, dir: t.TempDir(), w: w, save: saveCheckpoint, disk: disk}
	r.open()
	disk.broken.Store(true)
	pos := r.append("a", "row 0000", false)
	for end := time.Now().Add(10 * time.Second); disk.failed.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the log is not read again")
		}
	}
	disk.broken.Store(false)
	r.flushed(pos)
	r.close()
	if diff := cmp.Diff(rows(0, 1), w.stored("a")); diff != "" {
		t.Error(diff)
	}
}

func TestFlushedEnds(t *testing.T) {
	w := newWarehouse(t)
	w.hooks(func(string) error { return errors.New("connection refused") }, nil)
	r := newRig(t, t.TempDir(), w, nil)
	pos := r.append("a", "x", true)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := r.p.Flushed(ctx, pos); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("flushed: %v", err)
	}
	r.crash()
	if err := r.p.Flushed(context.Background(), pos); err == nil {
		t.Error("flushed after the pipeline stopped")
	}
}

func TestCheckpointFile(t *testing.T) {
	dir := t.TempDir()
	log := func() (checkpoint, error) {
		return loadCheckpoint(dir, "log", quietLogger())
	}
	if c, err := log(); err != nil || c.Log != "log" || !c.Done.IsZero() {
		t.Errorf("no file: %+v %v", c, err)
	}
	at := func(n uint64) queue.Position { return queue.Position{Segment: n, Offset: n * 10, Seq: n * 100} }
	first := checkpoint{Log: "log", Done: at(1), Intents: []intent{{
		From: at(1), To: at(2), Before: places{Main: at(1)}, Splits: []split{{Table: "a", From: at(1), Mid: at(1), To: at(2)}},
	}}}
	second := checkpoint{Log: "log", Done: at(2)}
	for _, c := range []checkpoint{first, second} {
		if err := saveCheckpoint(dir, c); err != nil {
			t.Fatal(err)
		}
		got, err := log()
		if diff := cmp.Diff(c, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	}
	path := filepath.Join(dir, checkpointFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 4
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := log(); err != nil || got.Done != first.Done {
			t.Fatalf("bit flipped at %d: %+v %v, want the checkpoint before", i, got, err)
		}
	}
	if c, err := loadCheckpoint(dir, "another", quietLogger()); err != nil || !c.Done.IsZero() {
		t.Errorf("checkpoint of another log taken: %+v %v", c, err)
	}
}

// unsynced omits the syncs of the log. A crash of only the pipeline does not need them.
type unsynced struct{ queue.OSFilesystem }

type unsyncedFile struct{ queue.File }

func (unsyncedFile) Sync() error { return nil }

func (unsynced) SyncDir(string) error { return nil }

func (u unsynced) Create(path string) (queue.File, error) {
	f, err := u.OSFilesystem.Create(path)
	return unsyncedFile{f}, err
}

// After any sequence of appends, outages, lost answers and crashes, every row is stored once or quarantined.
func TestAnyHistoryStoresEachRowOnce(t *testing.T) {
	base := t.TempDir()
	var run int
	rapid.Check(t, func(rt *rapid.T) {
		run++
		w := newWarehouse(t)
		var failing atomic.Int64
		var calls atomic.Int64
		w.hooks(
			func(string) error {
				if m := failing.Load(); m > 0 && calls.Add(1)%m == 0 {
					return errors.New("connection refused")
				}
				return nil
			},
			func(string) error {
				if m := failing.Load(); m > 0 && calls.Add(1)%m == 0 {
					return errors.New("answer lost")
				}
				return nil
			})
		maxRows := rapid.IntRange(1, 12).Draw(rt, "max_rows")
		memory := int64(rapid.IntRange(0, 300).Draw(rt, "max_memory"))
		r := &rig{t: t, dir: filepath.Join(base, fmt.Sprint(run)), w: w, save: saveCheckpoint, disk: unsynced{}, change: func(c *Config) {
			c.MaxRows, c.MaxMemory, c.MaxAge = maxRows, memory, time.Millisecond
			c.Parallel = rapid.IntRange(1, 4).Draw(rt, "parallel") // another in each life
		}}
		r.open()
		want := map[string][]string{}
		n := 0
		for range rapid.IntRange(1, 5).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0, 1:
				for range rapid.IntRange(1, 12).Draw(rt, "records") {
					tables := rapid.SampledFrom([]string{"a", "b", "a,b"}).Draw(rt, "tables")
					kind := rapid.SampledFrom([]string{"row", "row", "row", "row", "row", "poison@a", "undecodable"}).Draw(rt, "kind")
					row := fmt.Sprintf("%s %05d", kind, n)
					n++
					r.append(tables, row, rapid.Bool().Draw(rt, "attached"))
					for _, table := range strings.Split(tables, ",") {
						if kind == "row" || kind == "poison@a" && table == "b" {
							want[table] = append(want[table], row)
						}
					}
				}
			case 2:
				failing.Store(int64(rapid.IntRange(0, 4).Draw(rt, "failing")))
			case 3:
				time.Sleep(time.Duration(rapid.IntRange(0, 4000).Draw(rt, "µs")) * time.Microsecond)
				r.crash()
				r.open()
			}
		}
		failing.Store(0)
		r.close()
		for _, table := range []string{"a", "b"} {
			got := w.stored(table)
			slices.Sort(got)
			slices.Sort(want[table])
			if diff := cmp.Diff(want[table], got); diff != "" {
				rt.Fatalf("table %s: %s", table, diff)
			}
		}
	})
}
