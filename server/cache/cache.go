// Package cache keeps results in memory for a time, within a bound.
package cache

import (
	"time"

	"github.com/maypok86/otter/v2"
)

// Cache keeps values that each have a weight and an end. When the weights exceed the bound, it drops the values that callers are least
// likely to ask for. It is safe for concurrent use.
//
// A key must hold the organization, so that no organization gets the value of another one.
type Cache[K comparable, V any] struct {
	most int
	now  func() time.Time
	kept *otter.Cache[K, entry[V]]
}

type entry[V any] struct {
	value  V
	weight int
	until  time.Time
}

// New returns a cache. most bounds the total weight of its values, in a unit that the caller chooses: bytes, rows or entries.
func New[K comparable, V any](most int, now func() time.Time) *Cache[K, V] {
	return &Cache[K, V]{most, now, otter.Must(&otter.Options[K, entry[V]]{
		MaximumWeight: uint64(most), Weigher: func(_ K, e entry[V]) uint32 { return uint32(e.weight) },
	})}
}

// Get returns the value of a key until its end. Callers share it and must not change it.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	e, ok := c.kept.GetIfPresent(key)
	if !ok || c.now().After(e.until) {
		return value, false
	}
	return e.value, true
}

// Put keeps a value for some time. From here on nobody may change it. A value that is heavier than the whole cache is not kept.
func (c *Cache[K, V]) Put(key K, value V, weight int, keep time.Duration) {
	if weight <= c.most {
		c.kept.Set(key, entry[V]{value, weight, c.now().Add(keep)})
	}
}

// Size waits until the bound holds, and returns the number and the weight of the values.
func (c *Cache[K, V]) Size() (values, weight int) {
	c.kept.CleanUp()
	return c.kept.EstimatedSize(), int(c.kept.WeightedSize())
}
