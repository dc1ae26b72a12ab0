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
