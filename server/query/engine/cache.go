package engine

import (
	"container/list"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
)

const (
	// settled is how long after its end a window gets nothing new but what comes late.
	settled = 2 * time.Minute
	// cacheFor is how long a result is kept: what comes late shows after that.
	cacheFor = 5 * time.Minute
)

// cache keeps the rows of statements over closed windows, the latest used ones within a bound of memory. Keys hold the organization.
type cache struct {
	bytes int
	now   func() time.Time

	mu      sync.Mutex
	used    int
	entries map[string]*list.Element
	order   list.List // of *cached, the latest used first
}

type cached struct {
	key   string
	rows  answer
	bytes int
	until time.Time
}

func newCache(bytes int, now func() time.Time) *cache {
	return &cache{bytes: bytes, now: now, entries: map[string]*list.Element{}}
}

// cacheKey is of everything that the rows depend on.
func cacheKey(org principal.OrgID, s query.Statement) string {
	h := sha256.New()
	part := func(text string) { fmt.Fprintf(h, "%d:%s", len(text), text) }
	part(string(org))
	part(s.SQL)
	for _, a := range s.Args {
		part(a.Name)
		part(fmt.Sprintf("%T %q", a.Value, fmt.Sprint(a.Value)))
	}
	return string(h.Sum(nil))
}

func (c *cache) get(key string) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return answer{}, false
	}
	entry := e.Value.(*cached) //nolint:forcetypeassert // the list holds nothing else
	if c.now().After(entry.until) {
		c.drop(e)
		return answer{}, false
	}
	c.order.MoveToFront(e)
	return entry.rows, true
}

// put keeps rows, which nobody may change from here on.
func (c *cache) put(key string, a answer) {
	entry := &cached{key: key, rows: a, bytes: size(a), until: c.now().Add(cacheFor)}
	if entry.bytes > c.bytes/8 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		c.drop(e)
	}
	c.entries[key] = c.order.PushFront(entry)
	c.used += entry.bytes
	for c.used > c.bytes {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	entry := c.order.Remove(e).(*cached) //nolint:forcetypeassert // the list holds nothing else
	delete(c.entries, entry.key)
	c.used -= entry.bytes
}

// size is about what rows take.
func size(a answer) int {
	n := 512 + len(a.plan.SQL)
	for _, r := range a.series {
		n += 96 + textSize(r.Group)
	}
	for _, r := range a.groups {
		n += 96 + textSize(r.Group)
	}
	return n
}

func textSize(list []string) int {
	n := 0
	for _, s := range list {
		n += 16 + len(s)
	}
	return n
}
