package ingest

import (
	"sync"

	"github.com/svc-observability/svc/server/ingest/fair"
	"github.com/svc-observability/svc/server/limits"
)

const (
	// largeFrom is the size after decompression from which a body goes through the queue for large bodies.
	largeFrom = limits.LargeBody
	// smallColumns bounds the columns of a body outside that queue, because a few kilobytes can hold a million empty items.
	smallColumns = 64 << 20
	// freeFrom is the memory of a request from which the process returns the memory to the system at once.
	freeFrom = 32 << 20
	// largeWaitingOrg and largeWaiting bound the waiting bodies of one share and of all. A body takes about a second, so
	// the last one is answered well within Limits.Request.
	largeWaitingOrg = limits.LargeBodiesOfOrganization
	largeWaiting    = limits.LargeBodiesWaiting
)

// largeQueue lets one large body through at a time. Their memory is then bounded once for the process, and they do not hold up small
// bodies. Shares take turns by bytes.
type largeQueue struct {
	mu      sync.Mutex
	busy    bool
	waits   map[share]int
	waiting fair.Queue[*waiter]
}

func newLargeQueue() *largeQueue { return &largeQueue{waits: map[share]int{}} }

// ask takes the place at once, or returns the waiter that will get it. full means that too many bodies wait already.
func (l *largeQueue) ask(of share, cost int) (w *waiter, full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.busy {
		l.busy = true
		return nil, false
	}
	if l.waits[of] >= largeWaitingOrg || l.waiting.Len() >= largeWaiting {
		return nil, true
	}
	l.waits[of]++
	w = &waiter{share: of, granted: make(chan struct{})}
	l.waiting.Push(of.flow(), int64(cost), w)
	return w, false
}

// leave gives the place to the next body.
func (l *largeQueue) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next()
}

// withdraw stops the waiting. If the place was granted meanwhile, the next body gets it.
func (l *largeQueue) withdraw(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.done {
		l.next()
		return
	}
	l.waiting.Remove(w.share.flow(), w)
	l.left(w.share)
}

func (l *largeQueue) next() {
	w, ok := l.waiting.Pop()
	if !ok {
		l.busy = false
		return
	}
	l.left(w.share)
	w.done = true
	close(w.granted)
}

func (l *largeQueue) left(of share) {
	if l.waits[of]--; l.waits[of] == 0 {
		delete(l.waits, of)
	}
}
