package scrape

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// memory bounds the bytes of all bodies. A scrape that finds no room waits until its time is up.
type memory struct{ room *semaphore.Weighted }

func newMemory(bytes int64) *memory { return &memory{semaphore.NewWeighted(bytes)} }

// held is the memory of one scrape. Only its goroutine uses it.
type held struct {
	of *memory
	n  int64
}

func (m *memory) hold() *held { return &held{of: m} }

func (h *held) grow(ctx context.Context, n int) error {
	if err := h.of.room.Acquire(ctx, int64(n)); err != nil {
		return errBusy
	}
	h.n += int64(n)
	return nil
}

func (h *held) shrink(n int) {
	h.of.room.Release(int64(n))
	h.n -= int64(n)
}

func (h *held) release() {
	h.of.room.Release(h.n)
	h.n = 0
}
