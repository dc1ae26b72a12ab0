package diagnose

import (
	"math"
	"strings"
)

// ErrorChange is an error in a period and in the equally long one before it.
type ErrorChange struct {
	Label, Message string
	// Raised is true if the span has an exception with a type: the error was raised there and not passed on.
	Raised bool
	// Count and Before are corrected for sampling. Received and BeforeReceived are the numbers of stored spans.
	Count, Received, Before, BeforeReceived float64
}

// Telling picks the error to examine first: the one that rose most. If that one does not name the failure, it picks another that names it
// and rose about as much, and prefers one that was raised where it occurred. rose reports whether the picked error rose by more than
// chance. No error rose if the time before has too little data.
func (b Baseline) Telling(errors []ErrorChange) (pick int, rose bool) {
	more := func(e ErrorChange) float64 { return e.Count - b.Expected(e.Before) }
	says := func(e ErrorChange) bool { return strings.TrimSpace(e.Message) != "" && e.Label != "Unknown Error" }
	for i, e := range errors {
		if more(e) > more(errors[pick]) {
			pick = i
		}
	}
	least := more(errors[pick]) / 2
	if b.Thin || least <= 0 { // if none rose, pick the most frequent
		pick, least = 0, math.Inf(-1)
	}
	risen := func(e ErrorChange) bool { return !b.Thin && more(e) > 0 && more(e) >= b.chance(e) }
	first := errors[pick]
	about := func(e ErrorChange) bool {
		return more(e) >= least && e.Count >= first.Count/2 && says(e) && (risen(e) || !risen(first))
	}
	if !says(first) {
		for i, e := range errors {
			if about(e) {
				pick = i
				break
			}
		}
	}
	for i, e := range errors {
		if !errors[pick].Raised && e.Raised && about(e) && e.Message == errors[pick].Message {
			pick = i
		}
	}
	return pick, risen(errors[pick])
}

// chance is the largest rise that chance explains. The count of a rare event varies by about its square root; a sampled span counts for
// several, so its weight varies with it.
func (b Baseline) chance(e ErrorChange) float64 {
	const deviations = 3
	variance := func(count, received float64) float64 {
		if received == 0 {
			return 0
		}
		return count * count / received
	}
	return deviations * math.Sqrt(variance(e.Count, e.Received)+variance(b.Expected(e.Before), e.BeforeReceived))
}
