package ratelimit

import (
	"sync"
	"time"
)

// Bucket holds Burst attempts and gets one back every Interval.
type Bucket struct {
	Key      string
	Burst    int
	Interval time.Duration
}

// LocalBuckets are the buckets of this process, within a bound of memory. They are safe for concurrent use.
type LocalBuckets struct {
	most int
	now  func() time.Time

	mu sync.Mutex
	// full has the time at which each bucket is full again (GCRA). A full bucket may be missing.
	full map[string]time.Time
}

// NewLocalBuckets returns buckets. It keeps at most the given number of them.
func NewLocalBuckets(most int, now func() time.Time) *LocalBuckets {
	return &LocalBuckets{most: most, now: now, full: map[string]time.Time{}}
}

// Wait returns the time until each bucket has an attempt, and takes none.
func (l *LocalBuckets) Wait(list []Bucket) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wait(list, l.now())
}

func (l *LocalBuckets) wait(list []Bucket, now time.Time) (wait time.Duration) {
	for _, b := range list {
		spent := max(0, l.full[b.Key].Sub(now))
		wait = max(wait, spent-time.Duration(b.Burst-1)*b.Interval)
	}
	return wait
}

// Take takes one attempt from every bucket. If one is empty, it takes none, and wait is the time until each has an attempt.
func (l *LocalBuckets) Take(list []Bucket) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if wait = l.wait(list, now); wait > 0 {
		return wait
	}
	for _, b := range list {
		full, known := l.full[b.Key]
		if !known && len(l.full) >= l.most {
			l.makeRoom(now)
		}
		if full.Before(now) {
			full = now
		}
		l.full[b.Key] = full.Add(b.Interval)
	}
	return 0
}

// GiveBack undoes a Take.
func (l *LocalBuckets) GiveBack(list []Bucket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range list {
		if full, ok := l.full[b.Key]; ok {
			l.full[b.Key] = full.Add(-b.Interval)
		}
	}
}

// Kept is the number of kept buckets.
func (l *LocalBuckets) Kept() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.full)
}

// makeRoom drops full buckets. If nearly all are in use, it drops some of those, too: the bound on password checks then limits a caller who
// filled the table.
func (l *LocalBuckets) makeRoom(now time.Time) {
	for key, full := range l.full {
		if !full.After(now) {
			delete(l.full, key)
		}
	}
	for key := range l.full {
		if len(l.full) < l.most*9/10 {
			return
		}
		delete(l.full, key)
	}
}
