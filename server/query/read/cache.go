package read

import (
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// cache keeps results, the latest used ones within a bound of memory, and knows which are being read. Keys hold the organization.
type cache struct {
	bytes int
	now   func() time.Time

	mu      sync.Mutex
	used    int
	entries map[string]*list.Element
	order   list.List // of *cached, the latest used first
	flights map[string]*flight
}

type cached struct {
	key   string
	value any
	bytes int
	until time.Time
}

// flight is a read that is under way.
type flight struct {
	done  chan struct{}
	value any
	err   error
	// left says that its caller went away: others must read for themselves.
	left bool
}

func newCache(bytes int, now func() time.Time) *cache {
	return &cache{bytes: bytes, now: now, entries: map[string]*list.Element{}, flights: map[string]*flight{}}
}

// KeyOf is the key of a statement's result in one form, for Once.
func KeyOf(form string, org principal.OrgID, s sqlbuild.Statement) string {
	parts := []any{s.SQL}
	for _, a := range s.Args {
		parts = append(parts, a.Name, a.Value)
	}
	return keyOf(form, org, parts...)
}

// keyOf is of everything that a result depends on.
func keyOf(kind string, org principal.OrgID, parts ...any) string {
	h := sha256.New()
	part := func(text string) { fmt.Fprintf(h, "%d:%s", len(text), text) }
	part(kind)
	part(string(org))
	for _, p := range parts {
		part(fmt.Sprintf("%T %q", p, fmt.Sprint(p)))
	}
	return string(h.Sum(nil))
}

// Once gives the kept result of the key, or that of the read of it which is under way, or else runs the read and keeps its result for a while. A
// result of no bytes is kept for nobody but those who wait for it. Results belong to many: they must not be changed.
func Once[T any](ctx context.Context, g *Gate, key string, keep time.Duration, read func() (T, int, error)) (T, error) {
	value, err := g.cache.once(ctx, key, keep, func() (any, int, error) { return read() })
	out, _ := value.(T)
	return out, err
}

var errPanicked = errors.New("the read that was waited for panicked")

func (c *cache) once(ctx context.Context, key string, keep time.Duration, read func() (any, int, error)) (any, error) {
	for {
		c.mu.Lock()
		if value, ok := c.get(key); ok {
			c.mu.Unlock()
			return value, nil
		}
		f := c.flights[key]
		if f == nil {
			f = &flight{done: make(chan struct{}), err: errPanicked}
			c.flights[key] = f
			c.mu.Unlock()
			return c.lead(ctx, key, f, keep, read)
		}
		c.mu.Unlock()
		select {
		case <-f.done:
			if !f.left {
				return f.value, f.err
			}
		case <-ctx.Done():
			return nil, waited(ctx)
		}
	}
}

func (c *cache) lead(ctx context.Context, key string, f *flight, keep time.Duration, read func() (any, int, error)) (any, error) {
	bytes := 0
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if f.err == nil && bytes > 0 {
			c.put(&cached{key: key, value: f.value, bytes: bytes, until: c.now().Add(keep)})
		}
		delete(c.flights, key)
		close(f.done)
	}()
	f.value, bytes, f.err = read()
	f.left = f.err != nil && ctx.Err() != nil
	return f.value, f.err
}

func (c *cache) get(key string) (any, bool) {
	e := c.entries[key]
	if e == nil {
		return nil, false
	}
	entry := e.Value.(*cached) // the list holds nothing else
	if c.now().After(entry.until) {
		c.drop(e)
		return nil, false
	}
	c.order.MoveToFront(e)
	return entry.value, true
}

func (c *cache) put(entry *cached) {
	if entry.bytes > c.bytes/8 {
		return
	}
	if e := c.entries[entry.key]; e != nil {
		c.drop(e)
	}
	c.entries[entry.key] = c.order.PushFront(entry)
	c.used += entry.bytes
	for c.used > c.bytes {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	entry := c.order.Remove(e).(*cached) // the list holds nothing else
	delete(c.entries, entry.key)
	c.used -= entry.bytes
}

// sizeOf is about what a value takes in memory.
func sizeOf(v reflect.Value) int {
	n := int(v.Type().Size())
	switch v.Kind() { // the others hold nothing elsewhere
	case reflect.String:
		n += v.Len()
	case reflect.Slice:
		switch v.Type().Elem().Kind() { // of these, all take the same
		case reflect.String, reflect.Slice, reflect.Struct, reflect.Map, reflect.Pointer, reflect.Interface, reflect.Array:
			for i := range v.Len() {
				n += sizeOf(v.Index(i))
			}
		default:
			n += v.Len() * int(v.Type().Elem().Size())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return n
		}
		for i := range v.NumField() {
			n += sizeOf(v.Field(i)) - int(v.Field(i).Type().Size())
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			n += sizeOf(it.Key()) + sizeOf(it.Value()) + 16
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n += sizeOf(v.Elem())
		}
	}
	return n
}
