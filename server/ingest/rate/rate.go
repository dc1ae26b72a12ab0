// Package rate holds ingest keys to their requests per second. Each key has a token bucket with one second's worth of requests, at
// least one. The limit of a key is that of the whole installation: each node grants its share.
package rate

import (
	"math"
	"sync"
	"time"
)

// sweepEvery is how often keys without a debt are forgotten.
const sweepEvery = 10 * time.Second

// whole is a token but for the rounding of sums, so that whoever has waited as told is let in.
const whole = 1 - 1e-9

// Limiter is safe for concurrent use. It remembers a key only until its bucket is full again, which takes a second, or longer for
// limits below one request a second.
type Limiter struct {
	nodes float64

	// One lock for all: only keys with a limit come here, and what it guards takes some nanoseconds.
	mu      sync.Mutex
	buckets map[string]*bucket
	swept   time.Time
}

// bucket is refilled when it is looked at.
type bucket struct {
	perSecond, tokens float64
	at                time.Time
}

// NewLimiter grants 1/nodes of each limit; fewer than one node means one.
func NewLimiter(nodes int) *Limiter {
	return &Limiter{nodes: float64(max(nodes, 1)), buckets: map[string]*bucket{}}
}

// Allow reports whether the key may send one more request now, and if not, in how long. The limit is in requests per second over all
// nodes and must be above zero. One that has changed counts from this request on, with what the key has used up under the old one.
func (l *Limiter) Allow(key string, limit float64, now time.Time) (wait time.Duration, ok bool) {
	perSecond := limit / l.nodes
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	b := l.buckets[key]
	if b == nil {
		b = &bucket{perSecond: perSecond, tokens: burst(perSecond), at: now}
		l.buckets[key] = b
	}
	b.refill(now)
	if b.perSecond != perSecond {
		b.perSecond, b.tokens = perSecond, min(b.tokens, burst(perSecond))
	}
	if b.tokens >= whole {
		b.tokens = max(0, b.tokens-1)
		return 0, true
	}
	return time.Duration(math.Ceil((1 - b.tokens) / perSecond * float64(time.Second))), false
}

// Keys is the number of keys that are remembered.
func (l *Limiter) Keys() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.buckets)
}

// sweep forgets keys whose bucket is full: a new bucket is no different.
func (l *Limiter) sweep(now time.Time) {
	if l.swept.IsZero() {
		l.swept = now
	}
	if since := now.Sub(l.swept); since >= 0 && since < sweepEvery {
		return
	}
	l.swept = now
	for key, b := range l.buckets {
		if b.refill(now); b.tokens >= burst(b.perSecond) {
			delete(l.buckets, key)
		}
	}
}

// refill adds what the time since the last look is worth. A clock that was set back adds nothing.
func (b *bucket) refill(now time.Time) {
	if elapsed := now.Sub(b.at); elapsed > 0 {
		b.tokens = min(b.tokens+elapsed.Seconds()*b.perSecond, burst(b.perSecond))
	}
	b.at = now
}

// burst is one second's worth, in whole requests.
func burst(perSecond float64) float64 { return max(1, math.Floor(perSecond)) }
