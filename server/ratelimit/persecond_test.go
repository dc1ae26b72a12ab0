package ratelimit

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// granted counts how many of n requests are allowed at one moment.
func granted(l *PerSecond, key string, limit float64, now time.Time, n int) (count int) {
	for range n {
		if _, ok := l.Allow(key, limit, now); ok {
			count++
		}
	}
	return count
}

func TestPerSecondAllow(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		limit float64
		// burst requests are allowed at once, second in each of the following seconds, and minute in the minute after those.
		burst, second, minute int
		wait                  time.Duration
	}{
		{name: "ten", nodes: 1, limit: 10, burst: 10, second: 10, minute: 600, wait: 100 * time.Millisecond},
		{name: "one", nodes: 1, limit: 1, burst: 1, second: 1, minute: 60, wait: time.Second},
		{name: "fraction above one", nodes: 1, limit: 2.5, burst: 2, second: 2, minute: 150, wait: 400 * time.Millisecond},
		{name: "fraction below one", nodes: 1, limit: 0.25, burst: 1, second: 0, minute: 15, wait: 4 * time.Second},
		{name: "share of four nodes", nodes: 4, limit: 100, burst: 25, second: 25, minute: 1500, wait: 40 * time.Millisecond},
		{name: "share below one", nodes: 4, limit: 2, burst: 1, second: 0, minute: 30, wait: 2 * time.Second},
		{name: "no nodes means one", nodes: 0, limit: 3, burst: 3, second: 3, minute: 180, wait: 333333334},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, now := NewPerSecond(c.nodes), start()
			if got := granted(l, "k", c.limit, now, 10_000); got != c.burst {
				t.Errorf("at once: %d, want %d", got, c.burst)
			}
			if wait, ok := l.Allow("k", c.limit, now); ok || wait != c.wait {
				t.Errorf("the next one: %v, wait %s, want %s", ok, wait, c.wait)
			}
			if _, ok := l.Allow("k", c.limit, now.Add(c.wait-time.Microsecond)); ok {
				t.Error("allowed before the wait was over")
			}
			if _, ok := l.Allow("k", c.limit, now.Add(c.wait)); !ok {
				t.Error("refused when the wait was over")
			}
			// From an empty bucket on, no pace of requests gets more than the limit.
			l, now = NewPerSecond(c.nodes), start()
			granted(l, "k", c.limit, now, 10_000)
			if got := granted(l, "k", c.limit, now.Add(time.Second), 10_000); got != c.second {
				t.Errorf("a second later: %d, want %d", got, c.second)
			}
			l = NewPerSecond(c.nodes)
			granted(l, "k", c.limit, now, 10_000)
			var minute int
			for step := 10 * time.Millisecond; step <= time.Minute; step += 10 * time.Millisecond {
				minute += granted(l, "k", c.limit, now.Add(step), 3)
			}
			// The last token of the minute may be missing by rounding.
			if minute != c.minute && minute != c.minute-1 {
				t.Errorf("in a minute: %d, want %d", minute, c.minute)
			}
		})
	}
}

func TestPerSecondKeysAreApart(t *testing.T) {
	l, now := NewPerSecond(1), start()
	if got := granted(l, "a", 5, now, 100); got != 5 {
		t.Fatalf("a: %d", got)
	}
	if got := granted(l, "b", 3, now, 100); got != 3 {
		t.Errorf("b: %d, want 3: the flood of a is not b's", got)
	}
}

// A changed limit counts at once, but does not refill the bucket.
func TestPerSecondChangedLimit(t *testing.T) {
	l, now := NewPerSecond(1), start()
	granted(l, "k", 10, now, 100)
	if got := granted(l, "k", 1000, now, 100); got != 0 {
		t.Errorf("raised with an empty bucket: %d at once, want 0", got)
	}
	if got := granted(l, "k", 1000, now.Add(50*time.Millisecond), 100); got != 50 {
		t.Errorf("50 ms at the higher limit: %d, want 50", got)
	}
	l = NewPerSecond(1)
	if got := granted(l, "k", 100, now, 10); got != 10 {
		t.Fatal(got)
	}
	if got := granted(l, "k", 5, now, 100); got != 5 {
		t.Errorf("lowered with 90 tokens left: %d, want 5", got)
	}
	if got := granted(l, "k", 5, now.Add(time.Second), 100); got != 5 {
		t.Errorf("a second at the lower limit: %d, want 5", got)
	}
}

// TestPerSecondNodes: a node that joins takes its part from the next request on, and one that leaves gives it back.
func TestPerSecondNodes(t *testing.T) {
	l, now := NewPerSecond(0), start()
	for _, step := range []struct{ nodes, want int }{{1, 100}, {4, 25}, {2, 50}, {0, 100}} {
		l.SetNodes(step.nodes)
		granted(l, "k", 100, now, 1)
		now = now.Add(time.Minute)
		if got := granted(l, "k", 100, now, 200); got != step.want {
			t.Errorf("%d nodes: %d at once, want %d", step.nodes, got, step.want)
		}
	}
}

func TestPerSecondClockSetBack(t *testing.T) {
	l, now := NewPerSecond(1), start()
	granted(l, "k", 4, now, 100)
	if got := granted(l, "k", 4, now.Add(-time.Hour), 100); got != 0 {
		t.Errorf("an hour back: %d, want 0", got)
	}
	if got := granted(l, "k", 4, now.Add(-time.Hour+time.Second), 100); got != 4 {
		t.Errorf("a second later: %d, want 4, the key is not locked out for an hour", got)
	}
}

func TestPerSecondIdleKeysAreForgotten(t *testing.T) {
	l, now := NewPerSecond(1), start()
	for i := range 5000 {
		l.Allow("idle"+strconv.Itoa(i), 50, now)
	}
	l.Allow("slow", 0.01, now) // its next request is due in 100 s
	later := now.Add(sweepEvery)
	l.Allow("new", 50, later)
	if n := l.Keys(); n != 2 {
		t.Errorf("%d keys are remembered, want the slow and the new one", n)
	}
	if wait, ok := l.Allow("slow", 0.01, later); ok || wait != 90*time.Second {
		t.Errorf("the slow key: %v, wait %s, want 1m30s: its debt was forgotten", ok, wait)
	}
}

// If many requests arrive at once, exactly one second's worth of them is allowed.
func TestPerSecondExactUnderConcurrency(t *testing.T) {
	l, now := NewPerSecond(2), start()
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := range 50 {
				if _, ok := l.Allow("k", 500, now); ok {
					allowed.Add(1)
				}
				l.Allow("other"+strconv.Itoa(i), 1, now)
			}
		})
	}
	wg.Wait()
	if n := allowed.Load(); n != 250 {
		t.Errorf("%d allowed, want 250", n)
	}
}

func BenchmarkAllow(b *testing.B) {
	l := NewPerSecond(1)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l.Allow("ingk_7WjZkL2q9", 1e6, time.Now())
		}
	})
}
