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
	// staleWait is how long a caller waits for the database when a copy can be served instead.
	staleWait = 500 * time.Millisecond
	// lookupsAtOnce keeps a flood of unknown keys from taking every connection of the database.
	lookupsAtOnce = 32
	// retryInterval is how long a copy is served without asking the database again after the database failed.
	retryInterval = 5 * time.Second
)

// lookup caches what the database holds for a credential, by its hash. It does not cache unknown credentials, but only one caller
// at a time asks for the same one.
type lookup[V any] struct {
	load func(ctx context.Context, hash string) (V, error)
	now  func() time.Time
	// A copy is served for ttl, or for maxStale while the database fails.
	ttl, maxStale time.Duration
	cache         *otter.Cache[string, *entry[V]]
	group         singleflight.Group
	slots         chan struct{}

	// fallback, if set, is served while no copy exists and the database fails.
	fallback func() V

	// mu orders the storing of a copy against changes: a value that was read before a change is not stored after it.
	mu         sync.Mutex
	generation uint64
	// trusted is the generation from which copies need no verification.
	trusted atomic.Uint64
	// resumed is the generation in which changes could be followed again. Pauses that began before it are over.
	resumed atomic.Uint64
}

type entry[V any] struct {
	value    V
	loadedAt time.Time
	// generation is the generation in which the value was read.
	generation uint64
	// doubted means that the value changed, or may have changed. The database is asked before the next use.
	doubted atomic.Bool
	// retryAt, in Unix nanoseconds, is set while refreshing fails. failedIn is the generation in which the failures began.
	retryAt  atomic.Int64
	failedIn atomic.Uint64
	// touched, in Unix nanoseconds, is the last use that was passed on for recording.
	touched atomic.Int64
}

func newLookup[V any](load func(context.Context, string) (V, error), now func() time.Time, ttl, maxStale time.Duration) *lookup[V] {
	return &lookup[V]{
		load: load, now: now, ttl: ttl, maxStale: maxStale, slots: make(chan struct{}, lookupsAtOnce),
		cache: otter.Must(&otter.Options[string, *entry[V]]{MaximumSize: cachedKeys}),
	}
}

// get returns the value of the credential. ErrNotFound of the store means that there is no such credential. Any other error means
// that the database cannot be asked.
func (l *lookup[V]) get(ctx context.Context, hash string) (*entry[V], error) {
	e, cached := l.cache.GetIfPresent(hash)
	now := l.now()
	usable := false
	if cached {
		age := now.Sub(e.loadedAt)
		if age < l.ttl && !e.doubted.Load() && e.generation >= l.trusted.Load() {
			return e, nil
		}
		usable = age < l.maxStale
		if retryAt := e.retryAt.Load(); usable && retryAt != 0 && e.failedIn.Load() >= l.resumed.Load() {
			// The database failed a moment ago. This caller does not wait for it again; a refresh runs in the background.
			if now.UnixNano() >= retryAt && e.retryAt.CompareAndSwap(retryAt, now.Add(retryInterval).UnixNano()) {
				l.fetch(ctx, hash)
			}
			return e, nil
		}
	}
	generation := l.current()
	var overdue <-chan time.Time
	if usable {
		timer := time.NewTimer(staleWait)
		defer timer.Stop()
		overdue = timer.C
	}
	select {
	case <-overdue:
		// A database that hangs counts as one that fails. The query continues in the background.
		e.failedIn.Store(generation)
		e.retryAt.Store(now.Add(retryInterval).UnixNano())
		return e, nil
	case r := <-l.fetch(ctx, hash):
		switch {
		case r.Err == nil:
			return r.Val.(*entry[V]), nil
		case usable && !errors.Is(r.Err, store.ErrNotFound):
			e.failedIn.Store(generation)
			e.retryAt.Store(now.Add(retryInterval).UnixNano())
			return e, nil
		case l.fallback != nil && !errors.Is(r.Err, store.ErrNotFound):
			return l.assume(hash, now), nil
		default:
			return nil, r.Err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fetch asks the database, or joins a query that is already running. The query continues when the caller leaves, because others
// may be waiting.
func (l *lookup[V]) fetch(ctx context.Context, hash string) <-chan singleflight.Result {
	ctx = context.WithoutCancel(ctx)
	generation := l.current()
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
		e := &entry[V]{value: v, loadedAt: loadedAt, generation: generation}
		if generation == l.generation {
			l.cache.Set(hash, e)
		}
		return e, nil
	})
}

// assume stores the fallback as a copy that needs a refresh, so that not every caller waits for the database.
func (l *lookup[V]) assume(hash string, now time.Time) *entry[V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.cache.GetIfPresent(hash); ok && now.Sub(e.loadedAt) < l.maxStale {
		return e // another caller stored a value first
	}
	e := &entry[V]{value: l.fallback(), loadedAt: now.Add(-l.ttl)}
	e.failedIn.Store(l.generation)
	e.retryAt.Store(now.Add(retryInterval).UnixNano())
	l.cache.Set(hash, e)
	return e
}

func (l *lookup[V]) current() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.generation
}

// invalidate drops the copy of a credential. Later callers get what the database holds from now on, or an error.
func (l *lookup[V]) invalidate(hash string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generation++
	l.cache.Invalidate(hash)
}

// doubt is like invalidate, but it keeps the copy for the case that the database fails.
func (l *lookup[V]) doubt(hash string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generation++
	if e, ok := l.cache.GetIfPresent(hash); ok {
		e.doubted.Store(true)
		e.retryAt.Store(0)
	}
}

// doubtAll is doubt for every credential. If resumed is true, changes can be followed again, and every credential is asked for at
// once. Otherwise copies whose refresh failed a moment ago keep their pause.
func (l *lookup[V]) doubtAll(resumed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generation++
	l.trusted.Store(l.generation)
	if resumed {
		l.resumed.Store(l.generation)
	}
}

// changed applies a change of one credential.
func (l *lookup[V]) changed(c store.Change) {
	if c.Gone {
		l.invalidate(c.Hash)
	} else {
		l.doubt(c.Hash)
	}
}

// invalidateAll is invalidate for every credential.
func (l *lookup[V]) invalidateAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generation++
	l.cache.InvalidateAll()
}

// touch reports whether this use must be recorded. That is the first use within store.TouchInterval.
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
