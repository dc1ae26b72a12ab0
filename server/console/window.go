package console

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/svc-observability/svc/server/limits"
)

// window returns the window of the flags. Without a flag it is as long as the command says.
func (q *Query) window() (start, end *timestamppb.Timestamp, err error) {
	length := cmp.Or(q.length, limits.CommandWindow)
	to := q.Now
	if q.End != "" {
		if to, err = moment("end", q.End); err != nil {
			return nil, nil, err
		}
	}
	if q.Since != "" {
		if q.Start != "" {
			return nil, nil, usage("--since and --start both give the start of the window: use one of them")
		}
		if length, err = duration("since", q.Since); err != nil {
			return nil, nil, err
		}
	}
	from := to.Add(-length)
	if q.Start != "" {
		if from, err = moment("start", q.Start); err != nil {
			return nil, nil, err
		}
		if !from.Before(to) {
			return nil, nil, usage("--start %s is not before the end of the window, %s", q.Start, to.UTC().Format(time.RFC3339))
		}
	}
	return timestamppb.New(from), timestamppb.New(to), nil
}

// moment reads a time. A text without a zone is in UTC, as are the times of tables.
func moment(flag, text string) (time.Time, error) {
	for _, layout := range []string{
		time.RFC3339Nano, time.DateOnly, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04:05",
		"2006-01-02T15:04",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage("--%s %q is not a time such as 2026-11-21T12:30:00Z, 2026-11-21 or \"2026-11-21 12:30\"", flag, text)
}

// duration reads a length of time, also in days and weeks.
func duration(flag, text string) (time.Duration, error) {
	out, err := time.ParseDuration(text)
	for unit, length := range map[string]time.Duration{"d": limits.Day, "w": 7 * limits.Day} {
		if digits, ok := strings.CutSuffix(text, unit); ok {
			var n int
			n, err = strconv.Atoi(digits)
			out = time.Duration(min(n, 10_000)) * length
		}
	}
	if err != nil || out <= 0 {
		return 0, usage("--%s %q is not a length of time such as 15m, 6h or 7d", flag, text)
	}
	return out, nil
}
