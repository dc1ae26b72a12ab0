package mcp

import "testing"

func TestTellingError(t *testing.T) {
	row := func(label, message string, count float64) errorRow {
		return errorRow{Label: label, SampleMessage: message, Count: count}
	}
	for name, tc := range map[string]struct {
		rows []errorRow
		want int
	}{
		"the first says it":      {[]errorRow{row("TypeError", "x is undefined", 10), row("Timeout", "t", 9)}, 0},
		"a caller saw it first":  {[]errorRow{row("Unknown Error", "", 54), row("TypeError", "x is undefined", 52)}, 1},
		"another is much rarer":  {[]errorRow{row("Unknown Error", "", 54), row("TypeError", "x is undefined", 20)}, 0},
		"nothing says anything":  {[]errorRow{row("Unknown Error", "", 54), row("Unknown Error", "", 50)}, 0},
		"a label without a text": {[]errorRow{row("POST /", " ", 5), row("E", "text", 5)}, 1},
	} {
		if got := telling(tc.rows); got != tc.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}
