package query

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
)

// Window is a span of time, both ends included.
type Window struct {
	Start, End time.Time
}

// Length is the time from the start to the end.
func (w Window) Length() time.Duration { return w.End.Sub(w.Start) }

// Before is the window of equal length before this one.
func (w Window) Before() Window { return w.Earlier(w.Length()) }

// Earlier is the window that is shift earlier. A window includes both of its ends, so the earlier one ends before this one starts.
func (w Window) Earlier(shift time.Duration) Window {
	end := w.End.Add(-shift)
	if last := w.Start.Add(-time.Nanosecond); end.After(last) {
		end = last
	}
	return Window{Start: w.Start.Add(-shift), End: end}
}

// NewWindow checks the start_time and end_time of a request.
func NewWindow(start, end *timestamppb.Timestamp, longest time.Duration) (Window, error) {
	w := Window{}
	for _, f := range []struct {
		name string
		in   *timestamppb.Timestamp
		out  *time.Time
	}{{"start_time", start, &w.Start}, {"end_time", end, &w.End}} {
		if f.in == nil {
			return Window{}, apierr.New(
				apierr.ParameterMissing,
				f.name+" is required: a time in RFC 3339, for example 2026-01-31T09:30:00Z.",
				apierr.Param(f.name),
			)
		}
		*f.out = f.in.AsTime()
		// The warehouse counts nanoseconds since 1970 in 64 bits.
		if !f.in.IsValid() || f.out.Year() < 1970 || f.out.Year() > 2261 {
			return Window{}, apierr.New(apierr.TimeRangeInvalid, f.name+" must be between the years 1970 and 2261.", apierr.Param(f.name))
		}
	}
	if !w.End.After(w.Start) {
		return Window{}, apierr.New(apierr.TimeRangeInvalid, "end_time must be after start_time.", apierr.Param("end_time"))
	}
	if w.Length() > longest {
		return Window{}, apierr.New(
			apierr.TelemetryRangeTooLarge,
			fmt.Sprintf(
				"The window is longer than the %d days that this operation reads at most. Move start_time closer to end_time.",
				int(longest/limits.Day),
			),
			apierr.Param("start_time"),
		)
	}
	return w, nil
}

// SliceGrowth is how much longer each slice of a search can be than the one after it in time.
const SliceGrowth = 4

// FirstSlice is the length of the first slice of a search that walks the window backwards: 1/64 of the window, and at least 5 minutes,
// because tiny slices of a short window would take many reads.
func (w Window) FirstSlice() time.Duration { return max(w.Length()/64, 5*time.Minute) }

// Split cuts a slice of that length off the end of the window, or off its start, and gives the rest. The rest ends before it starts when
// nothing is left.
func (w Window) Split(length time.Duration, atStart bool) (slice, rest Window) {
	slice, rest = w.Last(length), w
	if !atStart {
		rest.End = slice.Start.Add(-1)
		return slice, rest
	}
	slice = w
	if end := w.Start.Add(length); end.Before(w.End) {
		slice.End = end
	}
	rest.Start = slice.End.Add(1)
	return slice, rest
}

// Last is the slice of that length at the end of the window, or the whole window if it is shorter.
func (w Window) Last(length time.Duration) Window {
	if start := w.End.Add(-length); start.After(w.Start) {
		w.Start = start
	}
	return w
}
