package notify

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// retryPause is the pause after an attempt: one minute, twice as long after each further one, with up to a second at random, so that
// messages that failed together do not come back together.
func retryPause(attempt int) time.Duration {
	pause := limits.DeliveryRetry << min(attempt-1, 10)
	return min(pause, limits.DeliveryRetryLongest) + rand.N(time.Second)
}

// breakerPause is how long a failing destination pauses.
func breakerPause(step int) time.Duration {
	return min(limits.DeliveryRetry<<min(step, 10), limits.DeliveryRetryLongest)
}

// after judges the result of an attempt.
func after(d *store.Delivery, r Result, now time.Time) store.DeliveryEnd {
	end := store.DeliveryEnd{
		Status: store.DeliverySuccess, ProviderMessage: r.Answer, ProviderReference: r.Reference, ErrorMessage: r.Problem, ResponseCode: r.Code,
		Health: func(h store.DestinationHealth) store.DestinationHealth { return health(h, r, now) },
	}
	asked := min(r.RetryAfter, limits.DeliveryRetryAfter)
	switch {
	case r.Outcome == Delivered:
	case r.Outcome == Throttled && now.Sub(d.CreatedAt) < limits.DeliveryThrottled:
		// The destination wants fewer messages; this one did nothing wrong.
		end.Status, end.DueAt = store.DeliveryQueued, now.Add(max(asked, retryPause(1)))
	case r.Outcome.Retryable() && d.AttemptNumber < limits.DeliveryAttempts:
		end.Status, end.DueAt = store.DeliveryFailed, now.Add(max(asked, retryPause(d.AttemptNumber)))
	default:
		end.Status = store.DeliveryFailed
	}
	return end
}

// health is the state of a destination after a result.
func health(h store.DestinationHealth, r Result, now time.Time) store.DestinationHealth {
	switch {
	case r.Outcome == Delivered:
		return store.DestinationHealth{}
	case r.Outcome == Unreadable:
		return h
	case r.Outcome == Throttled:
		if asked := min(r.RetryAfter, limits.DeliveryRetryAfter); asked > 0 && now.Add(asked).After(h.PausedUntil) {
			h.PausedUntil = now.Add(asked) // the pause is for all messages, not for this one alone
		}
		return h
	case r.Outcome.Retryable():
		h.Failures++
		if h.Failures >= limits.DeliveryBreaker {
			h.PausedUntil = now.Add(breakerPause(h.Step))
			h.Step++
		}
		return h
	default:
		h.Refusals++
		h.Failures, h.Step, h.PausedUntil = 0, 0, time.Time{} // it answers
		switch {
		case r.Outcome == Gone:
			h.DisabledReason = "It answered 410 (Gone): it wants no further messages."
		case h.Refusals >= limits.DeliveryRefusals:
			h.DisabledReason = fmt.Sprintf("It refused %d messages in a row. The last time: %s", h.Refusals, r.Problem)
		}
		return h
	}
}
