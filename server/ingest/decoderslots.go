package ingest

import (
	"context"
	"sync"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/fair"
	"github.com/svc-observability/svc/server/principal"
)

// reservedSlots are slots beyond the limit, for organizations that hold no slot. Their requests then do not wait for the body of
// another organization.
const reservedSlots = 2

// decoderSlots are the places where bodies are decompressed and walked. One organization alone may use all but the reserved ones.
// If several organizations wait, they take turns by bytes.
type decoderSlots struct {
	limit int

	mu      sync.Mutex
	inUse   int
	held    map[principal.OrgID]int
	waiting fair.Queue[*waiter]
}

// waiter is a request that waits for a slot, or for the place of the queue for large bodies.
type waiter struct {
	org     principal.OrgID
	granted chan struct{}
	// done is set together with the grant, under the lock.
	done bool
}

func newDecoderSlots(limit int) *decoderSlots {
	return &decoderSlots{limit: limit, held: map[principal.OrgID]int{}}
}

// ask takes a slot at once, or returns the waiter that will be granted one.
func (s *decoderSlots) ask(org principal.OrgID, cost int) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free(org) && (s.waiting.Len() == 0 || s.inUse >= s.limit) {
		s.take(org)
		return nil
	}
	w := &waiter{org: org, granted: make(chan struct{})}
	s.waiting.Push(string(org), int64(cost), w)
	return w
}

func (s *decoderSlots) free(org principal.OrgID) bool {
	return s.inUse < s.limit || s.inUse < s.limit+reservedSlots && s.held[org] == 0
}

func (s *decoderSlots) take(org principal.OrgID) {
	s.inUse++
	s.held[org]++
}

// leave returns a slot.
func (s *decoderSlots) leave(org principal.OrgID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.give(org)
}

// withdraw stops the waiting. If a slot was granted meanwhile, the next waiter gets it.
func (s *decoderSlots) withdraw(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.done {
		s.give(w.org)
		return
	}
	s.waiting.Remove(string(w.org), w)
}

func (s *decoderSlots) give(org principal.OrgID) {
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

// state returns the slots in use and the waiting requests, for metrics.
func (s *decoderSlots) state() (inUse, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inUse, s.waiting.Len()
}

// decoderSlot waits until this request may use a processor to decompress and walk a body of the given size. The number of slots,
// not the number of requests, thereby bounds the memory of that work. The caller returns the slot with decoders.leave.
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
