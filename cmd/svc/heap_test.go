package main

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHeapLimit(t *testing.T) {
	const mib = 1 << 20
	var set []int64
	h := newHeapLimit(384 * mib)
	h.set = func(bytes int64) int64 { set = append(set, bytes/mib); return 0 }
	for _, alive := range []uint64{0, 100, 341, 400, 404, 800, 100, 50} {
		h.adjust(alive * mib)
	}
	// Below the target the limit stays; above it leaves an eighth. A change of a few mebibytes is ignored.
	if diff := cmp.Diff([]int64{384, 450, 900, 384}, set); diff != "" {
		t.Errorf("limits set (-want +got):\n%s", diff)
	}
}

// TestHeapLimitFollowsCollections: each collection adjusts the limit again, without a call.
func TestHeapLimitFollowsCollections(t *testing.T) {
	asked := make(chan int64, 100)
	h := newHeapLimit(1) // any live heap exceeds it
	h.set = func(bytes int64) int64 {
		select {
		case asked <- bytes:
		default: // no reader for collections after the test
		}
		return 0
	}
	h.follow()
	held := make([][]byte, 0, 4)
	for range 4 {
		held = append(held, make([]byte, 32<<20))
		// A cleanup that runs late may ask with the heap of an earlier collection, and is heard again at the next one.
		deadline := time.Now().Add(time.Minute)
		for limit := int64(0); limit < int64(len(held))*32<<20; {
			runtime.GC()
			select {
			case limit = <-asked:
			case <-time.After(100 * time.Millisecond):
			}
			if time.Now().After(deadline) {
				t.Fatalf("nobody asked for the %d bytes that are alive; the last limit was %d", len(held)*32<<20, limit)
			}
		}
	}
	runtime.KeepAlive(held)
}
