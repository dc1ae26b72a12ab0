package auth

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/svc-observability/svc/server/store"
	"golang.org/x/sync/singleflight"
)

const (
	lookupTimeout = 2 * time.Second
	// lookupsAtOnce keeps a flood of unknown keys from taking every connection of the database.
	lookupsAtOnce = 32
	// retryInterval is how long a copy is served without asking, after the database failed.
	retryInterval = 5 * time.Second
)

// lookup remembers what the database says of a credential, by its hash. Unknown credentials are not remembered, but at once only
// one caller asks for the same.
type lookup[V any] struct {
	load func(ctx context.Context, hash string) (V, error)
	now  func() time.Time
	// A copy is served for ttl; while the database fails, for maxStale.
	ttl, maxStale time.Duration
	cache         *otter.Cache[string, *entry[V]]
	group         singleflight.Group
	slots         chan struct{}

	// mu orders storing a copy against invalidation: what was read before an invalidation is not stored after it.
	mu         sync.Mutex
	generation uint64
}

type entry[V any] struct {
	value    V
	loadedAt time.Time
	// retryAt, in Unix nanoseconds, is set while refreshing fails.
	retryAt atomic.Int64
	// touched, in Unix nanoseconds, is the last use that was handed on for recording.
	touched atomic.Int64
}

func newLookup[V any](load func(context.Context, string) (V, error), now func() time.Time, ttl, maxStale time.Duration) *lookup[V] {
	return &lookup[V]{
		load: load, now: now, ttl: ttl, maxStale: maxStale, slots: make(chan struct{}, lookupsAtOnce),
		cache: otter.Must(&otter.Options[string, *entry[V]]{MaximumSize: cachedKeys}),
	}
}

// get returns what is known of the credential. ErrNotFound of the store: there is none. Any other error: nobody knows.
func (l *lookup[V]) get(ctx context.Context, hash string) (*entry[V], error) {
	e, cached := l.cache.GetIfPresent(hash)
	now := l.now()
	usable := false
	if cached {
		age := now.Sub(e.loadedAt)
		if age < l.ttl {
			return e, nil
		}
		usable = age < l.maxStale
		if retryAt := e.retryAt.Load(); usable && retryAt != 0 {
			// The database failed a moment ago: nobody waits for it again, one asks in the background.
			if now.UnixNano() >= retryAt && e.retryAt.CompareAndSwap(retryAt, now.Add(retryInterval).UnixNano()) {
				l.fetch(ctx, hash)
			}
			return e, nil
		}
	}
	select {
	case r := <-l.fetch(ctx, hash):
		switch {
		case r.Err == nil:
			return r.Val.(*entry[V]), nil
		case usable && !errors.Is(r.Err, store.ErrNotFound):
			e.retryAt.Store(now.Add(retryInterval).UnixNano())
			return e, nil
		default:
			return nil, r.Err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fetch asks the database, or joins who is asking. It goes on when the caller leaves: others may be waiting.
func (l *lookup[V]) fetch(ctx context.Context, hash string) <-chan singleflight.Result {
	ctx = context.WithoutCancel(ctx)
	l.mu.Lock()
	generation := l.generation
	l.mu.Unlock()
	// The generation keeps callers from joining a lookup that began before an invalidation.
	return l.group.DoChan(hash+strconv.FormatUint(generation, 10), func() (any, error) {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		select {
		case l.slots <- struct{}{}:
			defer func() { <-l.slots }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		loadedAt := l.now()
		v, err := l.load(ctx, hash)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil {
			if errors.Is(err, store.ErrNotFound) {
				l.cache.Invalidate(hash)
			}
			return nil, err
		}
		e := &entry[V]{value: v, loadedAt: loadedAt}
		if generation == l.generation {
			l.cache.Set(hash, e)
		}
		return e, nil
	})
}

// invalidate forgets a credential; who asks from now on gets what the database says from now on.
func (l *lookup[V]) invalidate(hash string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generation++
	l.cache.Invalidate(hash)
}

// invalidateAll is invalidate for every credential.
func (l *lookup[V]) invalidateAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generation++
	l.cache.InvalidateAll()
}

// touch reports whether this use is to be recorded: the first within store.TouchInterval.
func (e *entry[V]) touch(recorded *time.Time, now time.Time) bool {
	last := e.touched.Load()
	newest := last
	if recorded != nil {
		newest = max(newest, recorded.UnixNano())
	}
	if newest != 0 && now.UnixNano()-newest < int64(store.TouchInterval) {
		return false
	}
	return e.touched.CompareAndSwap(last, now.UnixNano())
}
