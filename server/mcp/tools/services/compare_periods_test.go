package services

import (
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/mcp/tool"
)

// TestComparePeriodsNames: start_time and end_time, as other tools name a period, mean the current period. No argument is
// silently ignored.
func TestComparePeriodsNames(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 1, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		arguments  string
		start, end time.Time
		note       string
	}{
		{`{"start_time": "now-24h"}`, now.Add(-24 * time.Hour), now, ""},
		{`{"start_time": "now-2h", "end_time": "now-1h"}`, now.Add(-2 * time.Hour), now.Add(-time.Hour), ""},
		{`{"since": "now-2h", "until": "now-1h"}`, now.Add(-2 * time.Hour), now.Add(-time.Hour), ""},
		{`{"start_time": "now-9h", "current_start": "now-3h"}`, now.Add(-3 * time.Hour), now, "start_time was ignored: current_start was given"},
		{`{"since": "now-3h", "start_time": "now-9h"}`, now.Add(-3 * time.Hour), now, "start_time was ignored"},
	} {
		a, err := tool.Read[comparePeriodsArgs](tc.arguments, now)
		if err != nil {
			t.Fatal(tc.arguments, err)
		}
		current, prev, err := periods(a)
		if err != nil {
			t.Fatal(tc.arguments, err)
		}
		if !current.From.Equal(tc.start) || !current.To.Equal(tc.end) || !prev.To.Equal(tc.start) {
			t.Errorf("%s: %v to %v after %v", tc.arguments, current.From, current.To, prev.To)
		}
		if notes := strings.Join(a.Notes, " "); !strings.Contains(notes, tc.note) || tc.note == "" && notes != "" {
			t.Errorf("%s: notes %q", tc.arguments, notes)
		}
	}
}
