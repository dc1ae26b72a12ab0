package ratelimit

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// sweepEvery is the interval at which full buckets are dropped.
const sweepEvery = 10 * time.Second

// whole is a token less the rounding of sums, so that a caller who has waited for the given time is allowed.
const whole = 1 - 1e-9

// PerSecond holds ingest keys to their requests per second. Each key has a token bucket with the requests of one second, at least one. The
// limit of a key is that of the whole installation: each node grants its share. A bucket is kept until it is full again. That takes a
// second, or longer for limits below one request a second. It is safe for concurrent use.
type PerSecond struct {
	nodes atomic.Int64

	// One lock is enough: only keys with a limit take it, for some nanoseconds.
	mu      sync.Mutex
	buckets map[string]*tokens
	swept   time.Time
}

// tokens is a bucket. Each look at it refills it.
type tokens struct {
	perSecond, held float64
	at              time.Time
}

// NewPerSecond grants 1/nodes of each limit; fewer than one node means one.
func NewPerSecond(nodes int) *PerSecond {
	l := &PerSecond{buckets: map[string]*tokens{}}
	l.SetNodes(nodes)
	return l
}

// SetNodes changes the number of nodes that share the limits.
func (l *PerSecond) SetNodes(nodes int) { l.nodes.Store(int64(max(nodes, 1))) }

// Allow reports whether the key may send one more request now, and if not, the time until it may. The limit is in requests per second over
// all nodes and must be above zero. A new limit counts from this request on: the bucket keeps its tokens, at most as many as the new limit
// allows.
func (l *PerSecond) Allow(key string, limit float64, now time.Time) (wait time.Duration, ok bool) {
	perSecond := limit / float64(l.nodes.Load())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	b := l.buckets[key]
	if b == nil {
		b = &tokens{perSecond: perSecond, held: burst(perSecond), at: now}
		l.buckets[key] = b
	}
	b.refill(now)
	if b.perSecond != perSecond {
		b.perSecond, b.held = perSecond, min(b.held, burst(perSecond))
	}
	if b.held >= whole {
		b.held = max(0, b.held-1)
		return 0, true
	}
	return time.Duration(math.Ceil((1 - b.held) / perSecond * float64(time.Second))), false
}

// Keys is the number of kept buckets.
func (l *PerSecond) Keys() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.buckets)
}

// sweep drops full buckets: a new bucket is equal.
func (l *PerSecond) sweep(now time.Time) {
	if l.swept.IsZero() {
		l.swept = now
	}
	if since := now.Sub(l.swept); since >= 0 && since < sweepEvery {
		return
	}
	l.swept = now
	for key, b := range l.buckets {
		if b.refill(now); b.held >= burst(b.perSecond) {
			delete(l.buckets, key)
		}
	}
}

// refill adds the tokens of the time since the last look. A clock that was set back adds none.
func (b *tokens) refill(now time.Time) {
	if elapsed := now.Sub(b.at); elapsed > 0 {
		b.held = min(b.held+elapsed.Seconds()*b.perSecond, burst(b.perSecond))
	}
	b.at = now
}

// burst is the number of requests of one second, at least one.
func burst(perSecond float64) float64 { return max(1, math.Floor(perSecond)) }
