package tool

import (
	"testing"
	"time"
)

func TestWindowOfNames(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 30, 0, time.UTC)
	type args struct {
		Window
		CurrentStart, CurrentEnd, AroundTime *time.Time
	}
	end := now.Truncate(time.Minute).Add(time.Minute - time.Nanosecond)
	for raw, want := range map[string][2]time.Time{
		`{}`:                         {now.Add(-6 * time.Hour).Truncate(time.Minute), end},
		`{"start_time":"now-1h"}`:    {now.Add(-time.Hour).Truncate(time.Minute), end},
		`{"current_start":"now-2d"}`: {now.Add(-48 * time.Hour).Truncate(time.Minute), end},
		`{"start_time":"now-3d","end_time":"now-2d"}`: {
			now.Add(-72 * time.Hour).Truncate(time.Minute), end.Add(-48 * time.Hour),
		},
		`{"end_time":"now-1d"}`: {now.Add(-30 * time.Hour).Truncate(time.Minute), end.Add(-24 * time.Hour)},
	} {
		a, err := Read[args](raw, now)
		if err != nil {
			t.Fatal(err)
		}
		start, until := a.window()
		if !start.Equal(want[0]) || !until.Equal(want[1]) {
			t.Errorf("%s: %v to %v, want %v to %v", raw, start, until, want[0], want[1])
		}
	}
}
