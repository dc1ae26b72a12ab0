package tool

import (
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 11, 22, 15, 4, 5, 678, time.UTC) // a Sunday
	for text, want := range map[string]string{
		"now": "2026-11-22T15:04:05.000000678Z", "NOW": "2026-11-22T15:04:05.000000678Z", "now-1h": "2026-11-22T14:04:05.000000678Z",
		"-90m": "2026-11-22T13:34:05.000000678Z", "now + 2d": "2026-11-24T15:04:05.000000678Z",
		"today": "2026-11-22T00:00:00Z", "Yesterday": "2026-11-21T00:00:00Z", "now/d": "2026-11-22T00:00:00Z", "now-1d/d": "2026-11-21T00:00:00Z",
		"now/h": "2026-11-22T15:00:00Z", "now/m": "2026-11-22T15:04:00Z", "now/w": "2026-11-16T00:00:00Z", "now-1w/w": "2026-11-09T00:00:00Z",
		"now-30d/d": "2026-10-23T00:00:00Z", "2026-01-31": "2026-01-31T00:00:00Z", "2026-01-31 09:30": "2026-01-31T09:30:00Z",
		"2026-01-31T10:30:00+01:00": "2026-01-31T09:30:00Z", "1770000000000": "2026-02-02T02:40:00Z", "1770000000": "2026-02-02T02:40:00Z",
	} {
		got, err := ParseTime(text, now)
		if err != nil || got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "tomorrow", "now-", "now/", "now/y", "now-1", "d", "yesterday/d", "now-999999w", "1h",
		"2026-13-01",
	} {
		if got, err := ParseTime(text, now); err == nil {
			t.Errorf("%q is taken as %s", text, got)
		}
	}
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	if got, err := ParseTime("now/w", monday); err != nil || !got.Equal(monday) {
		t.Errorf("the week of a Monday begins at %s, %v", got, err)
	}
}

func TestMillisecondsInTables(t *testing.T) {
	b := Table("", "", []string{"Time", "Body"}, [][]string{{"2026-11-22T15:04:05.123456789Z", "at 2026-11-22T15:04:05.123456789Z it broke"}})
	if want := "| 2026-11-22T15:04:05.123Z | at 2026-11-22T15:04:05.123456789Z it broke |"; b.Rows[0] != want {
		t.Errorf("%s, want %s", b.Rows[0], want)
	}
}
