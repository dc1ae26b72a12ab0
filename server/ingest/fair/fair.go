// Package fair orders work that waits for a shared resource, so that an owner with little work does not wait behind one with much work. It
// is start-time fair queueing over owners. The items of an owner keep their order. Among owners, the one that has received the least so
// far, by cost, is next. A single owner gets everything, and an owner that is new or returns is served next.
package fair

import (
	"container/heap"
	"slices"
)

// Queue is a fair queue. Its zero value is empty and ready. It is not safe for concurrent use. Every operation takes time in the
// logarithm of the number of owners. Remove also takes time in the number of the owner's items.
type Queue[T comparable] struct {
	flows  map[string]*flow[T]
	order  flowHeap[T]
	served uint64
	seq    uint64
	length int
	// spare holds empty flows, whose memory the next new owner reuses.
	spare []*flow[T]
}

const maxSpare = 64

type item[T comparable] struct {
	value T
	cost  uint64
}

// flow holds the waiting items of one owner. An owner without items stays as long as it has received more than the others. Otherwise its
// surplus would be forgotten.
type flow[T comparable] struct {
	owner string
	// items holds the waiting items, from head on.
	items []item[T]
	head  int
	// start is the cost that the owner has received, on the common scale. seq decides between equals: the first one to arrive wins.
	start, seq uint64
	place      int
}

// Push adds an item of an owner. All costs must have the same unit. 0 counts as 1.
func (q *Queue[T]) Push(owner string, cost int64, value T) {
	if q.flows == nil {
		q.flows = map[string]*flow[T]{}
	}
	f := q.flows[owner]
	if f == nil {
		q.seq++
		f = q.newFlow()
		f.owner, f.start, f.seq = owner, q.served, q.seq
		q.flows[owner] = f
		heap.Push(&q.order, f)
	}
	f.items = append(f.items, item[T]{value, uint64(max(cost, 1))})
	q.length++
}

// Peek returns the item that Pop would, and its owner.
func (q *Queue[T]) Peek() (owner string, value T, ok bool) {
	f := q.first()
	if f == nil {
		return "", value, false
	}
	return f.owner, f.items[f.head].value, true
}

// Pop removes and returns the next item.
func (q *Queue[T]) Pop() (value T, ok bool) {
	f := q.first()
	if f == nil {
		return value, false
	}
	next := f.items[f.head]
	f.items[f.head] = item[T]{}
	if f.head++; f.head == len(f.items) {
		f.items, f.head = f.items[:0], 0
	}
	q.served = f.start
	f.start += next.cost
	heap.Fix(&q.order, f.place)
	q.removed()
	return next.value, true
}

// Remove takes an item out of the queue, and reports whether it was there.
func (q *Queue[T]) Remove(owner string, value T) bool {
	f := q.flows[owner]
	if f == nil {
		return false
	}
	i := slices.IndexFunc(f.items[f.head:], func(it item[T]) bool { return it.value == value })
	if i < 0 {
		return false
	}
	f.items = slices.Delete(f.items, f.head+i, f.head+i+1)
	q.removed()
	return true
}

// Len is the number of items.
func (q *Queue[T]) Len() int { return q.length }

// removed forgets the received costs once no item waits. The next owners then begin as equals.
func (q *Queue[T]) removed() {
	if q.length--; q.length > 0 {
		return
	}
	for _, f := range q.order {
		q.recycle(f)
	}
	clear(q.flows)
	clear(q.order)
	q.order, q.served = q.order[:0], 0
}

func (q *Queue[T]) newFlow() *flow[T] {
	last := len(q.spare) - 1
	if last < 0 {
		return &flow[T]{}
	}
	f := q.spare[last]
	q.spare[last] = nil
	q.spare = q.spare[:last]
	return f
}

func (q *Queue[T]) recycle(f *flow[T]) {
	if len(q.spare) < maxSpare {
		*f = flow[T]{items: f.items[:0]}
		q.spare = append(q.spare, f)
	}
}

// first returns the flow to serve. It drops flows that have no items and are no longer ahead of others.
func (q *Queue[T]) first() *flow[T] {
	for len(q.order) > 0 {
		f := q.order[0]
		if len(f.items) > f.head {
			return f
		}
		heap.Pop(&q.order)
		delete(q.flows, f.owner)
		q.recycle(f)
	}
	return nil
}

type flowHeap[T comparable] []*flow[T]

func (h flowHeap[T]) Len() int { return len(h) }

func (h flowHeap[T]) Less(i, j int) bool {
	if h[i].start != h[j].start {
		return h[i].start < h[j].start
	}
	return h[i].seq < h[j].seq
}

func (h flowHeap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *flowHeap[T]) Push(v any) {
	f := v.(*flow[T])
	f.place = len(*h)
	*h = append(*h, f)
}

func (h *flowHeap[T]) Pop() any {
	last := len(*h) - 1
	f := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return f
}
