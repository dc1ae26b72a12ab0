package diagnose

import (
	"testing"
	"time"
)

func TestTellingError(t *testing.T) {
	row := func(label, message string, count, before float64) ErrorChange {
		return ErrorChange{Label: label, Message: message, Count: count, Received: count, Before: before, BeforeReceived: before}
	}
	sampled := func(e ErrorChange, rate float64) ErrorChange { e.Count, e.Received = e.Count*rate, e.Count; return e }
	full := baselineAfter(time.Hour, false)
	raised := func(e ErrorChange) ErrorChange { e.Raised = true; return e }
	for name, tc := range map[string]struct {
		rows []ErrorChange
		base Baseline
		want int
		rose bool
	}{
		"the first says it":      {[]ErrorChange{row("TypeError", "x is undefined", 10, 0), row("Timeout", "t", 9, 0)}, full, 0, true},
		"a caller saw it first":  {[]ErrorChange{row("Unknown Error", "", 54, 0), row("TypeError", "x is undefined", 52, 0)}, full, 1, true},
		"another is much rarer":  {[]ErrorChange{row("Unknown Error", "", 54, 0), row("TypeError", "x is undefined", 20, 0)}, full, 0, true},
		"nothing says anything":  {[]ErrorChange{row("Unknown Error", "", 54, 0), row("Unknown Error", "", 50, 0)}, full, 0, true},
		"a label without a text": {[]ErrorChange{row("POST /", " ", 25, 0), row("E", "text", 25, 0)}, full, 1, true},
		"handed on, and raised": {[]ErrorChange{
			row("x is undefined", "x is undefined", 52, 0),
			raised(row("TypeError", "x is undefined", 52, 0)),
		}, full, 1, true},
		"another one was raised": {
			[]ErrorChange{row("x is undefined", "x is undefined", 52, 0), raised(row("Timeout", "t", 50, 0))},
			full, 0,
			true,
		},
		"always there":             {[]ErrorChange{row("Declined", "declined", 900, 910), row("TypeError", "x is undefined", 40, 2)}, full, 1, true},
		"no more than before":      {[]ErrorChange{row("Declined", "declined", 900, 930), row("Timeout", "t", 5, 6)}, full, 0, false},
		"a little more by chance":  {[]ErrorChange{row("Declined", "declined", 900, 860), row("Timeout", "t", 5, 1)}, full, 0, false},
		"rare, and not there once": {[]ErrorChange{row("Declined", "declined", 4, 0)}, full, 0, false},
		"more time than before":    {[]ErrorChange{row("Declined", "declined", 120, 60)}, baselineAfter(30*time.Minute, false), 0, false},
		"hardly any time before": {
			[]ErrorChange{row("Unknown Error", "", 54, 0), row("TypeError", "x is undefined", 52, 0)},
			baselineAfter(time.Minute, true), 1, false,
		},
		"few sampled spans": {[]ErrorChange{sampled(row("Declined", "declined", 4, 0), 10)}, full, 0, false},
		"the other did not rise": {
			[]ErrorChange{row("Unknown Error", "", 20, 2), row("Declined", "declined", 900, 890)}, full, 0, true,
		},
	} {
		if got, rose := tc.base.Telling(tc.rows); got != tc.want || rose != tc.rose {
			t.Errorf("%s: %d, %v", name, got, rose)
		}
	}
}

// baselineAfter is an hour with data after a time with data of the given length.
func baselineAfter(before time.Duration, thin bool) Baseline {
	end := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	start := end.Add(-time.Hour)
	return Baseline{Current: Period{Start: start, End: end}, Previous: Period{Start: start.Add(-before), End: start}, Thin: thin}
}
