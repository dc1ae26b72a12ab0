package ingest

import (
	"context"
	"sync"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/fair"
	"github.com/svc-observability/svc/server/principal"
)

// reservedSlots are there for organizations that hold no decoder slot, beside those that anybody may take: a request of theirs does not
// even wait for the one that another organization's body is in.
const reservedSlots = 2

// slots are the places where requests are decompressed and walked. One organization alone may use all but the reserved ones; when several
// wait, they take turns by bytes.
type slots struct {
	limit int

	mu      sync.Mutex
	inUse   int
	held    map[principal.OrgID]int
	waiting fair.Queue[*slotWaiter]
}

type slotWaiter struct {
	org     principal.OrgID
	granted chan struct{}
	// done is set with the grant, under the lock.
	done bool
}

func newSlots(limit int) *slots {
	return &slots{limit: limit, held: map[principal.OrgID]int{}}
}

// ask takes a slot, or returns where one will be granted.
func (s *slots) ask(org principal.OrgID, cost int) *slotWaiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free(org) && (s.waiting.Len() == 0 || s.inUse >= s.limit) {
		s.take(org)
		return nil
	}
	w := &slotWaiter{org: org, granted: make(chan struct{})}
	s.waiting.Push(string(org), int64(cost), w)
	return w
}

func (s *slots) free(org principal.OrgID) bool {
	return s.inUse < s.limit || s.inUse < s.limit+reservedSlots && s.held[org] == 0
}

func (s *slots) take(org principal.OrgID) {
	s.inUse++
	s.held[org]++
}

// leave gives a slot back.
func (s *slots) leave(org principal.OrgID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.give(org)
}

// withdraw ends the waiting; a slot that was granted meanwhile goes to the next.
func (s *slots) withdraw(w *slotWaiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.done {
		s.give(w.org)
		return
	}
	s.waiting.Remove(string(w.org), w)
}

func (s *slots) give(org principal.OrgID) {
	s.inUse--
	if s.held[org]--; s.held[org] == 0 {
		delete(s.held, org)
	}
	for {
		_, w, ok := s.waiting.Peek()
		if !ok || !s.free(w.org) {
			return
		}
		s.waiting.Pop()
		s.take(w.org)
		w.done = true
		close(w.granted)
	}
}

// state is for metrics: slots in use and requests that wait for one.
func (s *slots) state() (inUse, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inUse, s.waiting.Len()
}

// decoderSlot waits until this request may use a CPU for decompression and the walk of a body of so many bytes. The memory of those two is
// so bounded by the number of slots, not by the number of requests. The caller gives it back with decoders.leave.
func (g *Gateway) decoderSlot(ctx context.Context, org principal.OrgID, bytes int) *apierr.Error {
	w := g.decoders.ask(org, bytes)
	if w == nil {
		return nil
	}
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		g.decoders.withdraw(w)
		return g.interrupted(ctx)
	}
}
