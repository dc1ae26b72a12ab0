package outcome

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func theKey() Key { return Key{Org: "org_one", ID: "ingk_1"} }

var errDown = errors.New("the database is down")

type memoryStore struct {
	mu      sync.Mutex
	saved   map[string][]Outcome // by node and key
	puts    int
	deleted time.Time
	fails   bool
}

func newStore() *memoryStore { return &memoryStore{saved: map[string][]Outcome{}} }

func (s *memoryStore) PutOutcomes(_ context.Context, node string, all []History) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return errDown
	}
	s.puts++
	for _, h := range all {
		s.saved[node+"/"+h.ID] = h.Outcomes
	}
	return nil
}

func (s *memoryStore) Outcomes(_ context.Context, node string, key Key) ([]Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return nil, errDown
	}
	return s.saved[node+"/"+key.ID], nil
}

func (s *memoryStore) DeleteOutcomes(_ context.Context, before time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleted = before
	return nil
}

func (s *memoryStore) deletedBefore() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deleted
}

func (s *memoryStore) setFails(v bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = v
}

// ofKey returns the saved outcomes of the key ingk_1 in short form: the reason, tag or "ok" of each.
func (s *memoryStore) ofKey() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return short(s.saved["node-1/ingk_1"])
}

func short(all []Outcome) (out []string) {
	for _, o := range all {
		switch {
		case o.Reason != "":
			out = append(out, o.Reason)
		case o.Tag != "":
			out = append(out, o.Tag)
		default:
			out = append(out, "ok")
		}
	}
	return out
}

func start(t testing.TB, s Store, maxKeys int) *Recorder {
	t.Helper()
	r, err := Start(Config{Store: s, Node: "node-1", MaxKeys: maxKeys})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func stop(t testing.TB, r *Recorder) {
	t.Helper()
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func success() Outcome { return Outcome{Signal: "traces", Door: "http", Status: 200, Accepted: 10} }

func refusal(signal, tag string, n int) Outcome {
	return Outcome{Signal: signal, Door: "grpc", Status: 400, Tag: tag, Reason: fmt.Sprintf("%s %d", tag, n)}
}

// The last refusals of each sort stay, whatever comes later.
func TestProblemsStay(t *testing.T) {
	h := &history{}
	add := func(o Outcome) { h.add(&o) }
	at := time.Unix(0, 0)
	many := func(n int, o func(i int) Outcome) {
		for i := range n {
			o := o(i)
			at = at.Add(time.Millisecond)
			o.At = at
			add(o)
		}
	}
	many(3, func(i int) Outcome { return refusal("traces", "Unauthorized", i) })
	many(1, func(int) Outcome { return refusal("logs", "BadRequest", 7) })
	many(1, func(int) Outcome { o := success(); o.Rejected, o.Reason = 1, "partial"; return o })
	many(500, func(i int) Outcome { return refusal("traces", "RateLimited", i) })
	many(1000, func(int) Outcome { return success() })
	got := short(h.list())
	want := []string{"Unauthorized 0", "Unauthorized 1", "Unauthorized 2", "BadRequest 7", "partial"}
	for i := 490; i < 500; i++ {
		want = append(want, fmt.Sprintf("RateLimited %d", i))
	}
	for range recentOutcomes {
		want = append(want, "ok")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// There are more sorts than places. The sort that occurred least recently is removed.
	many(20, func(i int) Outcome { return refusal("logs", fmt.Sprintf("Sort%d", i), 0) })
	many(200, func(int) Outcome { return success() })
	got = short(h.list())
	want = nil
	for i := 20 - problemSorts; i < 20; i++ {
		want = append(want, fmt.Sprintf("Sort%d 0", i))
	}
	if diff := cmp.Diff(want, got[:len(got)-recentOutcomes]); diff != "" {
		t.Error(diff)
	}
	if limit := recentOutcomes + problemSorts*problemsOfSort; len(got) > limit {
		t.Errorf("%d outcomes", len(got))
	}
}

func TestListIsInOrder(t *testing.T) {
	h := &history{}
	for i := range 700 {
		o := refusal([]string{"traces", "logs", "metrics"}[i%3], []string{"A", "B"}[i%2], i)
		o.At = time.Unix(int64(i), 0)
		h.add(&o)
		all := h.list()
		for j := 1; j < len(all); j++ {
			if !all[j-1].At.Before(all[j].At) {
				t.Fatalf("after %d: %s before %s", i, all[j-1].At, all[j].At)
			}
		}
		if want := min(i+1, recentOutcomes); len(all) < want {
			t.Fatalf("after %d: %d outcomes", i, len(all))
		}
	}
}

func TestSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		r := start(t, s, 0)
		r.Record(theKey(), success())
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if got := s.ofKey(); got != nil {
			t.Errorf("a success was saved in a hurry: %v", got)
		}
		if got := r.Stats(); got.Oldest != 6*time.Second || got.Keys != 1 {
			t.Errorf("%+v", got)
		}
		r.Record(theKey(), refusal("traces", "BadRequest", 1))
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]string{"ok", "BadRequest 1"}, s.ofKey()); diff != "" {
			t.Errorf("a refusal is saved within 5 s: %s", diff)
		}
		if got := r.Stats(); got.Oldest != 0 || got.Saved != 1 {
			t.Errorf("%+v", got)
		}
		r.Record(theKey(), success())
		time.Sleep(35 * time.Second)
		synctest.Wait()
		if got := s.ofKey(); len(got) != 3 {
			t.Errorf("a success is saved in time: %v", got)
		}
		synctest.Wait()
		puts := s.puts
		time.Sleep(time.Hour)
		synctest.Wait()
		if s.puts != puts {
			t.Error("saved although nothing changed")
		}
		r.Record(theKey(), success())
		stop(t, r)
		if got := s.ofKey(); len(got) != 4 {
			t.Errorf("Close saves the rest: %v", got)
		}
	})
}

// The next run adds to the outcomes that this one saved.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		r := start(t, s, 0)
		for i := range 3 {
			r.Record(theKey(), refusal("traces", "Unauthorized", i))
		}
		stop(t, r)
		time.Sleep(time.Minute)
		r = start(t, s, 0)
		r.Record(theKey(), refusal("traces", "Unauthorized", 3))
		for range 150 {
			r.Record(theKey(), success())
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		want := []string{"Unauthorized 0", "Unauthorized 1", "Unauthorized 2", "Unauthorized 3"}
		if got := s.ofKey(); len(got) != 104 || cmp.Diff(want, got[:4]) != "" {
			t.Errorf("%v", got)
		}
		stop(t, r)
	})
}

func TestStoreDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.saved["node-1/ingk_1"] = []Outcome{refusal("logs", "Old", 0)}
		s.fails = true
		r := start(t, s, 0)
		r.Record(theKey(), refusal("traces", "BadRequest", 1))
		time.Sleep(time.Minute)
		if got := r.Stats(); got.Oldest != time.Minute || got.SaveFailures == 0 {
			t.Errorf("%+v", got)
		}
		s.setFails(false)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		// The first successful save does not lose the outcomes saved earlier.
		if diff := cmp.Diff([]string{"Old 0", "BadRequest 1"}, s.ofKey()); diff != "" {
			t.Error(diff)
		}
		s.setFails(true)
		r.Record(theKey(), refusal("traces", "BadRequest", 2))
		if err := r.Close(t.Context()); !errors.Is(err, errDown) {
			t.Errorf("Close says %v", err)
		}
	})
}

func TestLeastRecentlyUsedMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		r := start(t, s, 3)
		id := func(i int) Key { return Key{Org: "org_one", ID: fmt.Sprintf("ingk_%d", i)} }
		for i := range 3 {
			r.Record(id(i), refusal("traces", "BadRequest", i))
		}
		time.Sleep(5 * time.Second)
		synctest.Wait() // all saved
		r.Record(id(0), success())
		r.Record(id(3), success()) // takes the place of key 1
		if r.keys[id(1).ID] != nil || r.keys[id(0).ID] == nil || r.keys[id(2).ID] == nil {
			t.Errorf("%v", r.keys)
		}
		r.Record(id(1), success()) // takes the place of key 2, and gets its history back
		if got := r.Stats(); got.Keys != 3 || got.Evicted != 2 || got.Unsaved != 0 {
			t.Errorf("%+v", got)
		}
		stop(t, r)
		if diff := cmp.Diff([]string{"BadRequest 1", "ok"}, s.ofKey()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTextsAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		r := start(t, s, 0)
		for range 2 {
			o := refusal("traces", "BadRequest", 1)
			o.Reason, o.Agent = strings.Repeat("ü", 1000), strings.Repeat("é€", 1000)
			r.Record(theKey(), o)
		}
		stop(t, r)
		for _, o := range s.saved["node-1/ingk_1"] {
			for text, limit := range map[string]int{o.Reason: maxReason, o.Agent: maxAgent} {
				if len(text) > limit+len("…") || len(text) < limit-3 || !utf8.ValidString(text) || !strings.HasSuffix(text, "…") {
					t.Errorf("%d bytes: %q", len(text), text)
				}
			}
		}
	})
}

func TestOldHistoriesAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		r := start(t, s, 0)
		began := time.Now()
		time.Sleep(5*time.Second + time.Millisecond)
		synctest.Wait()
		if want := began.Add(5*time.Second - 30*24*time.Hour); !s.deletedBefore().Equal(want) {
			t.Errorf("deleted before %s, want %s", s.deletedBefore(), want)
		}
		time.Sleep(deleteEvery)
		synctest.Wait()
		if want := began.Add(5*time.Second - 29*24*time.Hour); !s.deletedBefore().Equal(want) {
			t.Errorf("a day later: deleted before %s, want %s", s.deletedBefore(), want)
		}
		stop(t, r)
	})
}

func TestConcurrent(t *testing.T) {
	s := newStore()
	r, err := Start(Config{Store: s, Node: "node-1", MaxKeys: 5, SaveEvery: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 2000 {
				r.Record(Key{Org: "org_one", ID: fmt.Sprintf("ingk_%d", i%7)}, refusal("traces", "BadRequest", w))
			}
		})
	}
	wg.Wait()
	stop(t, r)
	if got := r.Stats(); got.Keys != 5 || got.Oldest != 0 {
		t.Errorf("%+v", got)
	}
}

func BenchmarkRecord(b *testing.B) {
	for _, c := range []struct {
		name string
		o    Outcome
	}{{"success", success()}, {"refusal", refusal("traces", "@svc/ingest/RateLimited", 1)}} {
		b.Run(c.name, func(b *testing.B) {
			r := start(b, newStore(), 0)
			c.o.Agent = "OTel OTLP Exporter Go/1.47.0"
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r.Record(theKey(), c.o)
				}
			})
			stop(b, r)
		})
	}
}
