package usage

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/svc-observability/svc/server/principal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	org  = principal.OrgID("org_one")
	key  = "ingk_1"
	node = "node-1"
)

var errDown = errors.New("the database is down")

// memoryStore is a store that keeps the promises of the interface and can fail in the ways of a database.
type memoryStore struct {
	mu      sync.Mutex
	sums    map[Delta]Counts // by identity: the counts of the key are zero
	flushes map[string]int64
	plans   map[principal.OrgID]Plan
	calls   int
	// fails refuses every call. forgets applies a flush and then reports a failure. hangs lets calls wait for their deadline.
	fails, forgets, hangs bool
}

func newStore() *memoryStore {
	return &memoryStore{sums: map[Delta]Counts{}, flushes: map[string]int64{}, plans: map[principal.OrgID]Plan{}}
}

func (s *memoryStore) AddUsage(ctx context.Context, node string, flush int64, deltas []Delta) error {
	if err := s.fail(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.flushes[node] == flush {
		return nil
	}
	s.flushes[node] = flush
	for _, d := range deltas {
		id := d
		id.Counts = Counts{}
		n := s.sums[id]
		n.add(d.Counts)
		s.sums[id] = n
	}
	if s.forgets {
		return errDown
	}
	return nil
}

func (s *memoryStore) Accounts(ctx context.Context, orgs []principal.OrgID, month time.Time) (map[principal.OrgID]Account, error) {
	if err := s.fail(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[principal.OrgID]Account{}
	for _, o := range orgs {
		plan, ok := s.plans[o]
		if !ok {
			continue
		}
		a := Account{Plan: &plan, Used: map[string]Counts{}}
		for d, n := range s.sums {
			if d.Org == o && !d.Day.Before(month) && d.Day.Before(month.AddDate(0, 1, 0)) {
				sum := a.Used[d.Signal]
				sum.add(n)
				a.Used[d.Signal] = sum
			}
		}
		all[o] = a
	}
	return all, nil
}

func (s *memoryStore) fail(ctx context.Context) error {
	s.mu.Lock()
	fails, hangs := s.fails, s.hangs
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if fails {
		return errDown
	}
	return nil
}

func (s *memoryStore) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *memoryStore) total() (n Counts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sums {
		n.add(c)
	}
	return n
}

func (s *memoryStore) plan(items, bytes int64) {
	l := Limit{}
	if items >= 0 {
		l.Items = &items
	}
	if bytes >= 0 {
		l.Bytes = &bytes
	}
	s.set(func() { s.plans[org] = Plan{Name: "Starter", Active: true, Limits: map[string]Limit{"traces": l}} })
}

func start(t testing.TB, s Store, change func(*Config)) *Meter {
	t.Helper()
	cfg := Config{Store: s, Node: node}
	if change != nil {
		change(&cfg)
	}
	m, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func stop(t testing.TB, m *Meter) {
	t.Helper()
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// refused returns the reason of a refusal, or "" if nothing is refused.
func refused(t testing.TB, m *Meter, signal string) string {
	t.Helper()
	if r := m.Check(t.Context(), org, signal); r != nil {
		return r.Error()
	}
	return ""
}

func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		m := start(t, s, nil)
		m.Add(org, "traces", key, 10, 1000)
		m.Add(org, "traces", key, 5, 500)
		m.Add(org, "logs", key, 1, 90)
		m.AddItems(org, "events", key, 4) // created by spans: no request and no bytes of their own
		m.Add(org, "traces", "key_default", 2, 20)
		m.Add("org_two", "traces", "ingk_2", 3, 30)
		if got := m.Stats(); got.Cells != 5 || got.Accounts != 2 {
			t.Errorf("%+v", got)
		}
		time.Sleep(800 * time.Millisecond)
		if got := m.Stats().Oldest; got != 800*time.Millisecond {
			t.Errorf("oldest %s", got)
		}
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		if got := m.Stats(); got.Cells != 0 || got.Oldest != 0 || got.Flushes != 1 {
			t.Errorf("after a second: %+v", got)
		}
		time.Sleep(24 * time.Hour) // the next day has its own sums
		m.Add(org, "traces", key, 1, 1)
		stop(t, m)                                         // flushes the rest
		day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // the start time of synctest
		want := map[Delta]Counts{
			{Org: org, Day: day, Signal: "traces", Key: key}:                  {2, 15, 1500},
			{Org: org, Day: day, Signal: "logs", Key: key}:                    {1, 1, 90},
			{Org: org, Day: day, Signal: "events", Key: key}:                  {0, 4, 0},
			{Org: org, Day: day, Signal: "traces", Key: "key_default"}:        {1, 2, 20},
			{Org: "org_two", Day: day, Signal: "traces", Key: "ingk_2"}:       {1, 3, 30},
			{Org: org, Day: day.AddDate(0, 0, 1), Signal: "traces", Key: key}: {1, 1, 1},
		}
		if diff := cmp.Diff(want, s.sums); diff != "" {
			t.Error(diff)
		}
	})
}

// A flush with an unknown outcome is sent again and counted once. Counts that arrived meanwhile are also counted once.
func TestUnknownOutcome(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*memoryStore)
		mend func(*memoryStore)
	}{
		{"applied, answer lost", func(s *memoryStore) { s.forgets = true }, func(s *memoryStore) { s.forgets = false }},
		{"not applied", func(s *memoryStore) { s.fails = true }, func(s *memoryStore) { s.fails = false }},
		{"deadline", func(s *memoryStore) { s.hangs = true }, func(s *memoryStore) { s.hangs = false }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				m := start(t, s, nil)
				s.set(func() { c.set(s) })
				m.Add(org, "traces", key, 10, 100)
				time.Sleep(12 * time.Second)
				m.Add(org, "traces", key, 7, 70)
				time.Sleep(30 * time.Second)
				if m.Stats().FlushFailures == 0 {
					t.Fatalf("the failure did not happen: %+v", m.Stats())
				}
				s.set(func() { c.mend(s) })
				time.Sleep(12 * time.Second)
				synctest.Wait()
				if got, want := s.total(), (Counts{2, 17, 170}); got != want {
					t.Errorf("stored %+v, want %+v", got, want)
				}
				if got := m.Stats(); got.Oldest != 0 || got.Cells != 0 {
					t.Errorf("%+v", got)
				}
				stop(t, m)
				if got, want := s.total(), (Counts{2, 17, 170}); got != want {
					t.Errorf("after Close: stored %+v, want %+v", got, want)
				}
			})
		})
	}
}

func TestClose(t *testing.T) {
	t.Run("cuts a flush short and repeats it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStore()
			m := start(t, s, nil)
			s.set(func() { s.hangs = true })
			m.Add(org, "traces", key, 1, 1)
			time.Sleep(1500 * time.Millisecond) // the flush hangs
			go func() {
				time.Sleep(time.Second)
				s.set(func() { s.hangs = false })
			}()
			began := time.Now()
			stop(t, m)
			if n := s.total(); n != (Counts{1, 1, 1}) {
				t.Errorf("stored %+v", n)
			}
			if took := time.Since(began); took > 12*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	})
	t.Run("says what is lost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStore()
			s.fails = true
			m := start(t, s, nil)
			m.Add(org, "traces", key, 10, 100)
			time.Sleep(time.Minute) // the count is in a batch that fails
			m.Add(org, "logs", key, 1, 10)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			err := m.Close(ctx)
			want := "usage could not be stored (requests: 2, items: 11, bytes: 110): add usage: the database is down"
			if err == nil || err.Error() != want {
				t.Errorf("%v", err)
			}
		})
	})
}

func TestLimits(t *testing.T) {
	const ends = ", and the month ends at 2000-02-01T00:00:00Z. Nothing was stored."
	for _, c := range []struct {
		name         string
		items, bytes int64
		addItems     int
		addBytes     int
		want         string
	}{
		{name: "none", items: -1, bytes: -1, addItems: 1 << 40, addBytes: 1 << 40},
		{name: "below both", items: 100, bytes: 100, addItems: 99, addBytes: 99},
		{
			name: "items reached", items: 100, bytes: -1, addItems: 100,
			want: `The plan "Starter" of this organization allows 100 items of traces in a month. The limit is reached` + ends,
		},
		{
			name: "items exceeded", items: 100, bytes: -1, addItems: 5000,
			want: `The plan "Starter" of this organization allows 100 items of traces in a month. The limit is reached` + ends,
		},
		{
			name: "bytes reached", items: 100, bytes: 2_500_000_000, addBytes: 2_500_000_000,
			want: `The plan "Starter" of this organization allows 2.5 GB of traces in a month. The limit is reached` + ends,
		},
		{name: "zero", items: 0, bytes: -1, want: `The plan "Starter" of this organization allows 0 items of traces in a month. The limit is reached` + ends},
		{name: "one item", items: 1, bytes: -1, addItems: 1, want: `The plan "Starter" of this organization allows 1 item of traces in a month. The limit is reached` + ends},
		{
			name: "terabytes", items: -1, bytes: 2_000_000_000_000, addBytes: 2_000_000_000_000,
			want: `The plan "Starter" of this organization allows 2 TB of traces in a month. The limit is reached` + ends,
		},
		{
			name: "megabytes", items: -1, bytes: 1_500_000, addBytes: 1_500_000,
			want: `The plan "Starter" of this organization allows 1.5 MB of traces in a month. The limit is reached` + ends,
		},
		{
			name: "kilobytes", items: -1, bytes: 700_000, addBytes: 700_000,
			want: `The plan "Starter" of this organization allows 700 kB of traces in a month. The limit is reached` + ends,
		},
		{name: "bytes", items: -1, bytes: 700, addBytes: 700, want: `The plan "Starter" of this organization allows 700 bytes of traces in a month. The limit is reached` + ends},
		{name: "one byte", items: -1, bytes: 1, addBytes: 1, want: `The plan "Starter" of this organization allows 1 byte of traces in a month. The limit is reached` + ends},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				s.plan(c.items, c.bytes)
				m := start(t, s, nil)
				if c.addItems+c.addBytes > 0 {
					if got := refused(t, m, "traces"); got != "" {
						t.Fatalf("refused before anything came in: %s", got)
					}
					m.Add(org, "traces", key, c.addItems, c.addBytes)
				}
				for range 3 { // counted, being flushed, read back: the answer is always the same
					if got := refused(t, m, "traces"); got != c.want {
						t.Errorf("%q, want %q", got, c.want)
					}
					if got := refused(t, m, "logs"); got != "" {
						t.Errorf("logs have no limit: %q", got)
					}
					time.Sleep(16 * time.Second)
				}
				stop(t, m)
				if c.addItems+c.addBytes == 0 {
					return
				}
				// The next run knows the usage from its first request on.
				m = start(t, s, nil)
				if got := refused(t, m, "traces"); got != c.want {
					t.Errorf("after a restart: %q, want %q", got, c.want)
				}
				stop(t, m)
			})
		})
	}
}

func TestInactivePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.plans[org] = Plan{Name: "Trial"}
		m := start(t, s, nil)
		for _, signal := range []string{"traces", "events"} {
			if got, want := refused(t, m, signal), `The organization has no active subscription: its plan "Trial" is not active. Nothing was stored.`; got != want {
				t.Errorf("%s: %q", signal, got)
			}
		}
		if r := m.Check(t.Context(), "org_without_plan", "traces"); r != nil {
			t.Error(r)
		}
		s.set(func() { s.plans[org] = Plan{Name: "Trial", Active: true} })
		time.Sleep(16 * time.Second) // a changed plan is read within ReadEvery
		if got := refused(t, m, "traces"); got != "" {
			t.Error(got)
		}
		s.set(func() { s.plans[org] = Plan{Name: "Trial"} })
		m.Reread()
		synctest.Wait() // at once, when the store has reported the change
		if refused(t, m, "traces") == "" {
			t.Error("the plan that has changed is not read again")
		}
		stop(t, m)
	})
}

func TestNewMonth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.plan(100, -1)
		offset := time.Until(time.Date(2000, 1, 31, 23, 59, 59, 500_000_000, time.UTC))
		m := start(t, s, func(c *Config) { c.Now = func() time.Time { return time.Now().Add(offset) } })
		m.Add(org, "traces", key, 100, 0)
		if refused(t, m, "traces") == "" {
			t.Fatal("not refused in January")
		}
		time.Sleep(501 * time.Millisecond) // February, and January's count is not flushed yet
		if got := refused(t, m, "traces"); got != "" {
			t.Errorf("refused in February: %s", got)
		}
		m.Add(org, "traces", key, 99, 0)
		time.Sleep(time.Minute)
		if got := refused(t, m, "traces"); got != "" {
			t.Errorf("99 of 100 used: %s", got)
		}
		m.Add(org, "traces", key, 1, 0)
		if refused(t, m, "traces") == "" {
			t.Error("not refused at February's limit")
		}
		stop(t, m)
		byDay := map[string]int64{}
		for d, n := range s.sums {
			byDay[d.Day.Format(time.DateOnly)] += n.Items
		}
		if diff := cmp.Diff(map[string]int64{"2000-01-31": 100, "2000-02-01": 100}, byDay); diff != "" {
			t.Error(diff)
		}
	})
}

// Two nodes share a limit: each learns what the other accepted.
func TestTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.plan(1000, -1)
		one := start(t, s, nil)
		two := start(t, s, func(c *Config) { c.Node = "node-2" })
		accepted := 0
		for range 100 {
			for _, m := range []*Meter{one, two} {
				if refused(t, m, "traces") == "" {
					m.Add(org, "traces", key, 5, 0)
					accepted += 5
				}
			}
			time.Sleep(time.Second)
		}
		// The overshoot is at most what one node did not know of the other for 16 s.
		if accepted < 1000 || accepted > 1000+16*5 {
			t.Errorf("accepted %d of 1000", accepted)
		}
		stop(t, one)
		stop(t, two)
		if n := s.total(); n.Items != int64(accepted) {
			t.Errorf("stored %d, accepted %d", n.Items, accepted)
		}
	})
}

func TestStoreDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.plan(100, -1)
		s.hangs = true
		m := start(t, s, nil)
		began := time.Now()
		if got := refused(t, m, "traces"); got != "" {
			t.Errorf("refused without a plan: %s", got)
		}
		if took := time.Since(began); took != 500*time.Millisecond {
			t.Errorf("the first request waited %s", took)
		}
		time.Sleep(15 * time.Second)
		began = time.Now()
		m.Add(org, "traces", key, 150, 0)
		if got := refused(t, m, "traces"); got != "" || time.Since(began) != 0 {
			t.Errorf("%q after %s: later requests do not wait", got, time.Since(began))
		}
		s.set(func() { s.hangs = false })
		time.Sleep(time.Minute)
		if refused(t, m, "traces") == "" {
			t.Error("not refused although the database is back")
		}
		s.set(func() { s.fails = true })
		time.Sleep(time.Hour)
		if refused(t, m, "traces") == "" {
			t.Error("what was known was forgotten in the outage")
		}
		m.Add(org, "traces", key, 1, 0) // was under way
		s.set(func() { s.fails = false })
		stop(t, m)
		if n := s.total(); n.Items != 151 {
			t.Errorf("stored %d items, want 151", n.Items)
		}
	})
}

func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.fails = true
		m := start(t, s, func(c *Config) { c.MaxCells = 10 })
		for i := range 100 {
			m.Add(org, "traces", string(rune('a'+i)), 1, 1)
		}
		if got := m.Stats(); got.Cells != 11 || got.Merged != 90 {
			t.Errorf("%+v", got)
		}
		s.set(func() { s.fails = false })
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if got := s.sums[Delta{Org: org, Day: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), Signal: "traces", Key: OtherKeys}]; got != (Counts{
			90,
			90, 90,
		}) {
			t.Errorf("%+v", got)
		}
		if got := m.Stats().Accounts; got != 0 {
			t.Errorf("%d accounts after two idle hours", got)
		}
		stop(t, m)
		if n := s.total(); n.Requests != 100 {
			t.Errorf("%+v", n)
		}
	})
}

// More sums than one flush takes, from many goroutines. Everything is stored once.
func TestConcurrent(t *testing.T) {
	s := newStore()
	s.plan(1<<40, -1)
	m := start(t, s, func(c *Config) { c.FlushEvery, c.ReadEvery = time.Millisecond, 2*time.Millisecond })
	keys := make([]string, 3*deltasAtOnce)
	for i := range keys {
		keys[i] = time.Duration(i).String()
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, k := range keys {
				m.Check(t.Context(), org, "traces")
				m.Add(org, "traces", k, 2, 3)
			}
		})
	}
	wg.Wait()
	stop(t, m)
	n := int64(8 * len(keys))
	if got, want := s.total(), (Counts{n, 2 * n, 3 * n}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := len(s.sums); got < len(keys) {
		t.Errorf("%d sums", got)
	}
	if u := m.accounts[org].signals["traces"].total(); u.Items != 2*n {
		t.Errorf("the account says %+v", u)
	}
}

func BenchmarkCheckAndAdd(b *testing.B) {
	s := newStore()
	s.plan(1<<60, 1<<60)
	m := start(b, s, nil)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if m.Check(b.Context(), org, "traces") == nil {
				m.Add(org, "traces", key, 512, 1<<17)
			}
		}
	})
	stop(b, m)
}
