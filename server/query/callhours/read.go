// Package callhours keeps the calls between services by hour. A call is found by a join of spans, whose cost grows with the spans. So a
// worker counts the calls of each hour once, when the hour is over, and the service map adds the hours up.
//
// Spans can arrive late. Each count notes how many spans it could see. A read takes a count only if this number is still right, and finds
// the calls of other hours in the spans. So late spans make a read slower, and not wrong, as long as the spans exist. After that, the last
// count holds.
package callhours

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// Ends are the two services of a call, and the environment of the caller where it matters.
type Ends struct{ Environment, Source, Target string }

// Sum has the figures of calls by their ends.
type Sum map[Ends]*reads.CallStats

// Add adds the figures of calls.
func (s Sum) Add(environment string, rows ...reads.CallRow) {
	for _, r := range rows {
		of := Ends{environment, r.Source, r.Target}
		if s[of] == nil {
			s[of] = &reads.CallStats{}
		}
		s[of].Add(r.CallStats)
	}
}

// Read returns the calls of the hours of a window that are counted, and all other hours with spans.
func Read(ctx context.Context, w read.Warehouse, org principal.OrgID, window query.Window, environment *string, now time.Time) (
	[]reads.CallRow, []reads.SpanHourRow, error,
) {
	hours, counts, err := state(ctx, w, org, window, true)
	if err != nil {
		return nil, nil, err
	}
	var counted []reads.CallHourCount
	var rest []reads.SpanHourRow
	for _, h := range hours.list {
		count, ok := counts[h.Hour.Unix()]
		whole := !h.Hour.Before(window.Start) && !h.Hour.Add(time.Hour-1).After(window.End)
		if whole && ok && (count.Spans == hours.seen(h.Hour) || now.Sub(h.Hour) > limits.TraceRetention) {
			counted = append(counted, count)
		} else {
			rest = append(rest, h)
		}
	}
	if len(counted) == 0 {
		return nil, rest, nil
	}
	rows, err := read.All[reads.CallRow](ctx, w, org, reads.CountedCalls(counted, environment))
	return rows, rest, err
}

// countable is the age up to which all spans of an hour, and of the hour before it, still exist.
const countable = limits.TraceRetention - 24*time.Hour

// spanHours are the hours with spans, in their order.
type spanHours struct {
	list []reads.SpanHourRow
	at   map[int64]reads.SpanHourRow
}

// seen is the number of spans in which the calls of an hour are found: its own, and those of callers.
func (s spanHours) seen(hour time.Time) uint64 {
	of := func(t time.Time) reads.SpanHourRow { return s.at[t.Unix()] }
	return of(hour.Add(-reads.CallReach)).Spans + of(hour).Spans + of(hour.Add(time.Hour)).First
}

// state reads the hours with spans and the counts of a window. With cached, the answers may be those of an earlier equal read.
func state(ctx context.Context, w read.Warehouse, org principal.OrgID, window query.Window, cached bool) (
	spanHours, map[int64]reads.CallHourCount, error,
) {
	window = query.Window{Start: window.Start.Add(-time.Hour).Truncate(time.Hour), End: window.End.Add(time.Hour)}
	var until time.Time
	if cached {
		until = window.End
	}
	s := spanHours{at: map[int64]reads.SpanHourRow{}}
	var err error
	if s.list, err = read.All[reads.SpanHourRow](ctx, w, org, reads.SpanHours(window).Until(until)); err != nil || len(s.list) == 0 {
		return s, nil, err
	}
	for _, h := range s.list {
		s.at[h.Hour.Unix()] = h
	}
	rows, err := read.All[reads.CallHourCount](ctx, w, org, reads.CallHourCounts(window).Until(until))
	counts := map[int64]reads.CallHourCount{}
	for _, c := range rows {
		counts[c.Hour.Unix()] = c
	}
	return s, counts, err
}
