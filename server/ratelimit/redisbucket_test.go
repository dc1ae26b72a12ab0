package ratelimit_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/ratelimit/redistest"
)

// TestNodesShareBuckets checks that nodes together take exactly what a bucket holds, from all buckets or from none. Attempts that
// are given back can be taken again.
func TestNodesShareBuckets(t *testing.T) {
	server := redistest.Start(t)
	var log bytes.Buffer
	account := ratelimit.Bucket{Key: "account", Burst: 10, Interval: time.Minute}
	var taken atomic.Int64
	var wg sync.WaitGroup
	nodes := make([]*ratelimit.RedisBuckets, 3)
	for i := range nodes {
		nodes[i] = open(t, server.URL(), "b", &log).Buckets("attempts")
	}
	for i, b := range nodes {
		address := ratelimit.Bucket{Key: "address " + string(rune('a'+i)), Burst: 30, Interval: time.Minute}
		for range 12 {
			wg.Go(func() {
				switch wait, ok := b.Take([]ratelimit.Bucket{address, account}); {
				case !ok:
					t.Error("redis did not answer")
				case wait == 0:
					taken.Add(1)
				case wait > time.Minute:
					t.Errorf("wait %v", wait)
				}
			})
		}
	}
	wg.Wait()
	if n := taken.Load(); n != 10 {
		t.Errorf("took %d of 10", n)
	}
	// The refused attempts cost the addresses nothing: 30 each were there, and 10 are gone in all.
	left := 0
	for i, b := range nodes {
		address := ratelimit.Bucket{Key: "address " + string(rune('a'+i)), Burst: 30, Interval: time.Minute}
		for {
			if wait, ok := b.Take([]ratelimit.Bucket{address}); !ok || wait > 0 {
				break
			}
			left++
		}
	}
	if left != 80 {
		t.Errorf("%d attempts were left to the addresses, want 80", left)
	}
	nodes[0].GiveBack([]ratelimit.Bucket{account, {Key: "never taken", Burst: 1, Interval: time.Minute}})
	for i, want := range []bool{true, false} {
		if wait, ok := nodes[1].Take([]ratelimit.Bucket{account}); !ok || (wait == 0) != want {
			t.Errorf("attempt %d after one was given back: wait %v, %t", i, wait, ok)
		}
	}
	short := ratelimit.Bucket{Key: "short", Burst: 1, Interval: 2 * time.Second}
	if wait, ok := nodes[0].Take([]ratelimit.Bucket{short}); !ok || wait != 0 {
		t.Fatalf("wait %v, %t", wait, ok)
	}
	wait, ok := nodes[2].Take([]ratelimit.Bucket{short})
	if !ok || wait <= 0 || wait > short.Interval {
		t.Fatalf("wait %v, %t", wait, ok)
	}
	time.Sleep(wait + 5*time.Millisecond)
	if wait, ok := nodes[2].Take([]ratelimit.Bucket{short}); !ok || wait != 0 {
		t.Errorf("after the wait that was named: wait %v, %t", wait, ok)
	}
	server.Stop()
	if _, ok := nodes[0].Take([]ratelimit.Bucket{account}); ok {
		t.Error("buckets answer without Redis")
	}
	nodes[0].GiveBack([]ratelimit.Bucket{account})
}
