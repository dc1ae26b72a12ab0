// Package ratelimit bounds requests and attempts, in this process or in a Redis that all nodes share. It has two algorithms:
//
//   - A sliding log, in Window and Client.Window: the API promises an exact number of requests in any window, and only a log keeps that
//     promise.
//   - A token bucket: a burst, and one more after each interval. LocalBuckets and RedisBuckets write a bucket as the one time at which it
//     is full again (GCRA), so that one script changes several buckets or none. PerSecond counts tokens, because the rate of an ingest key
//     can change while its bucket is in use.
package ratelimit

import "time"

// Limiter decides whether a key may make one more request now. It must be safe for concurrent use.
type Limiter interface {
	Allow(key string, now time.Time) (ok bool, retryAfter time.Duration)
}
