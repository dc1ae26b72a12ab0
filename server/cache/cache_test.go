package cache_test

import (
	"testing"
	"time"

	"github.com/svc-observability/svc/server/cache"
)

func TestValuesEnd(t *testing.T) {
	now := time.Unix(0, 0)
	c := cache.New[string, int](10, func() time.Time { return now })
	c.Put("a", 1, 1, time.Minute)
	now = now.Add(time.Minute)
	if v, ok := c.Get("a"); !ok || v != 1 {
		t.Errorf("within its time: %d %v", v, ok)
	}
	now = now.Add(1)
	if _, ok := c.Get("a"); ok {
		t.Error("a value is kept beyond its end")
	}
	c.Put("a", 2, 1, time.Minute)
	if v, ok := c.Get("a"); !ok || v != 2 {
		t.Errorf("kept again: %d %v", v, ok)
	}
}

func TestBound(t *testing.T) {
	c := cache.New[int, int](100, time.Now)
	for i := range 1000 {
		c.Put(i, i, 1+i%7, time.Minute)
	}
	c.Put(1000, 1000, 101, time.Minute)
	if _, ok := c.Get(1000); ok {
		t.Error("a value that is heavier than the cache is kept")
	}
	if values, weight := c.Size(); weight > 100 || values < 14 {
		t.Errorf("%d values weigh %d", values, weight)
	}
}
