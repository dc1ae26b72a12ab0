package ingest

import (
	"context"
	"sync"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/fair"
)

// reservedSlots are slots beyond the limit, for shares that hold no slot. Their requests then do not wait for the body of another
// organization, or for bodies with the public key of their own.
const reservedSlots = 2

// decoderSlots are the places where bodies are decompressed and walked. One share alone may use all but the reserved ones. If several
// shares wait, they take turns by bytes.
type decoderSlots struct {
	limit int

	mu      sync.Mutex
	inUse   int
	held    map[share]int
	waiting fair.Queue[*waiter]
}

// waiter is a request that waits for a slot, or for the place of the queue for large bodies.
type waiter struct {
	share   share
	granted chan struct{}
	// done is set together with the grant, under the lock.
	done bool
}

func newDecoderSlots(limit int) *decoderSlots {
	return &decoderSlots{limit: limit, held: map[share]int{}}
}

// ask takes a slot at once, or returns the waiter that will be granted one.
func (s *decoderSlots) ask(of share, cost int) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free(of) && (s.waiting.Len() == 0 || s.inUse >= s.limit) {
		s.take(of)
		return nil
	}
	w := &waiter{share: of, granted: make(chan struct{})}
	s.waiting.Push(of.flow(), int64(cost), w)
	return w
}

func (s *decoderSlots) free(of share) bool {
	return s.inUse < s.limit || s.inUse < s.limit+reservedSlots && s.held[of] == 0
}

func (s *decoderSlots) take(of share) {
	s.inUse++
	s.held[of]++
}

// leave returns a slot.
func (s *decoderSlots) leave(of share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.give(of)
}

// withdraw stops the waiting. If a slot was granted meanwhile, the next waiter gets it.
func (s *decoderSlots) withdraw(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.done {
		s.give(w.share)
		return
	}
	s.waiting.Remove(w.share.flow(), w)
}

func (s *decoderSlots) give(of share) {
	s.inUse--
	if s.held[of]--; s.held[of] == 0 {
		delete(s.held, of)
	}
	for {
		_, w, ok := s.waiting.Peek()
		if !ok || !s.free(w.share) {
			return
		}
		s.waiting.Pop()
		s.take(w.share)
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
func (g *Gateway) decoderSlot(ctx context.Context, of share, bytes int) *apierr.Error {
	w := g.decoders.ask(of, bytes)
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
