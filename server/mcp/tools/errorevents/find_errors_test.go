package errorevents

import (
	"testing"
)

func TestTellingError(t *testing.T) {
	row := func(label, message string, count, before float64) errorRow {
		return errorRow{Label: label, SampleMessage: message, Count: count, PreviousCount: &before}
	}
	unknown := func(e errorRow) errorRow { e.PreviousCount = nil; return e }
	raised := func(e errorRow) errorRow { e.typed = true; return e }
	for name, tc := range map[string]struct {
		rows []errorRow
		want int
		rose bool
	}{
		"the first says it":        {[]errorRow{row("TypeError", "x is undefined", 10, 0), row("Timeout", "t", 9, 0)}, 0, true},
		"a caller saw it first":    {[]errorRow{row("Unknown Error", "", 54, 0), row("TypeError", "x is undefined", 52, 0)}, 1, true},
		"another is much rarer":    {[]errorRow{row("Unknown Error", "", 54, 0), row("TypeError", "x is undefined", 20, 0)}, 0, true},
		"nothing says anything":    {[]errorRow{row("Unknown Error", "", 54, 0), row("Unknown Error", "", 50, 0)}, 0, true},
		"a label without a text":   {[]errorRow{row("POST /", " ", 25, 0), row("E", "text", 25, 0)}, 1, true},
		"handed on, and raised":    {[]errorRow{row("x is undefined", "x is undefined", 52, 0), raised(row("TypeError", "x is undefined", 52, 0))}, 1, true},
		"another one was raised":   {[]errorRow{row("x is undefined", "x is undefined", 52, 0), raised(row("Timeout", "t", 50, 0))}, 0, true},
		"always there":             {[]errorRow{row("Declined", "declined", 900, 910), row("TypeError", "x is undefined", 40, 2)}, 1, true},
		"no more than before":      {[]errorRow{row("Declined", "declined", 900, 930), row("Timeout", "t", 5, 6)}, 0, false},
		"a little more by chance":  {[]errorRow{row("Declined", "declined", 900, 860), row("Timeout", "t", 5, 1)}, 0, false},
		"the time before is empty": {[]errorRow{unknown(row("Declined", "declined", 900, 0)), unknown(row("Timeout", "t", 50, 0))}, 0, false},
		"rare, and not there once": {[]errorRow{row("Declined", "declined", 4, 0)}, 0, false},
	} {
		if got, rose := telling(tc.rows); got != tc.want || rose != tc.rose {
			t.Errorf("%s: %d, %v", name, got, rose)
		}
	}
}
