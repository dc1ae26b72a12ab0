package work

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// Tick calls do for each multiple T of grid, at T plus phase, until the shard stops. T is wall time (UTC). A T that passed during a
// call is skipped: do learns of the gap from its own records. After a step of the clock backwards, do is not called for a T twice.
func Tick(ctx context.Context, shard *Shard, grid, phase time.Duration, do func(ctx context.Context, t time.Time) error) {
	last := time.Now().Add(-phase).Truncate(grid)
	for {
		t := time.Now().Add(-phase).Truncate(grid)
		if t.After(last) {
			last = t
			begin := time.Now()
			if err := do(ctx, t.UTC()); shard.failed(ctx, time.Since(begin), err) {
				return
			}
			continue
		}
		if !pause(ctx, shard, time.Until(t.Add(grid+phase)), nil) {
			return
		}
	}
}

// Due calls do at once, and then whenever the time comes that do returned, or wake has a value, until the shard stops. do handles
// everything that is due and returns the time of the next thing; the zero time means that there is none. After a failure, do is called
// again after retry.
func Due(ctx context.Context, shard *Shard, wake <-chan struct{}, retry time.Duration, do func(ctx context.Context) (time.Time, error)) {
	for {
		begin := time.Now()
		next, err := do(ctx)
		if shard.failed(ctx, time.Since(begin), err) {
			return
		}
		wait := limits.WorkRearm
		switch {
		case err != nil:
			wait = retry
		case !next.IsZero():
			wait = time.Until(next)
		}
		if !pause(ctx, shard, wait, wake) {
			return
		}
	}
}

// pause waits, and reports whether the shard goes on. It never waits longer than limits.WorkRearm, because a timer does not notice a
// step of the wall clock.
func pause(ctx context.Context, shard *Shard, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(min(max(d, 0), limits.WorkRearm))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-shard.stopping:
		return false
	case <-wake:
		return true
	case <-timer.C:
	}
	// Both may be ready at once, and select chooses at random.
	select {
	case <-ctx.Done():
		return false
	case <-shard.stopping:
		return false
	default:
		return true
	}
}

// Phase spreads the work of keys over time: the same key always has the same place, over restarts and takeovers.
func Phase(key string, spread time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	return time.Duration(h.Sum64() % uint64(max(1, spread)))
}

// clock compares the wall clock with the monotonic clock.
type clock struct{ last time.Time }

func startClock() *clock { return &clock{last: time.Now()} }

// step returns by how much the wall clock was set since the last call; zero for less than limits.WorkClockStep.
func (c *clock) step() time.Duration {
	now := time.Now()
	// Round drops the monotonic reading, so the first difference is of wall times.
	step := now.Round(0).Sub(c.last.Round(0)) - now.Sub(c.last)
	c.last = now
	if step.Abs() < limits.WorkClockStep {
		return 0
	}
	return step
}
