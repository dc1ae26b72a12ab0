package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/limits"
)

// eager opens lanes for any backlog, and makes their cuts small.
func eager(c *Config) {
	c.MaxRows, c.MaxAge, c.LaneRows, c.LaneAge, c.LaneBytes = 100, time.Millisecond, 50, time.Millisecond, 1
}

// gate is a warehouse that stores one cut at a time, when the test says so.
type gate struct {
	w    *warehouse
	turn chan struct{}
	open atomic.Bool
}

func newGate(w *warehouse) *gate {
	g := &gate{w: w, turn: make(chan struct{})}
	w.hooks(func(string) error {
		if !g.open.Load() {
			<-g.turn
		}
		return nil
	}, nil)
	return g
}

// step lets one insert through, and reports whether one came.
func (g *gate) step() bool {
	select {
	case g.turn <- struct{}{}:
		return true
	case <-time.After(10 * time.Second):
		return false
	}
}

func (g *gate) release() {
	g.open.Store(true)
	close(g.turn)
}

// While one owner has a backlog of a hundred cuts, the record of another is stored within four inserts, at any moment of the flood, and
// the flood is stored too.
func TestFloodDelaysNobody(t *testing.T) {
	w := newWarehouse(t)
	g := newGate(w)
	r := newRig(t, t.TempDir(), w, eager)
	for i := range 5000 {
		r.append("flood!a", fmt.Sprintf("flood %05d", i), i%7 == 0)
	}
	for round := range 8 {
		row := fmt.Sprintf("quiet %d", round)
		r.append("quiet!a", row, round%2 == 0)
		time.Sleep(5 * time.Millisecond)
		steps := 0
		for !slices.Contains(w.stored("a"), row) {
			if steps++; steps > 5 || !g.step() { // the last step only shows that the fourth insert is done
				t.Fatalf("the record of the quiet owner is not stored after %d inserts", steps-1)
			}
			time.Sleep(2 * time.Millisecond)
		}
		before := len(w.stored("a"))
		for range 4 {
			if !g.step() {
				t.Fatal("the flood is not stored")
			}
		}
		if len(w.stored("a")) == before {
			t.Error("the flood is not stored")
		}
	}
	if s := r.p.Stats(); s.Lanes != 1 || s.OldestUnflushed == 0 {
		t.Errorf("%d lanes, oldest %v", s.Lanes, s.OldestUnflushed)
	}
	g.release()
	r.flushed(r.append("flood!a", "flood 05000", true))
	p := r.p
	r.close()
	if s := p.Stats(); s.Lanes != 0 || s.Done.Before(r.log.Tail()) || s.OldestUnflushed != 0 || s.OldestOutsideLanes != 0 ||
		s.MemoryBytes != 0 {
		t.Errorf("after the flood: %+v, tail %v", s, r.log.Tail())
	}
	got := w.stored("a")
	if len(got) != 5009 {
		t.Errorf("%d rows", len(got))
	}
	for _, owner := range []string{"flood", "quiet"} {
		own := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, owner) })
		if !slices.IsSorted(own) {
			t.Errorf("the rows of %s are out of order", owner)
		}
	}
}

// bubble runs a subtest whose pauses end only when all other goroutines wait.
func bubble(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// A cut of an owner who was alone gives way while it waits for the inserter: the first record of another owner waits for the insert
// under way only. The cut's records are stored later, once.
func TestWaitingCutGivesWay(t *testing.T) {
	for name, tc := range map[string]struct {
		maxAge time.Duration
		// first and then are rows of the flood: those before the first insert begins, and those after.
		first, then int
	}{
		"as large as it may be":       {time.Hour, 2000, 0},
		"old, and not yet that large": {time.Millisecond, 1, 14},
	} {
		bubble(t, name, func(t *testing.T) {
			w := newWarehouse(t)
			g := newGate(w)
			r := newRig(t, t.TempDir(), w, func(c *Config) { eager(c); c.MaxAge = tc.maxAge })
			sent := 0
			flood := func(rows int) {
				for range rows {
					r.append("flood!a", fmt.Sprintf("flood %05d", sent), sent%7 == 0)
					sent++
				}
			}
			flood(tc.first)
			for !r.p.busy() {
				time.Sleep(time.Millisecond)
			}
			flood(tc.then)
			time.Sleep(20 * time.Millisecond) // ends when the next cut waits for the inserter
			if n := r.p.Stats().Lanes; n != 0 {
				t.Fatalf("%d lanes for an owner who is alone", n)
			}
			r.append("quiet!a", "quiet", true)
			for end := time.Now().Add(10 * time.Second); r.p.Stats().Lanes == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the waiting cut does not give way")
				}
			}
			for range 3 { // the last step only shows that the second insert is done
				if !g.step() {
					t.Fatal("nothing is stored")
				}
			}
			for end := time.Now().Add(10 * time.Second); r.p.Stats().Rows["a"] == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("nothing is stored")
				}
			}
			if at := slices.Index(w.stored("a"), "quiet"); at < 0 || at > 75 { // a cut has 50 rows or little more
				t.Errorf("the record of the quiet owner is at place %d of %d", at, len(w.stored("a")))
			}
			g.release()
			r.close()
			got := slices.DeleteFunc(w.stored("a"), func(s string) bool { return s == "quiet" })
			if len(got) != sent || !slices.IsSorted(got) {
				t.Errorf("%d rows of the flood of %d, sorted: %t", len(got), sent, slices.IsSorted(got))
			}
		})
	}
}

// An owner who is alone gets no lane, whatever the backlog: its cuts stay large, which costs the warehouse least.
func TestLoneOwnerGetsNoLane(t *testing.T) {
	w := newWarehouse(t)
	g := newGate(w)
	// No cut is made because of its age, so that a slow machine makes the same cuts.
	r := newRig(t, t.TempDir(), w, func(c *Config) { eager(c); c.MaxAge = time.Hour })
	for i := range 5000 {
		r.append("flood!a", fmt.Sprintf("flood %05d", i), i%7 == 0)
	}
	for range 10 {
		if !g.step() {
			t.Fatal("the flood is not stored")
		}
		if n := r.p.Stats().Lanes; n > 0 {
			t.Fatalf("%d lanes", n)
		}
	}
	g.release()
	r.close()
	if n, most := w.inserts.Load(), int64(5000/50+5); n > most {
		t.Errorf("%d inserts, not at most %d", n, most)
	}
}

// Without a later record, the end of the last lane alone moves the checkpoint to the end of the log, and the segments are released.
func TestLaneEndReleasesTheLog(t *testing.T) {
	w := newWarehouse(t)
	g := newGate(w)
	r := newRig(t, t.TempDir(), w, eager)
	for i := range 1000 {
		r.append("flood!a", fmt.Sprintf("flood %05d", i), true)
	}
	for i := range 100 { // the flood's lane passes these last
		r.append("quiet!a", fmt.Sprintf("quiet %05d", i), true)
	}
	time.Sleep(5 * time.Millisecond)
	g.release()
	tail := r.log.Tail()
	for end := time.Now().Add(10 * time.Second); r.p.Stats().Done.Before(tail) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if s := r.p.Stats(); s.Done.Before(tail) || s.Lanes != 0 {
		t.Errorf("done %v of %v, %d lanes", s.Done, tail, s.Lanes)
	}
	r.close()
	if c, err := loadCheckpoint(r.dir, r.log.ID(), quietLogger()); err != nil || len(c.Lanes) > 0 || c.Done != tail {
		t.Errorf("%+v, %v", c, err)
	}
	if n := len(w.stored("a")); n != 1100 {
		t.Errorf("%d rows", n)
	}
}

// Everything before the checkpoint is stored, whichever lanes are open: a purge relies on it. No more lanes are open than allowed.
func TestManyFloods(t *testing.T) {
	w := newWarehouse(t)
	g := newGate(w)
	r := newRig(t, t.TempDir(), w, func(c *Config) { eager(c); c.MaxRows, c.LaneRows = 20, 20 })
	positions := map[string]queue.Position{}
	for i := range 1500 {
		row := fmt.Sprintf("row %05d", i)
		positions[row] = r.append(fmt.Sprintf("owner%d!a", i%12), row, i%3 == 0)
	}
	most, last := 0, r.log.Tail()
	for done := false; !done; {
		g.step()
		s := r.p.Stats()
		most = max(most, s.Lanes)
		stored := map[string]bool{}
		for _, row := range w.stored("a") {
			stored[row] = true
		}
		for row, at := range positions {
			if at.Before(s.Done) && !stored[row] {
				t.Fatalf("%s is before the checkpoint and not stored", row)
			}
		}
		done = len(stored) == len(positions)
	}
	g.release()
	r.close()
	if most != limits.Lanes {
		t.Errorf("up to %d lanes", most)
	}
	if c, err := loadCheckpoint(r.dir, r.log.ID(), quietLogger()); err != nil || c.Done != last || len(w.stored("a")) != 1500 {
		t.Errorf("%+v, %v, %d rows", c, err, len(w.stored("a")))
	}
}

// An old program reads a checkpoint without lanes as it always did. With lanes, it begins where nothing is lost.
func TestCheckpointOfLanes(t *testing.T) {
	at := func(n uint64) queue.Position { return queue.Position{Segment: n, Offset: n * 10, Seq: n * 100} }
	type oldIntent struct {
		From   queue.Position `json:"from"`
		To     queue.Position `json:"to"`
		Splits []split        `json:"splits,omitempty"`
		Since  time.Time      `json:"since,omitzero"`
	}
	type old struct {
		Log    string         `json:"log"`
		Done   queue.Position `json:"done"`
		Intent *oldIntent     `json:"intent,omitempty"`
	}
	dir := t.TempDir()
	body := func() []byte {
		b, err := os.ReadFile(filepath.Join(dir, checkpointFile))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(b), "\n")
		return []byte(first)
	}
	plain := checkpoint{Log: "log", Done: at(1), Intents: []intent{{From: at(1), To: at(2), Before: places{Main: at(1)}}}}
	if err := saveCheckpoint(dir, plain); err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(old{Log: "log", Done: at(1), Intent: &oldIntent{From: at(1), To: at(2)}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(body())); diff != "" {
		t.Error(diff)
	}
	lanes, several := checkpoint{Log: "log"}, checkpoint{Log: "log"}
	before := places{Main: at(5), Lanes: []mark{{Owner: "flood", At: at(3)}, {Owner: "second", At: at(4)}}}
	lanes.begin(intent{From: at(5), To: at(6), Pick: pick{Skip: []string{"flood"}}, Before: before})
	several.begin(intent{From: at(3), To: at(5), Before: places{Main: at(3)}})
	several.begin(intent{From: at(5), To: at(6), Before: before, Splits: []split{{Table: "a", From: at(5), Mid: at(5), To: at(6)}}})
	for _, c := range []checkpoint{lanes, several} {
		if err := saveCheckpoint(dir, c); err != nil {
			t.Fatal(err)
		}
		var seen old
		if err := json.Unmarshal(body(), &seen); err != nil || seen.Done != at(3) || seen.Intent != nil {
			t.Errorf("an old program sees %+v, %v", seen, err)
		}
		if got, err := loadCheckpoint(dir, "log", quietLogger()); err != nil || !cmp.Equal(got, c) {
			t.Errorf("%+v, %v: %s", got, err, cmp.Diff(c, got))
		}
	}
	p := &Pipeline{log: new(queue.Log)}
	whole := span{from: at(1), to: at(2)}
	if got := p.token("spans", whole); got != p.log.ID()+"/100-200/spans" {
		t.Errorf("the token of all records is %s, unlike that of older versions", got)
	}
	tokens := map[string]bool{p.token("spans", whole): true}
	for _, k := range []pick{{Owner: "x"}, {Skip: []string{"x"}}, {Skip: []string{"x", "y"}}, {Skip: []string{"x y"}}, {Owner: "y"}} {
		whole.pick = k
		if token := p.token("spans", whole); tokens[token] {
			t.Errorf("%+v has the token of another pick: %s", k, token)
		} else {
			tokens[token] = true
		}
	}
}

// dying is a process that ends at one write of the checkpoint: before it, between its two renames, or after it.
type dying struct {
	mu     sync.Mutex
	left   int
	moment int
	died   chan struct{}
}

var errDead = errors.New("the process has ended")

func (d *dying) save(dir string, c checkpoint) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left--
	if d.left > 0 || d.died == nil {
		return saveCheckpoint(dir, c)
	}
	var err error
	if d.left == 0 {
		if d.moment > 0 {
			err = saveCheckpoint(dir, c)
		}
		if d.moment == 1 { // the rename of the new file did not happen
			path := filepath.Join(dir, checkpointFile)
			err = errors.Join(err, os.Rename(path, path+".new"))
		}
		close(d.died)
	}
	return errors.Join(errDead, err)
}

// Random owners flood in bursts. The process ends at a random write of the checkpoint, or with inserts whose answers are lost, again
// and again. Each row is stored once, and the rows of an owner are in order.
func TestLanesThroughCrashes(t *testing.T) {
	base := t.TempDir()
	var run int
	lanesSeen := false
	rapid.Check(t, func(rt *rapid.T) {
		run++
		w := newWarehouse(t)
		seed := rapid.Uint64().Draw(rt, "seed")
		random := rand.New(rand.NewPCG(seed, 1))
		var failing atomic.Int64
		var calls atomic.Int64
		flaky := func(string) error {
			if m := failing.Load(); m > 0 && calls.Add(1)%m == 0 {
				return errors.New("no answer")
			}
			return nil
		}
		w.hooks(flaky, flaky)
		d := &dying{}
		rows, laneRows := rapid.IntRange(10, 100).Draw(rt, "max_rows"), rapid.IntRange(5, 40).Draw(rt, "lane_rows")
		memory := int64(rapid.IntRange(0, 2000).Draw(rt, "max_memory"))
		lanes := rapid.IntRange(1, 3).Draw(rt, "max_lanes")
		parallel := rapid.IntRange(1, 3).Draw(rt, "parallel")
		r := &rig{t: t, dir: filepath.Join(base, fmt.Sprint(run)), w: w, save: d.save, disk: unsynced{}, change: func(c *Config) {
			eager(c)
			c.MaxRows, c.LaneRows, c.MaxMemory, c.MaxLanes, c.LaneAge = rows, laneRows, memory, lanes, 50*time.Microsecond
			c.Parallel = parallel
		}}
		r.open()
		want := map[string][]string{}
		poisoned := false
		n := 0
		for range rapid.IntRange(1, 4).Draw(rt, "lives") {
			failing.Store(int64(rapid.IntRange(0, 5).Draw(rt, "failing")))
			d.mu.Lock()
			d.left, d.moment, d.died = rapid.IntRange(1, 14).Draw(rt, "save"), rapid.IntRange(0, 2).Draw(rt, "moment"), make(chan struct{})
			died := d.died
			d.mu.Unlock()
			for range rapid.IntRange(1, 3).Draw(rt, "bursts") {
				owner := rapid.SampledFrom([]string{"x", "y", "z", ""}).Draw(rt, "owner")
				for range rapid.IntRange(1, 50).Draw(rt, "records") {
					from := owner
					if random.IntN(6) == 0 {
						from = "quiet"
					}
					row := fmt.Sprintf("%s row %05d", from, n)
					kind := random.IntN(150)
					if kind == 0 {
						row = fmt.Sprintf("%s poison@b %05d", from, n)
						poisoned = true
					}
					n++
					header := "a,b"
					if from != "" {
						header = from + "!a,b"
					}
					r.append(header, row, random.IntN(2) == 0)
					want["a"] = append(want["a"], row)
					if kind != 0 {
						want["b"] = append(want["b"], row)
					}
				}
			}
			select {
			case <-died:
			case <-time.After(10 * time.Millisecond):
			}
			lanesSeen = lanesSeen || r.p.Stats().Lanes > 0
			r.crash()
			d.mu.Lock()
			d.died = nil
			d.mu.Unlock()
			r.open()
		}
		failing.Store(0)
		r.close()
		for _, table := range []string{"a", "b"} {
			got := w.stored(table)
			for _, owner := range []string{"x", "y", "z", "quiet"} {
				own := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, owner+" ") })
				if parallel == 1 && !poisoned && !slices.IsSorted(own) {
					rt.Fatalf("table %s: the rows of %s are out of order", table, owner)
				}
			}
			slices.Sort(got)
			slices.Sort(want[table])
			if diff := cmp.Diff(want[table], got); diff != "" {
				rt.Fatalf("table %s: %s", table, diff)
			}
		}
	})
	if !lanesSeen {
		t.Error("no lane was ever open at a crash")
	}
}
