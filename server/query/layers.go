package query

import (
	"fmt"
	"strings"
	"time"
)

// layer is a rollup with its column of time, which has whole minutes or hours.
type layer struct {
	table, at string
	grain     time.Duration
}

func serviceMinutes() layer      { return layer{"service_minutes", "Minute", time.Minute} }
func serviceSeries() layer       { return layer{"service_series", "Minute", time.Minute} }
func organizationMinutes() layer { return layer{"organization_minutes", "Minute", time.Minute} }
func logMinutes() layer          { return layer{"log_minutes", "Minute", time.Minute} }
func serviceHours() layer        { return layer{"service_hours", "Hour", time.Hour} }
func operationHours() layer      { return layer{"operation_hours", "Hour", time.Hour} }

// whole is what a window has of whole minutes, hours or the like. It ends before it starts, or then, when there is none.
func (w Window) whole(grain time.Duration) Window {
	first := w.Start.Truncate(grain)
	if first.Before(w.Start) {
		first = first.Add(grain)
	}
	// A minute is whole with its last nanosecond.
	return Window{Start: first, End: w.End.Add(time.Nanosecond).Truncate(grain)}
}

// layered is a table of all that a window has: the whole hours and minutes of the layers, each without what a coarser one has, and the rows
// that no layer has. Its column Minute is the time of a row's hour or minute.
func (b planner) layered(w Window, r rollup, filter conditions) string {
	var parts []string
	var coarser Window
	var first, last string // of the layer before, as numbers of seconds
	for _, l := range r.layers {
		whole := w.whole(l.grain)
		if whole == coarser {
			continue // it has nothing that the coarser one has not
		}
		c := where()
		outside := ""
		if first != "" {
			outside = fmt.Sprintf("(%[1]s < toDateTime(%[2]s, 'UTC') OR %[1]s >= toDateTime(%[3]s, 'UTC'))", l.at, first, last)
		}
		unit := strings.ToLower(l.at)
		first, last = b.bind("first_"+unit, "Int64", whole.Start.Unix()), b.bind("last_"+unit, "Int64", whole.End.Unix())
		c = c.with(l.at+" >= toDateTime("+first+", 'UTC')", l.at+" < toDateTime("+last+", 'UTC')")
		if outside != "" {
			c = c.with(outside)
		}
		at := l.at
		if at != "Minute" {
			at += " AS Minute"
		}
		parts = append(parts, fmt.Sprintf(`
        SELECT %s, %s, %s
        FROM %s
        WHERE %s`, at, r.columns, r.measures, l.table, c.with(filter...).join(12)))
		coarser = whole
	}
	cut := where().with("Timestamp >= "+b.time("start", w.Start), "Timestamp <= "+b.time("end", w.End),
		fmt.Sprintf("(Timestamp < toDateTime(%s, 'UTC') OR Timestamp >= toDateTime(%s, 'UTC'))", first, last)).with(filter...)
	group := ""
	if r.grouped {
		group = "\n        GROUP BY Minute, " + r.columns
	}
	parts = append(parts, fmt.Sprintf(`
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, %s,
            %s
        FROM %s
        WHERE %s%s`, r.columns, r.edge, r.rows, cut.join(12), group))
	return "(" + strings.Join(parts, "\n        UNION ALL") + "\n    )"
}
