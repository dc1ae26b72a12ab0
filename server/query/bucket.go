package query

import (
	"fmt"
	"math"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
)

// Ladder lists the lengths of buckets from which a read picks one if its caller gives none.
func Ladder() []time.Duration {
	return []time.Duration{
		time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 4 * time.Hour, limits.Day,
	}
}

// AutoBucket is the step of the ladder that gives about the wanted number of buckets, and at least 6 if the ladder allows that.
func AutoBucket(w Window, about int) time.Duration {
	const fewest = 6
	length := w.Length()
	ladder := Ladder()
	best := ladder[0]
	distance := func(step time.Duration) float64 {
		if length/step >= limits.Buckets-1 { // Buckets would refuse more
			return math.MaxFloat64
		}
		n := float64(length) / float64(step) / float64(about)
		if n < 1 {
			n = 1 / n
		}
		return n
	}
	for _, step := range ladder[1:] {
		if length/step >= fewest && distance(step) < distance(best) {
			best = step
		}
	}
	return best
}

// GivenBucket is the length of buckets that a caller gives. It refuses a length of which the window holds too many.
func GivenBucket(w Window, seconds int32) (time.Duration, error) {
	bucket := time.Duration(seconds) * time.Second
	if w.Length()/bucket > limits.Buckets {
		return 0, apierr.New(
			apierr.TelemetryBucketCountTooLarge,
			fmt.Sprintf("The window has more than %d buckets of %d seconds. Give a larger bucket_seconds, or a shorter window.",
				limits.Buckets, seconds),
			apierr.Param("bucket_seconds"),
		)
	}
	return bucket, nil
}

// Buckets lists the starts of the buckets of a window. They are multiples of their length since 1970, and the first bucket
// contains the window's start. For the length 0, AutoBucket picks one.
func Buckets(w Window, bucket time.Duration) ([]time.Time, error) {
	if bucket == 0 {
		bucket = AutoBucket(w, limits.DefaultBuckets)
	}
	seconds := int64(bucket / time.Second)
	first := firstBucket(w, bucket)
	n := int64(lastBucket(w, bucket).Sub(first)/bucket) + 1
	if n > limits.Buckets {
		return nil, apierr.New(
			apierr.TelemetryBucketCountTooLarge,
			fmt.Sprintf(
				"The window holds %d buckets of %d seconds; %d are allowed. Use longer buckets or a shorter window.",
				n,
				seconds,
				limits.Buckets,
			),
			apierr.Param("bucket_seconds"),
		)
	}
	out := make([]time.Time, n)
	for i := range out {
		out[i] = first.Add(time.Duration(i) * bucket)
	}
	return out, nil
}

func firstBucket(w Window, bucket time.Duration) time.Time {
	seconds := int64(bucket / time.Second)
	return time.Unix(w.Start.Unix()/seconds*seconds, 0).UTC()
}

// lastBucket is the start of the last bucket of a window. The end of the window is inclusive, but one instant does not make a bucket.
func lastBucket(w Window, bucket time.Duration) time.Time {
	first := firstBucket(w, bucket)
	last := first.Add(w.End.Sub(first).Truncate(bucket))
	if w.End.Equal(last) && last.After(first) {
		last = last.Add(-bucket)
	}
	return last
}
