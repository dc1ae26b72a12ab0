package mcp

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

const defaultWindow = 6 * time.Hour

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

// timeRange is the window that a result is about.
type timeRange struct {
	Start string `json:"start" jsonschema:"start of the time range, RFC 3339"`
	End   string `json:"end" jsonschema:"end of the time range, RFC 3339"`

	start, end time.Time
}

// window reads start_time and end_time. One that is too wide is refused, not cut.
func (a *arguments) window(longest time.Duration) (timeRange, error) {
	w := timeRange{end: a.now}
	if end, ok := a.values["end_time"].(time.Time); ok {
		w.end = end
	}
	w.start = w.end.Add(-min(defaultWindow, longest))
	if start, ok := a.values["start_time"].(time.Time); ok {
		w.start = start
	}
	if !w.end.After(w.start) {
		return w, badInput("start_time", "must be before end_time ("+clock(w.end)+").", "now-1h")
	}
	if w.end.Sub(w.start) > longest {
		days := int(longest / (24 * time.Hour))
		return w, badInput("start_time", fmt.Sprintf("is more than %d days before end_time, the most that this tool reads.", days), fmt.Sprintf("now-%dd", days))
	}
	w.Start, w.End = clock(w.start), clock(w.end)
	return w, nil
}

// startBefore makes the start of the window that long before its end.
func (a *arguments) startBefore(length time.Duration) {
	end := a.now
	if t, ok := a.values["end_time"].(time.Time); ok {
		end = t
	}
	a.values["start_time"] = end.Add(-length)
}

// moment is a time argument, nil when it was not given.
func (a *arguments) moment(name string) *timestamppb.Timestamp {
	if t, ok := a.values[name].(time.Time); ok {
		return timestamppb.New(t)
	}
	return nil
}

// timestampParam is about when something was that is read by its id.
func timestampParam() param {
	return param{name: "timestamp", kind: kindTime, description: "About when it was (within an hour): quicker."}
}

func (w timeRange) startProto() *timestamppb.Timestamp { return timestamppb.New(w.start) }
func (w timeRange) endProto() *timestamppb.Timestamp   { return timestamppb.New(w.end) }

func (w timeRange) label() pair { return pair{"Time range", w.Start + " to " + w.End} }

// clock writes times for answers.
func clock(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
