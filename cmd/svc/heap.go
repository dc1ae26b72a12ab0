package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/svc-observability/svc/server/processors"
)

// gcPercent keeps the heap smaller than Go's default of 100 does: the engine beside it needs the memory more, and what ingest holds is
// pooled, so collecting more often costs little (docs/performance.md).
const gcPercent = 50

// A server of two processors is at home in heapBase + 2 * heapPerProcessor: beyond that garbage is collected before it is half of what
// lives, down to an eighth.
const (
	heapBase         = 320 << 20
	heapPerProcessor = 64 << 20
	leastGarbage     = 8
)

// limitHeap bounds the garbage of the server's heap, as far as the operator did not do it with GOGC and GOMEMLIMIT.
//
// A fixed memory limit would have a server whose requests really need more collect without end. So the limit follows what is alive:
// each collection sets the one for the next.
func limitHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		newHeapLimit(heapBase + uint64(processors.Count())*heapPerProcessor).follow()
	}
}

// heapLimit is a soft memory limit that gives way to what is alive.
type heapLimit struct {
	target  uint64
	current uint64
	samples []metrics.Sample
	set     func(bytes int64) int64
}

func newHeapLimit(target uint64) *heapLimit {
	return &heapLimit{
		target:  target,
		samples: []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}},
		set:     debug.SetMemoryLimit,
	}
}

// follow sets the limit now and after each collection: an object that nobody holds is cleaned up by the next one.
func (h *heapLimit) follow() {
	metrics.Read(h.samples)
	h.adjust(h.samples[0].Value.Uint64() + h.samples[1].Value.Uint64())
	runtime.AddCleanup(&struct{ _ *byte }{}, (*heapLimit).follow, h)
}

// adjust leaves at least a part of what is alive as room for garbage. Small changes are not worth the call.
func (h *heapLimit) adjust(alive uint64) {
	limit := max(h.target, alive+alive/leastGarbage)
	if diff := max(limit, h.current) - min(limit, h.current); limit == h.current || limit > h.target && diff < h.target/32 {
		return
	}
	h.current = limit
	h.set(int64(min(limit, 1<<62)))
}
