package ratelimit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svc-observability/svc/server/ratelimit"
)

func TestWindowIsExactUnderConcurrency(t *testing.T) {
	const limit, callers, each = 600, 16, 100
	l := ratelimit.NewWindow(limit, time.Minute)
	now := time.Unix(1_800_000_000, 0)
	var allowed [2]atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				for key := range allowed {
					if ok, _ := l.Allow(fmt.Sprint(key), now); ok {
						allowed[key].Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	for key := range allowed {
		if got := allowed[key].Load(); got != limit {
			t.Errorf("key %d: %d of %d requests allowed, want exactly %d", key, got, callers*each, limit)
		}
	}
	if ok, retryAfter := l.Allow("0", now.Add(time.Minute-1)); ok || retryAfter != time.Minute {
		t.Errorf("within the window: %v, %v", ok, retryAfter)
	}
	if ok, _ := l.Allow("0", now.Add(time.Minute)); !ok {
		t.Error("refused when the window had passed")
	}
}

// TestWindowModel compares with the definition: a request is allowed if fewer than limit were allowed in the window before it.
func TestWindowModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 20).Draw(t, "limit")
		l := ratelimit.NewWindow(limit, 10*time.Second)
		now := time.Unix(1_800_000_000, 0)
		allowed := map[string][]time.Time{}
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "pause")) * time.Millisecond)
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
			recent := 0
			for _, at := range allowed[key] {
				if at.After(now.Add(-10 * time.Second)) {
					recent++
				}
			}
			want := recent < limit
			got, _ := l.Allow(key, now)
			if got != want {
				t.Fatalf("allowed %v with %d of %d in the window", got, recent, limit)
			}
			if want {
				allowed[key] = append(allowed[key], now)
			}
		}
	})
}

// TestWindowClockSetBack: a clock that is set back locks nobody out for longer than two windows, and idle keys are still forgotten.
func TestWindowClockSetBack(t *testing.T) {
	for _, back := range []time.Duration{time.Second, 59 * time.Second, 61 * time.Second, time.Hour, 24 * 365 * time.Hour} {
		l, now := ratelimit.NewWindow(5, time.Minute), time.Unix(1_800_000_000, 0)
		for range 5 {
			l.Allow("k", now)
		}
		if ok, _ := l.Allow("k", now); ok {
			t.Fatal("the sixth request is allowed")
		}
		now = now.Add(-back + 2*time.Minute + 2*time.Second)
		for n := range 5 {
			if ok, _ := l.Allow("k", now); !ok {
				t.Errorf("two minutes after the clock was set back by %s: request %d is refused", back, n)
			}
		}
		if ok, _ := l.Allow("k", now); ok {
			t.Errorf("after the clock was set back by %s, there is no limit", back)
		}
	}
}

func BenchmarkWindow(b *testing.B) {
	l := ratelimit.NewWindow(600, time.Minute)
	now := time.Unix(1_800_000_000, 0)
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		l.Allow("key", now)
	}
}
