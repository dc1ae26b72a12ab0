package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/svc-observability/svc/server/processors"
)

// gcPercent keeps the heap smaller than Go's default of 100 would. The engine on the same machine needs the memory more. The
// memory of ingest is pooled, so collecting more often costs little (docs/performance.md).
const gcPercent = 50

// The target size of the heap is heapBase plus heapPerProcessor for each processor. A server of two processors normally stays
// within it. Above the target, garbage is collected before it reaches half of the live heap; the limit goes down to an eighth
// (leastGarbage).
const (
	heapBase         = 320 << 20
	heapPerProcessor = 64 << 20
	leastGarbage     = 8
)

// limitHeap bounds the garbage of the server's heap. If the operator has set GOGC or GOMEMLIMIT, that setting stays as it is.
//
// With a fixed memory limit, a server whose requests really need more memory would collect garbage all the time. So the limit
// follows the size of the live heap: each collection sets the limit for the next one.
func limitHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		newHeapLimit(heapBase + uint64(processors.Count())*heapPerProcessor).follow()
	}
}

// heapLimit is a soft memory limit that grows with the live heap.
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

// follow sets the limit now and after each collection. To notice a collection, it attaches a cleanup to an unreferenced object.
func (h *heapLimit) follow() {
	metrics.Read(h.samples)
	h.adjust(h.samples[0].Value.Uint64() + h.samples[1].Value.Uint64())
	runtime.AddCleanup(&struct{ _ *byte }{}, (*heapLimit).follow, h)
}

// adjust leaves room for garbage of at least a fixed part of the live heap. It skips small changes, which are not worth the call.
func (h *heapLimit) adjust(alive uint64) {
	limit := max(h.target, alive+alive/leastGarbage)
	if diff := max(limit, h.current) - min(limit, h.current); limit == h.current || limit > h.target && diff < h.target/32 {
		return
	}
	h.current = limit
	h.set(int64(min(limit, 1<<62)))
}
