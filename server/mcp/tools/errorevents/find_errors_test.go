package errorevents

import (
	"slices"
	"strings"
	"testing"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
)

// baseline is an hour with data after a time with data of the given length.
func baseline(before time.Duration, thin bool) diagnose.Baseline {
	return diagnose.Baseline{
		Current:  diagnose.Period{Start: tooltest.Now().Add(-time.Hour), End: tooltest.Now()},
		Previous: diagnose.Period{Start: tooltest.Now().Add(-time.Hour - before), End: tooltest.Now().Add(-time.Hour)},
		Thin:     thin,
	}
}

func TestTellingError(t *testing.T) {
	row := func(label, message string, count, before float64) errorRow {
		return errorRow{Label: label, SampleMessage: message, Count: count, ReceivedCount: count, PreviousCount: before, previousReceived: before}
	}
	sampled := func(e errorRow, rate float64) errorRow { e.Count, e.ReceivedCount = e.Count*rate, e.Count; return e }
	full := baseline(time.Hour, false)
	raised := func(e errorRow) errorRow { e.typed = true; return e }
	for name, tc := range map[string]struct {
		rows []errorRow
		base diagnose.Baseline
		want int
		rose bool
	}{
		"the first says it":      {[]errorRow{row("TypeError", "x is undefined", 10, 0), row("Timeout", "t", 9, 0)}, full, 0, true},
		"a caller saw it first":  {[]errorRow{row("Unknown Error", "", 54, 0), row("TypeError", "x is undefined", 52, 0)}, full, 1, true},
		"another is much rarer":  {[]errorRow{row("Unknown Error", "", 54, 0), row("TypeError", "x is undefined", 20, 0)}, full, 0, true},
		"nothing says anything":  {[]errorRow{row("Unknown Error", "", 54, 0), row("Unknown Error", "", 50, 0)}, full, 0, true},
		"a label without a text": {[]errorRow{row("POST /", " ", 25, 0), row("E", "text", 25, 0)}, full, 1, true},
		"handed on, and raised": {[]errorRow{
			row("x is undefined", "x is undefined", 52, 0),
			raised(row("TypeError", "x is undefined", 52, 0)),
		}, full, 1, true},
		"another one was raised": {
			[]errorRow{row("x is undefined", "x is undefined", 52, 0), raised(row("Timeout", "t", 50, 0))},
			full, 0,
			true,
		},
		"always there":             {[]errorRow{row("Declined", "declined", 900, 910), row("TypeError", "x is undefined", 40, 2)}, full, 1, true},
		"no more than before":      {[]errorRow{row("Declined", "declined", 900, 930), row("Timeout", "t", 5, 6)}, full, 0, false},
		"a little more by chance":  {[]errorRow{row("Declined", "declined", 900, 860), row("Timeout", "t", 5, 1)}, full, 0, false},
		"rare, and not there once": {[]errorRow{row("Declined", "declined", 4, 0)}, full, 0, false},
		"more time than before":    {[]errorRow{row("Declined", "declined", 120, 60)}, baseline(30*time.Minute, false), 0, false},
		"hardly any time before": {
			[]errorRow{row("Unknown Error", "", 54, 0), row("TypeError", "x is undefined", 52, 0)},
			baseline(time.Minute, true), 1, false,
		},
		"few sampled spans": {[]errorRow{sampled(row("Declined", "declined", 4, 0), 10)}, full, 0, false},
		"the other did not rise": {
			[]errorRow{row("Unknown Error", "", 20, 2), row("Declined", "declined", 900, 890)}, full, 0, true,
		},
	} {
		if got, rose := telling(tc.rows, tc.base); got != tc.want || rose != tc.rose {
			t.Errorf("%s: %d, %v", name, got, rose)
		}
	}
}

func TestErrorCountsAreWeighted(t *testing.T) {
	split := []*svcv2.ErrorEventCount{{Name: "production", Count: 3, EstimatedCount: 21}, {Name: "", Count: 1, EstimatedCount: 1}}
	res := toErrors(tool.Period(tooltest.Now().Add(-time.Hour), tooltest.Now()), &svcv2.SearchErrorEventsResponse{
		Data: []*svcv2.ErrorEvent{{FingerprintHash: "7", ErrorLabel: "E", Count: 4, EstimatedCount: 22, Environments: split}},
		Totals: &svcv2.ErrorEventTotals{
			Occurrences: 4, EstimatedOccurrences: 22, NoExceptionCount: 1, EstimatedNoExceptionCount: 10, Fingerprints: 1, Environments: split,
		},
	})
	row := res.Errors[0]
	if row.Count != 22 || row.ReceivedCount != 4 || res.Totals.Occurrences != 22 || res.Totals.NoExceptionCount != 10 {
		t.Errorf("%+v %+v", row, res.Totals)
	}
	if got, want := shownErrors(&res), "Shown: 1 of 1 errors; 22 occurrences in all, corrected for sampling (4 received)."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if table := strings.Join(errorTable("", "", res.Errors).Rows, "\n"); !strings.Contains(table, "| 22: production 21, (none) 1 | 0 |") {
		t.Errorf("the row does not split its count: %s", table)
	}
}

func TestBaselineNotes(t *testing.T) {
	for name, tc := range map[string]struct {
		base diagnose.Baseline
		want string
	}{
		"full":  {baseline(time.Hour, false), ""},
		"half":  {baseline(30*time.Minute, false), "the column Before counts this time"},
		"thin":  {baseline(time.Minute, true), "too little to say which error rose"},
		"empty": {diagnose.Baseline{Current: baseline(0, false).Current, Thin: true}, "No service sent spans in the time before"},
	} {
		notes := baselineNotes(tc.base)
		if tc.want == "" && len(notes) > 0 || tc.want != "" && !slices.ContainsFunc(notes,
			func(n string) bool { return strings.Contains(n, tc.want) }) {
			t.Errorf("%s: %q", name, notes)
		}
	}
}
