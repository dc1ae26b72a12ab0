package tool

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// Period is a time range with its texts.
func Period(start, end time.Time) TimeRange {
	return TimeRange{Start: Clock(start), End: Clock(end), From: start, To: end}
}

// Before is the equally long time before.
func (w TimeRange) Before() TimeRange { return Period(w.From.Add(-w.To.Sub(w.From)), w.From) }

const MaxSearch = 7 * 24 * time.Hour

const DefaultWindow = 6 * time.Hour

var relative = regexp.MustCompile(`^(?:now)?\s*([+-])\s*(\d{1,6})\s*(s|m|h|d|w)$`)

// parseTime takes the forms that windowParams describes.
func parseTime(text string, now time.Time) (time.Time, error) {
	lower := strings.ToLower(text)
	if lower == "now" {
		return now, nil
	}
	if m := relative.FindStringSubmatch(lower); m != nil {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return time.Time{}, errTime()
		}
		unit := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[3]]
		if time.Duration(n) > 10*365*24*time.Hour/unit {
			return time.Time{}, errors.New("lies more than ten years away")
		}
		if m[1] == "-" {
			n = -n
		}
		return now.Add(time.Duration(n) * unit), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		const firstMilliseconds = 100_000_000_000 // less than this is 1973 in milliseconds: such a number counts seconds
		if n >= firstMilliseconds {
			return time.UnixMilli(n).UTC(), nil
		}
		return time.Unix(n, 0).UTC(), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errTime()
}

func errTime() error {
	return errors.New("must be a time: RFC 3339 (2026-01-31T09:30:00Z), YYYY-MM-DD HH:MM:SS in UTC, relative (now-1h) or Unix milliseconds")
}

// TimeRange is the window that a result is about.
type TimeRange struct {
	Start string `json:"start" jsonschema:"start of the time range, RFC 3339"`
	End   string `json:"end" jsonschema:"end of the time range, RFC 3339"`

	From time.Time `json:"-"`
	To   time.Time `json:"-"`
}

// Window reads start_time and end_time. One that is too wide is refused, not cut.
func (a *Arguments) Window(longest time.Duration) (TimeRange, error) {
	w := TimeRange{To: a.Now}
	if end, ok := a.Values["end_time"].(time.Time); ok {
		w.To = end
	}
	w.From = w.To.Add(-min(DefaultWindow, longest))
	if start, ok := a.Values["start_time"].(time.Time); ok {
		w.From = start
	}
	if !w.To.After(w.From) {
		return w, BadInput("start_time", "must be before end_time ("+Clock(w.To)+").", "now-1h")
	}
	if w.To.Sub(w.From) > longest {
		days := int(longest / (24 * time.Hour))
		return w, BadInput("start_time", fmt.Sprintf("is more than %d days before end_time, the most that this tool reads.", days), fmt.Sprintf("now-%dd", days))
	}
	w.Start, w.End = Clock(w.From), Clock(w.To)
	return w, nil
}

// StartBefore makes the start of the window that long before its end.
func (a *Arguments) StartBefore(length time.Duration) {
	end := a.Now
	if t, ok := a.Values["end_time"].(time.Time); ok {
		end = t
	}
	a.Values["start_time"] = end.Add(-length)
}

// Moment is a time argument, nil when it was not given.
func (a *Arguments) Moment(name string) *timestamppb.Timestamp {
	if t, ok := a.Values[name].(time.Time); ok {
		return timestamppb.New(t)
	}
	return nil
}

// TimestampParam is about when something was that is read by its id.
func TimestampParam() Param {
	return Param{Name: "timestamp", Kind: KindTime, Description: "About when it was (within an hour): quicker."}
}

func (w TimeRange) StartProto() *timestamppb.Timestamp { return timestamppb.New(w.From) }

func (w TimeRange) EndProto() *timestamppb.Timestamp { return timestamppb.New(w.To) }

func (w TimeRange) Label() Pair { return Pair{"Time range", w.Start + " to " + w.End} }

// Clock writes times for answers.
func Clock(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
