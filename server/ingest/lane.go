package ingest

import (
	"context"
	"runtime/debug"
	"sync"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/fair"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

const (
	// largeFrom is the size, decompressed, from which a body goes through the lane for large ones.
	largeFrom = limits.LargeBody
	// smallColumns is what the rows of a body may take that is not in that lane: some kilobytes hold a million empty items.
	smallColumns = 64 << 20
	// freeFrom is how much a request has held when its memory goes back to the system at once.
	freeFrom = 32 << 20
	// laneWaitingOrg and laneWaiting are the bodies that may wait for the lane, of one organization and in all. At a second or so each, the
	// last one is answered well within Limits.Request.
	laneWaitingOrg = limits.LargeBodiesOfOrganization
	laneWaiting    = limits.LargeBodiesWaiting
)

// lane takes large bodies one at a time, so that the memory of what they become is bounded once for the process, and none of them holds up
// small ones. Organizations take turns by bytes.
type lane struct {
	mu      sync.Mutex
	busy    bool
	waits   map[principal.OrgID]int
	waiting fair.Queue[*slotWaiter]
}

func newLane() *lane { return &lane{waits: map[principal.OrgID]int{}} }

// ask takes the lane, or returns where it will be granted. It is full for an organization that has too many waiting.
func (l *lane) ask(org principal.OrgID, cost int) (w *slotWaiter, full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.busy {
		l.busy = true
		return nil, false
	}
	if l.waits[org] >= laneWaitingOrg || l.waiting.Len() >= laneWaiting {
		return nil, true
	}
	l.waits[org]++
	w = &slotWaiter{org: org, granted: make(chan struct{})}
	l.waiting.Push(string(org), int64(cost), w)
	return w, false
}

func (l *lane) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next()
}

// withdraw ends the waiting; a lane that was granted meanwhile goes to the next.
func (l *lane) withdraw(w *slotWaiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.done {
		l.next()
		return
	}
	l.waiting.Remove(string(w.org), w)
	l.left(w.org)
}

func (l *lane) next() {
	w, ok := l.waiting.Pop()
	if !ok {
		l.busy = false
		return
	}
	l.left(w.org)
	w.done = true
	close(w.granted)
}

func (l *lane) left(org principal.OrgID) {
	if l.waits[org]--; l.waits[org] == 0 {
		delete(l.waits, org)
	}
}

// turn is the right to decompress and walk one body: in a decoder slot, or in the lane for large ones.
type turn struct {
	g     *Gateway
	org   principal.OrgID
	slot  bool
	large bool
	// grown is set when so much memory was taken that the system gets it back before the next large body comes.
	grown bool
}

// toDecoder is the way of a body to its turn, which the caller ends. expected is its size after decompression, as far as that is known.
func (g *Gateway) toDecoder(ctx context.Context, org principal.OrgID, sent, expected int) (*turn, *apierr.Error) {
	if fail := g.early(ctx, org, sent); fail != nil {
		return nil, fail
	}
	t := &turn{g: g, org: org}
	if expected >= largeFrom {
		return t, t.widen(ctx, expected)
	}
	if fail := g.decoderSlot(ctx, org, sent); fail != nil {
		return t, fail
	}
	t.slot = true
	return t, nil
}

// widen goes from the slot, if there is one, to the lane: the body is large, or has become so.
func (t *turn) widen(ctx context.Context, cost int) *apierr.Error {
	if t.large {
		return nil
	}
	t.leaveSlot()
	w, full := t.g.lane.ask(t.org, cost)
	if full {
		t.g.metrics.laneLimited.Inc()
		return apierr.New(apierr.IngestRateLimited,
			"As many large requests wait as may. Nothing was stored; send it again later, or smaller: up to "+limits.Size(largeFrom)+" after decompression, requests do not wait for these.")
	}
	if w != nil {
		select {
		case <-w.granted:
		case <-ctx.Done():
			t.g.lane.withdraw(w)
			return t.g.interrupted(ctx)
		}
	}
	t.large = true
	return nil
}

// bound is limit where the lane is taken, and less before.
func (t *turn) bound(small, limit int) int {
	if t.large {
		return limit
	}
	return min(small, limit)
}

func (t *turn) leaveSlot() {
	if t.slot {
		t.slot = false
		t.g.decoders.leave(t.org)
	}
}

// end gives the turn up, once nothing refers any more to the memory that it took.
func (t *turn) end() {
	if t == nil {
		return
	}
	t.leaveSlot()
	if !t.large {
		return
	}
	t.large = false
	defer t.g.lane.leave()
	if t.grown {
		// The garbage of several such requests would be gigabytes. It takes some ten milliseconds, once for seconds of work.
		debug.FreeOSMemory()
	}
}
