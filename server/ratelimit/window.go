package ratelimit

import (
	"hash/maphash"
	"sync"
	"time"
)

const windowShards = 16

// Window allows a number of requests per key in any window of a length, exactly: it is a sliding log, not an approximation. A refused
// request does not count. A request of the last window takes 8 bytes. Once per window, the keys without a request in it are dropped, so the
// memory is bounded by limit × credentials in use. It counts the requests of this process only.
type Window struct {
	limit  int
	window time.Duration
	seed   maphash.Seed
	shards [windowShards]windowShard
}

type windowShard struct {
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

// NewWindow makes a limiter, for example of 600 requests per minute.
func NewWindow(limit int, window time.Duration) *Window {
	l := &Window{limit: limit, window: window, seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].keys = map[string]*requestLog{}
	}
	return l
}

// Allow counts a request and reports whether it is within the limit. If it is not, the delay is the length of the window.
func (l *Window) Allow(key string, now time.Time) (bool, time.Duration) {
	s := &l.shards[maphash.String(l.seed, key)%windowShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	l.sweep(s, now)

	log := s.keys[key]
	if log == nil {
		log = &requestLog{}
		s.keys[key] = log
	}
	l.expire(log, now)
	if log.count >= l.limit {
		return false, l.window
	}
	log.add(now.UnixNano(), l.limit)
	return true, 0
}

// sweep drops the keys that made no request in the last window. Once per window, so its cost per request is constant on average.
func (l *Window) sweep(s *windowShard, now time.Time) {
	if since := now.Sub(s.swept); -l.window <= since && since < l.window {
		return
	}
	s.swept = now
	for key, log := range s.keys {
		if l.expire(log, now); log.count == 0 {
			delete(s.keys, key)
		}
	}
}

// expire forgets requests before the last window. If the clock was set back by more than a window, it forgets all, so that nobody is locked
// out until the clock is where it was.
func (l *Window) expire(log *requestLog, now time.Time) {
	if log.count > 0 && log.times[(log.start+log.count-1)%len(log.times)] > now.Add(l.window).UnixNano() {
		log.start, log.count = 0, 0
	}
	log.expire(now.Add(-l.window).UnixNano())
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
