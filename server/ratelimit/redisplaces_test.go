package ratelimit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/ratelimit/redistest"
)

// TestNodesSharePlaces lets callers of three nodes work at once. Never do more work than there are places, each key has its own, and
// everybody has a turn.
func TestNodesSharePlaces(t *testing.T) {
	server := redistest.Start(t)
	var log bytes.Buffer
	const most, callers, turns = 4, 4, 5
	var working, highest, done [2]atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		p := open(t, server.URL(), "a", &log).Places("reads", most)
		for i := range 2 * callers {
			key := i % 2
			wg.Go(func() {
				for range turns {
					release, err := p.Take(t.Context(), string(rune('a'+key)))
					if err != nil {
						t.Error(err)
						return
					}
					now := working[key].Add(1)
					for old := highest[key].Load(); now > old && !highest[key].CompareAndSwap(old, now); old = highest[key].Load() {
					}
					time.Sleep(5 * time.Millisecond)
					working[key].Add(-1)
					done[key].Add(1)
					release()
				}
			})
		}
	}
	wg.Wait()
	for key := range done {
		if highest[key].Load() > most || highest[key].Load() < 2 || done[key].Load() != 3*callers*turns {
			t.Errorf("key %d: %d at once of %d, %d done", key, highest[key].Load(), most, done[key].Load())
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", &log)
	}
}

// TestPlaceOfDeadProcess takes the only place and never gives it back, as a process that has ended. The place is free at the end of its
// lease. A caller who waits less gets the error of its context.
func TestPlaceOfDeadProcess(t *testing.T) {
	server := redistest.Start(t)
	var log bytes.Buffer
	p := open(t, server.URL(), "a", &log).Places("reads", 1)
	lease := p.Hurry()
	began := time.Now()
	if err := p.TakeAndDie("k"); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Take(short, "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is taken: %v", err)
	}
	release, err := p.Take(t.Context(), "k")
	if took := time.Since(began); err != nil || took < lease-10*time.Millisecond {
		t.Errorf("after %s: %v", took, err)
	}
	release()
}

// TestLongWorkKeepsItsPlace works for longer than a lease.
func TestLongWorkKeepsItsPlace(t *testing.T) {
	server := redistest.Start(t)
	var log bytes.Buffer
	p := open(t, server.URL(), "a", &log).Places("reads", 1)
	lease := p.Hurry()
	release, err := p.Take(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	long, cancel := context.WithTimeout(t.Context(), lease+lease/2)
	defer cancel()
	if _, err := p.Take(long, "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after a lease and a half: %v", err)
	}
	release()
	if release, err = p.Take(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	release()
}

// TestReleaseWhileRedisIsSlow gives a place back while Redis does not answer. The place is free soon after, not at the end of its lease.
func TestReleaseWhileRedisIsSlow(t *testing.T) {
	server := redistest.Start(t)
	c, err := ratelimit.Open(server.URL(), "a", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	p := c.Places("reads", 1)
	counted := func() bool { return server.Command(t, "ZCARD svc:a:rate:reads:k") == ":1\r\n+OK\r\n" }
	release := func() {}
	for !counted() { // a busy machine answers late, and the place is not counted
		if release, err = p.Take(t.Context(), "k"); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	server.Command(t, "CLIENT PAUSE 600 ALL")
	other, err := p.Take(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	other()
	release()
	for counted() {
		if time.Since(began) > ratelimit.PlaceLease {
			t.Fatal("the place is taken until the end of its lease")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestPlacesWithoutRedis: nobody waits while Redis does not answer.
func TestPlacesWithoutRedis(t *testing.T) {
	server := redistest.Start(t)
	var log bytes.Buffer
	p := open(t, server.URL(), "a", &log).Places("reads", 1)
	first, err := p.Take(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	server.Stop()
	began := time.Now()
	for range 20 {
		release, err := p.Take(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	first()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("20 places without Redis took %s", took)
	}
}
