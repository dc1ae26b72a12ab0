package read

import (
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// results keeps results within a bound of memory and lets equal reads that come together run once. Keys hold the organization.
type results struct {
	bytes   int
	kept    *cache.Cache[string, any]
	flights singleflight.Group
}

// flight is a read that is over.
type flight struct {
	value any
	err   error
	// left says that the caller who ran the read went away: others must read for themselves.
	left bool
}

func newResults(bytes int, now func() time.Time) *results {
	return &results{bytes: bytes, kept: cache.New[string, any](bytes, now)}
}

// KeyOf is the key of a statement's result in one form, for Coalesce.
func KeyOf(form string, org principal.OrgID, s sqlbuild.Statement) string {
	parts := []any{s.SQL}
	for _, a := range s.Args {
		parts = append(parts, a.Name, a.Value)
	}
	return keyOf(form, org, parts...)
}

// keyOf is the hash of everything that a result depends on.
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

// Coalesce returns the kept result of the key, or the result of an equal read that is under way. Otherwise it runs the read and keeps its
// result for a while. The read returns its result with the number of its bytes. A result of no bytes goes only to the callers who wait for
// it. Callers share a result and must not change it.
func Coalesce[T any](ctx context.Context, r *Reader, key string, keep time.Duration, read func() (T, int, error)) (T, error) {
	value, err := r.results.once(ctx, key, keep, func() (any, int, error) { return read() })
	out, _ := value.(T)
	return out, err
}

// Recent returns the value that read gave for the key of an organization at most keep ago, and otherwise calls read. It is for a value made
// of several reads, also over windows that are still open. read says whether its value may be kept. Callers share the value and must not
// change it. Recent keeps nothing for a warehouse that is not a Reader.
func Recent[T any](
	ctx context.Context, w Warehouse, org principal.OrgID, key string, keep time.Duration, read func(context.Context) (T, bool, error),
) (T, error) {
	r, ok := w.(*Reader)
	if !ok {
		value, _, err := read(ctx)
		return value, err
	}
	return Coalesce(ctx, r, keyOf(fmt.Sprintf("once %T", *new(T)), org, key), keep, func() (T, int, error) {
		value, lasting, err := read(ctx)
		if err != nil || !lasting {
			return value, 0, err
		}
		return value, sizeOf(reflect.ValueOf(value)), nil
	})
}

func (r *results) once(ctx context.Context, key string, keep time.Duration, read func() (any, int, error)) (any, error) {
	for {
		if value, ok := r.kept.Get(key); ok {
			return value, nil
		}
		var leads atomic.Bool
		done := r.flights.DoChan(key, func() (any, error) {
			leads.Store(true)
			return r.fly(ctx, key, keep, read), nil
		})
		var f flight
		select {
		case result := <-done:
			f = result.Val.(flight) // the function above returns nothing else
		case <-ctx.Done():
			if !leads.Load() {
				return nil, waited(ctx)
			}
			f = (<-done).Val.(flight) // likewise; the context ends the read, which says more than the context
		}
		if leads.Load() || !f.left {
			return f.value, f.err
		}
	}
}

// fly runs a read and keeps its result. A panic becomes an error: it would end the process, not the request.
func (r *results) fly(ctx context.Context, key string, keep time.Duration, read func() (any, int, error)) (f flight) {
	if value, ok := r.kept.Get(key); ok { // a flight ended between the look into the cache and this one
		return flight{value: value}
	}
	defer func() {
		if v := recover(); v != nil {
			f = flight{err: fmt.Errorf("read: a read panicked: %v\n%s", v, debug.Stack())}
		}
	}()
	value, bytes, err := read()
	// One result must not push out most of the others.
	if err == nil && bytes > 0 && bytes <= r.bytes/8 {
		r.kept.Put(key, value, bytes, keep)
	}
	return flight{value: value, err: err, left: err != nil && ctx.Err() != nil}
}

// sizeOf is about the memory that a value takes.
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
