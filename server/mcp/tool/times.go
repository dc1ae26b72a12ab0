package tool

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
)

// Period makes a time range with its texts.
func Period(start, end time.Time) TimeRange {
	return TimeRange{Start: wording.Clock(start), End: wording.Clock(end), From: start, To: end}
}

// Moment writes a time that may be missing.
func Moment(t *timestamppb.Timestamp) *string {
	if t == nil {
		return nil
	}
	return new(wording.Clock(t.AsTime().Truncate(time.Millisecond)))
}

// Length is the time from the start to the end.
func (w TimeRange) Length() time.Duration { return w.To.Sub(w.From) }

// Until returns the period of the same length that ends at the given time.
func (w TimeRange) Until(end time.Time) TimeRange { return Period(end.Add(-w.Length()), end) }

// Before is the period of equal length before this one. A range includes its end, so it ends a nanosecond earlier.
func (w TimeRange) Before() TimeRange {
	return Period(w.From.Add(-w.Length()), w.From.Add(-time.Nanosecond))
}

// relative matches now, now-1h, -1h, now/d and now-1d/d. A unit after a slash rounds down.
var relative = regexp.MustCompile(`^(?:now)?\s*(?:([+-])\s*(\d{1,6})\s*(s|m|h|d|w))?(?:\s*/\s*(m|h|d|w))?$`)

// days are names of days, which stand for their start in UTC.
var days = map[string]string{"today": "now/d", "yesterday": "now-1d/d"}

var units = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": limits.Day, "w": 7 * limits.Day}

// floor is the start of the minute, hour, day or week (Monday) in UTC.
func floor(t time.Time, unit string) time.Time {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch unit {
	case "":
		return t
	case "d":
		return day
	case "w":
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	}
	return t.Truncate(units[unit])
}

// ParseTime reads a time in any of the forms that arguments may have.
func ParseTime(text string, now time.Time) (time.Time, error) {
	lower := strings.TrimSpace(strings.ToLower(text))
	if day, ok := days[lower]; ok {
		lower = day
	}
	if m := relative.FindStringSubmatch(lower); m != nil && lower != "" {
		var by time.Duration
		if m[2] != "" {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				return time.Time{}, errTime()
			}
			if time.Duration(n) > 10*365*limits.Day/units[m[3]] {
				return time.Time{}, errors.New("must be within ten years of now")
			}
			if by = time.Duration(n) * units[m[3]]; m[1] == "-" {
				by = -by
			}
		}
		return floor(now.Add(by), m[4]), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		const firstMilliseconds = 100_000_000_000 // in milliseconds this is in 1973: a smaller number counts seconds
		if n >= firstMilliseconds {
			return time.UnixMilli(n).UTC(), nil
		}
		return time.Unix(n, 0).UTC(), nil
	}
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04",
		"2006-01-02T15:04", "2006-01-02",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errTime()
}

func errTime() error {
	return errors.New("must be a time: RFC 3339 (2026-01-31T09:30:00Z), YYYY-MM-DD HH:MM:SS in UTC, " +
		"relative (now-1h, now/d, yesterday; days begin in UTC) or Unix milliseconds")
}

// Short writes a length of whole days or hours as relative times do: 7d.
func Short(d time.Duration) string {
	if d%limits.Day == 0 {
		return strconv.Itoa(int(d/limits.Day)) + "d"
	}
	return strconv.Itoa(int(d/time.Hour)) + "h"
}

// TimeRange is the window of a result.
type TimeRange struct {
	Start string `json:"start"`
	End   string `json:"end"`

	From time.Time `json:"-"`
	To   time.Time `json:"-"`
}

// Window holds the arguments for a time range. Without start_time it has limits.DefaultToolWindow.
type Window struct {
	Call
	StartTime *time.Time `doc:"RFC 3339, now-1h or yesterday; default now-{DefaultToolWindow}"`
	EndTime   *time.Time
}

// Range is the time range of a call. It refuses a range that is longer than longest.
func (w *Window) Range(longest time.Duration) (TimeRange, error) {
	return w.Between(w.StartTime, w.EndTime, limits.DefaultToolWindow, longest)
}

// Between is the time range from start to end. The default end is now. The default start is the end minus fallback. It refuses a
// range that is longer than longest.
func (c *Call) Between(start, end *time.Time, fallback, longest time.Duration) (TimeRange, error) {
	to := Or(end, c.Now)
	w := Period(Or(start, to.Add(-min(fallback, longest))), to)
	if !w.To.After(w.From) {
		return w, BadInput("start_time", "must be before end_time ("+w.End+").", "now-1h")
	}
	if w.Length() > longest {
		return w, BadInput(
			"start_time",
			"is more than "+limits.Lasts(longest)+" before end_time. This tool reads at most "+limits.Lasts(longest)+".",
			"now-"+Short(longest),
		)
	}
	c.read = &w
	return w, nil
}

// Timestamp is the approximate time of something that is read by its id.
type Timestamp struct {
	Timestamp *time.Time `doc:"Approximate start, within an hour. It makes the read faster."`
}

// Proto is the time for a request, or nil.
func (t Timestamp) Proto() *timestamppb.Timestamp {
	if t.Timestamp == nil {
		return nil
	}
	return timestamppb.New(*t.Timestamp)
}

func (w TimeRange) StartProto() *timestamppb.Timestamp { return timestamppb.New(w.From) }

func (w TimeRange) EndProto() *timestamppb.Timestamp { return timestamppb.New(w.To) }

func (w TimeRange) Label() Pair {
	return Pair{"Time range", milliseconds(w.Start) + " to " + milliseconds(w.End)}
}

// fine is a time with more digits than milliseconds.
var fine = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})\d+Z$`)

// milliseconds shortens a time for a text. The structured content has all digits. Other texts stay as they are.
func milliseconds(text string) string { return fine.ReplaceAllString(text, "${1}Z") }
