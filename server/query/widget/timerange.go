package widget

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
)

// These are the sources of a window.
const (
	fromRequest   = "override"
	fromWidget    = "widget"
	fromDashboard = "dashboard"
	fromFallback  = "fallback"
)

// snap is the interval to which the ends of relative windows are rounded up.
const snap = limits.WidgetData

// lately is a relative window that ends now, or up to snap later.
func lately(now time.Time, length time.Duration) query.Window {
	end := now.UTC().Truncate(snap)
	if end.Before(now) {
		end = end.Add(snap)
	}
	return query.Window{Start: end.Add(-length), End: end}
}

var relative = regexp.MustCompile(`^(\d{1,6})(mo|m|h|d|w)$`)

// Window is the window of a widget: the override, or else its own, or else its dashboard's. It is at most 31 days long.
func Window(override, own, dashboard *svcv2.TimeRange, now time.Time) (w query.Window, source string, err error) {
	for _, c := range []struct {
		source string
		in     *svcv2.TimeRange
	}{{fromRequest, override}, {fromWidget, own}, {fromDashboard, dashboard}} {
		if c.in != nil {
			w, err = resolve(c.in, now)
			return w, c.source, err
		}
	}
	return lately(now, limits.DefaultDashboardWindow), fromDashboard, nil
}

func resolve(r *svcv2.TimeRange, now time.Time) (query.Window, error) {
	if r.GetType() == "absolute" {
		if r.StartTime == nil || r.EndTime == nil {
			return query.Window{}, apierr.New(
				apierr.TimeRangeInvalid,
				"time_range needs start_time and end_time when its type is absolute.",
				apierr.Param("time_range"),
			)
		}
		return query.NewWindow(r.GetStartTime(), r.GetEndTime(), limits.TimeseriesWindow)
	}
	length, ok := relativeLength(r.GetValue())
	if !ok {
		return query.Window{}, apierr.New(
			apierr.TimeRangeInvalid,
			fmt.Sprintf("time_range.value must be a number and m, h, d, w or mo, as 12h, not %q.", r.GetValue()),
			apierr.Param("time_range.value"),
		)
	}
	if length > limits.TimeseriesWindow {
		return query.Window{}, apierr.New(
			apierr.TelemetryRangeTooLarge,
			"time_range.value is longer than the "+limits.Lasts(limits.TimeseriesWindow)+" that a widget reads at most.",
			apierr.Param("time_range.value"),
		)
	}
	return lately(now, length), nil
}

// Unreadable names the field of a window that no widget can read, and says why. Both results are empty when a widget can read the window.
// They are also empty when CheckRange of package definition already refuses the window.
func Unreadable(r *svcv2.TimeRange) (field, problem string) {
	field = "value"
	length, _ := relativeLength(r.GetValue())
	if r.GetType() == "absolute" {
		field = "start_time"
		from, to := r.GetStartTime().AsTime(), r.GetEndTime().AsTime()
		if from.Year() < 1970 || to.Year() > 2261 {
			return field, "must be after the year 1969, and end_time before the year 2262"
		}
		length = to.Sub(from)
	}
	if length > limits.TimeseriesWindow {
		return field, "makes the window longer than the " + limits.Days(limits.TimeseriesWindow) +
			" that a widget reads at most. Choose a shorter window"
	}
	return "", ""
}

func relativeLength(text string) (time.Duration, bool) {
	m := relative.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.Atoi(m[1])
	unit := map[string]time.Duration{
		"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
		"mo": limits.RelativeMonth,
	}[m[2]]
	if n > int(math.MaxInt64/unit) {
		return math.MaxInt64, true // much longer than a widget may read
	}
	return time.Duration(n) * unit, n > 0
}
