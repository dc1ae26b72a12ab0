package rpc

import (
	"hash/maphash"
	"sync"
	"time"
)

// Limiter decides whether a credential may make one more request now. It must be safe for concurrent use.
type Limiter interface {
	Allow(key string, now time.Time) (ok bool, retryAfter time.Duration)
}

const limiterShards = 16

// WindowLimiter allows a number of requests per key in any window of a length, exactly: a sliding log, not an approximation. A
// refused request does not count. Memory is 8 bytes for each request of the last window, and keys that fell silent are dropped
// once per window, so it is bounded by limit × credentials in use. It counts for this process only.
type WindowLimiter struct {
	limit  int
	window time.Duration
	seed   maphash.Seed
	shards [limiterShards]limiterShard
}

type limiterShard struct {
	mu    sync.Mutex
	keys  map[string]*requestLog
	swept time.Time
}

// requestLog is a ring of the times of the last allowed requests, oldest at start.
type requestLog struct {
	times []int64
	start int
	count int
}

// NewWindowLimiter makes a limiter, for example of 600 requests per minute.
func NewWindowLimiter(limit int, window time.Duration) *WindowLimiter {
	l := &WindowLimiter{limit: limit, window: window, seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].keys = map[string]*requestLog{}
	}
	return l
}

// Allow counts a request and reports whether it is within the limit; if not, the delay is the length of the window.
func (l *WindowLimiter) Allow(key string, now time.Time) (bool, time.Duration) {
	s := &l.shards[maphash.String(l.seed, key)%limiterShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	l.sweep(s, now)

	log := s.keys[key]
	if log == nil {
		log = &requestLog{}
		s.keys[key] = log
	}
	log.expire(now.Add(-l.window).UnixNano())
	if log.count >= l.limit {
		return false, l.window
	}
	log.add(now.UnixNano(), l.limit)
	return true, 0
}

// sweep drops the keys that made no request in the last window. Once per window, so its cost per request is constant on average.
func (l *WindowLimiter) sweep(s *limiterShard, now time.Time) {
	if now.Sub(s.swept) < l.window {
		return
	}
	s.swept = now
	for key, log := range s.keys {
		if log.expire(now.Add(-l.window).UnixNano()); log.count == 0 {
			delete(s.keys, key)
		}
	}
}

// expire forgets requests at or before the given time.
func (r *requestLog) expire(until int64) {
	for r.count > 0 && r.times[r.start] <= until {
		r.start = (r.start + 1) % len(r.times)
		r.count--
	}
}

func (r *requestLog) add(at int64, limit int) {
	if r.count == len(r.times) {
		grown := make([]int64, min(limit, max(8, 2*len(r.times))))
		for i := range r.count {
			grown[i] = r.times[(r.start+i)%len(r.times)]
		}
		r.times, r.start = grown, 0
	}
	r.times[(r.start+r.count)%len(r.times)] = at
	r.count++
}
